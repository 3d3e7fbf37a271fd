#!/bin/sh
# The device tests under compute-sanitizer, on a small fixed selection: sanitize.sh FOLDER [TOOL...]
# FOLDER holds the test programs; tools are memcheck, racecheck, initcheck and synccheck, all if none is named.
# The last line says how many runs passed and failed. NDR_TEST_SECONDS in the environment is how long each random test goes on:
# with 60 there are hundreds of problems a program.
set -u
folder=$1
shift
[ $# -gt 0 ] || set -- memcheck racecheck initcheck synccheck
sanitizer=${COMPUTE_SANITIZER:-compute-sanitizer}
if ! command -v "$sanitizer" >/dev/null; then sanitizer=/usr/local/cuda/bin/compute-sanitizer; fi
if ! command -v "$sanitizer" >/dev/null; then
  echo 'skipped: compute-sanitizer is not installed'
  exit 77
fi
said=$("$folder/test_cuda_memory" 2>&1)
if [ $? -eq 77 ]; then
  echo "$said"
  exit 77
fi

passed=0
failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
NDR_TEST_SUBSET=1
export NDR_TEST_SUBSET

# check TOOL PROGRAM ARGUMENT...: the program itself must pass too
check() {
  tool=$1
  program=$2
  shift 2
  started=$(date +%s)
  if "$sanitizer" --tool "$tool" --error-exitcode 9 \
    "$folder/$program" "$@" >"$log" 2>&1; then
    passed=$((passed + 1))
    echo "$tool $program $*: passed, $(($(date +%s) - started)) s"
  else
    failed=$((failed + 1))
    echo "$tool $program $*: FAILED, $(($(date +%s) - started)) s"
    head -n 60 "$log"
  fi
}

for tool in "$@"; do
  for dtype in ${NDR_TEST_DTYPES:-f32 f16 i8 c64 f64}; do check "$tool" test_cuda_oracle "$dtype"; done
  check "$tool" test_cuda_states
  check "$tool" test_cuda_programs
  check "$tool" test_cuda_streams
  check "$tool" test_cuda_groups
  check "$tool" test_cuda_scans
  check "$tool" test_cuda_select
  if [ -x "$folder/test_cuda_ranks" ]; then check "$tool" test_cuda_ranks; fi
  if [ -x "$folder/test_cuda_convert" ]; then check "$tool" test_cuda_convert; fi
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
