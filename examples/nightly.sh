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

# Ingest every dump once, also those that came late: runs that were pruned or deleted
# since stay so. The folder's name is the day of the run. A broken dump is reported every
# night until it is gone, and does not stop the others. To read a night again, delete its
# line in the list.
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
  --write json="$REPORTS/latest.json" \
  --write slack="$REPORTS/latest.slack.json" || code=$?
note "$code"

# WEBHOOK is the URL of an incoming webhook of Slack. Its channel gets each bad headline
# once, and the first good one after it.
headline="$code $(sed -n 2p "$REPORTS/latest.slack.json" 2> /dev/null || true)"
told="$(cat "$REPORTS/told" 2> /dev/null || echo 0)"
if [[ -n "${WEBHOOK:-}" && "$headline" != "$told" && "$code${told%% *}" != 00 ]]; then
  curl -fsS -H 'Content-Type: application/json' \
    --data-binary "@$REPORTS/latest.slack.json" "$WEBHOOK" > /dev/null || note 1
fi
echo "$headline" > "$REPORTS/told"
exit "$worst"
