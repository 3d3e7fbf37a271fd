#!/bin/sh
# Sets up and runs the test suite: the stage release, those that are named, or `all`:
#   release   warnings as errors, the system's compiler; unit, CLI, layering, header, package and README tests; the GPU
#             kernels on an emulated machine, but for those that asan has, too, where that is run
#   asan      AddressSanitizer and UndefinedBehaviorSanitizer, clang, a sixteenth of the random cases; the emulated kernels too
#   tsan      ThreadSanitizer, clang, the tests that use threads, a sixteenth of the random cases
#   bare      without HDF5 and CUDA, ndbench without OpenMP: it builds, ndbench runs, and programs find the package
#   fuzz      clang; all libFuzzer targets at once, for NDREDUCE_FUZZ_SECONDS (60), from tests/corpus, under both sanitizers
#   cuda      the CUDA backend compiles and links, where there is nvcc; device tests where there is a GPU
#   format    clang-format has nothing to change
#   tidy      clang-tidy has nothing to say
#   shell     shellcheck has nothing to say
# The last line is "N passed, M failed, K skipped"; what was skipped is listed above it, with the reason.
set -eu
cd "$(dirname "$0")/.."
. tools/setup.sh

build=${NDREDUCE_BUILD:-build}
jobs=$(nproc)
passed=0
failed=0
skipped=0
summary=''
skips=''

note() { # STAGE OUTCOME
  summary="$summary$(printf '%-8s %4ds  %s' "$1" $(($(date +%s) - started)) "$2")
"
}

stage_passed() { # STAGE WHAT
  passed=$((passed + 1))
  note "$1" "passed: $2"
}

stage_failed() { # STAGE WHY
  failed=$((failed + 1))
  note "$1" "FAILED: $2"
}

stage_skipped() { # STAGE WHY
  skipped=$((skipped + 1))
  skips="$skips$1: $2
"
  note "$1" "skipped: $2"
}

# One number of ctest's JUnit report.
count_of() { # ATTRIBUTE REPORT
  sed -n "s/^[[:space:]<a-z]*$1=\"\([0-9]*\)\".*/\1/p" "$2" | head -n 1
}

