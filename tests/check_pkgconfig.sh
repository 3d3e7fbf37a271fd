#!/bin/sh
# Builds the outside program with what pkg-config says of the installed library, and runs it.
#   check_pkgconfig.sh shared|static PREFIX SOURCE SCRATCH_DIR
set -eu
libraries=$(dirname "$(find "$2" -name 'libndreduce.so' | head -n 1)")
PKG_CONFIG_PATH=$libraries/pkgconfig
LD_LIBRARY_PATH=$libraries
export PKG_CONFIG_PATH LD_LIBRARY_PATH
mkdir -p "$4"
program=$4/outside_$1

case $1 in
shared) flags=$(pkg-config --cflags --libs ndreduce) ;;
static) flags=$(pkg-config --static --cflags --libs ndreduce | sed 's/-lndreduce/-l:libndreduce.a/') ;;
esac
# shellcheck disable=SC2086 # flags are split at blanks on purpose
${CC:-cc} "$3" -o "$program" $flags
uses_shared=$(ldd "$program" | grep -c libndreduce || true)
"$program"
case $1:$uses_shared in
shared:1 | static:0) ;;
*) echo "the $1 program names libndreduce.so $uses_shared times" && exit 1 ;;
esac
