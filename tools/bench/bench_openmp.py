#!/usr/bin/env python3
"""Times sums in a process whose OpenMP threads poll, PyTorch's: bench_openmp.py OUTPUT.json NAME=LIBRARY...

Each LIBRARY is a libndreduce.so; several, as that of another commit, are timed in turns, each in a process of its own. f32
arrays of 4,096 columns are summed over axis 1 and 0: 30 ms after anything else ran ("asleep"), right after PyTorch has
added to a tensor of 1 MB after such a pause ("polling"), and over and over with that before each sum ("again"). PyTorch's
own sums are timed in the same way. What is written are percentiles of single calls.
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

from bench_busy import Device, Dtype, Options, Tensor

MIB = [1024, 256, 32, 4]
STATES = ["asleep", "polling", "again"]
CALLS = 25
TURNS = 2
PAUSE = 0.03


def time_sums(library, mib, axis):
    """Seconds of single calls by state, of the library, or of PyTorch if it is "torch"."""
    import torch
    x = torch.rand(mib * 64, 4096)
    small = torch.rand(1 << 18)
    expected = x.sum(axis)
    found = torch.zeros_like(expected)
    if library == "torch":
        def call():
            torch.sum(x, axis, out=found)
    else:
        shape, short = (ctypes.c_int64 * 2)(*x.shape), (ctypes.c_int64 * 1)(found.numel())
        array = Tensor(x.data_ptr(), Device(1, 0), 2, Dtype(2, 32, 1), shape)
        result = Tensor(found.data_ptr(), Device(1, 0), 1, Dtype(2, 32, 1), short)
        options = Options(ctypes.sizeof(Options))
        reduce = ctypes.CDLL(library).ndreduce
        arguments = ctypes.byref(array), 1, (ctypes.c_int * 1)(axis), 0, ctypes.byref(result), ctypes.byref(options)

        def call():
            if reduce(*arguments):
                sys.exit(f"{library}: a sum failed")
    spent = {}
    for state in STATES:
        spent[state] = []
        for _ in range(CALLS):
            if state != "again":
                time.sleep(PAUSE)
            if state != "asleep":
                small += 1
            start = time.perf_counter()
            call()
            spent[state].append(time.perf_counter() - start)
    if not torch.allclose(found, expected, rtol=1e-4):
        sys.exit(f"{library}: the sums are wrong")
    return spent


def measure(libraries):
    print("library     MiB axis   state     median us      p90 us")
    rows = []
    for mib in MIB:
        for axis in (1, 0):
            spent = {name: {state: [] for state in STATES} for name, _ in libraries}
            for _ in range(TURNS):
                for name, path in libraries:
                    out = subprocess.run([sys.executable, __file__, "--turn", path, str(mib), str(axis)], stdout=subprocess.PIPE, check=True)
                    for state, seconds in json.loads(out.stdout).items():
                        spent[name][state] += seconds
            for state in STATES:
                for name, _ in libraries:
                    median, p90 = np.percentile(spent[name][state], [50, 90])
                    rows.append({"library": name, "mib": mib, "axis": axis, "state": state, "median": median, "p90": p90})
                    print(f"{name:>8} {mib:>6} {axis:>4} {state:>8} {median * 1e6:12.1f}{p90 * 1e6:12.1f}", flush=True)
    return rows


def main():
    if sys.argv[1:2] == ["--turn"]:
        json.dump(time_sums(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])), sys.stdout)
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output")
    parser.add_argument("libraries", nargs="+", metavar="NAME=LIBRARY")
    given = parser.parse_args()
    libraries = [tuple(library.split("=", 1)) for library in given.libraries]
    if any(len(pair) != 2 for pair in libraries):
        parser.error("a library is NAME=PATH")
    record = {"machine": {"cores": os.cpu_count(), "kernel": platform.platform(), "load": list(os.getloadavg())},
              "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "rows": measure([*libraries, ("torch", "torch")])}
    with open(given.output, "w") as file:
        json.dump(record, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
