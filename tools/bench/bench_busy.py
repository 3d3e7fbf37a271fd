#!/usr/bin/env python3
"""Times sums of small and large arrays on an idle and on a busy machine: bench_busy.py OUTPUT.json NAME=LIBRARY...

Each LIBRARY is a libndreduce.so; several, as that of another commit, are timed in turns. f32 arrays of 4 KB to 64 MB are
summed over and over, with as many threads as the library likes (rows "all") and with one ("one"); once beside nothing
else, and once beside a process that computes for each core ("busy"). What is written are percentiles of single calls.

Another option: --seconds S, the time of each row and turn (0.3).
"""
import argparse
import ctypes
import json
import os
import platform
import subprocess
import sys
import time

import numpy as np

SIZES = [4096 << 2 * i for i in range(8)]
TURNS = 3
MOST_CALLS = 200000


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Dtype(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Dtype),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("keepdims", ctypes.c_int), ("skip_nan", ctypes.c_int),
                ("ddof", ctypes.c_double), ("accumulate", ctypes.c_int), ("planning", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p), ("force_family", ctypes.c_char_p),
                ("device", ctypes.c_void_p)]


def time_calls(library, size, threads, seconds):
    """Seconds of single calls, by a process of its own: what one library's threads do must not meet another's."""
    x, result = np.full(size // 4, 0.5, np.float32), np.zeros((), np.float32)
    shape = (ctypes.c_int64 * 1)(x.size)
    array = Tensor(x.ctypes.data, Device(1, 0), 1, Dtype(2, 32, 1), shape)
    total = Tensor(result.ctypes.data, Device(1, 0), 0, Dtype(2, 32, 1), shape)
    options = Options(ctypes.sizeof(Options), threads=threads)
    call = ctypes.CDLL(library).ndreduce
    arguments = ctypes.byref(array), -1, None, 0, ctypes.byref(total), ctypes.byref(options)
    spent, clock = [], time.perf_counter
    end = clock() + seconds
    call(*arguments)
    while clock() < end and len(spent) < MOST_CALLS:
        start = clock()
        status = call(*arguments)
        spent.append(clock() - start)
        if status or result != x.size / 2:
            sys.exit(f"{library}: status {status}, sum {result}")
    return spent


def run_turn(library, size, threads, seconds):
    out = subprocess.run([sys.executable, __file__, "--turn", library, str(size), str(threads), str(seconds)],
                         stdout=subprocess.PIPE, check=True).stdout
    return np.frombuffer(out)


def start_load(count):
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def row_of(spent, **facts):
    median, p90, p99 = np.percentile(spent, [50, 90, 99])
    row = dict(facts, calls=len(spent), median=float(median), p90=float(p90), p99=float(p99))
    print("{library:>8} {threads:>4} {load:>5} {bytes:>9}".format(**row),
          "".join(f"{row[k] * 1e6:12.1f}" for k in ("median", "p90", "p99")), flush=True)
    return row


def measure(libraries, seconds):
    print("library threads load   bytes    median us      p90 us      p99 us")
    rows = []
    for load in ("idle", "busy"):
        others = start_load(os.cpu_count() if load == "busy" else 0)
        try:
            for size in SIZES:
                cases = [(name, path, threads) for name, path in libraries for threads in (0, 1)]
                spent = [[] for _ in cases]
                for _ in range(TURNS):
                    for case, (_, path, threads) in zip(spent, cases):
                        case.append(run_turn(path, size, threads, seconds))
                rows += [row_of(np.concatenate(s), library=name, threads="one" if threads else "all", load=load, bytes=size)
                         for s, (name, _, threads) in zip(spent, cases)]
        finally:
            for process in others:
                process.kill()
                process.wait()
    return rows


def main():
    if sys.argv[1:2] == ["--turn"]:
        library, size, threads, seconds = sys.argv[2:]
        sys.stdout.buffer.write(np.array(time_calls(library, int(size), int(threads), float(seconds))).tobytes())
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("libraries", nargs="+", metavar="NAME=LIBRARY")
    parser.add_argument("--seconds", type=float, default=0.3)
    given = parser.parse_args()
    libraries = [tuple(library.split("=", 1)) for library in given.libraries]
    if any(len(pair) != 2 for pair in libraries):
        parser.error("a library is NAME=PATH")
    record = {"machine": {"cores": os.cpu_count(), "kernel": platform.platform(), "load": list(os.getloadavg())},
              "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "rows": measure(libraries, given.seconds)}
    with open(given.output, "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
