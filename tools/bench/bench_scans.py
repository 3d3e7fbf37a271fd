#!/usr/bin/env python3
"""Times running sums and selections, and those of other libraries on the same data in the same turns.

  bench_scans.py [--device cuda|cpu] [--bytes N] --build BUILD RECORD.json

Peers are PyTorch, XLA (through JAX; running sums only), CuPy and, on a CPU, NumPy. What is not installed is left out, and so
is a peer whose result differs from float64's. The ceiling is a copy of the array in the same run. A row's gbps counts the
bytes that are read and written; those of a selection are the mask's, those of the sectors of 32 bytes that hold what is
kept, and the result's. Its of_ceiling_in_bursts counts bursts of 64 bytes in place of sectors, which is what a GPU fetches by
default (cudaLimitMaxL2FetchGranularity). Shapes hold about N bytes (default 1 GiB on a GPU, 256 MiB on a CPU) of f32.
"""
import argparse
import ctypes
import importlib.util
import json
import pathlib
import statistics
import subprocess
import sys
import time

from bench_peers import Clock, fail, versions, write

try:
    import numpy as np
    import torch
    from bench_calls import Call
    from library import DataType, Device, Library, Tensor
except ImportError as error:
    fail(f"the peers need NumPy and PyTorch: {error}")

MODULES = {"ndreduce": None, "torch": "torch", "jax": "jax", "cupy": "cupy", "numpy": "numpy"}
SCAN_ALL = -(1 << 31)
KEPT = (1, 10, 50, 90)  # percent of a selection
SLOW = 1  # seconds, from which on a call is timed once


