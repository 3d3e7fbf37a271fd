#!/bin/sh
# The pages must not promise what does not happen. Their ```c and ```python blocks are written to the files that their first
# lines name; their ```console blocks are typed in again, in order and in one folder, and must print what they show.
#   check_readme.sh SOURCE_DIR PREFIX SCRATCH_DIR     PREFIX is where the project is installed
set -eu
prefix=$(realpath "$2")
source_dir=$(realpath "$1")
rm -rf "$3"
mkdir -p "$3"
cd "$3"

awk '
  /^```/ && !inside { inside = 1; language = substr($0, 4); lines = 0; if (language == "console") ++blocks; next }
  /^```/ { inside = 0; next }
  !inside { next }
  language == "c" || language == "python" {
    if (!lines++) { match($0, /[a-z_0-9]+\.(c|py)/); file = substr($0, RSTART, RLENGTH) }
    print > file
  }
  language == "console" {
    if (sub(/^\$ /, "")) { name = sprintf("step%03d", ++steps); print > (name ".sh"); printf "" > (name ".expected") }
    else print > (name ".expected")
  }
' "$source_dir/README.md" "$source_dir/tools/h5gpured/README.md" "$source_dir/tools/ladder/README.md"

libraries=$(dirname "$(find "$prefix" -name 'libndreduce.so' | head -n 1)")
PATH=$prefix/bin:$PATH
PKG_CONFIG_PATH=$libraries/pkgconfig
LD_LIBRARY_PATH=$libraries
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH
ln -s "$source_dir/data" data
# Debian's Python has what Debian's packages bring, whatever else is called python3.
mkdir bin
if ! python3 -c 'import numpy' 2>/dev/null && /usr/bin/python3 -c 'import numpy' 2>/dev/null; then
  ln -s /usr/bin/python3 bin
fi
PATH=$PWD/bin:$PATH

failed=0
steps=0
for step in step*.sh; do
  name=${step%.sh}
  if grep -q '^c++ ' "$step" && ! command -v c++ >/dev/null; then continue; fi
  if grep -q '^python3 ' "$step" && ! python3 -c 'import numpy' 2>/dev/null; then continue; fi
  steps=$((steps + 1))
  sh "$step" >"$name.actual" 2>&1 || true
  if ! diff -u --label 'the page says' "$name.expected" --label 'the command says' "$name.actual"; then
    failed=1
    echo "in: $(cat "$step")"
  fi
done
echo "$steps commands"
exit $failed
