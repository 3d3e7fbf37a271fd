#!/usr/bin/python3
"""README's generator on records of numbers that were made up for it: check_report.py TOOLS

What is missing, broken, or drawn from other data is said in one line; ratios are taken within a run; every figure is a
program that gnuplot takes (where it is installed).
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOOLS = pathlib.Path(sys.argv[1])
HEAD = {"library": "0.0.0", "commit": "feed", "date": "2001-02-03T04:05:06Z", "device": "cuda",
        "machine": {"cpu": "none", "gpu": "Made-up 1", "driver": "1.2", "cuda": "3.4"}}
failures = []


def check(what, condition, text=""):
    if not condition:
        failures.append(f"{what}: {text[:2000]}")


def run(*arguments):
    done = subprocess.run([sys.executable, "-B", *map(str, arguments)], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def row(name, problem, seconds, peers, python):
    def times(of):
        return {peer: {"median_seconds": value, "gbps": 1 / value, "back_to_back_seconds": 2 * value}
                for peer, value in of.items()}
    return {"name": name, "problem": problem, "family": "tree", "bytes": 1e9, "median_seconds": seconds, "gbps": 1 / seconds,
            "ceiling_gbps": 1.25 / seconds, "of_ceiling": 0.8, "back_to_back_seconds": seconds, "peers": times(peers),
            "python": times(python)}


def records():
    """ndreduce took 1 s beside CUB and 2 s in the run with Python."""
    def one(name, problem):
        return row(name, problem, 1.0, {"cub": 1.5}, {"ndreduce": 2.0, "torch": 2.2, "inductor": 4.0})
    rung = {"ladder": "reduce", "rung": "1", "name": "tree, modulo", "op": "sum", "dtype": "f32", "shape": "64",
            "gbps": 7.0, "ceiling_gbps": 10.0, "of_ceiling": 0.7, "median_seconds": 1.0, "gain": None}
    cell = {"choice": "tile", "bytes": 1e9, "ceiling_gbps": 2.0, "regret": 1.5, "seconds": {"tile": 1.5, "tree": 1.0}}
    regret = {"problems": 2000, "lost": 1, "median": 1.01, "mean": 1.0, "p95": 1.02, "p99": 1.03, "worst": 1.24}
    shares = [{"kind": kind, "size": size, "problems": 9, "mean": 0.5, "p5": 0.125, "p25": 0.25}
              for kind in ("compact", "all") for size in ("any", "below 32 MiB", "32 MiB and more")]
    gauge = {"gauge": shares, "seed": 7, "largest": 1 << 30, "launch_seconds": 3e-6,
             "rows": [{"problem": "sum f32 [9] /0", "family": "tree", "share": 0.0625}]}
    shapes = [one(f"2^{k}x2^{26 - k}-axis{axis}", f"sum f32 [{2**k},{2**(26 - k)}] /{axis}") for k in (8, 18) for axis in (1, 0)]
    cases = [one("rows", "sum f32 [8,8] /1")]
    plain, months = (one(f"{kind}, rows", "sum f32 [8,8] /1") for kind in ("plain", "12 months"))
    by_group = {"rows": [plain, {**months, "groups": 12, "gbps": 0.75}]}
    scans = {"rows": [one("one line", "sum f32 [8] along 0"), one("10 % kept", "select f32 [8]")]}
    return {"scans": scans, "sweep": {"rows": shapes}, "gauge": gauge, "peers": {"rows": cases, "python": {"torch": "9.9"}}, "gpu": {"rows": cases},
            "odd": {"rows": cases}, "operators": {"rows": [one("rmse, rows", "sum f32 [8,8] /1")]}, "groups": by_group, "small": {"rows": cases}, "regret": {"regret": regret, "largest": 1 << 28, "seed": 12, "rows": []},
            "regret-measured": {"regret": {**regret, "worst": 1.12}, "largest": 1 << 28, "seed": 12, "rows": []},
            "heat": {"regret": regret, "rows": [{**cell, "name": f"{kind}-3-{b}"} for kind in ("rows", "columns") for b in (4, 5)]},
            "ladder": {"rows": [rung, {**rung, "rung": "2", "gbps": 14.0, "ceiling_gbps": 20.0},
                                {**rung, "rung": "18", "name": "ours", "gbps": 16.0, "ceiling_gbps": 16.0}, {**rung, "ladder": "axes", "shape": "8 x 8"}, {"ladder": "nd", "failed": "why"},
                                {**rung, "ladder": "scan", "rung": "s1"}, {**rung, "ladder": "scan", "rung": "s2", "gbps": 21.0}] +
                               [{**rung, "ladder": "select", "rung": name, "op": "select", "keep": keep} for keep in (1, 90) for name in ("c1", "c5")] +
                               [{**rung, "ladder": "select", "rung": "q1", "op": "select", "keep": 1}]}}


def check_text(folder):
    status, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "gpu")
    check("print", status == 0)
    check("the peer's own run", "| 1.10x |" in text and "1.10x the fastest" in text and "PyTorch" in text, text)
    check("the planner", "2,000 random problems" in text and "to 256 MiB" in text and "worst 1.24" in text and "1.03 and 1.12 on" in text and "--seed 12 --measure" in text,
          text)
    check("the gauge", "32 MiB and more: 50% in the geometric mean, the 5th percentile 12%" in text and "--seed 7" in text and
          "| compact | 50% | 12% | 25% | 50% | 12% | 25% |" in text and "| `sum f32 [9] /0` | tree | 6% |" in text, text)
    check("groups", "1 of them over 954 MiB of f32" in text and "75% of the rate of the plain sum" in text and
          "| 12 months, rows | 75% | 1 | 80.0% | " in text, text)
    check("scans", "1 sums: 80.0% of a copy" in text and "10 % at 80% of a copy's rate" in text and "| one line | `sum f32 [8] along 0` |" in text, text)
    check("where", "Measured on Made-up 1, driver 1.2, CUDA 3.4: ndreduce 0.0.0, commit feed, 2001-02-03. Beside it PyTorch 9.9." in text, text)
    check("a failed rung", "nd [" not in text, text)
    check("one ceiling a table", "| 1 | tree, modulo | 7.0 | 35.0% |  |" in text and "| 18 | ours | 16.0 | 80.0% |  |" in text, text)
    check("the ladders of arrays", "prefix sum of f32 [64]:\n" in text and "| s2 | tree, modulo | 21.0 | 210.0% | 3.00x over s1 |" in text and
          text.count("select of f32 [64], ") == 2 and "select of f32 [64], 90 % kept:\n" in text and "sort of f32 [64]:\n" in text and
          "beside plain copies" in text, text)
    check("a gain over what is mended", "| 2 | tree, modulo | 14.0 | 70.0% | 2.00x over 1 |" in text, text)
    for lines in re.findall(r"(?:^\|.*\n?)+", text, flags=re.M):
        check("no empty table", lines.count("\n") >= 3, lines)
        check("a whole table", len({line.count("|") for line in lines.strip().split("\n")}) == 1, lines)


def check_files(folder):
    status, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "files")
    check("no files", status == 0 and text.startswith("No record of everyday jobs"), text)
    row = {"name": "monthly means, chunks of a field", "words": {"cdo": "monmean", "h5gpured": "--by time:yearmonth"}, "bytes": 2**21,
           "peak_bytes": 2**25, "seconds": {"h5gpured": 2.0, "plain mean": 1.6, "cdo": 9.0}}
    (folder / "files.json").write_text(json.dumps({"runs": [{
        "commit": "feed", "date": "2001-02-03T", "machine": {"cpu": "Made-up 2", "cores": 3},
        "versions": {"cdo": "Climate Data Operators version 7.8 (https://x)", "nco": "NCO netCDF Operators version 5.6 built", "xarray": None},
        "rows": [row, {**row, "name": "monthly means, chunks of 24x61x120", "seconds": {"h5gpured": 1.0, "plain mean": 1.0, "cdo": 5.0}}]}]}))
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "files")
    check("files", "| monthly means, chunks of a field | 2 | 2.00 | 1.60 | 9.00 | 32 |" in text and "1.00 to 1.25 times as long as its mean" in text and
          "CDO 4.50 to 5.00 times" in text and "CDO 7.8, NCO 5.6. Made-up 2, 3 cores; commit feed, 2001-02-03." in text, text)
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "files-words")
    check("words", "CDO 7.8, NCO 5.6. Made-up 2" in text and text.count("| monthly means |") == 1 and "| `cdo monmean` | `h5gpured --by time:yearmonth` | 9.00 | 2.00 |" in text, text)
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "files-few")
    check("few words", "| `h5gpured --by time:yearmonth` | 9.00 | 2.00 |\n\nFiles are hourly" in text and text.endswith("Made-up 2, 3 cores.\n"), text)


def check_ranks(folder):
    for name, said in (("ranks", "No record of ranks"), ("gpu-parts", "No record of parts"), ("ranks-reading", "No record of how fast")):
        _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", name)
        check(f"no {name}", text.startswith(said), text)
    machine = {"cpu": "Made-up 2", "cores": 16, "gpu": "Made-up 1", "gpus": 4}
    (folder / "ranks.json").write_text(json.dumps({
        "commit": "feed", "date": "2001-02-03T", "machine": machine, "versions": {"mpi": "MPI 9", "xarray": None}, "rows": [
            {"cores": 16, "shape": [9, 8, 7], "bytes": 2**21, "stored_bytes": 2**20, "seconds": {"one process": 1.0, "2 x 8": 1.5},
             "work_seconds": {"one process": 0.75, "2 x 8": 0.5}}]}))
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "ranks")
    check("ranks", "| 16 | 1.00 (0.75) | 1.50 (0.50) |" in text and "2 MiB, 1 MiB deflated" in text and "xarray was not there" in text, text)
    (folder / "ranks.json").write_text(json.dumps({
        "commit": "feed", "date": "2001-02-03T", "machine": machine, "statistic": "median",
        "versions": {"mpi": "MPI 9", "xarray": "8.1", "dask": "7.2", "cdo": "Operators version 6.3 (https)", "nco": None}, "rows": [
            {"cores": 16, "shape": [9, 8, 7], "bytes": 2**21, "stored_bytes": 2**20, "runs": {"one process": 3, "CDO": 1},
             "seconds": {"one process": 1.0, "2 x 8": 1.5, "xarray + dask, 4 x 4": 4.0, "CDO": 5.0},
             "work_seconds": {"one process": 0.75, "2 x 8": 0.5, "xarray + dask, 4 x 4": 2.5}}]}))
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "ranks")
    check("ranks beside others", "| ranks x threads 2 x 8 | xarray + dask, 4 x 4 | CDO |" in text and "| 4.00 (2.50) | 5.00 |" in text and
          "the median of 1 to 3 runs" in text and "MPI 9, xarray 8.1, dask 7.2, CDO 6.3. Made-up" in text, text)
    (folder / "gpu-parts.json").write_text(json.dumps({
        "commit": "feed", "date": "2001-02-03T", "machine": machine, "files": [{"job": "-d time", "runs": 12, "sha256": "0"}], "rows": [
            {"case": "sum f32 [8]", "ranks": 4, "gpus": 4, "part_mib": 64, "plain_us": 90, "whole_us": 360, "parts_us": 100}]}))
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "gpu-parts")
    check("gpu-parts", "| sum f32 [8] | 4 | 64 | 90 | 360 | 100 | 0.90 | 3.60 |" in text and "12 runs" in text, text)
    (folder / "ranks-reading.json").write_text(json.dumps({
        "commit": "feed", "date": "2001-02-03T", "machine": machine, "runs": 9, "rows": [
            {"file": "i8", "ranks": 2, "threads": 8, "work_seconds": 0.4, "read_seconds": 0.3}]}))
    _, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "ranks-reading")
    check("ranks-reading", "| i8 | 2 x 8 | 0.400 | 0.300 | 0.75 |" in text and "9 runs" in text, text)


def check_figures(folder):
    status, out, errors = run(TOOLS / "report.py", "--data", folder, "--check")
    check("stale", status == 1 and errors.count("\n") == 1 and "plots/ladder.svg" in errors and "plots/heat.png" in errors, errors)
    if not shutil.which("gnuplot"):
        return
    status, out, errors = run(TOOLS / "report.py", "--data", folder)
    check("draw", status == 0 and "7 figures; no record of dtypes, ops" in out, out + errors)
    _, _, errors = run(TOOLS / "report.py", "--data", folder, "--check")
    check("drawn", "plots" not in errors, errors)
    for figure in (folder / "plots").glob("*.svg"):
        check("named in the figure", "Made-up 1, driver 1.2" in figure.read_text() and "commit feed, 2001-02-03" in figure.read_text(), figure.name)
    record = json.loads((folder / "gpu-ladder.json").read_text())
    record["rows"][0]["gbps"] = 8.0
    (folder / "gpu-ladder.json").write_text(json.dumps(record))
    _, _, errors = run(TOOLS / "report.py", "--data", folder, "--check")
    check("stale again", "plots/ladder.svg" in errors and "heat" not in errors, errors)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        status, text, _ = run(TOOLS / "report.py", "--data", folder, "--print", "gpu")
        check("no record", status == 0 and text.startswith("No record of a GPU is kept yet") and text.count("\n") == 1, text)
        for part, record in records().items():
            (folder / f"gpu-{part}.json").write_text(json.dumps({**HEAD, **record}))
        check_text(folder)
        check_files(folder)
        check_ranks(folder)
        check_figures(folder)
        (folder / "gpu-sweep.json").write_text("{")
        status, _, errors = run(TOOLS / "report.py", "--data", folder, "--print", "gpu")
        check("broken", status == 1 and errors.count("\n") == 1 and "gpu-sweep.json" in errors, errors)
        status, _, errors = run(TOOLS / "bench_peers.py", folder / "none.json")
        check("peers", status == 1 and errors.count("\n") == 1 and errors.startswith("bench_peers.py: "), errors)
    print("\n".join(failures) or "fine" + ("" if shutil.which("gnuplot") else ", but no figure was drawn: there is no gnuplot"))
    sys.exit(1 if failures else 0)


main()
