#!/bin/sh
# ndbench's command line: check_ndbench.sh NDBENCH
set -u
ndbench=$1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failures=0
# Where a sanitizer is at work, memory that cannot be had is NULL, as elsewhere.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export ASAN_OPTIONS

# run STATUS ARGUMENT...: runs ndbench, keeps its output and errors, checks its exit status
run() {
  expected=$1
  shift
  command="ndbench $*"
  "$ndbench" "$@" >"$folder/out" 2>"$folder/err"
  status=$?
  if [ "$status" -ne "$expected" ]; then
    echo "$command: exit status $status, expected $expected"
    cat "$folder/err"
    failures=$((failures + 1))
  fi
}

# has out|err PATTERN: some line of what the last run wrote matches
has() {
  if ! grep -q -- "$2" "$folder/$1"; then
    echo "$command: no line of std$1 matches '$2':"
    cat "$folder/$1"
    failures=$((failures + 1))
  fi
}

run 0 --version
has out '^ndbench [0-9]*\.[0-9]*\.[0-9]*$'
run 0 --help
has out '^Usage: ndbench'
has out '^  wide-tall'
run 0 --list
has out '2^8x2^18-axis1 *sum f32 \[256,262144\] /1'
has out 'i8-3-columns *sum i8 \[89478485,3\] /0'

