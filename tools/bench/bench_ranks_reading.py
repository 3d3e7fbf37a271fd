#!/usr/bin/env python3
"""Measures how fast ranks read, beside processes that only read, and records it.

  bench_ranks_reading.py H5GPURED RECORD.json [--folder F] [--cores N] [--runs N] [--gib N,N] [--only TEXT]

The mean over the first dim of contiguous data in the page cache, by one thread, by one process and by ranks of an MPI on all
cores: the seconds of h5gpured's line "time", without the start of launcher and program, beside what as many processes of as
many threads take that only read the same bytes, each a part of the file, into a buffer of 256 KiB a thread. Of f32 in files of
each of --gib, which tells what a file costs from what a byte costs; and of a GiB of packed i16 with a fill value in both byte
orders. Medians of several runs that take turns. With --only, files whose names have TEXT in them are measured, and the record
keeps the rows of the others. Files are kept in F, and made where they are missing.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import bench_h5
from bench_ranks import launched, run
from provenance import provenance

BLOCK = 256 << 10


def read_part(path, begin, end):
    buffer = bytearray(BLOCK)
    with open(path, "rb", buffering=0) as file:
        for at in range(begin, end, BLOCK):
            os.preadv(file.fileno(), [memoryview(buffer)[:min(BLOCK, end - at)]], at)


def read_share(path, rank, ranks, threads):
    """A process of its own: begins when it is told to on stdin, and prints when it began and ended."""
    size = os.path.getsize(path)
    cuts = [size * (rank * threads + k) // (ranks * threads) for k in range(threads + 1)]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        list(pool.map(time.sleep, [0.01] * threads))  # starts the threads
        print("ready", flush=True)
        sys.stdin.readline()
        begin = time.monotonic()
        list(pool.map(lambda k: read_part(path, cuts[k], cuts[k + 1]), range(threads)))
        print(begin, time.monotonic(), flush=True)


def plain_seconds(path, ranks, threads):
    command = [sys.executable, "-B", __file__, "share", path]
    readers = [subprocess.Popen([*map(str, command), str(rank), str(ranks), str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True) for rank in range(ranks)]
    for reader in readers:
        reader.stdout.readline()
    for reader in readers:
        reader.stdin.write("\n")
        reader.stdin.flush()
    times = [tuple(map(float, reader.communicate()[0].split())) for reader in readers]
    return max(end for _, end in times) - min(begin for begin, _ in times)


def work_seconds(tool, path, out, ranks, threads):
    ours = [tool, path, "-d", "0", "--op", "mean", "-o", out, "--overwrite", "--threads", threads, "--explain"]
    return float(re.search(r"^time +([0-9.]+) s", run(launched(ranks if ranks > 1 else 0, ours)), re.M)[1])


def write_steps(path, dtype, steps, gib, attributes):
    """A GiB of the same steps again and again."""
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (len(steps) * gib, *steps.shape[1:]), dtype)
        for first in range(0, len(data), len(steps)):
            data[first:first + len(steps)] = steps
        data.attrs.update(attributes)


def write_f32(path, gib):
    write_steps(path, "f4", bench_h5.rough(bench_h5.SHAPE, 1), gib, {})


def write_packed(path, dtype):
    steps = np.random.default_rng(1).integers(-32000, 32000, (2 * bench_h5.SHAPE[0], *bench_h5.SHAPE[1:]), np.int16)
    steps[:, 40:60, 80:180] = bench_h5.STORED["_FillValue"]
    stored = {**bench_h5.STORED, "_FillValue": np.array(bench_h5.STORED["_FillValue"], dtype)}
    write_steps(path, dtype, steps, 1, stored)


def kinds(gibs):
    """By the name of what a file holds: how it is made."""
    made = {f"f32, {gib} GiB": lambda path, gib=gib: write_f32(path, gib) for gib in gibs}
    made["packed i16, 1 GiB"] = lambda path: write_packed(path, "<i2")
    made["packed big-endian i16, 1 GiB"] = lambda path: write_packed(path, ">i2")
    return made


def measure_file(options, folder, name, make):
    path = folder / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.h5"
    if not path.exists():
        make(path)
    read_part(path, 0, os.path.getsize(path))
    layouts = dict.fromkeys([(1, 1)] + [(ranks, options.cores // ranks) for ranks in (1, 2, 4, 8, 16, 32, 64) if options.cores % ranks == 0])
    samples = {layout: ([], []) for layout in layouts}
    for _ in range(options.runs):
        for layout, (work, plain) in samples.items():
            work.append(work_seconds(options.tool, path, folder / "mean.h5", *layout))
            plain.append(plain_seconds(path, *layout))
            print(f"{name}: {layout[0]} x {layout[1]}: {work[-1]:.3f} s, only reading {plain[-1]:.3f} s", flush=True)
    return [{"file": name, "ranks": ranks, "threads": threads, "work_seconds": float(np.median(work)), "read_seconds": float(np.median(plain))}
            for (ranks, threads), (work, plain) in samples.items()]


def measure(options, folder):
    rows = [row for name, make in kinds(options.gib).items() if options.only in name for row in measure_file(options, folder, name, make)]
    measured = {row["file"] for row in rows}
    before = json.loads(options.record.read_text(encoding="utf-8"))["rows"] if options.only else []
    return {**provenance(), "runs": options.runs, "rows": [row for row in before if row["file"] not in measured] + rows}


def main():
    if sys.argv[1:2] == ["share"]:
        return read_share(sys.argv[2], *map(int, sys.argv[3:6]))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool", type=os.path.abspath)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--gib", type=lambda text: list(map(int, text.split(","))), default=[1, 4])
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        record = measure(options, options.folder or pathlib.Path(temporary))
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written: {options.record}")


if __name__ == "__main__":
    main()