def cases(elements):
    """By name: a shape and the dim that is scanned."""
    root = 1 << (elements.bit_length() // 2)
    tall = elements >> 8
    return {
        "one line": ((elements,), 0), "rows": ((root, elements // root), 1), "columns": ((root, elements // root), 0),
        "pairs, down": ((elements // 2, 2), 0), "pairs, along": ((elements // 2, 2), 1),
        "triples, down": ((elements // 3, 3), 0), "triples, along": ((elements // 3, 3), 1),
        "256 long rows": ((256, tall), 1), "256 rows, down": ((256, tall), 0),
        "many short rows": ((tall, 256), 1), "256 columns": ((tall, 256), 0),
        "12 columns": ((elements // 12, 12), 0), "70 columns": ((elements // 70, 70), 0),
        "middle": ((64, root // 8, elements // root // 8), 1),
        "odd line": ((elements - 12345,), 0), "odd rows": ((root - 3, elements // root - 29), 1),
        "odd columns": ((root - 3, elements // root - 29), 0), "rows of 1001": ((elements // 1001, 1001), 1),
        "odd middle": ((61, root // 8 - 1, elements // root // 8 - 3), 1),
    }


def as_tensor(t, code=2):
    """A view of a PyTorch tensor for the library; code 2 is a float, 6 a bool, 0 an integer."""
    shape = (ctypes.c_int64 * t.dim())(*t.shape)
    return Tensor(t.data_ptr(), Device(2 if t.is_cuda else 1, 0), t.dim(), DataType(code, 8 * t.element_size(), 1), shape, None, 0)


class Peers:
    """Running sums: a method for each peer returns its call, or None if it has none here."""

    def __init__(self, library, place):
        self.library, self.place = library, place

    def ndreduce(self, x, dim):
        out, so = torch.empty_like(x), self.library.so
        array, result = as_tensor(x), as_tensor(out)
        arguments = (ctypes.byref(array), dim, 0, ctypes.byref(result), None)
        self.library.check(so.ndr_scan(*arguments))
        call = Call(lambda: (so.ndr_scan(*arguments), out)[1])
        call.keep = array, result
        return call

    def torch(self, x, dim):
        return Call(lambda: torch.cumsum(x, dim))

    def jax(self, x, dim):
        import jax
        compiled = jax.jit(lambda a: jax.numpy.cumsum(a, dim))
        copies = [jax.dlpack.from_dlpack(x), jax.dlpack.from_dlpack(x.clone())]
        return Call(lambda: compiled(copies[0]).block_until_ready(), torch.from_dlpack,
                    (lambda i: compiled(copies[i % 2])) if self.place == "cuda" else None)

    def cupy(self, x, dim):
        import cupy
        a = cupy.from_dlpack(x)
        return Call(lambda: cupy.cumsum(a, axis=dim), torch.from_dlpack) if self.place == "cuda" else None

    def numpy(self, x, dim):
        return Call(lambda: x.numpy().cumsum(dim), torch.as_tensor) if self.place == "cpu" else None


class Selections:
    """The same of selections. The result of ndreduce has room for more than is kept."""

    def __init__(self, library, place):
        self.library, self.place = library, place

    def ndreduce(self, x, mask):
        out, count, so = torch.empty_like(x), torch.zeros(1, dtype=torch.int64, device=x.device), self.library.so
        array, kept, result = as_tensor(x), as_tensor(mask, 6), as_tensor(out)
        arguments = (ctypes.byref(array), ctypes.byref(kept), SCAN_ALL, ctypes.byref(result),
                     ctypes.c_void_p(count.data_ptr()), None)
        self.library.check(so.ndr_select(*arguments))
        call = Call(lambda: (so.ndr_select(*arguments), out)[1], lambda result: result[:int(count)])
        call.keep = array, kept, result
        return call

    def torch(self, x, mask):
        return Call(lambda: torch.masked_select(x, mask))

    def cupy(self, x, mask):
        import cupy
        a, kept = cupy.from_dlpack(x), cupy.from_dlpack(mask)
        return Call(lambda: a[kept], torch.from_dlpack) if self.place == "cuda" else None

    def numpy(self, x, mask):
        return Call(lambda: x.numpy()[mask.numpy()], torch.as_tensor) if self.place == "cpu" else None


def make_calls(peers, names, x, other, wanted, clock):
    """The calls that are to be timed, and the seconds of those that are too slow for that; `other` is a dim or a mask."""
    calls, once = {}, {}
    for name in names:
        try:
            call = getattr(peers, name)(x, other)
            if not call:
                continue
            call.run()
            clock.wait()
            start = time.perf_counter()
            got = call.results()[0].to(x.device)
            clock.wait()
            seconds = time.perf_counter() - start
            if not bool((got.double() - wanted).abs().max() <= 1e-4 * max(1.0, float(wanted.abs().max()))):
                raise ValueError("another result than float64 gives")
            if seconds > SLOW:
                once[name] = seconds
            else:
                calls[name] = call
        except Exception as error:  # whatever a peer does wrong is its own affair
            print(f"  {name}: {type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}", flush=True)
    return calls, once


def time_row(name, problem, x, size, calls, once, clock):
    copied = torch.empty_like(x)
    clock.time({**calls, "copy": (copy := Call(lambda: copied.copy_(x)))})
    ceiling = 2 * x.numel() * x.element_size() / statistics.median(copy.samples)
    seconds = {**{name: statistics.median(call.samples) for name, call in calls.items()}, **once}
    row = {"name": name, "problem": problem, "bytes": size,
           "ceiling_gbps": float(f"{ceiling / 1e9:.6g}"),
           "python": {name: {"median_seconds": float(f"{s:.6g}"), "gbps": float(f"{size / s / 1e9:.6g}")}
                      for name, s in seconds.items()}}
    row.update(row["python"].get("ndreduce", {"failed": "see above"}))
    row["of_ceiling"] = float(f"{row.get('gbps', 0) * 1e9 / ceiling:.6g}")
    shares = "".join(f"{name} {size / s / ceiling:6.1%}   " for name, s in seconds.items())
    print(f"{name:18}{problem:42}{shares}", flush=True)
    return row


def time_scan(name, shape, dim, peers, names, clock):
    x = torch.empty(shape, device=peers.place).uniform_(0, 1)
    wanted = torch.cumsum(x.double().movedim(dim, -1).contiguous(), -1).movedim(-1, dim)  # PyTorch is slow down few columns
    calls, once = make_calls(peers, names, x, dim, wanted, clock)
    problem = f"sum f32 [{','.join(map(str, shape))}] along {dim}"
    return time_row(name, problem, x, 2 * x.numel() * x.element_size(), calls, once, clock)


def time_selection(percent, elements, peers, names, clock):
    x = torch.empty(elements // 16 * 16, device=peers.place).uniform_(0, 1)
    mask = torch.empty_like(x).uniform_(0, 100) < percent
    calls, once = make_calls(peers, names, x, mask, torch.masked_select(x, mask).double(), clock)
    others = mask.numel() + 4 * int(mask.sum())
    size, bursts = (others + 4 * each * int(mask.view(-1, each).any(1).sum()) for each in (8, 16))
    row = time_row(f"{percent} % kept", f"select f32 [{x.numel()}]", x, size, calls, once, clock)
    row["of_ceiling_in_bursts"] = float(f"{row['of_ceiling'] * bursts / size:.6g}")
    return row


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--bytes", type=int)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    head = subprocess.run([given.build / "tools" / "ndbench", "--no-verify", "-d", given.device, "-r", "1", "--json", "-",
                           "sum i8 [8] /0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
    record = {**json.loads(head), "rows": []}
    library = Library(str(given.build / "src" / "libndreduce.so"))
    names = [name for name in MODULES if name == "ndreduce" or importlib.util.find_spec(MODULES[name])]
    record["python"] = versions(names)
    peers, clock = Peers(library, given.device), Clock(given.device)
    torch.manual_seed(1)
    elements = (given.bytes or (1 << 30 if given.device == "cuda" else 1 << 28)) // 4
    for name, (shape, dim) in cases(elements).items():
        record["rows"].append(time_scan(name, shape, dim, peers, names, clock))
        write(given.record, record)
    peers = Selections(library, given.device)
    for percent in KEPT:
        record["rows"].append(time_selection(percent, elements, peers, [n for n in names if n != "jax"], clock))
        write(given.record, record)


if __name__ == "__main__":
    sys.exit(main())
