#!/bin/sh
# Checks that each layer knows only what it may know: by its #include lines, and, given a list of the library's
# object files, by the symbols that it uses (a declaration by hand would slip past the first check). No two files may call
# each other, whether directly or by way of others. No text of the library may name a tool's option.
#   check_layering.sh SOURCE_DIR [OBJECT_LIST]     a file that names the objects, LIBRARY.dir/LAYER/NAME.o, a line each
#   check_layering.sh --self-test SCRATCH_DIR    breaks a rule of each kind and expects to be told
set -eu

# layer : layers, or single headers, that it may know : headers of others, as shell patterns
# kernels/ndbench is a tool's part in CUDA C++: what ndbench times beside the library's kernels.
# common is compiled into each library and tool that uses it: it has no state, and exports nothing.
# mpi alone knows MPI. It is opened at run time, and needs nothing of the other libraries.
# h5 fails, guards its lock and stores words as core does; it knows the headers for that and no others of core. Facts of operators are in
# spec.
# lang stands on the headers of core that are named here, and the rest of core on lang: files of these headers know nothing
# of lang.
rules='
include : include                                  : dlpack/* initializer_list
spec    : spec include                             :
common  : common include core/status.h core/sized.h core/words.h :
lang    : lang spec include core/status.h core/types.h core/own_ops.h core/text.h core/number.h :
core    : core lang spec include                   : wmmintrin.h
scan    : scan core lang spec include              :
gpuplan : gpuplan scan core lang spec include      :
cpu     : cpu scan core lang common spec include   : immintrin.h cpuid.h link.h
cuda    : cuda gpuplan scan core lang spec include kernels : cuda*.h nvrtc.h
api     : api cuda cpu gpuplan scan core lang common spec include :
h5      : h5 common include spec core/status.h core/address.h core/fork.h core/sized.h core/words.h : hdf5.h H5*.h libdeflate.h zlib.h libaec.h lz4.h zstd.h blosc.h blosc2.h bzlib.h zfp.h emmintrin.h
mpi     : mpi include                              : mpi.h
kernels : kernels spec                             :
tools/simt : tools/simt/* kernels               : sanitizer/* ucontext.h
tools   : tools common include kernels/ladder/job.h : omp.h cuda*.h cublas*.h
kernels/ndbench : tools kernels                    : cub/* thrust/* cuda*.h
'

# Kernels are also compiled at run time, where there is no C library.
c_headers='assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h limits.h locale.h math.h setjmp.h signal.h
  stdalign.h stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h time.h'
posix_headers='dirent.h dlfcn.h fcntl.h getopt.h glob.h libgen.h pthread.h sched.h strings.h sys/*.h unistd.h'

layer_folder() {
  case $1 in
  include | kernels | kernels/ndbench | tools | tools/simt) echo "$source_dir/$1" ;;
  *) echo "$source_dir/src/$1" ;;
  esac
}

check_includes() { # LAYER ALLOWED_LAYERS FOREIGN_HEADERS
  folder=$(layer_folder "$1")
  [ -d "$folder" ] || return 0
  system="$c_headers $posix_headers"
  if [ "$1" = kernels ]; then system=''; fi
  if [ "$1" = core ] || [ "$1" = lang ] || [ "$1" = scan ] || [ "$1" = gpuplan ]; then system="$c_headers pthread.h"; fi
  find "$folder" -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cc' -o -name '*.inc' -o -name '*.def' \) |
    case $1 in # layers within layers
    kernels) grep -v "^$folder/ndbench/" ;;
    tools) grep -v "^$folder/simt/" ;;
    *) cat ;;
    esac | tr '\n' '\0' | xargs -0 grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' |
    awk -v layer="$1" -v allowed="$2" -v headers="$(echo "$system $3" | tr '\n' ' ')" -v root="$source_dir/" -v files="$files" '
      function matches(value, patterns,    list, count, i) {
        count = split(patterns, list, " ")
        for (i = 1; i <= count; ++i) {
          gsub(/[.]/, "[.]", list[i])
          gsub(/[*]/, ".*", list[i])
          if (value ~ "^" list[i] "$") return 1
        }
        return 0
      }
      # What an #include in a file of the folder leads to, by its name under src/ or the root; nothing outside the project.
      function resolved(folder, name,    list, count, i, path) {
        count = split(folder " src/ include/ src/spec/ tools/ kernels/ kernels/program/", list, " ")
        for (i = 1; i <= count; ++i) {
          path = list[i] name
          while (sub(/[^\/]+\/[.][.]\//, "", path)) continue
          if (path in there) { sub(/^src\//, "", path); return path }
        }
        return ""
      }
      BEGIN { count = split(files, list, " "); for (i = 1; i <= count; ++i) there[list[i]] = 1 }
      {
        file = substr($0, 1, index($0, ":") - 1)
        name = substr($0, length(file) + 2)
        sub(/^[^<"]*[<"]/, "", name)
        sub(/[>"].*/, "", name)
        folder = substr(file, length(root) + 1)
        sub(/[^\/]*$/, "", folder)
        found = resolved(folder, name)
        if (found == "") {
          if (!matches(name, headers)) print file " includes " name ": not among the headers that layer \x27" layer "\x27 may use"
        } else {
          split(found, parts, "/")
          if (!matches(parts[1], allowed) && !matches(found, allowed))
            print file " includes " name ": layer \x27" layer "\x27 may not know layer \x27" parts[1] "\x27"
        }
      }'
}

