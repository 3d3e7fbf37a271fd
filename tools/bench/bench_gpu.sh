#!/bin/sh
# Measures the GPU backend and records it: bench_gpu.sh [-b BUILD] [PART...]
# BUILD is a build with CUDA (default build/cuda). Writes data/bench/gpu-PART.json for each part that is named, or for all:
#   sweep, peers, odd, small
#                        wide against tall, the cases of the comparison, the same at odd widths, arrays that fit in a cache:
#                        ndbench's sets with CUB and cuBLAS, and what bench_peers.py finds of PyTorch, its inductor, XLA (JAX) and CuPy
#   operators            masks, weights and operators of one's own, beside the same libraries (bench_operators.py)
#   groups               sums by group, beside PyTorch, XLA and CuPy (bench_groups.py)
#   scans                running sums and selections, beside the same (bench_scans.py)
#   gauge                random problems beside what the machine allows
#   gpu, ops, dtypes     ndbench's sets of layouts at 1 GiB, of operators and of dtypes
#   regret               what the planner's choices lose, on random problems
#   regret-measured      the same where NDR_MEASURE chooses
#   heat                 every family over outputs and reduced length
#   ladder               the reductions, prefix sums and selections that are taught
# tools/bench/report.sh makes README's tables and plots from these. PYTHON names the Python that has the peers. The commit is the one
# that was built; a copy of the tree without its history is built with NDREDUCE_COMMIT in the environment.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=$root/build/cuda
output=${OUTPUT:-$root/data/bench}
python=${PYTHON:-python3}

if [ "${1-}" = -b ]; then
  build=${2:?-b needs a folder}
  shift 2
fi
[ $# -gt 0 ] || set -- sweep peers odd small operators groups scans gauge gpu ops dtypes regret regret-measured heat ladder
ndbench=$build/tools/ndbench
[ -x "$ndbench" ] || {
  echo "bench_gpu.sh: $ndbench is not there: cmake --preset cuda -G Ninja && cmake --build --preset cuda" >&2
  exit 1
}
mkdir -p "$output"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# ndbench's record of a part. A row that failed is in it, as such; a run that could not start leaves what was there.
measure() { # PART ARGUMENT...
  record=$output/gpu-$1.json
  shift
  "$ndbench" "$@" --device cuda --json "$folder/record" || failed=1
  [ -s "$folder/record" ] || return 1
  cat "$folder/record" >"$record"
  rm "$folder/record"
}

# The same with the peers of Python added to it, as far as there are any.
measure_peers() { # SCRIPT SET OPTION...
  script=$1
  set=$2
  shift 2
  measure "$set" "$set" || return 1
  "$python" "$root/tools/bench/$script" --library "$build/src/libndreduce.so" "$@" "$output/gpu-$set.json"
}

for part in "$@"; do
  echo "== $part"
  started=$(date +%s)
  case $part in
  sweep) measure_peers bench_peers.py sweep --inductor-every 2 ;;
  peers | odd | small) measure_peers bench_peers.py "$part" ;;
  operators) measure_peers bench_operators.py operators ;;
  groups) measure_peers bench_groups.py groups ;;
  scans) "$python" "$root/tools/bench/bench_scans.py" --build "$build" "$output/gpu-scans.json" ;;
  gauge) measure gauge gauge ;;
  regret) measure regret regret --seed 10 ;; # not one of those that the weights are fitted to
  regret-measured) measure regret-measured regret --seed 10 --measure ;;
  heat) measure heat regret --repeat 7 heat ;;
  ladder) measure ladder ladder all ;;
  *) measure "$part" "$part" ;;
  esac || failed=1
  echo "$part: $(($(date +%s) - started)) s"
done
exit $failed
