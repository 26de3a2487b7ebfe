#!/usr/bin/env bash
# How nine XLA releases changed the memory of eight programs, and why.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .demo
export HLODB_DB=.demo/demo.duckdb COLUMNS="${COLUMNS:-160}"
rm -f "$HLODB_DB"*

bold='' dim='' plain=''
if [ -t 1 ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
show() { printf '%s$ %s%s\n' "$dim" "$*" "$plain"; "$@"; }
# A statement is shown as it can be pasted into a shell, with its quotes.
ask() { printf "%s\$ hlodb sql - <<'SQL'\n%s\nSQL%s\n" "$dim" "$1" "$plain"; hlodb sql "$1"; }

releases="0.4.13 0.4.20 0.4.30 0.4.35 0.5.3 0.6.2 0.7.2 0.9.2 0.10.2"
archives=()
for release in $releases; do
  archives+=("examples/dumps/cpu/jaxlib-$release.tar.xz")
done

say "Ten dumps in: nine XLA releases on CPU, one on TPU"
printf '%s$ export HLODB_DB=%s%s\n' "$dim" "$PWD/$HLODB_DB" "$plain"
hlodb ingest "${archives[@]}" --series xla-releases --format jsonl >/dev/null
hlodb ingest examples/dumps/tpu/v5e-jax-0.10.2.tar.xz --format jsonl >/dev/null
ask "SELECT r.name AS run, r.platform, r.device, r.compiler_version,
  count(*) AS modules, sum(m.instruction_count)::BIGINT AS instructions
FROM runs AS r JOIN modules AS m USING (run_id)
GROUP BY ALL ORDER BY min(r.run_id)"

say "Reserved memory of every program over nine XLA releases (MiB)"
ask "SELECT program,
$(for release in $releases; do
  printf "  (any_value(reserved_bytes) FILTER (WHERE run = 'jaxlib-%s') / 1048576)::DECIMAL(9, 2) AS \"%s\",\n" "$release" "$release"
done)
FROM peak_history(series := 'xla-releases')
GROUP BY program HAVING max(reserved_bytes) > 100000 ORDER BY program"

say "Every change of reserved memory by one percent or more"
ask "SELECT program, run, reserved_bytes, delta_reserved_bytes, delta_reserved_ratio
FROM peak_history(series := 'xla-releases')
WHERE abs(delta_reserved_ratio) >= 0.01 ORDER BY delta_reserved_ratio DESC"

say "What changed from 0.4.35 to 0.5.3"
show hlodb query peak_regressions -p base=jaxlib-0.4.35 -p candidate=jaxlib-0.5.3

say "Why cnn grew: every byte of it"
show hlodb diff jaxlib-0.4.35:jit_cnn jaxlib-0.5.3:jit_cnn | sed '/^Programs$/,$d'

say "What is live at the peak of cnn, from which source line"
ask "SELECT instruction, opcode, shape, owned_bytes, peak_ratio, source_file, source_line, attribution
FROM peak_contents(run := 'jaxlib-0.5.3', program := 'jit_cnn') LIMIT 6"

say "Fragmentation per memory space on TPU v5e (in HBM gaps between aligned addresses, see hlodb query frag_breakdown)"
ask "SELECT program, space_name, temp_bytes, temp_live_peak_bytes, fragmentation_bytes, fragmentation_ratio
FROM frag_by_space(run := 'v5e-jax-0.10.2')
WHERE temp_bytes > 0 ORDER BY fragmentation_bytes DESC LIMIT 10"

say "Now your own: unset HLODB_DB; hlodb ingest DIR; hlodb query (this demo: duckdb .demo/demo.duckdb)"
