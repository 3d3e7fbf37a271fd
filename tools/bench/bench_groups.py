#!/usr/bin/env python3
"""Times other libraries on the sums by group of ndbench's sets `groups` and `cpu-groups`.

  bench_groups.py [--library libndreduce.so] [--slow S] RECORD.json

Each row of the record gains "python", as bench_peers.py does for plain reductions: PyTorch's scatter_reduce and index_add,
XLA's segment_sum (through JAX) and flox; on a GPU CuPy's scatter_add; on a CPU numbagg, and NumPy's add.reduceat (of a copy
that is sorted, if the labels are not), bincount and add.at; and ndreduce itself from Python on the same data and labels in the
same turns. Plain rows have the plain sums of PyTorch, XLA, CuPy and NumPy. Labels are of the row's kind, those that are
scattered drawn anew; what a library can prepare from them alone is not timed. What is not installed is left out, and a peer
whose result differs from float64's. A call that takes more than --slow seconds (default 1) is timed once.
"""
import argparse
import ctypes
import importlib
import json
import pathlib
import re
import time

from bench_peers import Clock, fail, importable, measure, show, versions, write

try:
    import numpy as np
    import torch
    from bench_calls import Call
    from library import DataType, Device, Library, Options, Tensor
except ImportError as error:
    fail(f"the peers need NumPy and PyTorch: {error}")

DAYS_OF_MONTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# name of a peer -> its module
MODULES = {"ndreduce": None, "torch": "torch", "scatter_reduce": "torch", "index_add": "torch", "jax": "jax", "cupy": "cupy",
           "flox": "flox", "numbagg": "numbagg", "numpy": "numpy", "reduceat": "numpy", "bincount": "numpy", "add_at": "numpy"}


def zones(shape, count, random):
    """The nearest of `count` centres, of every place."""
    y, x = np.mgrid[:shape[0], :shape[1]]
    centres = [(random.integers(shape[0]), random.integers(shape[1])) for _ in range(count)]
    return np.argmin([(y - a)**2 + (x - b)**2 for a, b in centres], axis=0)


def labels_of(kind, shape, groups):
    """Labels of ndbench's kind `kind`."""
    length, random = int(np.prod(shape)), np.random.default_rng(1)
    at = np.arange(length)
    if "months" in kind:
        made = np.repeat(np.arange(groups), 24 * np.array(DAYS_OF_MONTHS))
    elif "zones" in kind:
        made = zones(shape, groups, random)
    else:
        made = {"turn": at % groups, "days": at // 24, "sorted": at * groups // length,
                "scattered": random.integers(groups, size=length)}[kind.split()[-1]]
    return made.astype(np.int64).reshape(shape)


class Case:
    """A row's array and labels. `x` has the reduced dims as one, `dim`; beside labels at most one other."""

    def __init__(self, row, place):
        kind = row["name"].rsplit(", ", 1)[0]
        shape, dims = re.fullmatch(r"sum f32 \[([\d,]*)\] /([\d,]*)(?: groups=.*)?", row["problem"]).groups()
        self.shape, self.dims = [int(size) for size in shape.split(",")], [int(d) for d in dims.split(",")]
        self.groups, self.place = row.get("groups", 0), place
        self.array = torch.empty(self.shape, device=place).uniform_(-1, 1)
        self.dim = 0 if self.dims[0] == 0 else 1
        self.x = self.array
        if self.groups or len(self.dims) > 1:
            self.x = self.array.reshape(self.shape[0], -1)
        if self.groups:
            self.labels = labels_of(kind, [self.shape[d] for d in self.dims], self.groups)
            self.flat = self.labels.ravel()
            self.index = torch.from_numpy(self.flat).to(place)

    def results(self, dtype=torch.float32):
        shape = list(self.x.shape)
        shape[self.dim] = self.groups
        return torch.zeros(shape, dtype=dtype, device=self.place)

    def wanted(self):
        if not self.groups:
            return self.x.sum(self.dim, dtype=torch.float64)
        return self.results(torch.float64).index_add_(self.dim, self.index, self.x.double())


