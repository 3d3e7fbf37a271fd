#!/bin/sh
# bits.py finds a library the same as itself, and a list of results with one hash changed another: check_bits.sh LIBRARY FOLDER
set -eu
cd "$(dirname "$0")"
library=$1
folder=$2
mkdir -p "$folder"
bits() { /usr/bin/python3 -B bits.py --cases 150 --most 100000 "$@"; }

if ! /usr/bin/python3 -c 'import numpy' 2>/dev/null; then echo 'skipped: python3-numpy is not installed' && exit 77; fi
bits "$library" >"$folder/before"
bits "$folder/before" "$library"
sed '100s/^[^ ]*/0123456789abcdef/' "$folder/before" >"$folder/after"
if bits "$folder/before" "$folder/after" >"$folder/said"; then echo 'a hash that differs was not seen' && exit 1; fi
grep -q '^not the same: .*: [^ ]*, 0123456789abcdef$' "$folder/said"
if bits "$folder/before" /dev/null >"$folder/said" 2>&1; then echo 'a list that ends early was not seen' && exit 1; fi
