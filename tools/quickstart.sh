#!/bin/sh
# Sets up, builds, and reduces a dataset: the first thing to run in a new clone. Works on a Debian 12 with nothing
# installed; elsewhere it says what it needs.
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

install_missing "$build_needs"
if [ -n "$missing" ]; then
  echo "Cannot build without: $missing" >&2
  exit 1
fi

# GPU kernels only for the GPU that is here: compiling them for all takes long.
gpu='-DNDREDUCE_CUDA=OFF'
if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then gpu='-DCMAKE_CUDA_ARCHITECTURES=native'; fi

build=${NDREDUCE_BUILD:-build}/quickstart
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building in $build ..."
if ! {
  cmake --preset release -B "$build" -DNDREDUCE_HDF5=ON -DNDREDUCE_TESTS=OFF $gpu && cmake --build "$build"
} >"$log" 2>&1; then
  tail -n 40 "$log" >&2
  echo "The build failed." >&2
  exit 1
fi

show() {
  printf '\n$ h5gpured %s\n' "$*"
  "$build/tools/h5gpured" "$@"
}
show --list data/ocean.nc
show --op mean --dims time data/ocean.nc
show --op min,max,mean data/ocean.nc
