# Sourced by quickstart.sh and test.sh: finds out what is missing and installs it with Debian's package manager.
# shellcheck shell=sh disable=SC2034 # the lists of needs are for who sources this

# What building takes, and what the test suite takes beside it: Debian's package, and how to see that it is here
# (so that what came another way counts too).
build_needs='
gcc            command cc
libc6-dev      header  stdio.h
cmake          command cmake
make           command make
libdlpack-dev  header  dlpack/dlpack.h
libhdf5-dev    command h5cc
libdeflate-dev header  libdeflate.h
libaec-dev     header  libaec.h
liblz4-dev     header  lz4.h
libzstd-dev    header  zstd.h
libblosc-dev   header  blosc.h
libbz2-dev     header  bzlib.h
libzfp-dev     header  zfp.h
'
test_needs='
ninja-build    command ninja
ccache         command ccache
pkgconf        command pkg-config
check          module  check
g++            command g++
clang          command clang
clang-format   command clang-format
clang-tidy     command run-clang-tidy
libclang-rt-dev sanitizer thread
shellcheck     command shellcheck
groff-base     command groff
python3-numpy  python  numpy
python3-h5py   python  h5py
netcdf-bin     command ncdump
libopenmpi-dev command mpicc.openmpi
openmpi-bin    command mpirun.openmpi
libmpich-dev   command mpicc.mpich
mpich          command mpiexec.mpich
strace         command strace
gnuplot-nox    command gnuplot
'

is_here() { # KIND NAME
  case $1 in
  command) command -v "$2" ;;
  header) echo "#include <$2>" | cc -fsyntax-only -x c - ;;
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

# Installs what is missing of NEEDS, if it can. What could not be installed is left in $missing, and said.
install_missing() { # NEEDS
  missing=$(missing_of "$1")
  [ -n "$missing" ] || return 0
  as_root=''
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  if command -v apt-get >/dev/null && { [ -z "$as_root" ] || command -v sudo >/dev/null; }; then
    echo "Installing: $missing"
    log=$(mktemp)
    # shellcheck disable=SC2086 # the packages are words
    if $as_root apt-get update >"$log" 2>&1 &&
      $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing >>"$log" 2>&1; then
      missing=$(missing_of "$1")
    else
      tail -n 5 "$log"
    fi
    rm -f "$log"
  fi
  [ -z "$missing" ] || say_missing
}

# One list, and what to type.
say_missing() {
  if command -v apt-get >/dev/null; then
    echo "Packages are missing. Install them as root, then run this again:"
    echo "    apt-get update && apt-get install --no-install-recommends $missing"
    echo "    $0"
  else
    echo "Missing, by the names of Debian's packages: $missing"
  fi
}
