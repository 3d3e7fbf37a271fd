#!/bin/sh
# Builds libndreduce_mpi and its tests with one MPI, and runs them with several numbers of ranks.
#   run.sh openmpi|mpich SOURCE_DIR LIBNDREDUCE SCRATCH_DIR [COMPILER_FLAGS...]
set -eu
kind=$1
source_dir=$2
library=$3
scratch=$4
shift 4
if ! command -v "mpicc.$kind" >/dev/null; then
  echo "skipped: mpicc.$kind was not found (Debian: libopenmpi-dev and openmpi-bin, libmpich-dev and mpich)"
  exit 77
fi
mkdir -p "$scratch"
folder=$(realpath "$scratch")
LD_LIBRARY_PATH=$folder:${library%/*}
export LD_LIBRARY_PATH
set -- -std=c11 -D_GNU_SOURCE -O1 -Wall -Wextra -Wpedantic -Werror -I"$source_dir/include" -I"$source_dir/src" -I"$source_dir/tests" "$@"
support="$source_dir/tests/support/threads_comm.c $source_dir/tests/support/random.c"
# shellcheck disable=SC2086 # lists are split at blanks on purpose
{
  "mpicc.$kind" "$@" -fPIC -shared -fvisibility=hidden "$source_dir"/src/mpi/*.c -o "$folder/libndreduce_mpi.so"
  "mpicc.$kind" "$@" mpi/ranks.c $support -L"$folder" -lndreduce_mpi "$library" -o "$folder/ranks"
  ${CC:-cc} "$@" mpi/loaded.c "$library" -ldl -o "$folder/loaded"
}

run() { # RANKS PROGRAM ARGUMENT...
  ranks=$1
  shift
  case $kind in
  openmpi)
    OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_rmaps_base_oversubscribe=1 \
      timeout 120 mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$@"
    ;;
  *) timeout 120 mpiexec.mpich -n "$ranks" "$@" ;;
  esac
}

for ranks in 1 2 3 5; do
  run "$ranks" "$folder/ranks" "$ranks"
  run "$ranks" "$folder/loaded" "$folder/libndreduce_mpi.so" "$ranks"
done
status=0
run 3 "$folder/loaded" "$folder/libndreduce_mpi.so" 3 abort 2>/dev/null || status=$?
if [ $status -eq 0 ] || [ $status -eq 124 ]; then echo "one rank aborts: status $status" && exit 1; fi
