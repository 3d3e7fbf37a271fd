#!/bin/sh
# Runs a command on this checkout's files in another release of Debian, which FOLDER keeps for the next time.
#   in_debian.sh RELEASE FOLDER [COMMAND...]    tools/test.sh release if no command is given
# Needs root, and debootstrap. Debian 13 (trixie) has gcc 14, CMake 3.31, HDF5 1.14, Open MPI 5 and MPICH 4.2.
set -eu

[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
release=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- tools/test.sh release
cd "$(dirname "$0")/.."

if [ ! -e "$folder/complete" ]; then
  debootstrap --variant=minbase --include=ca-certificates,git "$release" "$folder"
  touch "$folder/complete"
fi
copy=$folder/root/ndreduce
mkdir -p "$copy"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} + # files that have been moved since
git ls-files -z | xargs -0 cp -p --parents -t "$copy"

# What is mounted is seen by the command alone, and gone with it.
# shellcheck disable=SC2016 # $1 is the inner shell's
exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin unshare --mount sh -c '
  mount --bind /dev "$1/dev" && mount -t tmpfs tmpfs "$1/dev/shm" && mount -t proc proc "$1/proc" &&
    mount -t sysfs sysfs "$1/sys" || exit
  exec chroot "$@"' sh "$folder" sh -c 'cd /root/ndreduce && git init -q . && apt-get -q update && exec "$@"' sh "$@"
