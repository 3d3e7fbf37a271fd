#!/bin/sh
# Tries the files of this checkout on another release of Debian, which it lays in a folder and leaves there for the next time.
#   in_debian.sh RELEASE FOLDER [COMMAND...]    the command runs in a copy of the checkout; tools/test.sh release if none is given
# Needs root, and debootstrap. Debian 13 (trixie) has gcc 14, CMake 3.31, HDF5 1.14, Open MPI 5 and MPICH 4.2.
set -eu

[ $# -ge 2 ] || { sed -n '2,4s/^# //p' "$0" >&2; exit 2; }
release=$1 folder=$2
shift 2
[ $# -gt 0 ] || set -- tools/test.sh release
cd "$(dirname "$0")/.."

if [ ! -e "$folder/etc/debian_version" ]; then
  debootstrap --variant=minbase --include=ca-certificates,git "$release" "$folder"
fi
copy=$folder/root/ndreduce
mkdir -p "$copy"
git ls-files -z | xargs -0 cp -p --parents -t "$copy"

leave() {
  umount -ql "$folder/sys" "$folder/proc" "$folder/dev/shm" "$folder/dev" || true
}
trap leave EXIT
mount --bind /dev "$folder/dev"
mount -t tmpfs tmpfs "$folder/dev/shm"
mount -t proc proc "$folder/proc"
mount -t sysfs sysfs "$folder/sys"
env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  chroot "$folder" sh -c 'cd /root/ndreduce && git init -q . && apt-get -q update && exec "$@"' sh "$@"
