#!/bin/sh
# Where the static libraries alone are installed, pkg-config says all that they need without being asked for it.
# Configuring is enough to see it.
#   check_pkgconfig_static.sh SOURCE_DIR SCRATCH_DIR CMAKE_ARGUMENT...
set -eu
source_dir=$1
scratch=$2
shift 2
cmake -S "$source_dir" -B "$scratch" -DBUILD_SHARED_LIBS=OFF -DNDREDUCE_CUDA=OFF "$@" >/dev/null
for file in "$scratch"/src/ndreduce*.pc; do
  if ! grep -q '^Libs: .*-lndreduce.* -lm' "$file" || ! grep -q '^Libs.private: *$' "$file" ||
    ! grep -q '^Requires.private: *$' "$file"; then
    echo "$file:"
    cat "$file"
    exit 1
  fi
done
