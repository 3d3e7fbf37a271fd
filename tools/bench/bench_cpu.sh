#!/bin/sh
# Measures the CPU backend beside NumPy and records it: bench_cpu.sh [--force] [groups|operators|SET|PROBLEM...]
# Builds a release, times the sets (cpu, dtypes and small, if none is named), and writes data/bench/cpu.json.
# With `groups` alone it times sums by group beside PyTorch, XLA, flox, numbagg and NumPy (bench_groups.py), as far as PYTHON has
# them, and writes cpu-groups.json. With `operators` alone, masks, weights and operators of one's own beside PyTorch, its inductor,
# XLA, NumPy and numexpr (bench_operators.py): cpu-operators.json. Their results are compared with PyTorch's.
# Refuses on a busy machine unless forced: the numbers would be those of its other work.
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
build=${BUILD:-$root/build/bench}
python=${PYTHON:-python3}

force=no
if [ "${1-}" = --force ]; then
  force=yes
  shift
fi
[ $# -gt 0 ] || set -- cpu dtypes small
name=cpu
case $* in
groups | operators)
  name=cpu-$1
  set -- "$name"
  ;;
esac
output=${OUTPUT:-$root/data/bench/$name.json}

if [ "$force" = no ] && awk '{ exit !($1 > 0.3) }' /proc/loadavg; then
  echo "bench_cpu.sh: the machine is busy ($(cat /proc/loadavg)); wait, or say --force" >&2
  exit 1
fi
"$python" -c 'import numpy' || {
  echo "bench_cpu.sh: $python has no NumPy (Debian: python3-numpy)" >&2
  exit 1
}

cmake -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DNDREDUCE_BUILD_TESTS=OFF -DNDREDUCE_CUDA=OFF \
  -DNDREDUCE_HDF5=OFF >/dev/null
cmake --build "$build" --target ndreduce_ndbench --parallel >/dev/null
sleep 2 # the compilers' share of the processor's heat and cache

mkdir -p "$(dirname "$output")"
record=$(mktemp)
trap 'rm -f "$record"' EXIT
unchecked=
[ "$name" = cpu-operators ] && unchecked=--no-verify # the scalar reference takes minutes; bench_operators.py checks
"$build/tools/ndbench" $unchecked --json "$record" "$@"
if [ "$name" = cpu ]; then
  "$python" "$root/tools/bench/bench_numpy.py" "$record" "$output"
else
  "$python" "$root/tools/bench/bench_${name#cpu-}.py" --library "$build/src/libndreduce.so" "$record"
  cat "$record" >"$output"
fi
echo "written: $output"
