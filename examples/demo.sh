#!/usr/bin/env bash
# How nine XLA releases changed the memory of eight programs, and why.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p .demo
export HLODB_DB=.demo/demo.duckdb
rm -f "$HLODB_DB"*

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }

say "Ten dumps in: nine XLA releases on CPU, one on TPU"
for release in 0.4.13 0.4.20 0.4.30 0.4.35 0.5.3 0.6.2 0.7.2 0.9.2 0.10.2; do
  hlodb ingest "examples/dumps/cpu/jaxlib-$release.tar.xz" --series xla-releases \
    --label "compiler_version=$release" --format jsonl >/dev/null
done
hlodb ingest examples/dumps/tpu/v5e-jax-0.10.2.tar.xz --format jsonl >/dev/null
show hlodb runs

say "The peak of every program over nine XLA releases"
show hlodb query peak_history -p series=xla-releases -p program=jit_cnn
show hlodb query peak_history -p series=xla-releases

say "What grew between 0.4.35 and 0.5.3"
show hlodb query peak_regressions -p base=jaxlib-0.4.35 -p new=jaxlib-0.5.3

say "What is in memory at the peak of cnn, and from which line"
show hlodb query peak_contents -p run=jaxlib-0.5.3 -p program=jit_cnn -p top=8
show hlodb query peak_by_source_line -p run=jaxlib-0.5.3 -p program=jit_cnn

say "Fragmentation per memory space on TPU v5e"
show hlodb query frag_by_space -p run=v5e-jax-0.10.2

say "Now your own: hlodb ingest DIR; hlodb query; duckdb .demo/demo.duckdb"