class Peers:
    """A method a peer: a call, or None for what it cannot do."""

    def __init__(self, library, place):
        self.library, self.place = library, place

    def ndreduce(self, case):
        so = self.library.so
        so.ndr_groups_destroy.restype = None

        def tensor(data, device, dtype, shape):
            return Tensor(data, Device(device, 0), len(shape), DataType(*dtype, 1), (ctypes.c_int64 * 8)(*shape), None, 0)

        device = 2 if case.array.is_cuda else 1
        shape = [size for d, size in enumerate(case.shape) if d not in case.dims]
        out = case.results() if case.groups else torch.empty(shape, device=case.place)
        if case.groups:
            shape.insert(case.dims[0], case.groups)
        array, target = tensor(case.array.data_ptr(), device, (2, 32), case.shape), tensor(out.data_ptr(), device, (2, 32), shape)
        options, groups = Options(), ctypes.c_void_p()
        if case.groups:
            labels = tensor(case.labels.ctypes.data, 1, (0, 64), case.labels.shape)
            self.library.check(so.ndr_groups_create(ctypes.byref(groups), ctypes.byref(labels), ctypes.c_int64(case.groups)))
            options.groups, options.group_dim = groups, case.dims[0]
        dims = (ctypes.c_int * len(case.dims))(*case.dims)
        arguments = (ctypes.byref(array), len(dims), dims, 0, ctypes.byref(target), ctypes.byref(options))
        self.library.check(so.ndreduce(*arguments))
        call = Call(lambda: (so.ndreduce(*arguments), out)[1])
        call.keep, call.leave = (array, target, options), lambda: so.ndr_groups_destroy(groups)
        return call

    def torch(self, case):
        return None if case.groups else Call(lambda: case.x.sum(case.dim))

    def scatter_reduce(self, case):
        if not case.groups:
            return None
        index = (case.index[:, None] if case.dim == 0 else case.index[None, :]).expand(case.x.shape)
        return Call(lambda: case.results().scatter_reduce_(case.dim, index, case.x, "sum"))

    def index_add(self, case):
        return Call(lambda: case.results().index_add_(case.dim, case.index, case.x)) if case.groups else None

    def jax(self, case):
        import jax

        def by_group(x, labels):
            if not case.groups:
                return x.sum(case.dim)
            sums = jax.ops.segment_sum(x if case.dim == 0 else x.T, labels, case.groups)
            return sums if case.dim == 0 else sums.T

        compiled = jax.jit(by_group)
        labels = jax.numpy.asarray(case.flat.astype(np.int32)) if case.groups else None
        copies = [jax.dlpack.from_dlpack(case.x), jax.dlpack.from_dlpack(case.x.clone())]
        return Call(lambda: compiled(copies[0], labels).block_until_ready(), torch.from_dlpack,
                    (lambda i: compiled(copies[i % 2], labels)) if case.place == "cuda" else None)

    def cupy(self, case):
        import cupy
        import cupyx
        if self.place != "cuda":
            return None
        x = cupy.from_dlpack(case.x)
        if not case.groups:
            return Call(lambda: x.sum(axis=case.dim), torch.from_dlpack)
        at = cupy.asarray(case.flat) if case.dim == 0 else (slice(None), cupy.asarray(case.flat))

        def scatter_add():
            out = cupy.zeros(tuple(case.results().shape), cupy.float32)
            cupyx.scatter_add(out, at, x)
            return out

        return Call(scatter_add, torch.from_dlpack)

    def on_host(self, case, with_groups, run):
        """A call of NumPy's arrays."""
        return Call(run, torch.as_tensor) if self.place == "cpu" and bool(case.groups) == with_groups else None

    def flox(self, case):
        import flox
        x, groups = np.moveaxis(case.x.cpu().numpy(), case.dim, -1) if self.place == "cpu" else None, np.arange(case.groups)

        def reduce():
            sums = flox.groupby_reduce(x, case.flat, func="sum", expected_groups=groups, fill_value=0)[0]
            return np.moveaxis(sums, -1, case.dim)

        return self.on_host(case, True, reduce)

    def numbagg(self, case):
        import numbagg
        x = case.x.cpu().numpy() if self.place == "cpu" else None

        def reduce():
            sums = numbagg.group_nansum(x, case.flat, axis=case.dim, num_labels=case.groups)
            return np.moveaxis(sums, -1, case.dim)

        return self.on_host(case, True, reduce)

    def numpy(self, case):
        return self.on_host(case, False, lambda: case.x.numpy().sum(case.dim))

    def reduceat(self, case):
        if not case.groups or self.place != "cpu":
            return None
        x, order = case.x.numpy(), np.argsort(case.flat, kind="stable")
        present, starts = np.unique(case.flat[order], return_index=True)
        is_sorted = bool((np.diff(case.flat) >= 0).all())

        def reduce():
            out = np.zeros(tuple(case.results().shape), np.float32)
            sums = np.add.reduceat(x if is_sorted else x.take(order, case.dim), starts, axis=case.dim)
            out[present if case.dim == 0 else (slice(None), present)] = sums
            return out

        return self.on_host(case, True, reduce)

    def bincount(self, case):
        if not case.groups or self.place != "cpu":
            return None
        x, shape = case.x.numpy(), tuple(case.results().shape)
        beside = np.arange(case.x.shape[1 - case.dim])
        places = case.flat[:, None] * shape[1] + beside if case.dim == 0 else beside[:, None] * case.groups + case.flat
        places, size = places.ravel(), shape[0] * shape[1]
        return self.on_host(case, True, lambda: np.bincount(places, x.ravel(), size).reshape(shape))

    def add_at(self, case):
        if not case.groups or self.place != "cpu":
            return None
        x, at = case.x.numpy(), case.flat if case.dim == 0 else (slice(None), case.flat)

        def add():
            out = np.zeros(tuple(case.results().shape), np.float32)
            np.add.at(out, at, x)
            return out

        return self.on_host(case, True, add)


