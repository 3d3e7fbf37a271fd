#!/usr/bin/env python3
"""Times scans and selections on a CPU, and those of NumPy and PyTorch on the same data in the same turns.

  bench_cpu_scans.py [--bytes N] [--threads LIST] [--rounds N] [--copy LIBRARY] --library libndreduce.so RECORD.json

Every row is the shortest of N calls (default 5) that take turns with those of the peers. NumPy has one thread; PyTorch, which is
left out where it is not installed, has as many as the library. Arrays hold N bytes (default 128 MiB). gbps counts the bytes of
the array, the mask and the result. The ceiling is the best copy of as many bytes in the same turns, through the caches and past
them: the loops of tools/ndbench/copy.c, compiled with `cc` unless --copy names a library that has them. A call that takes longer than
0.3 s is made once. The record is written anew after every row.
"""
import argparse
import ctypes
import json
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from provenance import ROOT, provenance

sys.path.insert(0, str(ROOT / "tests" / "numpy"))

try:
    import numpy as np
    from library import OPS, Library, tensor_of
except ImportError as error:
    sys.exit(f"bench_cpu_scans.py: {error}")
try:
    import torch
except ImportError:
    torch = None

SCAN_ALL = -(1 << 31)
COPY_LOOPS = 4
PATIENCE = 0.3
SPINNING = 0.03  # seconds for which OpenMP's threads, of copies or of PyTorch, may spin on the cores that the next call would use
NUMPY = {"sum": np.cumsum, "prod": np.cumprod, "min": np.minimum.accumulate, "max": np.maximum.accumulate}
TORCH = {"sum": "cumsum", "prod": "cumprod", "min": "cummin", "max": "cummax"}
DTYPES = {"f32": np.float32, "f64": np.float64, "i64": np.int64, "i32": np.int32, "i16": np.int16, "i8": np.int8,
          "u8": np.uint8, "bool": np.bool_, "c64": np.complex64, "f16": np.float16}


class ScanOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("exclusive", ctypes.c_int), ("include_initial", ctypes.c_int), ("reverse", ctypes.c_int),
                ("skip_nan", ctypes.c_int), ("initial", ctypes.c_void_p), ("with_", ctypes.c_void_p), ("with_count", ctypes.c_int),
                ("threads", ctypes.c_int), ("stream", ctypes.c_void_p), ("force_family", ctypes.c_char_p)]


class SelectOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("threads", ctypes.c_int), ("stream", ctypes.c_void_p)]


