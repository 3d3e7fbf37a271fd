#!/bin/sh
# Builds the outside program with what pkg-config says of the installed library, and runs it.
#   check_pkgconfig.sh shared|static PREFIX SOURCE SCRATCH_DIR
set -eu
libraries=$(dirname "$(find "$2" -name 'libndreduce.so' | head -n 1)")
PKG_CONFIG_PATH=$libraries/pkgconfig
LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH LD_LIBRARY_PATH
scratch=$4/$1
mkdir -p "$scratch"
program=$scratch/outside

case $1 in
shared)
  flags=$(pkg-config --cflags --libs ndreduce)
  folder=$libraries
  ;;
static) # a folder that the linker searches first, with nothing in it but the static library
  flags=$(pkg-config --static --cflags --libs ndreduce)
  folder=$scratch
  cp "$libraries/libndreduce.a" "$folder"
  ;;
esac
for flag in $flags; do
  case $flag in
  *.so | *.so.* | *.a) echo "$flag is one library's path: the linker cannot choose" && exit 1 ;;
  esac
done
# shellcheck disable=SC2086 # flags are split at blanks on purpose
${CC:-cc} "$3" -o "$program" -L"$folder" $flags
uses_shared=$(ldd "$program" | grep -c libndreduce || true)
"$program"
case $1:$uses_shared in
shared:1 | static:0) ;;
*) echo "the $1 program names libndreduce.so $uses_shared times" && exit 1 ;;
esac
