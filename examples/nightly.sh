#!/usr/bin/env bash
# One night: ingest the newest dump, report, keep the report, end with the worst code.
# What a schedule calls; set DUMPS (a folder of dump folders) and HLODB_DB.
set -euo pipefail
shopt -s nullglob
: "${DUMPS:?the folder that holds one dump folder per night, such as 2026-11-20}"
export HLODB_DB="${HLODB_DB:-hlodb.duckdb}"
REPORTS="${REPORTS:-reports}"
mkdir -p "$REPORTS"

worst=0
note() { if (($1 > worst)); then worst=$1; fi; }

# Dumps that came late, or while the machine was off, are taken in now, each once: what
# was pruned or forgotten since stays so. Each goes by the day in its name. One that is
# broken is told, every night until it is gone, and keeps no other from its turn. To
# have a night read again, delete its line in the list.
taken="$REPORTS/taken"
touch "$taken"
for dump in "$DUMPS"/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/; do
  day="$(basename "$dump")"
  if grep -qxF "$day" "$taken"; then continue; fi
  if hlodb ingest "$dump" --run "$day" --series nightly --started-at "$day" \
    --format jsonl >> "$REPORTS/ingest.jsonl"; then
    echo "$day" >> "$taken"
  else
    note $?
  fi
done

code=0
hlodb report --series nightly --allow-empty --today "$(date -u +%F)" \
  --write markdown="$REPORTS/latest.md" --write html="$REPORTS/latest.html" \
  --write json="$REPORTS/latest.json" --write jsonl="$REPORTS/latest.jsonl" \
  --write slack="$REPORTS/latest.slack.json" || code=$?
note "$code"

# Where WEBHOOK is the URL of an incoming webhook of Slack, a channel hears of what is not
# well, once, and that all is well again.
headline="$code $(sed -n 2p "$REPORTS/latest.slack.json" 2> /dev/null || true)"
told="$(cat "$REPORTS/told" 2> /dev/null || echo 0)"
if [[ -n "${WEBHOOK:-}" && "$headline" != "$told" && "$code${told%% *}" != 00 ]]; then
  curl -fsS -H 'Content-Type: application/json' \
    --data-binary "@$REPORTS/latest.slack.json" "$WEBHOOK" > /dev/null || note 1
fi
echo "$headline" > "$REPORTS/told"
exit "$worst"