def scans(elements):
    """(name, dtype, operator, shape, dim, options)"""
    root = 1 << (elements.bit_length() // 2)
    layouts = {"one line": ((elements,), 0), "rows": ((root, elements // root), 1), "columns": ((root, elements // root), 0),
               "middle": ((64, root // 8, elements // root // 8), 1), "[N,2] down": ((elements // 2, 2), 0),
               "[N,2] along": ((elements // 2, 2), 1), "[N,3] down": ((elements // 3, 3), 0), "[N,3] along": ((elements // 3, 3), 1),
               "rows of 16": ((elements // 16, 16), 1), "rows of 1001": ((elements // 1001, 1001), 1),
               "256 columns": ((elements // 256, 256), 0), "odd columns": ((root - 3, elements // root - 29), 0)}
    made = [(name, "f32", "sum", shape, dim, {}) for name, (shape, dim) in layouts.items()]
    for dtype in DTYPES:
        if dtype != "f32":
            made += [(name, dtype, "sum", *layouts[name], {}) for name in ("one line", "rows", "columns")]
    for op in ("min", "max", "prod"):
        made += [(name, dtype, op, *layouts[name], {}) for dtype in ("f32", "i32") for name in ("one line", "rows", "columns")
                 if dtype == "f32" or op == "max"]
    made += [(f"{layout}, {option}", "f32", "sum", *layouts[layout], {option: 1}) for layout in ("one line", "columns")
             for option in ("exclusive", "reverse")]
    return made


def values(dtype, shape):
    random = np.random.default_rng(1)
    block = random.random(1 << 20)
    kind = np.dtype(DTYPES[dtype]).kind
    block = block < 0.5 if kind == "b" else (100 * block).astype(DTYPES[dtype]) if kind in "iu" else (block - 0.5).astype(DTYPES[dtype])
    return np.resize(block, shape)


def result_dtype(op, dtype):
    kind = np.dtype(dtype).kind
    if op in ("min", "max") or kind in "fc":
        return dtype
    return np.int64 if kind == "i" else np.uint64


class Turns:
    """Calls that take turns; the shortest of each counts, but the first where it takes longer than PATIENCE seconds."""

    def __init__(self, rounds):
        self.rounds = rounds

    def time(self, calls):
        first = {name: self.once(call) for name, call in calls.items()}
        best = {name: seconds for name, seconds in first.items() if seconds > PATIENCE}
        for _ in range(self.rounds):
            for name, call in calls.items():
                if first[name] <= PATIENCE:
                    if name in ("ndreduce", "copy 0"):
                        time.sleep(SPINNING)
                    best[name] = min(best.get(name, first[name]), self.once(call))
        return {name: best[name] for name in calls}

    @staticmethod
    def once(call):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


class Bench:
    def __init__(self, given):
        self.library, self.turns, self.given = Library(str(given.library)), Turns(given.rounds), given
        self.copy = ctypes.CDLL(str(given.copy))
        self.rows = []

    def copies(self, size, threads):
        """Copies that move `size` bytes, each read or written."""
        half = size // 2
        memory = [np.ones(half // 8 + 64, np.int64) for _ in range(2)]
        to, source = (ctypes.c_void_p((m.ctypes.data + 63) // 64 * 64) for m in memory)
        call = lambda loop: lambda keep=memory: self.copy.bench_copy(loop, to, source, ctypes.c_size_t(half), threads)
        return {f"copy {loop}": call(loop) for loop in range(COPY_LOOPS)}

    def row(self, name, problem, threads, size, calls):
        seconds = self.turns.time({**calls, **self.copies(size, threads)})
        copy = min(s for n, s in seconds.items() if n.startswith("copy"))
        own = {n: float(f"{s:.4g}") for n, s in seconds.items() if not n.startswith("copy")}
        row = {"name": name, "problem": problem, "threads": threads, "bytes": size, "seconds": own,
               "gbps": float(f"{size / own['ndreduce'] / 1e9:.4g}"), "ceiling_gbps": float(f"{size / copy / 1e9:.4g}"),
               "of_ceiling": float(f"{copy / own['ndreduce']:.3g}")}
        self.rows.append(row)
        print(f"{name:24}{problem:34}{threads:3} threads {row['of_ceiling']:6.2f} of a copy   " +
              "  ".join(f"{n} {s * 1e3:.1f} ms" for n, s in own.items()), flush=True)

    def scan(self, name, dtype, op, shape, dim, options, threads):
        x = values(dtype, shape)
        out = np.ones(shape, result_dtype(op, x.dtype))
        given = ScanOptions(ctypes.sizeof(ScanOptions), threads=threads, **options)
        array, result = tensor_of(x), tensor_of(out)
        call = lambda: self.library.check(self.library.so.ndr_scan(ctypes.byref(array), dim, OPS.index(op), ctypes.byref(result),
                                                                   ctypes.byref(given)))
        calls = {"ndreduce": call}
        if not options:
            there = np.ones(shape, out.dtype)
            calls["numpy"] = lambda: NUMPY[op](x, axis=dim, out=there)
            if torch:
                t = torch.from_numpy(x)
                torch.set_num_threads(threads)
                if op in ("sum", "prod"):
                    calls["torch"] = lambda: getattr(torch, TORCH[op])(t, dim, dtype=None if t.is_floating_point() or t.is_complex() else torch.int64)
                else:
                    calls["torch"] = lambda: getattr(torch, TORCH[op])(t, dim)
        said = "".join(f" {option}" for option in options)
        self.row(name, f"{op} {dtype} [{','.join(map(str, shape))}] along {dim}{said}", threads, x.nbytes + out.nbytes, calls)

    def select(self, dtype, percent, elements, threads):
        x = values(dtype, elements)
        mask = np.random.default_rng(2).random(elements) * 100 < percent
        out, count = np.ones(elements, x.dtype), ctypes.c_int64()
        given = SelectOptions(ctypes.sizeof(SelectOptions), threads)
        array, kept, result = tensor_of(x), tensor_of(mask), tensor_of(out)
        arguments = ctypes.byref(array), ctypes.byref(kept), SCAN_ALL, ctypes.byref(result), ctypes.byref(count), ctypes.byref(given)
        calls = {"ndreduce": lambda: self.library.check(self.library.so.ndr_select(*arguments)), "numpy": lambda: x[mask]}
        if torch:
            t, m = torch.from_numpy(x), torch.from_numpy(mask)
            torch.set_num_threads(threads)
            calls["torch"] = lambda: torch.masked_select(t, m)
        self.row(f"{percent} % kept", f"select {dtype} [{elements}]", threads, x.nbytes + mask.nbytes + int(mask.sum()) * x.itemsize, calls)

    def nonzero(self, percent, elements, threads):
        x = (np.random.default_rng(2).random(elements) * 100 < percent).astype(np.float32)
        kept = int(np.count_nonzero(x))
        out, count = np.ones((kept, 1), np.int64), ctypes.c_int64()
        given = SelectOptions(ctypes.sizeof(SelectOptions), threads)
        array, result = tensor_of(x), tensor_of(out)
        calls = {"ndreduce": lambda: self.library.check(self.library.so.ndr_nonzero(ctypes.byref(array), ctypes.byref(result),
                                                                                    ctypes.byref(count), ctypes.byref(given))),
                 "numpy": lambda: np.nonzero(x)}
        if torch:
            t = torch.from_numpy(x)
            torch.set_num_threads(threads)
            calls["torch"] = lambda: torch.nonzero(t)
        self.row(f"{percent} % not 0", f"nonzero f32 [{elements}]", threads, x.nbytes + out.nbytes, calls)


def compiled_copy(folder):
    made = pathlib.Path(folder) / "libcopy.so"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-fopenmp", *(f"-I{ROOT / part}" for part in ("include", "src", "tools")),
                    ROOT / "tools" / "ndbench" / "copy.c", "-o", made], check=True)
    return made


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--bytes", type=int, default=1 << 27)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copy", type=pathlib.Path)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        given.copy = given.copy or compiled_copy(folder)
        bench = Bench(given)
        record = {**provenance(), "library": bench.library.so.ndr_version().decode(), "numpy": np.__version__,
                  "torch": torch.__version__ if torch else None, "rows": bench.rows}
        steps = []
        for threads in map(int, given.threads.split(",")):
            for name, dtype, op, shape, dim, options in scans(given.bytes // 4):
                steps.append((bench.scan, name, dtype, op, shape, dim, options, threads))
            for percent in (1, 10, 50, 90):
                steps.append((bench.select, "f32", percent, given.bytes // 4, threads))
            steps.append((bench.select, "f64", 50, given.bytes // 8, threads))
            steps += [(bench.nonzero, percent, given.bytes // 8, threads) for percent in (1, 50)]
        for step, *arguments in steps:
            step(*arguments)
            given.record.write_text(json.dumps(record, indent=1).replace("\n   ", "").replace("\n  }", "}") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
