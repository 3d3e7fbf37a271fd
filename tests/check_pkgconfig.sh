#!/bin/sh
# Builds the outside program with what pkg-config says of the installed library, and runs it.
#   check_pkgconfig.sh shared|static PREFIX SOURCE SCRATCH_DIR
set -eu
libraries=$(dirname "$(find "$2" -name 'libndreduce.so' | head -n 1)")
PKG_CONFIG_PATH=$libraries/pkgconfig
LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH LD_LIBRARY_PATH
package=ndreduce
pkg-config --exists ndreduce_h5 && package=ndreduce_h5
scratch=$4/$1
mkdir -p "$scratch"
program=$scratch/outside

case $1 in
shared)
  flags=$(pkg-config --cflags --libs $package)
  folder=$libraries
  ;;
static) # a folder that the linker searches first, with nothing in it but the static library
  flags=$(pkg-config --static --cflags --libs $package)
  folder=$scratch
  cp "$libraries"/libndreduce*.a "$folder"
  ;;
esac
for flag in $flags; do
  case $flag in
  *.so | *.so.* | *.a) echo "$flag is one library's path: the linker cannot choose" && exit 1 ;;
  esac
done
# The program's search path is not that of its libraries: libndreduce_h5 has to find libndreduce itself.
if [ "$1:$package" = shared:ndreduce_h5 ]; then
  # shellcheck disable=SC2086 # flags are split at blanks on purpose
  ${CC:-cc} "$(dirname "$3")/h5_alone.c" -o "$scratch/h5_alone" -Wl,--as-needed $flags -Wl,-rpath,"$libraries"
  env -u LD_LIBRARY_PATH "$scratch/h5_alone"
fi
# shellcheck disable=SC2086 # flags are split at blanks on purpose
${CC:-cc} "$3" -o "$program" -L"$folder" $flags
# Who has arrays alone loads no HDF5, nor what that needs.
others=$(ldd "$libraries/libndreduce.so" | sed 's/ .*//; s/^[[:space:]]*//' |
  grep -v -E '^(linux-vdso|/lib.*/ld-linux|lib(m|c|dl|rt|pthread|asan|gcc_s))[-.]' || true)
if [ -n "$others" ]; then echo "libndreduce.so needs $others" && exit 1; fi
uses_shared=$(ldd "$program" | grep -c libndreduce || true)
"$program"
case $1:$uses_shared in
shared:[12] | static:0) ;;
*) echo "the $1 program names libndreduce.so $uses_shared times" && exit 1 ;;
esac
