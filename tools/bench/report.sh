#!/bin/sh
# README's tables and figures from the records in data/bench: report.sh [--check]
# Figures go to data/bench/plots as SVG and PNG (gnuplot; Debian: gnuplot-nox). What has no record is left out, and named.
# --check changes nothing, needs no gnuplot, and fails where README or a figure is not what the records say.
exec python3 -B "$(dirname "$0")/report.py" "$@"
