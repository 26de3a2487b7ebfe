#!/usr/bin/env bash
# One night: ingest the newest dump, report, keep the report, pass its exit code on.
# What a schedule calls; set DUMPS (a folder of dump folders) and HLODB_DB.
set -euo pipefail
: "${DUMPS:?the folder that holds one dump folder per night}"
export HLODB_DB="${HLODB_DB:-hlodb.duckdb}"
REPORTS="${REPORTS:-reports}"
mkdir -p "$REPORTS"

# Dumps that came late, or while the machine was off, are taken in now: what is in
# already is recognised and costs nothing. Each goes by the day in its name.
for dump in "$DUMPS"/*/; do
  day="$(basename "$dump")"
  hlodb ingest "$dump" --run "$day" --series nightly --started-at "$day" \
    --format jsonl >> "$REPORTS/ingest.jsonl"
done

hlodb report --series nightly --allow-empty --today "$(date -u +%F)" \
  --write markdown="$REPORTS/latest.md" --write json="$REPORTS/latest.json" \
  --write jsonl="$REPORTS/latest.jsonl"