# A layer that knows single headers of another stands on them: what defines them must not know that layer.
check_ground() { # LAYER ALLOWED_LAYERS
  # shellcheck disable=SC2086 # lists are split at blanks on purpose
  for header in $2; do
    case $header in */*.h) ;; *) continue ;; esac
    for file in "$source_dir/src/$header" "$source_dir/src/${header%.h}.c"; do
      [ ! -f "$file" ] || sed -n "s|^#include \"\($1/.*\)\"|$file includes \\1: layer '$1' stands on this file|p" "$file"
    done
  done
}

# Lines "FILE KIND SYMBOL", FILE LAYER/NAME, KIND U (used) or D (defined), of every object file, LIBRARY.dir/LAYER/NAME.o.
list_symbols() { # OBJECT_LIST
  tr '\n' '\0' <"$1" | xargs -0 nm -A --format=posix | sed 's/^.*[.]dir\///; s/^[.]\///; s/[.]o: / /' |
    awk '$3 == "U" { print $1, "U", $2 } $3 ~ /^[TDBRCVW]$/ { print $1, "D", $2 }'
}

# The functions that headers declare, on one line.
declared_in() { # HEADER...
  cat "$@" | sed -n 's/^[A-Za-z].*[ *]\(ndr[a-z0-9_]*\)(.*/\1/p' | tr '\n' ' '
}

