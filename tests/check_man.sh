#!/bin/sh
# The manual pages as installed: a page for every tool, with the options of its --help and no others.
#   check_man.sh PREFIX SCRATCH_DIR     PREFIX is where the project is installed
#   check_man.sh --format PAGE...       instead: groff has nothing to say of the pages; skipped without groff
set -eu

if [ "$1" = --format ]; then
  shift
  if ! command -v groff >/dev/null; then
    echo 'skipped: groff is not installed'
    exit 77
  fi
  said=$(groff -man -Tutf8 -ww -z "$@" 2>&1) || said="$said (groff failed)"
  [ -z "$said" ] || { echo "$said" && exit 1; }
  exit 0
fi

# Every --long-option and -s, a letter, of a text, sorted.
options() {
  grep -oE -- "(^|[[:space:],\"\`'([])(--[a-z][a-z-]*|-[A-Za-z]([^-[:alnum:]]|\$))" | grep -oE -- '--[a-z-]+|-[A-Za-z]' | sort -u
}

# What a tool's --help says, and that of its subcommands, which its usage names before their options.
help_of() { # TOOL
  "$1" --help
  "$1" --help | sed -n "s/^.*${1##*/} \\([a-z][a-z]*\\) \\[options\\].*/\\1/p" | while read -r subcommand; do
    "$1" "$subcommand" --help
  done
}

prefix=$1
pages=$prefix/share/man/man1
mkdir -p "$2"
cd "$2"
failed=0
tools=0
for tool in "$prefix"/bin/*; do
  name=${tool##*/}
  page=$pages/$name.1
  tools=$((tools + 1))
  if [ ! -f "$page" ]; then
    echo "$name is installed without a page: $page"
    failed=1
    continue
  fi
  help_of "$tool" | options >"$name.help"
  sed 's/\\-/-/g; s/\\f[A-Z]//g' "$page" | options >"$name.page"
  if ! [ -s "$name.help" ] || ! diff -u --label "$name --help" "$name.help" --label "$name.1" "$name.page"; then
    echo "$name: --help and the page differ in their options"
    failed=1
  fi
done
for page in "$pages"/*.1; do
  if [ ! -x "$prefix/bin/$(basename "$page" .1)" ]; then
    echo "a page without its tool: $page"
    failed=1
  fi
done
echo "$tools tools"
[ $failed -eq 0 ] && [ $tools -gt 0 ]
