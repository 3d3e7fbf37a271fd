#!/bin/sh
# Compiles each public header alone, as C11 and as C++17, with every compiler that is here, and runs what a header has
# for C++ (cxx.cpp) by each standard from C++14 on.
#   check_headers.sh SOURCE_DIR LIBNDREDUCE [COMPILER_FLAGS...]
set -eu
include=$1/include
library=$2
shift 2
flags=${1:--I.}
compiled=0
failed=0
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

check() { # COMPILER LANGUAGE STANDARD
  command -v "$1" >/dev/null || return 0
  for header in "$include"/ndreduce/*.h; do
    name=ndreduce/${header##*/}
    compiled=$((compiled + 1))
    # mpi.h finds MPI where the tests of mpi/ compile it; here it has to do without.
    echo "#define NDR_MPI_LOADED
#include <$name>" | "$1" -x "$2" -std="$3" -I"$include" "$flags" -fsyntax-only -Wall -Wextra -Wpedantic \
      -Wshadow -Wundef -Werror - || { failed=1 && echo "$name does not compile alone with $1 -std=$3"; }
  done
}

run_cxx() { # COMPILER STANDARD
  command -v "$1" >/dev/null || return 0
  compiled=$((compiled + 1))
  if ! "$1" -std="$2" -I"$include" "$flags" -Wall -Wextra -Wpedantic -Wshadow -Werror cxx.cpp "$library" \
    -Wl,-rpath,"${library%/*}" -o "$folder/cxx" || ! "$folder/cxx"; then
    failed=1 && echo "cxx.cpp fails with $1 -std=$2"
  fi
}

for compiler in gcc clang; do check $compiler c c11; done
for compiler in g++ clang++; do
  check $compiler c++ c++17
  for standard in c++14 c++17 c++20; do run_cxx $compiler $standard; done
done
echo "$compiled compilations"
[ $compiled -gt 0 ] && [ $failed -eq 0 ]
