#!/bin/sh
# Measures the GPU backend and records it: bench_gpu.sh [NDBENCH [SET...]]
# Times each set (wide-tall, gpu, ops, dtypes, small, if none is named) with the ndbench given (build/cuda/tools/ndbench)
# and writes data/bench/gpu-SET.json; tools/report.py makes README's tables and plot from these.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
ndbench=${1:-$root/build/cuda/tools/ndbench}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- wide-tall gpu ops dtypes small
output=${OUTPUT:-$root/data/bench}

[ -x "$ndbench" ] || {
  echo "bench_gpu.sh: $ndbench is not there: cmake --preset cuda && cmake --build --preset cuda" >&2
  exit 1
}
mkdir -p "$output"
record=$(mktemp)
trap 'rm -f "$record"' EXIT
failed=0
for set in "$@"; do
  # A row that failed is in the record, as such; a run that could not start leaves what was there.
  : >"$record"
  "$ndbench" --device cuda --json "$record" "$set" || failed=1
  [ -s "$record" ] || exit 1
  cat "$record" >"$output/gpu-$set.json"
  echo "written: $output/gpu-$set.json"
done
exit $failed
