#!/usr/bin/env python3
"""Times NumPy on the problems of an ndbench record: bench_numpy.py RECORD.json MERGED.json

Each row gains numpy_seconds, numpy_gbps (the same bytes moved) and over_numpy, how many times as fast ndreduce was;
null where NumPy has no such dtype. Several operators are timed one after the other, as a NumPy user would call them.
"""
import json
import re
import sys
import time

import numpy as np

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
LEAST_SAMPLES, MOST_SAMPLES, SECONDS = 3, 25, 1.5


class Problem:
    """A problem of the mini-language, as far as ndbench prints it: OPS DTYPE [SIZE:STRIDE,...] /DIMS OPTIONS"""

    def __init__(self, text):
        ops, self.dtype, axes, dims, options = re.fullmatch(r"(\S+) (\S+) \[(.*)\] /(\S*)(.*)", text).groups()
        self.ops = ops.split(",")
        self.shape, self.strides, step = [], [], 1
        for axis in reversed(axes.split(",") if axes else []):
            size, _, stride = axis.partition(":")
            self.shape.insert(0, int(size))
            self.strides.insert(0, int(stride) if stride else step)
            step *= max(int(size), 1)
        self.dims = tuple(int(d) for d in dims.split(",")) if dims else ()
        self.keepdims, self.skip_nan = "keepdims" in options, "skipnan" in options
        ddof = re.search(r"ddof=(\S+)", options)
        self.ddof = float(ddof.group(1)) if ddof else 0

    def array(self):
        """A view of random data with the problem's shape and strides."""
        dtype = np.dtype(DTYPES[self.dtype])
        reach = [(n - 1) * s for n, s in zip(self.shape, self.strides) if n]
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0)
        block = np.random.default_rng(1).integers(0, 256, (1 << 20, dtype.itemsize), np.uint8)
        if dtype.kind in "fcb":
            values = np.random.default_rng(1).random(1 << 20) - 0.5
            block = (values > 0 if dtype.kind == "b" else values).astype(dtype)
        memory = np.resize(block.view(dtype).ravel(), high - low + 1)
        return np.lib.stride_tricks.as_strided(memory[-low:], self.shape, [s * dtype.itemsize for s in self.strides])


def function_of(op, problem, x):
    """The NumPy call for op, with nothing in it that NumPy would not need."""
    axis, keep = problem.dims, problem.keepdims
    nan = "nan" if problem.skip_nan and x.dtype.kind in "fc" else ""
    if op in ("sum", "prod", "min", "max", "mean"):
        return lambda: getattr(np, nan + op)(x, axis=axis, keepdims=keep)
    if op in ("var", "std"):
        return lambda: getattr(np, nan + op)(x, axis=axis, keepdims=keep, ddof=problem.ddof)
    if op in ("any", "all"):
        return lambda: getattr(np, op)(x, axis=axis, keepdims=keep)
    if op == "count":
        return lambda: np.count_nonzero(x, axis=axis, keepdims=keep)
    if op == "valid":
        return lambda: np.count_nonzero(~np.isnan(x), axis=axis, keepdims=keep)
    if op in ("argmin", "argmax"):
        if len(axis) == x.ndim:
            return lambda: getattr(np, nan + op)(x)
        return (lambda: getattr(np, nan + op)(x, axis=axis[0])) if len(axis) == 1 else None
    if op == "ptp":
        return lambda: np.ptp(x, axis=axis, keepdims=keep)
    if op == "norm1":
        return lambda: np.abs(x).sum(axis=axis, keepdims=keep)
    if op == "norm2":
        return lambda: np.sqrt(np.square(x).sum(axis=axis, keepdims=keep))
    if op == "norminf":
        return lambda: np.abs(x).max(axis=axis, keepdims=keep)

    def logsumexp():
        top = x.max(axis=axis, keepdims=True)
        return np.log(np.exp(x - top).sum(axis=axis, keepdims=True)) + top

    return logsumexp


def least_seconds(call):
    """The least of many samples; short calls are timed back to back, as ndbench does."""
    call()
    batch, best, samples, began = 1, np.inf, 0, time.perf_counter()
    while samples < LEAST_SAMPLES or (samples < MOST_SAMPLES and time.perf_counter() - began < SECONDS):
        start = time.perf_counter()
        for _ in range(batch):
            call()
        seconds = time.perf_counter() - start
        if seconds < 100e-6:
            batch *= 2
            continue
        best, samples = min(best, seconds / batch), samples + 1
    return best


def numpy_seconds(text):
    problem = Problem(text)
    if problem.dtype not in DTYPES:
        return None
    x = problem.array()
    calls = [function_of(op, problem, x) for op in problem.ops]
    return None if None in calls else sum(least_seconds(call) for call in calls)


def merge(row):
    seconds = numpy_seconds(row["problem"]) if row["seconds"] else None
    row["numpy_seconds"] = seconds and float(f"{seconds:.6g}")
    row["numpy_gbps"] = seconds and float(f"{row['bytes'] / seconds / 1e9:.6g}")
    row["over_numpy"] = seconds and float(f"{seconds / row['seconds']:.4g}")
    ratio = f"{row['numpy_gbps']:8.2f} {row['over_numpy']:7.2f}x" if seconds else "       -        -"
    print(f"{row['problem']:42} {row['gbps']:8.2f} {100 * row['of_ceiling']:5.1f}% {ratio}", flush=True)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        record = json.load(file)
    record["numpy"] = np.__version__
    print(f"{'problem':42} {'GB/s':>8} {'% max':>6} {'NumPy':>8} {'ours/its':>8}")
    with np.errstate(all="ignore"):
        for row in record["rows"]:
            merge(row)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        head = {key: value for key, value in record.items() if key != "rows"}
        rows = ",\n".join("    " + json.dumps(row) for row in record["rows"])
        file.write(json.dumps(head, indent=2)[:-2] + ',\n  "rows": [\n' + rows + "\n  ]\n}\n")


if __name__ == "__main__":
    main()
