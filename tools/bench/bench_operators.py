#!/usr/bin/env python3
"""Times other libraries on the masks, weights and formulas of ndbench's sets `operators` and `cpu-operators`.

  bench_operators.py [--library libndreduce.so] [--seconds S] RECORD.json

Each row of the record gains "python", as bench_peers.py does for plain reductions: PyTorch as a user would write it, its
inductor and XLA (through JAX) compiling the same formula, CuPy's ReductionKernel on a GPU, numexpr and NumPy on a CPU, and
ndreduce itself from Python on the same data in the same turns. What is not installed is left out. Formulas whose result
differs from PyTorch's in float64 are not timed. After --seconds (default 900) no more is compiled.
"""
import argparse
import ctypes
import json
import pathlib
import re
import time

from bench_peers import Clock, fail, importable, measure, show, versions, write

try:
    import torch
    from bench_calls import Call
    from library import DataType, Device, Library, Options, Tensor
except ImportError as error:
    fail(f"the peers need NumPy and PyTorch: {error}")

DLPACK = {torch.float32: (2, 32), torch.float64: (2, 64), torch.bool: (6, 8), torch.int64: (0, 64)}


def polynomial(x):
    total = 9.0
    for k in range(8, 0, -1):
        total = total * x + k
    return total


def weights_over(xp, w, x, d):
    return xp.broadcast_to(w, x.shape).sum(d)


def weighted_mean(xp, x, w, d):
    return (x * w).sum(d) / weights_over(xp, w, x, d)


def weighted_std(xp, x, w, d):
    total = weights_over(xp, w, x, d)
    shape = tuple(1 if k in d else size for k, size in enumerate(x.shape))
    mean = ((x * w).sum(d) / total).reshape(shape)
    return xp.sqrt((w * (x - mean) ** 2).sum(d) / total)


def correlation(xp, x, y, d):
    n = 1
    for k in d:
        n *= x.shape[k]
    a, b, c, p, q = x.sum(d), y.sum(d), (x * y).sum(d), (x * x).sum(d), (y * y).sum(d)
    return (n * c - a * b) / xp.sqrt((n * p - a * a) * (n * q - b * b))


# name -> (what stands beside x: "", mask, weights, second; the formula for an array library, x, that array, dims)
FORMULAS = {
    "sum": ("", lambda xp, x, y, d: x.sum(d)),
    "s += x": ("", lambda xp, x, y, d: x.sum(d)),
    "masked sum": ("mask", lambda xp, x, y, d: xp.where(y, x, 0 * x[(0,) * x.ndim]).sum(d)),
    "masked mean": ("mask", lambda xp, x, y, d: xp.where(y, x, 0 * x[(0,) * x.ndim]).sum(d) / y.sum(d)),
    "weighted mean": ("weights", weighted_mean),
    "weighted std": ("weights", weighted_std),
    "polynomial": ("", lambda xp, x, y, d: polynomial(x).sum(d)),
    "rmse": ("second", lambda xp, x, y, d: xp.sqrt(((x - y) ** 2).mean(d))),
    "correlation": ("second", correlation),
    "threshold": ("", lambda xp, x, y, d: (x > 0.5).sum(d)),
    "softmax denominator": ("", lambda xp, x, y, d: xp.exp(x - 1).sum(d)),
}
HORNER = "1+x*(2+x*(3+x*(4+x*(5+x*(6+x*(7+x*(8+x*9)))))))"
# name -> the arguments of cupy.ReductionKernel: inputs, output, map, reduce, post map, identity
CUPY = {
    "sum": ("T x", "T z", "x", "a + b", "z = a", "0"),
    "masked sum": ("T x, bool y", "T z", "y ? x : (T)0", "a + b", "z = a", "0"),
    "polynomial": ("T x", "T z", HORNER, "a + b", "z = a", "0"),
    "rmse": ("T x, T y", "T z", "(x - y) * (x - y)", "a + b", "z = sqrt(a / (_in_ind.size() / _out_ind.size()))", "0"),
    "threshold": ("T x", "int64 z", "(long long)(x > (T)0.5)", "a + b", "z = a", "0"),
    "softmax denominator": ("T x", "T z", "exp(x - 1)", "a + b", "z = a", "0"),
}
NUMEXPR = {"polynomial": HORNER, "rmse": "(x - y)**2", "softmax denominator": "exp(x - 1)", "threshold": "where(x > 0.5, 1, 0)",
           "masked sum": "where(y, x, 0)"}