def is_there(name, library):
    try:
        return importable(name, library) if name == "ndreduce" else bool(importlib.import_module(MODULES[name]))
    except Exception as error:
        print(f"{name} is left out: {error}")
        return False


def calls_of(peers, case, names, slow):
    """The calls that are to be timed, and the seconds of those that are too slow for that."""
    calls, once, wanted = {}, {}, case.wanted()
    for name in names:
        try:
            call = getattr(peers, name)(case)
            if not call:
                continue
            call.run()
            start = time.perf_counter()
            got = call.results()[0].to(wanted.device).double().reshape(wanted.shape)
            seconds = time.perf_counter() - start
            if not bool(((got - wanted).abs() <= 1e-3 * wanted.abs() + 1e-5 * max(1.0, float(wanted.abs().max()))).all()):
                raise ValueError("another result than float64 gives")
            if seconds > slow:
                once[name] = seconds
            else:
                calls[name] = call
        except Exception as error:  # whatever a peer does wrong is its own affair
            print(f"  {name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
    return calls, once


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library")
    parser.add_argument("--slow", type=float, default=1)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    record = json.loads(given.record.read_text(encoding="utf-8"))
    library, place = Library(given.library) if given.library else None, record["device"]
    torch.manual_seed(1)
    names = [name for name in MODULES if is_there(name, library)]
    record["python"] = versions(names)
    peers, clock = Peers(library, place), Clock(place)
    for row in record["rows"]:
        if not row.get("set", "").endswith("groups") or not row["bytes"]:
            continue
        calls, once = calls_of(peers, Case(row, place), names, given.slow)
        if calls:
            measure(row, None, calls, clock)
        for name, seconds in once.items():
            times = {"median_seconds": float(f"{seconds:.6g}"), "gbps": float(f"{row['bytes'] / seconds / 1e9:.6g}")}
            row.setdefault("python", {})[name] = times
        if row.get("python"):
            show({**row, "problem": row["name"]}, [name for name in names if name in row["python"]])
            print(" " * 44 + "".join(f"{name:>15}" for name in names if name in row["python"]))
        for call in calls.values():
            getattr(call, "leave", lambda: None)()
        write(given.record, record)


if __name__ == "__main__":
    main()
