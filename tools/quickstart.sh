#!/bin/sh
# Sets up, builds, and reduces a dataset: the first thing to run in a new clone. Works on a Debian 12 or 13 with nothing
# installed; elsewhere it says what it needs.
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

install_missing "$build_needs"
[ -z "$missing" ] || exit 1

# GPU kernels only for the GPU that is here: compiling them for all takes long.
gpu='-DNDREDUCE_CUDA=OFF'
if command -v nvcc >/dev/null && nvidia-smi >/dev/null 2>&1; then gpu='-DCMAKE_CUDA_ARCHITECTURES=native'; fi

build=${NDREDUCE_BUILD:-build}/quickstart
log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Building in $build ..."
if ! {
  cmake -B "$build" -DNDREDUCE_HDF5=ON -DNDREDUCE_BUILD_TESTS=OFF $gpu && cmake --build "$build" --parallel "$(nproc)"
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

tool=$build/tools/h5gpured
cat <<END

The tool is $tool; on a file of yours:
    $tool --list FILE
    $tool --op mean --dims 0 FILE:/DATASET
    $tool --help
    man -l tools/h5gpured/h5gpured.1        (Debian: man-db)
README.md says the rest: the library from C, and how to install all of it.
END