class Case:
    """A row's arrays and dims."""

    def __init__(self, row, place):
        self.name = row["name"].rsplit(", ", 1)[0]
        kind, self.formula = FORMULAS[self.name]
        ops, shape, dims = re.fullmatch(r"(.*) f32 \[([\d,]*)\] /([\d,]*)(?: .*)?", row["problem"]).groups()
        self.op, self.kind = ops, kind
        self.shape, self.dims = [int(size) for size in shape.split(",")], tuple(int(d) for d in dims.split(","))
        self.x = torch.empty(self.shape, device=place).uniform_(-1, 1)
        self.y = None
        if kind == "mask":
            self.y = torch.empty(self.shape, device=place).uniform_(-1, 1) > 0
        elif kind:
            weights_shape = [size if d == self.dims[-1] else 1 for d, size in enumerate(self.shape)]
            self.y = torch.empty(self.shape if kind == "second" else weights_shape, device=place).uniform_(0.1, 1)

    def wanted(self):
        """In float64, one piece after the other where the arrays are large."""
        wide = [None if a is None else a.double() if a.is_floating_point() else a for a in (self.x, self.y)]
        return self.formula(torch, *wide, self.dims).double()


class Peers:
    """A method a peer: a call, or None for what it cannot do."""

    def __init__(self, library, place):
        self.library, self.place = library, place

    def ndreduce(self, case):
        so, keep = self.library.so, []

        def tensor(of):
            shape, strides = (ctypes.c_int64 * 8)(*of.shape), (ctypes.c_int64 * 8)(*of.stride())
            keep.append(of)
            return Tensor(of.data_ptr(), Device(2 if of.is_cuda else 1, 0), of.dim(), DataType(*DLPACK[of.dtype], 1), shape,
                          strides, 0)

        op = ctypes.c_int()
        braced = re.fullmatch(r"\{(.*)\}(?:\((.*)\))?", case.op)
        if braced:
            values = [float(value) for value in braced[2].split(",")] if braced[2] else []
            self.library.check(so.ndr_operator_create(ctypes.byref(op), braced[1].encode(),
                                                      (ctypes.c_double * max(len(values), 1))(*values), len(values)))
        else:
            self.library.check(so.ndr_op_parse(case.op.encode(), ctypes.byref(op)))
        options, extra = Options(), ctypes.pointer(tensor(case.y)) if case.y is not None else None
        if case.kind == "mask":
            options.where = extra
        elif case.kind == "weights":
            options.weights = extra
        elif case.kind:
            pointers = (type(extra) * 1)(extra)
            options.others = ctypes.cast(pointers, type(options.others))
            options.other_count = 1
            keep.append(pointers)
        dims = (ctypes.c_int * len(case.dims))(*case.dims)
        kept = [size for d, size in enumerate(case.shape) if d not in case.dims]
        shape, result = (ctypes.c_int64 * 8)(), Tensor()
        result.shape = shape
        array = tensor(case.x)
        self.library.check(so.ndr_result_describe(ctypes.byref(array), len(dims), dims, op, ctypes.byref(options),
                                                  ctypes.byref(result)))
        bits = {(2, 32): torch.float32, (2, 64): torch.float64, (0, 64): torch.int64, (1, 64): torch.int64}
        out = torch.empty(kept, dtype=bits[result.dtype.code, result.dtype.bits], device=self.place)
        target = Tensor(out.data_ptr(), Device(2 if out.is_cuda else 1, 0), out.dim(), result.dtype,
                        (ctypes.c_int64 * 8)(*kept), None, 0)
        arguments = (ctypes.byref(array), len(dims), dims, op, ctypes.byref(target), ctypes.byref(options))
        self.library.check(so.ndreduce(*arguments))
        call = Call(lambda: (so.ndreduce(*arguments), out)[1])
        call.keep = (keep, array, target, options, extra)
        return call

    def torch(self, case):
        return Call(lambda: case.formula(torch, case.x, case.y, case.dims))

    def inductor(self, case):
        torch._dynamo.reset()
        compiled = torch.compile(lambda x, y: case.formula(torch, x, y, case.dims), dynamic=False)
        return Call(lambda: compiled(case.x, case.y))

    def jax(self, case):
        import jax
        compiled = jax.jit(lambda x, y: case.formula(jax.numpy, x, y, case.dims))

        def load(array):
            if array is None or array.dtype != torch.bool:
                return None if array is None else jax.dlpack.from_dlpack(array)
            return jax.dlpack.from_dlpack(array.view(torch.uint8)).astype(bool)

        copies = [(load(case.x), load(case.y))]
        copies.append((load(case.x.clone()), load(case.y.clone()) if case.y is not None else None))
        return Call(lambda: compiled(*copies[0]), lambda result: torch.from_dlpack(result), lambda i: compiled(*copies[i % 2]))

    def cupy(self, case):
        import cupy
        if self.place != "cuda" or case.name not in CUPY:
            return None
        kernel = cupy.ReductionKernel(*CUPY[case.name], "formula")
        arrays = [cupy.from_dlpack(case.x)]
        if case.y is not None:
            arrays.append(cupy.from_dlpack(case.y.view(torch.uint8)).view(cupy.bool_) if case.kind == "mask" else
                          cupy.from_dlpack(case.y))
        axis = case.dims if len(case.dims) > 1 else case.dims[0]
        return Call(lambda: kernel(*arrays, axis=axis), torch.from_dlpack)

    def numpy(self, case):
        import numpy
        if self.place == "cuda":
            return None
        x, y = case.x.numpy(), None if case.y is None else case.y.numpy()
        return Call(lambda: case.formula(numpy, x, y, case.dims), lambda result: torch.as_tensor(result))

    def numexpr(self, case):
        import numexpr
        if self.place == "cuda" or case.name not in NUMEXPR or len(case.dims) > 1:
            return None
        names = {"x": case.x.numpy(), **({} if case.y is None else {"y": case.y.numpy()})}
        count = case.shape[case.dims[0]]
        finish = (lambda s: (s / count) ** 0.5) if case.name == "rmse" else (lambda s: s)
        text = f"sum({NUMEXPR[case.name]}, axis={case.dims[0]})"
        return Call(lambda: finish(numexpr.evaluate(text, names)), lambda result: torch.as_tensor(result))


