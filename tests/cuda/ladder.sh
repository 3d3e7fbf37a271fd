#!/bin/sh
# Every rung of the ladders on a GPU, over odd lengths and shapes: ladder.sh NDBENCH DTYPE...
# ndbench checks each result, before and after it has been timed, and its exit status says whether all were right.
set -u
ndbench=$1
shift
said=$("$ndbench" ladder --device cuda -n 1 --rung 12 2>&1) || case $said in
*'no CUDA device'*)
  echo "skipped: $said"
  exit 77
  ;;
esac

failures=0
# climb ARGUMENT...: the ladder with these arguments; what failed is shown
climb() {
  said=$("$ndbench" ladder --device cuda --repeat 1 "$@" 2>&1) || {
    echo "ndbench ladder $*:"
    echo "$said" | grep -E 'FAILED|^ndbench' || echo "$said"
    failures=$((failures + 1))
  }
}

for dtype in "$@"; do
  for op in sum prod min max polynomial; do
    climb --dtype "$dtype" --op $op --length 300007 --shape 257x1031 --shape 1x70001 --shape 70001x1 \
      --dims 7x6x5x9x11 all
  done
done
# Where blocks wait for each other, many times more of them than run at once; and every length around a warp, a block and
# a tile.
for dtype in "$@"; do
  climb --dtype "$dtype" --length 20000003 --keep 0 --keep 37 --keep 100 scan select
  for length in 1 31 33 1023 1025 4095 4097 65537; do
    climb --dtype "$dtype" --length $length --keep 50 scan select
  done
done
dtype=$1
for block in 64 128 512 1024; do
  climb --dtype "$dtype" --block $block --overlap 3 --length 100003 reduce scan select
done
climb --dtype "$dtype" --length 1 --shape 1x1 --dims 1x1x1x1x1 all
climb --dtype "$dtype" --length 33 --overlap 1024 --block 1024
[ $failures -eq 0 ]