# "LAYER SYMBOL;" of the functions in the single headers that layers may know.
granted_by_headers() {
  echo "$rules" | while IFS=: read -r layer allowed _; do
    for header in $allowed; do
      case $header in */*.h) ;; *) continue ;; esac
      [ ! -f "$source_dir/src/$header" ] || for name in $(declared_in "$source_dir/src/$header"); do
        printf "%s %s;" "${layer%% *}" "$name"
      done
    done
  done
}

check_symbols() { # OBJECT_LIST
  # What the public headers declare is everybody's, wherever it is defined.
  public=$(declared_in "$source_dir"/include/ndreduce/*.h)
  list_symbols "$1" | sed 's|/[^ ]*||' | sort -u | awk -v rules="$(echo "$rules" | tr '\n' ';')" -v public_names="$public" \
    -v grants="$(granted_by_headers)" '
    BEGIN {
      count = split(grants, lines, ";")
      for (i = 1; i <= count; ++i) granted[lines[i]] = 1
      count = split(public_names, names, " ")
      for (i = 1; i <= count; ++i) public[names[i]] = 1
      count = split(rules, lines, ";")
      for (i = 1; i <= count; ++i) {
        split(lines[i], field, ":")
        gsub(/ /, "", field[1])
        seen = split(field[2], layers, " ")
        for (j = 1; j <= seen; ++j) allowed[field[1], layers[j]] = 1
      }
      never = "^(stdout|stderr|(__)?v?printf(_chk)?|puts|putchar|perror|_?exit|quick_exit|abort|__assert_fail)$"
    }
    $2 == "D" { home[$3] = $1 }
    $2 == "U" { used[++uses] = $1 SUBSEP $3 }
    END {
      for (i = 1; i <= uses; ++i) {
        split(used[i], use, SUBSEP)
        if (use[2] ~ never) print "layer \x27" use[1] "\x27 uses " use[2] ": src/ never prints, exits or aborts"
        if (!(use[2] in home) || (use[1], home[use[2]]) in allowed) continue
        if (use[2] in public || (use[1] " " use[2]) in granted) continue
        print "layer \x27" use[1] "\x27 uses " use[2] " of layer \x27" home[use[2]] "\x27"
      }
    }'
}

# A file that uses what another defines stands before it: tsort finds where that is impossible.
check_circles() { # OBJECT_LIST
  circle=$(list_symbols "$1" | sort -k 2,2 | awk '
    $2 == "D" { home[$3] = $1 }
    $2 == "U" && $3 in home && home[$3] != $1 { print $1, home[$3] }' | tsort 2>&1 >/dev/null |
    sed -n '/contains a loop/d; s/^tsort: //p' | tr '\n' ' ')
  [ -z "$circle" ] || echo "these files call each other in a circle: $circle"
}

# The library's sentences speak of its own functions and fields. NVRTC's options are no tool's.
check_texts() {
  grep -rnE '"([^"]*[^"a-z-])?--[a-z]' "$source_dir/src" --include='*.[ch]' | grep -v '/cuda/compile/compiler\.c:' |
    sed 's/$/: a text of the library names an option of a tool/'
}

check_tree() { # SOURCE_DIR [OBJECT_LIST]
  source_dir=$(realpath "$1")
  files=$(cd "$source_dir" && find include src kernels tools -type f | tr '\n' ' ')
  echo "$rules" | while IFS=: read -r layer allowed foreign; do
    # shellcheck disable=SC2086 # blanks around the name go
    [ -z "$layer" ] || check_includes $layer "$allowed" "$foreign"
    # shellcheck disable=SC2086
    [ -z "$layer" ] || check_ground $layer "$allowed"
  done
  check_texts
  [ -z "${2:-}" ] || check_symbols "$(realpath "$2")"
  [ -z "${2:-}" ] || check_circles "$(realpath "$2")"
}

# Every rule must be able to fail: a tree with one offence of each kind, and the sentence that each must give.
self_test() { # SCRATCH_DIR
  rm -rf "$1"
  mkdir -p "$1/include/ndreduce" "$1/kernels" "$1/tools" "$1/objects/a.dir/core" "$1/objects/a.dir/lang" "$1/objects/b.dir/cpu"
  (cd "$1" && mkdir -p src/core src/cpu src/cuda src/gpuplan src/h5 src/lang)
  echo 'NDR_API int ndr_public(void);' >"$1/include/ndreduce/ndreduce.h"
  echo 'int ndr_fail(int);' >"$1/src/core/status.h"
  echo '#include "core/status.h"' | tee "$1/src/h5/fails.c" >"$1/src/core/fails.c"
  echo '#pragma once' | tee "$1/src/cpu/cpu.h" "$1/src/core/core.h" >"$1/src/cuda/cuda.h"
  echo '#include "cpu/cpu.h"' >"$1/src/core/names_backend.c"
  echo '#include <hdf5.h>' >"$1/src/core/knows_hdf5.c"
  echo '#include <cuda_runtime_api.h>' >"$1/src/gpuplan/knows_cuda.c"
  echo '#include "../cpu/cpu.h"' >"$1/src/cuda/sees_backend.c"
  echo '#include "core/core.h"' | tee "$1/src/h5/sees_core.c" >"$1/tools/sees_core.c"
  echo '#include "core/core.h"' >"$1/src/lang/sees_core.c"
  echo '#include "lang/lang.h"' | tee "$1/src/core/types.h" >"$1/src/core/sees_lang.c"
  echo '#pragma once' >"$1/src/lang/lang.h"
  echo 'int ndr_fails(int);' >"$1/src/core/own_ops.h"
  echo 'int ndr_fails(int); int beyond(void); int lang(void); int lang(void) { return ndr_fails(beyond()); }' >"$1/src/lang/uses.c"
  echo 'int ndr_fails(int); int ndr_fails(int x) { return x; } int beyond(void); int beyond(void) { return 0; }' >"$1/src/core/own_ops.c"
  echo '#include <stdio.h>' >"$1/kernels/knows_libc.cuh"
  echo 'const char *hint = "see --help";' >"$1/src/h5/names_option.c"
  echo 'int ndr_public(void); int hidden(void); int hidden(void) { return ndr_public(); }' >"$1/src/cpu/defines.c"
  echo 'int hidden(void); int uses(void); int uses(void) { return hidden(); }' >"$1/src/core/declares.c"
  echo '#include <stdlib.h>
    void dies(void); void dies(void) { abort(); }' >"$1/src/core/dies.c"
  echo 'int chicken(void); int egg(void); int egg(void) { return chicken(); }' >"$1/src/core/egg.c"
  echo 'int chicken(void); int egg(void); int chicken(void) { return egg(); }' >"$1/src/core/chicken.c"
  ${CC:-cc} -c -o "$1/objects/b.dir/cpu/defines.o" "$1/src/cpu/defines.c"
  for source in core/declares core/dies core/egg core/chicken core/own_ops lang/uses; do
    ${CC:-cc} -c -o "$1/objects/a.dir/$source.o" "$1/src/$source.c"
  done

  find "$1/objects" -name '*.o' >"$1/list"
  said=$(check_tree "$1" "$1/list")
  failures=0
  for expected in 'names_backend.c includes cpu/cpu.h' 'knows_hdf5.c includes hdf5.h' \
    'knows_cuda.c includes cuda_runtime_api.h' 'sees_backend.c includes ../cpu/cpu.h' \
    'src/h5/sees_core.c includes core/core.h' 'tools/sees_core.c includes core/core.h' \
    'knows_libc.cuh includes stdio.h' 'names an option of a tool' 'circle: core/chicken core/egg' "layer 'core' uses hidden of layer 'cpu'" "layer 'core' uses abort" \
    'src/lang/sees_core.c includes core/core.h' "types.h includes lang/lang.h: layer 'lang' stands on this file" \
    "layer 'lang' uses beyond of layer 'core'"; do
    case $said in
    *"$expected"*) ;;
    *) failures=1 && echo "not noticed: $expected" ;;
    esac
  done
  if [ "$(echo "$said" | wc -l)" -ne 14 ]; then failures=1 && printf 'expected 14 complaints, got:\n%s\n' "$said"; fi
  return $failures
}

if [ "$1" = --self-test ]; then
  self_test "$2"
  exit
fi
complaints=$(check_tree "$@")
if [ -n "$complaints" ]; then
  echo "$complaints"
  exit 1
fi
