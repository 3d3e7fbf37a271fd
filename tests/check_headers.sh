#!/bin/sh
# Compiles each public header alone, as C11 and as C++17, with every compiler that is here, and runs what C++ has in place
# of ndr_tensor under AddressSanitizer.
#   check_headers.sh SOURCE_DIR [COMPILER_FLAGS...]
set -eu
source=$1
include=$source/include
shift
compiled=0
failed=0

check() { # COMPILER LANGUAGE STANDARD
  command -v "$1" >/dev/null || return 0
  for header in "$include"/ndreduce/*.h; do
    name=ndreduce/${header##*/}
    compiled=$((compiled + 1))
    echo "#include <$name>" | "$1" -x "$2" -std="$3" -I"$include" "$flags" -fsyntax-only -Wall -Wextra -Wpedantic \
      -Wshadow -Wundef -Werror - || { failed=1 && echo "$name does not compile alone with $1 -std=$3"; }
  done
}

flags=${1:--I.}
for compiler in gcc clang; do check $compiler c c11; done
for compiler in g++ clang++; do check $compiler c++ c++17; done

run_array() { # C_COMPILER CXX_COMPILER
  if ! command -v "$1" >/dev/null || ! command -v "$2" >/dev/null; then return 0; fi
  for file in api/tensor core/types core/status; do
    "$1" -std=gnu11 -I"$source/src" -I"$include" "$flags" -fsanitize=address -c "$source/src/$file.c" \
      -o "$folder/${file##*/}.o"
  done
  if ! "$2" -std=c++17 -I"$include" "$flags" -fsanitize=address -Wall -Wextra -Wpedantic -Werror array.cpp \
    "$folder"/*.o -lm -o "$folder/array" || ! "$folder/array"; then
    failed=1 && echo "ndr_array does not work with $2"
  fi
  if "$2" -std=c++17 -DOF_C -I"$include" "$flags" -fsyntax-only array.cpp 2>"$folder/errors" ||
    ! grep -q ndr_tensor "$folder/errors"; then
    failed=1 && echo "$2 takes ndr_tensor, whose shape ends with the statement"
  fi
  compiled=$((compiled + 2))
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
run_array gcc g++
run_array clang clang++
echo "$compiled compilations"
[ $compiled -gt 0 ] && [ $failed -eq 0 ]
