#!/bin/sh
# Compiles each public header alone, as C11 and as C++17, with every compiler that is here.
#   check_headers.sh SOURCE_DIR [COMPILER_FLAGS...]
set -eu
include=$1/include
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
echo "$compiled compilations"
[ $compiled -gt 0 ] && [ $failed -eq 0 ]
