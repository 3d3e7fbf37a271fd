# Sourced by quickstart.sh and test.sh: finds out what is missing and installs it with Debian's package manager.
# shellcheck shell=sh disable=SC2034 # the lists of needs are for who sources this

# What building takes, and what the test suite takes beside it: Debian's package, and how to see that it is here
# (so that what came another way counts too).
build_needs='
gcc            command cc
libc6-dev      header  stdio.h
cmake          command cmake
ninja-build    command ninja
libdlpack-dev  header  dlpack/dlpack.h
libhdf5-dev    command h5cc
libdeflate-dev header  libdeflate.h
libaec-dev     header  libaec.h
liblz4-dev     header  lz4.h
libzstd-dev    header  zstd.h
libblosc-dev   header  blosc.h
libbz2-dev     header  bzlib.h
'
test_needs='
pkgconf        command pkg-config
check          module  check
g++            command g++
clang          command clang
clang-format   command clang-format
clang-tidy     command run-clang-tidy
libclang-rt-dev sanitizer thread
libomp-dev     clang   omp.h
shellcheck     command shellcheck
groff-base     command groff
python3-numpy  python  numpy
python3-h5py   python  h5py
netcdf-bin     command ncdump
gnuplot-nox    command gnuplot
'

is_here() { # KIND NAME
  case $1 in
  command) command -v "$2" ;;
  header) echo "#include <$2>" | cc -fsyntax-only -x c - ;;
  clang) echo "#include <$2>" | clang -fopenmp -fsyntax-only -x c - ;;
  sanitizer) echo 'int main(void) { return 0; }' | clang -fsanitize="$2" -x c -o /dev/null - ;;
  module) pkg-config --exists "$2" ;;
  python) /usr/bin/python3 -c "import $2" ;;
  esac >/dev/null 2>&1
}

# The packages of NEEDS that are not here.
missing_of() { # NEEDS
  echo "$1" | while read -r package kind name; do
    [ -z "$package" ] || is_here "$kind" "$name" || printf '%s ' "$package"
  done
}

# Installs what is missing of NEEDS, if it can. What could not be installed is left in $missing.
install_missing() { # NEEDS
  missing=$(missing_of "$1")
  [ -n "$missing" ] || return 0
  if ! command -v apt-get >/dev/null; then
    echo "Missing: $missing(Debian's names); this system has no apt-get to install them with."
    return 0
  fi
  as_root=''
  if [ "$(id -u)" -ne 0 ]; then
    as_root=sudo
    if ! command -v sudo >/dev/null; then
      echo "Missing: $missing"
      echo "Installing them takes root; run as root: apt-get install $missing"
      return 0
    fi
  fi
  echo "Installing: $missing"
  log=$(mktemp)
  # shellcheck disable=SC2086 # the packages are words
  if $as_root apt-get update >"$log" 2>&1 &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
    missing=$(missing_of "$1")
  else
    tail -n 5 "$log"
    echo "Could not install: $missing"
  fi
  rm -f "$log"
}