run 0 --list groups
has out '^sum f32 \[8760,[0-9]*\] /0 groups=0:24\[365(0:24)\]$'
has out '^sum f32 \[[0-9]*,180,360\] /1,2 groups=1,2:40\[.*,\.\.\.\]$'
# Many labels are cut where they are printed, and nowhere else.
labels=$(awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%d,", i * i % 7 }')
run 0 -r 1 --json "$folder/rows.json" "sum f32 [3000,40] /0 groups=0:7[$labels]" 'max i8 [9,6] /1 groups=1:2[3(0:2)]'
has out '^sum f32 \[3000,40\] /0 groups=0:7\[[0-9:,x-]*,\.\.\.\] rows '
if ! grep -q '"problem": "max i8 \[9,6\] /1 groups=1:2\[3(0:2)\]", "groups": 2, .*"verified": true' "$folder/rows.json"; then
  echo "$command: the row is not in the file"
  failures=$((failures + 1))
fi
run 0 --explain "sum f32 [3000,40] /0 groups=0:7[$labels]"
has out '^groups  7, in '
has out '^rows '

run 0 --repeat 3 'sum f32 [1000,30] /0' 'argmin,mean f64 [50:-60,60] /1 skipnan'
has out '^sum f32 \[1000,30\] /0 .*[0-9.]*%$'
has out '^argmin,mean f64 \[50:-60,60\] /1 skipnan '
run 0 -r 2 --family scalar --threads 1 'max i8 [100,3] /0'
has out ' scalar '
run 0 -r 2 --no-verify --json "$folder/rows.json" 'std bf16 [64,64] /0'
has out '^std bf16'
if ! grep -q '"problem": "std bf16 \[64,64\] /0".*"verified": false' "$folder/rows.json"; then
  echo "$command: the row is not in the file"
  failures=$((failures + 1))
fi
run 0 -r 2 --json - small
has out '"rows": \['
has out '"name": "64x64-axis0".*"verified": true'
has err '^problem '
if command -v python3 >/dev/null && ! python3 -m json.tool "$folder/out" >/dev/null; then
  echo "$command: not JSON"
  failures=$((failures + 1))
fi
run 0 --device auto -r 2 'sum f32 [100,100] /0'
has out '^sum f32 \[100,100\] /0 .*%'
run 0 --explain 'sum f32 [100,100] /0'
has out '^sum f32 \[100,100\] /0 on cpu:0'
has out '^scalar '

run 0 regret --count 20 --largest 256K --repeat 2 --json "$folder/regret.json"
has out '^20 problems'
has out '^regret: median [1-9]'
has out '^chosen: '
if [ "$(grep -c '"choice": ' "$folder/regret.json")" -ne 20 ]; then
  echo "$command: not 20 rows in the file"
  failures=$((failures + 1))
fi
run 0 regret --measure --count 3 --largest 256K --repeat 2 --json "$folder/measured.json"
if ! grep -q '"planning": "measure"' "$folder/measured.json" || ! grep -q '"planning": "estimate"' "$folder/regret.json"; then
  echo "$command: the file does not say how families were chosen"
  failures=$((failures + 1))
fi
run 0 --measure --explain 'sum f32 [300,300] /0'
has out ', measured '
run 0 regret --count 3 --seed 7 --list
cp "$folder/out" "$folder/three"
run 0 regret --count 5 --seed 7 --list
if ! head -n 3 "$folder/out" | cmp -s - "$folder/three" || [ "$(wc -l <"$folder/out")" -ne 5 ]; then
  echo "$command: problem i does not depend on the seed and i alone"
  failures=$((failures + 1))
fi
run 0 regret --count 500 --explain
if [ "$(grep -c ' on cpu:0 ' "$folder/out")" -ne 500 ]; then
  echo "$command: not every random problem can be planned"
  failures=$((failures + 1))
fi
run 0 regret --largest 4K --repeat 1 --json - heat
has out '"name": "columns-3-2", "problem": "sum f32 \[4,8\] /0", .*"ceiling_gbps": .*"seconds": {"'
if grep -q '"name": "rows-6-6"' "$folder/out"; then
  echo "$command: an array larger than the largest"
  failures=$((failures + 1))
fi
run 0 regret --explain 'sum f32 [100,100] /0'
has out '^sum f32 \[100,100\] /0 on cpu:0'
run 1 regret 'sum f32 [4] /0' 'min f32 [0] /0'
has out '^1 problem, [01] of which'
has err 'min f32 \[0\] /0: min over no elements'

run 0 gauge --count 8 --largest 2M --repeat 2 --threads 2 --json "$folder/gauge.json"
has out '^8 problems'
for kind in compact permuted pitched stepped; do
  has out "^$kind  *any  *2  *[0-9]"
done
has out '^all  *below 32 MiB  *8 '
if [ "$(grep -c '"share": [0-9]' "$folder/gauge.json")" -ne 8 ] || [ "$(grep -c '"kind": "stepped".*"family"' "$folder/gauge.json")" -ne 2 ]; then
  echo "$command: not 8 rows in the file, two of a kind"
  failures=$((failures + 1))
fi
if command -v python3 >/dev/null && ! python3 -m json.tool "$folder/gauge.json" >/dev/null; then
  echo "$command: not JSON"
  failures=$((failures + 1))
fi
# 100 rows of 4 bytes, 400 bytes apart; the sums of the columns of a matrix are all that is written.
run 0 gauge --repeat 1 --json - 'sum f32 [100:100,1:1] /1' 'sum f32 [1000,1000] /0' 'sum f32 [64,1] /1'
has out '"kind": "stepped".*"bytes_read": 6400, "bytes_written": 448, .*"ceiling": "read"'
has out '"kind": "compact".*"bytes_read": 4000000, "bytes_written": 4032, '
has out '"bytes_read": 256, "bytes_written": 256, .*"ceiling": "copy"'
run 0 gauge --count 3 --seed 7 --largest 8M --list
cp "$folder/out" "$folder/three"
run 0 gauge --count 5 --seed 7 --largest 8M --list
if ! head -n 3 "$folder/out" | cmp -s - "$folder/three" || [ "$(wc -l <"$folder/out")" -ne 5 ]; then
  echo "$command: problem i does not depend on the seed and i alone"
  failures=$((failures + 1))
fi
run 0 gauge --count 3 --seed 8 --largest 8M --list
if cmp -s "$folder/out" "$folder/three"; then
  echo "$command: the seed does not matter"
  failures=$((failures + 1))
fi
run 0 gauge --count 500 --explain
if [ "$(grep -c ' on cpu:0 ' "$folder/out")" -ne 500 ]; then
  echo "$command: not every random problem can be planned"
  failures=$((failures + 1))
fi
run 1 gauge --repeat 1 'sum f32 [4] /0' 'min f32 [0] /0'
has out '^1 problem, each'
has err 'min f32 \[0\] /0: min over no elements'
# No loop moves as little as a sum of nothing does.
run 0 gauge --repeat 1 'sum f32 [0] /0'
has out '^1 problem, .*, of which 1 moves too little to say$'
run 0 gauge --repeat 1 'sum f32 [0] /0' 'sum f32 [64,64] /0'
has out '^all  *any  *1 '
if grep -qE 'inf|nan' "$folder/out"; then
  echo "$command: a share that is no number"
  failures=$((failures + 1))
fi

run 1 'min f32 [0] /0'
has out 'FAILED: min over no elements'
run 1 --family nosuch 'sum f32 [4] /0'
has out "FAILED: .*'nosuch'"
run 1 --explain --family nosuch 'sum f32 [4] /0'
has err "'nosuch'"
run 1 'sum f32 [576460752303423488] /0'
has out 'FAILED: '
for path in "$folder/missing/rows.json" "$folder" "$folder/rows.json/"; do
  run 1 --json "$path" -r 1 'sum f32 [4] /0'
  has err "$path: .*folder"
  if [ -s "$folder/out" ]; then
    echo "$command: noticed after the work"
    failures=$((failures + 1))
  fi
done
# A record replaces what was there whole, behind a link, too, and leaves nothing else.
mkdir "$folder/records"
echo old >"$folder/records/rows.json"
chmod 640 "$folder/records/rows.json"
ln -s rows.json "$folder/records/link"
run 0 --json "$folder/records/link" -r 1 'sum f32 [4] /0'
if [ ! -L "$folder/records/link" ] || ! grep -q '"problem"' "$folder/records/rows.json" ||
  [ "$(find "$folder/records" -mindepth 1 | wc -l)" -ne 2 ] || [ "$(stat -c %a "$folder/records/rows.json")" != 640 ]; then
  echo "$command: the record is not what is there now"
  failures=$((failures + 1))
fi
if [ -w /dev/full ]; then
  run 1 --json /dev/full -r 1 'sum f32 [4] /0'
  has err '/dev/full: cannot be written: '
fi
# The longest problem is printed whole.
sizes=$(printf '1:9223372036854775807,%.0s' $(seq 31))2:1
run 0 regret --list "sum,mean,min,max f32 [$sizes] /31"
has out '1:9223372036854775807,2\] /31$'

# The ladder. Without a C++ compiler there is no emulated GPU, and it says so.
run 0 ladder --help
has out '^Usage: ndbench ladder'
run 0 ladder --explain 5
has out '^5\. tree, strided index'
has out 'Bank conflicts'
run 0 ladder --explain all
has out '^1\. one atomic an element'
has out '^n4b\. '
run 0 ladder --explain s3
has out '^s3\. sweeps, padded'
has out 'Bank conflicts: none'
run 0 ladder --explain 14
has out '^14b\.'
run 0 ladder --source 5
has out '^kernels/ladder/ladder\.cuh, line [0-9]*:$'
has out '^/\* Rung 5\. '
has out '^LADDER_KERNEL tree_strided('
if [ "$(sed -n 3p "$folder/out" | cut -c1-12)" != '/* Rung 5. M' ] || [ "$(tail -n 1 "$folder/out")" != '}' ]; then
  echo "$command: not from the comment to the closing brace"
  failures=$((failures + 1))
fi
# Each kernel of the ladders has a text, whose comment names the rung; the rungs of others have none.
for rung in 1 2 3 4 5 6 7 8 9 10 11 12 13 14a 14b a1 a2 a3 a4 a5 a6 a7; do
  run 0 ladder --source "$rung"
  has out "^/\* Rungs* [^.:]*\<${rung%[ab]}\>"
  if [ "$(grep -c LADDER_KERNEL "$folder/out")" -ne 1 ] || [ "$(grep -c '^}$' "$folder/out")" -ne 1 ]; then
    echo "$command: not one function"
    failures=$((failures + 1))
  fi
done
run 0 ladder --source a5
has out '^kernels/ladder/axes\.cuh, line '
run 0 ladder --source 14
has out '^LADDER_KERNEL partials('
has out '^LADDER_KERNEL last_block('
run 0 ladder --source all
if [ "$(grep -c LADDER_KERNEL "$folder/out")" -ne 37 ] || [ -s "$folder/err" ]; then
  echo "$command: not each kernel once"
  failures=$((failures + 1))
fi
# What a kernel calls or follows, where that has the idea, is printed before it.
for rung in s1 s2 s3 s4 s5 s8 c1 c3 c4 q1; do
  run 0 ladder --source "$rung"
  has out "^/\* Rungs* [^.:]*\<$rung\>"
  if [ "$(grep -c '^LADDER_KERNEL\|> LADDER_KERNEL' "$folder/out")" -ne 1 ]; then
    echo "$command: not one kernel"
    failures=$((failures + 1))
  fi
done
run 0 ladder --source s7
has out '^kernels/ladder/scan\.cuh, line '
has out 'LADDER_DEVICE T look_back('
has out '^LADDER_KERNEL scan_looking_back('
run 0 ladder --source c2
has out '^kernels/ladder/select\.cuh, line '
has out 'LADDER_KERNEL mark('
has out 'LADDER_KERNEL scatter('
for rung in 15 16 17 18 a8 a9r a10c n1a s9 s10 c5 c6 q2; do
  run 1 ladder --source "$rung"
  has err "rung $rung, .*, has no text of its own"
done
run 2 ladder --source 19
has err "no rung '19'"
if "$ndbench" ladder --device cpu -n 1 >/dev/null 2>"$folder/err"; then
  run 0 ladder --device cpu -n 3001 --dtype i32 --op max --block 64 --overlap 3
  has out '^max of i32 3001, blocks of 64, OVERLAP 3, counted'
  has out '^1  .* 3001 *0$'
  has out '^14b '
  has out '^Counts are not times'
  has out '^7    two elements on load  *[12]  *[0-9]*  *2 '
  has out '^8    OVERLAP elements on load  *[12]  *[0-9]*  *3 '
  run 0 ladder --device cpu --shape 40x70 --op polynomial --json "$folder/ladder.json" axes
  has out '^a5 '
  if grep -q '^Counts' "$folder/out"; then
    echo "$command: speaks of rungs that it does not print"
    failures=$((failures + 1))
  fi
  if ! grep -q '"rung": "a1".*"shape": "40x70".*"global_sectors": 2[0-9]*,.*"verified": true' "$folder/ladder.json"; then
    echo "$command: the row is not in the file"
    failures=$((failures + 1))
  fi
  run 0 ladder --device cpu -n 3001 --op min --json "$folder/scan.json" scan
  has out '^prefix min of f32 3001, blocks of 256, counted'
  has out '^s1 '
  has out '^s9 .*not emulated'
  if grep -q '^Counts' "$folder/out"; then
    echo "$command: speaks of rungs that it does not print"
    failures=$((failures + 1))
  fi
  if ! grep -q '"ladder": "scan", "rung": "s3".*"shape": "3001".*"bank_conflicts": 0,.*"verified": true' "$folder/scan.json" ||
    grep -q '"rung": "s2".*"bank_conflicts": 0,' "$folder/scan.json"; then
    echo "$command: the padded and the bare sweeps are not in the file"
    failures=$((failures + 1))
  fi
  run 0 ladder --device cpu -n 3001 --keep 10 --keep 100 --json "$folder/select.json" select
  has out '^select of f32 3001, 10 % kept, blocks of 256, counted'
  has out '^select of f32 3001, 100 % kept, '
  has out '^c1 .* 3001 *0$'
  has out '^q1 '
  if ! grep -q '"rung": "c4".*"op": "select".*"keep": 10,.*"global_atomics": 1,.*"verified": true' "$folder/select.json"; then
    echo "$command: the row is not in the file"
    failures=$((failures + 1))
  fi
  run 0 ladder --device cpu --rung s7 -n 1
  has out '^s7 '
  run 0 ladder --device cpu --rung q1 -n 65537 --dtype i32 --keep 0
  has out '^q1 '
  run 0 ladder --device cpu nd
  has out '^nd: '
  if grep -q '^Counts' "$folder/out"; then
    echo "$command: explains columns that it does not print"
    failures=$((failures + 1))
  fi
  run 0 ladder --device cpu --rung n2
  has out '^nd: '
  run 0 ladder --device cpu --rung a6 --shape 3x5
  has out '^a6 '
  run 0 ladder --device cpu --rung 9 -n 500 --json - all
  has out '"rung": "9"'
  if command -v python3 >/dev/null && ! python3 -m json.tool "$folder/out" >/dev/null; then
    echo "$command: not JSON"
    failures=$((failures + 1))
  fi
else
  has err 'no C++ compiler was found'
fi
run 2 ladder --block 100
has err "'100'"
run 2 ladder --block 32
has err "'32'"
run 2 ladder --overlap 0
has err '--overlap'
run 2 ladder --length 0
has err '--length'
run 2 ladder --op mean
has err "'mean'"
run 2 ladder --dtype f16
has err "'f16'"
run 2 ladder --shape 3x axes
has err "'3x'"
run 2 ladder --shape 3x4x5 axes
has err "'3x4x5'"
run 2 ladder --dims 1x2x3x4 nd
has err "'1x2x3x4'"
run 2 ladder --keep 101 select
has err "'101'"
run 2 ladder --keep ten select
has err "'ten'"
run 2 ladder --keep 1 --keep 2 --keep 3 --keep 4 --keep 5 --keep 6 --keep 7 --keep 8 --keep 9 select
has err "8 times, and '9' is one more"
run 2 ladder --device cpu -n 1073741825 select
has err 'select takes 2^30 elements at most, not 1073741825'
run 2 ladder --device cpu --op max select
has err '^ndbench: --op is for reduce, axes, nd and scan, and no such ladder or rung is chosen '
run 2 ladder --device cpu --shape 3x4 scan
has err '^ndbench: --shape is for axes, and no such ladder or rung is chosen '
run 2 ladder --device cpu --shape 3x4
run 2 ladder --device cpu --keep 10 scan
run 2 ladder --device cpu --dims 1x2x3x4x5 axes
run 2 ladder --device cpu --overlap 2 select
run 2 ladder --device cpu --overlap 2 axes nd
has err '^ndbench: --overlap is for rungs 8 to 10 of reduce, and no such ladder or rung is chosen '
run 2 ladder --device cpu --overlap 2 --rung 7
run 2 ladder --device cpu --length 10 axes nd
run 2 ladder --rung s3 reduce select
has err "lack rung 's3'"
run 2 ladder --rung 19
has err "no rung '19'"
run 2 ladder --explain 0
has err "no rung '0'"
run 2 ladder --rung a3 reduce nd
has err "lack rung 'a3'"
run 2 ladder stairs
has err "no ladder 'stairs'"
run 2 ladder --device abacus
has err "'abacus'"
run 1 ladder --device cpu -n 10 --json "$folder/missing/rows.json"
has err 'cannot be written\|no C++ compiler'

run 2
has err 'at least one problem'
one_line() {
  if [ "$(wc -l <"$folder/err")" -ne 1 ]; then
    echo "$command: not one line"
    failures=$((failures + 1))
  fi
}
run 2 'sum f32 [4'
has err "column 11"
one_line
run 2 smal
has err "there is no set 'smal'; there are small, wide-tall, .*, all, and problems like 'sum f32 "
one_line
run 2 --source 5
has err "--source is an option of ndbench ladder, not of ndbench "
run 2 -n 5 small
has err "-n is an option of ndbench ladder, not of ndbench "
run 2 ladder --measure
has err "--measure is an option of ndbench, not of ndbench ladder"
run 2 ladder al
has err "there is no ladder 'al'; there are reduce, .*, all "
run 2 laddr
has err "; the first word may also be ladder "
one_line
run 2 --repeat 0x2 small
has err "'0x2'"
run 2 --seed ' 1' small
has err "' 1'"
run 2 regret --largest 0x10M
has err "'0x10M'"
run 2 --repeat 0 small
has err '--repeat'
run 2 --threads two small
has err "'two'"
run 2 --device abacus small
has err "'abacus'"
run 2 regret --family tile
has err "'tile'"
run 2 regret --largest 1K
has err '--largest'
run 2 regret --largest 12T
has err "'12T'"
run 2 gauge --largest 1M
has err '--largest: .*2M'
run 2 gauge --family tile
has err "'tile'"
run 2 regret --count 0
has err '--count'
run 2 --count 5 small
has err '--count is for regret and gauge'
one_line
run 2 --largest 5M small
has err '--largest is for regret and gauge'
run 2 gauge --count 5 small
has err '--count is for random problems'
run 2 small 'sum f32 [4] /2'
has err 'sum f32 \[4\] /2: dim 2 is out of range for an array of 1 dim'
one_line
run 2 --nosuch small
has err "'--nosuch'"
# Options are read as h5gpured's are: once each, cut short where that is unique, a wrong one with what is near.
run 2 --repeat 2 -r 3 small
has err "--repeat is given twice, as '2' and as '3' (see ndbench --help)"
run 2 --see 3 --thread
has err '--threads needs a value: --threads N'
run 2 --measrue small
has err "no option '--measrue'; --measure is near"
run 2 --explain=yes small
has err '--explain takes no value'
run 2 ladder --overlpa 3
has err "no option '--overlpa'; --overlap is near (see ndbench ladder --help)"
run 2 ladder --block 64 --block 128
has err '--block is given twice'
run 2 ladder --op men
has err "no --op 'men'; there are min, "
run 2 ladder --family tile
has err "--family is an option of ndbench"
run 0 --list -- small
has out '^sum f32 \[64,64\] /0$'
if grep -q '4096' "$folder/out"; then echo "$command: prints other sets" && failures=$((failures + 1)); fi
run 2 --list foo
has err "no set 'foo'"
run 2 --threads 0 small
has err "from 1 to"
run 2 --device abacus small
has err "not 'abacus'"
if ! nvidia-smi -L >/dev/null 2>&1; then
  run 1 --device cuda 'sum f32 [4] /0'
  has err 'cuda'
fi

[ "$failures" -eq 0 ] || exit 1