NAMES = ("ndreduce", "torch", "inductor", "jax", "cupy", "numpy", "numexpr")


def calls_of(peers, case, skip):
    calls, wanted = {}, case.wanted()
    for name in NAMES:
        if name in skip:
            continue
        try:
            call = getattr(peers, name)(case)
            if not call:
                continue
            got = call.results()[0].to(wanted.device).double()
            slack = 1e-5 * max(1.0, float(wanted.abs().max())) * (100 if case.name == "weighted std" else 1)
            if got.shape != wanted.shape or not bool(((got - wanted).abs() <= 2e-3 * wanted.abs() + slack).all()):
                raise ValueError("another result than float64 gives")
            calls[name] = call
        except Exception as error:  # whatever a peer does wrong is its own affair
            print(f"  {name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
    return calls


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library")
    parser.add_argument("--seconds", type=float, default=900)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    record = json.loads(given.record.read_text(encoding="utf-8"))
    library, place = Library(given.library) if given.library else None, record["device"]
    torch.manual_seed(1)
    absent = {name for name in NAMES if not importable(name, library)}
    record["python"] = versions([name for name in NAMES if name not in absent])
    peers, clock, began = Peers(library, place), Clock(place), time.monotonic()
    for row in record["rows"]:
        late = time.monotonic() - began > given.seconds
        calls = calls_of(peers, Case(row, place), absent | ({"inductor", "jax"} if late else set()))
        if calls:
            measure(row, None, calls, clock)
            show({**row, "problem": row["name"]}, NAMES)
        write(given.record, record)


if __name__ == "__main__":
    main()
