#!/bin/sh
# What is installed for CMake and pkg-config names no folder of the machine that it was built on: it is packed there, and
# used elsewhere.
#   check_installed_paths.sh PREFIX
set -eu
files=$(find "$1" -name '*.cmake' -o -name '*.pc')
[ -n "$files" ] || { echo "nothing is installed in $1" && exit 1; }
# An absolute path stands at the start of a word; one behind a variable is relative to that.
# shellcheck disable=SC2086 # names without blanks
if grep -nE "(^|[\"' =;(]|-[IL])/[A-Za-z]" $files; then
  echo 'these are paths of the machine that built it'
  exit 1
fi
