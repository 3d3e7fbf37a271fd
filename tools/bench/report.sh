#!/bin/sh
# The tables and figures of README.md and data/bench/README.md from the records in data/bench: report.sh [--check]
# Figures go to data/bench/plots as SVG and PNG (gnuplot; Debian: gnuplot-nox). What has no record is left out, and named.
# --check changes nothing, needs no gnuplot, and fails where a page or a figure is not what the records say.
exec python3 -B "$(dirname "$0")/report.py" "$@"