# The skipped tests of a report, each with the last line that it printed.
skips_of() { # STAGE REPORT
  awk -v stage="$1" '
    /<testcase / { match($0, /name="[^"]*"/); name = substr($0, RSTART + 6, RLENGTH - 7); skip = 0; said = "" }
    /<skipped/ { skip = 1 }
    skip && /<system-out>/ { out = 1; sub(/.*<system-out>/, "") }
    out { line = $0; sub(/<\/system-out>.*/, "", line); if (line != "") said = line }
    /<\/system-out>/ { out = 0 }
    /<\/testcase>/ && skip { print stage "/" name ": " said }
  ' "$2"
}

# Runs a command and says every half minute how long the stage has taken.
timed() { # STAGE LOG COMMAND...; the last line of LOG is shown, where it is not ''
  timed_stage=$1
  timed_log=$2
  shift 2
  while sleep 30 >/dev/null 2>&1; do
    said=''
    [ -z "$timed_log" ] || said=": $(tail -n 1 "$timed_log" | cut -c 1-100)"
    echo "   $timed_stage, $(($(date +%s) - started)) s$said"
  done &
  watcher=$!
  timed_status=0
  "$@" || timed_status=$?
  kill $watcher
  wait $watcher 2>/dev/null || true
  return $timed_status
}

# The same with the command's output in LOG.
watched() { # STAGE LOG COMMAND...
  watched_log=$2
  timed "$1" "$2" into_log "${@}"
}

into_log() { # STAGE LOG COMMAND...
  shift 2
  "$@" >"$watched_log" 2>&1
}

# Configures, builds, runs ctest, where one of SHARE random cases is tried, and adds up what it counted.
ctest_stage() { # STAGE PRESET TARGETS SHARE CTEST_OPTIONS CMAKE_OPTIONS...
  stage=$1
  preset=$2
  targets=$3
  share=$4
  ctest_options=$5
  shift 5
  folder=$build/$stage
  echo "   $stage: configuring and building in $folder"
  cmake --preset "$preset" -B "$folder" -DNDREDUCE_WERROR=ON -DNDREDUCE_BUILD_TESTS=ON "$@" >"$folder.log" 2>&1 ||
    { tail -n 20 "$folder.log" && stage_failed "$stage" "cmake" && return; }
  # shellcheck disable=SC2086 # the targets are words
  watched "$stage" "$folder.log" cmake --build "$folder" --parallel "$jobs" --target $targets ||
    { grep -E -A 12 'error|FAILED' "$folder.log" | head -n 60 && stage_failed "$stage" "build" && return; }
  report=$PWD/$folder/junit.xml
  case $build in /*) report=$folder/junit.xml ;; esac
  rm -f "$report"
  # One more than there are cores: some tests sleep, or wait for a disk.
  # shellcheck disable=SC2086 # the options are words
  timed "$stage" '' env NDR_TEST_SHARE="$share" ctest --test-dir "$folder" --parallel $((jobs + 1)) --output-on-failure --no-tests=error \
    --output-junit "$report" $ctest_options || true
  if [ ! -s "$report" ]; then stage_failed "$stage" "ctest ran nothing" && return; fi
  total=$(count_of tests "$report")
  bad=$(count_of failures "$report")
  left_out=$(($(count_of skipped "$report") + $(count_of disabled "$report")))
  passed=$((passed + total - bad - left_out))
  failed=$((failed + bad))
  skipped=$((skipped + left_out))
  if [ "$left_out" -gt 0 ]; then
    skips="$skips$(skips_of "$stage" "$report")
"
  fi
  note "$stage" "$((total - bad - left_out)) passed, $bad failed, $left_out skipped"
}

# clang takes half of the time for kernels that are not optimised; in C++ nothing else is compiled here but the ladder, which
# the stage bare has by the system's compiler.
stage_release() {
  kernels_by=''
  if command -v clang++ >/dev/null; then kernels_by=-DCMAKE_CXX_COMPILER=clang++; fi
  once=''
  case $stages in *' asan '*) once='-LE ^emulated$' ;; esac
  ctest_stage release ci all 1 "$once" $kernels_by
}

stage_asan() {
  if ! command -v clang >/dev/null; then stage_skipped asan 'clang is not installed' && return; fi
  ctest_stage asan dev all 16 '' -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DNDREDUCE_HDF5=ON
}

stage_tsan() {
  if ! command -v clang >/dev/null; then stage_skipped tsan 'clang is not installed' && return; fi
  ctest_stage tsan tsan thread_tests 16 '-L threads'
}

# What is left of the library has the compile commands of the release stage, where it was tested.
stage_bare() {
  ctest_stage bare ci all 1 '-R ^(ndbench|package_.*)$' -DNDREDUCE_HDF5=OFF -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON \
    -DNDREDUCE_SIMT=OFF
}

# Fuzzes one target; what it finds is kept, and replayed by the same program.
fuzz() { # TARGET SECONDS
  found=$folder/found/$1
  mkdir -p "$found" "$folder/corpus/$1"
  if "$folder/tests/fuzz_$1" -max_total_time="$2" -timeout=20 -artifact_prefix="$found/" "$folder/corpus/$1" \
    "tests/corpus/$1" >"$found.log" 2>&1; then
    grep -E '^Done [0-9]+ runs' "$found.log" | sed "s/^/fuzz_$1: /"
    return 0
  fi
  grep -E -A 12 'ERROR|runtime error' "$found.log" | head -n 40
  for input in "$found"/*; do echo "fuzz_$1 fails; replay it with: $folder/tests/fuzz_$1 $input"; done
  return 1
}

build_fuzzers() {
  cmake --preset dev -B "$folder" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DNDREDUCE_HDF5=ON -DNDREDUCE_SIMT=OFF \
    -DNDREDUCE_WERROR=ON -DNDREDUCE_FUZZ=ON || return
  # shellcheck disable=SC2086 # the targets are words
  cmake --build "$folder" --parallel "$jobs" --target $targets
}

wait_for_fuzzers() {
  for target in $running; do
    wait "${target#*:}" || failures="$failures ${target%:*}"
  done
}

stage_fuzz() {
  if ! command -v clang >/dev/null; then stage_skipped fuzz 'clang is not installed' && return; fi
  folder=$build/fuzz
  targets=$(find tests/fuzz -name 'fuzz_*.c' -exec basename {} .c \; | sort)
  watched fuzz "$folder.log" build_fuzzers || { tail -n 20 "$folder.log" && stage_failed fuzz 'build' && return; }
  failures=''
  running=''
  for target in $targets; do
    fuzz "${target#fuzz_}" "${NDREDUCE_FUZZ_SECONDS:-60}" &
    running="$running $target:$!"
  done
  timed fuzz '' wait_for_fuzzers
  if [ -n "$failures" ]; then stage_failed fuzz "$failures" && return; fi
  stage_passed fuzz "$(echo "$targets" | wc -w) targets found nothing"
}

# One architecture: the others differ in machine code only, and compiling all of them takes long. Where no GPU can run the
# kernels, one dtype of each kind shows that nvcc takes them, and f16, the float, which has most instructions of its own, that
# ptxas does; the release stage runs those of every dtype under emulation.
stage_cuda() {
  if ! command -v nvcc >/dev/null; then stage_skipped cuda 'nvcc is not installed' && return; fi
  if [ ! -f src/cuda/CMakeLists.txt ]; then stage_skipped cuda 'there is no src/cuda' && return; fi
  dtypes=''
  draft=OFF
  nvidia-smi >/dev/null 2>&1 || { dtypes='i8;f16;c128' && draft=ON; }
  ctest_stage cuda cuda cuda_tests 1 '-L cuda' -DCMAKE_CUDA_ARCHITECTURES=90 -DNDREDUCE_CUDA_DTYPES="$dtypes" \
    -DNDREDUCE_CUDA_DRAFT=$draft -DNDREDUCE_SIMT=OFF
}

stage_format() {
  if ! command -v clang-format >/dev/null; then stage_skipped format 'clang-format is not installed' && return; fi
  files=$(find . -path './build*' -prune -o \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print)
  # shellcheck disable=SC2086 # no file name has blanks
  if clang-format --dry-run -Werror $files; then
    stage_passed format "$(echo "$files" | wc -l) files"
  else
    stage_failed format 'run clang-format -i on the files above'
  fi
}

# Keeps the first of the commands that compile a file with the same definitions and include folders: clang-tidy would read the
# file once for each.
different_commands() { # COMPILE_COMMANDS
  python3 -c '
import json, sys
different = {}
for command in json.load(sys.stdin):
    words = [word for word in command["command"].split() if word.startswith(("-D", "-I"))]
    defined = [word for word in words if not word.endswith("_EXPORTS")]
    different.setdefault((command["file"], *sorted(defined)), command)
json.dump(list(different.values()), sys.stdout, indent=1)' <"$1"
}

# The clang build's commands: clang-tidy knows them, and parses what that build compiled. instantiate.cc has a command for
# each dtype and holds only kernels, which clang-tidy leaves out; it sees the emulator's headers in trials.cc and convert.cc.
# The analyzer goes through a fourth of the paths that it would by itself: that takes a third of the time.
stage_tidy() {
  if ! command -v run-clang-tidy >/dev/null; then stage_skipped tidy 'clang-tidy is not installed' && return; fi
  folder=$build/asan
  if [ ! -f "$folder/compile_commands.json" ]; then
    { cmake --preset dev -B "$folder" -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ && cmake --build "$folder" --target ndreduce_commit; } \
      >"$folder.log" 2>&1 || { tail -n 20 "$folder.log" && stage_failed tidy 'cmake' && return; }
  fi
  mkdir -p "$build/tidy"
  different_commands "$folder/compile_commands.json" >"$build/tidy/compile_commands.json" ||
    { stage_failed tidy 'compile_commands.json' && return; }
  if watched tidy "$build/tidy.log" run-clang-tidy -quiet -j "$jobs" -p "$build/tidy" \
    -extra-arg=-Xclang -extra-arg=-analyzer-config -extra-arg=-Xclang -extra-arg=max-nodes=50000 \
    "$PWD/(src|tools|tests)/(?!simt/instantiate)"; then
    stage_passed tidy "$(grep -c '"file"' "$build/tidy/compile_commands.json") files"
  else
    sed 's/\x1b\[[0-9;]*m//g' "$build/tidy.log" | grep -A 3 'error:' | head -n 100
    stage_failed tidy "see $build/tidy.log"
  fi
}

stage_shell() {
  if ! command -v shellcheck >/dev/null; then stage_skipped shell 'shellcheck is not installed' && return; fi
  scripts=$(find tools tests -name '*.sh')
  # shellcheck disable=SC2086 # no file name has blanks
  if shellcheck -x .ci/run $scripts; then
    stage_passed shell "$(echo "$scripts" | wc -l) scripts"
  else
    stage_failed shell 'shellcheck'
  fi
}

case ${1:-} in
'') set -- release ;;
all) set -- release asan tsan bare fuzz cuda format tidy shell ;;
-h | --help)
  sed -n '2,/^set/s/^# \{0,1\}//p' tools/test.sh
  exit 0
  ;;
esac
stages=" $* "
command -v clang >/dev/null || stages=''
for stage in "$@"; do
  if ! command -v "stage_$stage" >/dev/null; then
    echo "There is no stage '$stage'; see tools/test.sh --help" >&2
    exit 2
  fi
done

install_missing "$build_needs$test_needs"
# Stages whose compiler and options are the same share what is compiled: bare and cuda most of release.
if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  export CCACHE_BASEDIR="$PWD" CCACHE_NOHASHDIR=1
fi
if command -v ninja >/dev/null; then export CMAKE_GENERATOR="${CMAKE_GENERATOR:-Ninja}"; fi
mkdir -p "$build"
echo "Minutes, about, from nothing on 2 cores: release 13 (17 alone), asan 17, tsan 7, bare 1, fuzz 3, cuda 6 (where there is nvcc), tidy 4"
for stage in "$@"; do
  printf '\n== %s\n' "$stage"
  started=$(date +%s)
  "stage_$stage"
done

printf '\n%s' "$summary"
if [ -n "$skips" ]; then printf '\nSkipped:\n%s' "$skips"; fi
printf '\n%d passed, %d failed, %d skipped\n' $passed $failed $skipped
[ $failed -eq 0 ]
