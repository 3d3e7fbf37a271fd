#!/bin/sh
# The example that a public header opens with is compiled against the installed library and run; it must print what its
# comments "// prints ..." say. It must compile as C++20, too, where there is a compiler of that.
#   check_examples.sh SOURCE_DIR PREFIX SCRATCH_DIR     PREFIX is where the project is installed
set -eu
source_dir=$(realpath "$1")
libraries=$(dirname "$(find "$2" -name 'libndreduce.so' | head -n 1)")
PKG_CONFIG_PATH=$libraries/pkgconfig
LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH LD_LIBRARY_PATH
mkdir -p "$3"
scratch=$(realpath "$3")
cd "$scratch" # where examples write files, and read some of data/
ln -sfn "$source_dir/data" data

cxx=${CXX:-c++}
failed=0
for header in "$2"/include/ndreduce/*.h; do
  name=$(basename "$header" .h)
  package=ndreduce
  case $name in h5*) package=ndreduce_h5 ;; esac
  own_flags='' own_libraries=''
  if [ "$name" = mpi ]; then package='ndreduce ndreduce_mpi' own_flags=$MPI_FLAGS own_libraries=$MPI_LIBRARIES; fi
  {
    printf '#include <ndreduce/%s.h>\n#include <stdio.h>\nint main(void) {\n' "$name"
    awk '/\*\// { exit } /^ \*   / { sub(/^ \*   /, ""); print; inside = 1; next } inside { exit }' "$header"
    printf 'return 0;\n}\n'
  } >"$scratch/$name.c"
  sed -n 's|.*// prints ||p' "$scratch/$name.c" >"$scratch/$name.expected"
  # shellcheck disable=SC2046,SC2086 # flags are split at blanks on purpose
  if ! { ${CC:-cc} -Wall -Wextra -Werror "$scratch/$name.c" -o "$scratch/$name" $(pkg-config --cflags --libs $package) $own_flags $own_libraries &&
    "$scratch/$name" >"$scratch/$name.actual" 2>&1 && [ -s "$scratch/$name.expected" ] &&
    diff -u --label "$name.h says" "$scratch/$name.expected" --label 'it prints' "$scratch/$name.actual"; }; then
    echo "the first example of $name.h does not work"
    failed=1
  fi
  # shellcheck disable=SC2046,SC2086
  if echo 'auto f = [] {};' | "$cxx" -x c++ -std=c++20 -fsyntax-only - 2>/dev/null &&
    ! "$cxx" -x c++ -std=c++20 -fsyntax-only -Wall -Wextra -Werror "$scratch/$name.c" $(pkg-config --cflags $package) $own_flags; then
    echo "the first example of $name.h is no C++"
    failed=1
  fi
done
exit $failed
