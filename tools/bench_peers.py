#!/usr/bin/env python3
"""Times PyTorch, its inductor, XLA (through JAX) and CuPy on the problems of an ndbench record, and adds them to it.

  bench_peers.py [--library libndreduce.so] [--peers LIST] [--inductor-every N] [--seconds S] RECORD.json

Each row of the record gains "python": by name of the peer median_seconds, gbps (of the bytes that ndbench counts) and, for
calls of less than 50 us, back_to_back_seconds, the host's time a call when many are made in a row. One of them is
"ndreduce" itself, called from Python on the same data in the same turns, so that all of "python" is one run. The record
is written anew after every row: what has been measured when time runs out is kept.

  --library          without it ndreduce is left out
  --peers            a comma list, default ndreduce,torch,inductor,jax,cupy; those that cannot be imported are left out
  --inductor-every   compile for every Nth shape only (compiling takes seconds)
  --seconds          after so many, no more is compiled (default 400)

On a GPU a call is timed between two events after a read of other data that empties the second-level cache; JAX, whose
stream is its own, by the wall clock over queued calls that go round several copies, and on small arrays only back to
back. Results are held against float64, or exactly; a peer that gives another result is not timed.
"""
import argparse
import ctypes
import json
import math
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "numpy"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

SAMPLES, ROUNDS, SHORT_CALL, PATIENCE = 24, 3, 50e-6, 0.3  # PATIENCE: seconds of one peer's samples on one problem


def fail(text):
    sys.exit(f"bench_peers.py: {text}")


try:
    import numpy as np
    import torch
except ImportError as error:
    fail(f"the peers need NumPy and PyTorch: {error}")

from bench_numpy import Problem
from library import OPS, DataType, Device, Library, Tensor

TORCH = {"bool": torch.bool, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
         "u8": torch.uint8, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
         "c64": torch.complex64, "c128": torch.complex128}
DLPACK = {"bool": (6, 8), "u64": (1, 64), "bf16": (4, 16)}
DLPACK.update({name: ({"i": 0, "u": 1, "f": 2, "c": 5}[name[0]], int(name[1:])) for name in TORCH if name not in DLPACK})


# ---- data

def memory_for(problem, offset, place):
    """A flat tensor that holds the problem's array from element `offset` on; None where torch cannot have it."""
    if problem.dtype not in TORCH or any(stride < 0 for stride in problem.strides) or 0 in problem.shape:
        return None
    dtype = TORCH[problem.dtype]
    count = offset + 1 + sum((size - 1) * stride for size, stride in zip(problem.shape, problem.strides))
    if dtype.is_floating_point:
        return torch.empty(count, dtype=dtype, device=place).uniform_(-1, 1)
    if dtype.is_complex:
        return torch.randn(count, dtype=dtype, device=place)
    low, high = {"b": (0, 2), "u": (0, 200), "i": (-100, 100)}[problem.dtype[0]]
    return torch.randint(low, high, (count,), device=place, dtype=dtype)


def compact_order(problem, memory):
    """(shape in memory, permutation) of an array that is compact but for the order of its dims, or None."""
    order = sorted(range(len(problem.shape)), key=lambda d: -problem.strides[d])
    shape, step = [problem.shape[d] for d in order], 1
    for d in reversed(order):
        if problem.shape[d] != 1 and problem.strides[d] != step:
            return None
        step *= problem.shape[d]
    return (shape, [order.index(d) for d in range(len(order))]) if step == memory.numel() else None


# ---- what is called

def torch_function(op, problem):
    """op as a PyTorch user would write it, of a tensor, or None."""
    dims, whole = problem.dims, len(problem.dims) == len(problem.shape)
    wide = {"dtype": torch.float64} if problem.dtype[0] in "iu" else {}
    plain = {"sum": torch.sum, "any": torch.any, "all": torch.all, "min": torch.amin, "max": torch.amax,
             "count": torch.count_nonzero, "logsumexp": torch.logsumexp}
    if op in plain:
        return lambda x: plain[op](x, dim=dims)
    if op == "mean":
        return lambda x: torch.mean(x, dim=dims, **wide)
    if op in ("var", "std"):
        return lambda x: getattr(torch, op)(x, dim=dims, correction=problem.ddof)
    if op in ("norm1", "norm2", "norminf"):
        order = {"1": 1, "2": 2, "inf": math.inf}[op[4:]]
        return lambda x: torch.linalg.vector_norm(x, ord=order, dim=dims)
    if op in ("argmin", "argmax", "prod") and (len(dims) == 1 or whole):
        function = getattr(torch, op)
        return (lambda x: function(x)) if whole else (lambda x: function(x, dim=dims[0]))
    return None


def torch_functions(problem):
    if problem.ops == ["mean", "var"]:
        return lambda x: torch.var_mean(x, dim=problem.dims, correction=problem.ddof)[::-1]
    functions = [torch_function(op, problem) for op in problem.ops]
    if None in functions:
        return None
    return functions[0] if len(functions) == 1 else lambda x: tuple(function(x) for function in functions)


def cupy_function(op, dims, ddof):
    import cupy
    axis = dims if len(dims) != 1 else dims[0]
    if op in ("sum", "prod", "min", "max", "mean", "any", "all"):
        return lambda x: getattr(x, op)(axis=axis)
    if op in ("var", "std"):
        return lambda x: getattr(x, op)(axis=axis, ddof=ddof)
    if op in ("argmin", "argmax") and isinstance(axis, int):
        return lambda x: getattr(x, op)(axis=axis)
    if op == "norm2" and isinstance(axis, int):
        return lambda x: cupy.linalg.norm(x, axis=axis)
    return None


def jax_function(op, dims, ddof):
    import jax
    numpy = jax.numpy
    if op in ("sum", "prod", "min", "max", "mean", "any", "all", "count_nonzero"):
        return lambda x: getattr(numpy, op)(x, axis=dims)
    if op in ("var", "std"):
        return lambda x: getattr(numpy, op)(x, axis=dims, ddof=ddof)
    if op in ("argmin", "argmax") and len(dims) == 1:
        return lambda x: getattr(numpy, op)(x, axis=dims[0])
    if op == "norm2":
        return lambda x: numpy.sqrt(numpy.sum(x * x, axis=dims))
    if op == "logsumexp":
        return lambda x: jax.scipy.special.logsumexp(x, axis=dims)
    return None


class Call:
    """A peer's call: run() queues it and returns its results, one an op; queued: it is timed over copies of its own."""

    def __init__(self, run, to_torch=lambda result: result, queued=None):
        self.run, self.to_torch, self.queued, self.samples, self.back_to_back = run, to_torch, queued, [], None

    def results(self):
        given = self.run()
        return [self.to_torch(result) for result in (given if isinstance(given, (tuple, list)) else [given])]


class Peers:
    """Makes the calls; a method a peer, which returns None for what the peer cannot do."""

    def __init__(self, library, place):
        self.library, self.place = library, place

    def ndreduce(self, problem, memory, x):
        def tensor(of, dtype):
            shape, strides = (ctypes.c_int64 * 8)(*of.shape), (ctypes.c_int64 * 8)(*of.stride())
            device = Device(2 if of.is_cuda else 1, 0)
            return Tensor(of.data_ptr(), device, of.dim(), DataType(*DLPACK[dtype], 1), shape, strides, 0)

        dims = (ctypes.c_int * len(problem.dims))(*problem.dims)
        kept = [size for d, size in enumerate(problem.shape) if d not in problem.dims]
        ops = (ctypes.c_int * len(problem.ops))(*map(OPS.index, problem.ops))
        array, tensors, results = tensor(x, problem.dtype), [], []
        for op in problem.ops:
            dtype = result_dtype(op, problem.dtype)
            results.append(torch.empty(kept, dtype=TORCH["i64" if dtype == "u64" else dtype], device=self.place))
            tensors.append(tensor(results[-1], dtype))
        pointers = (ctypes.POINTER(Tensor) * len(ops))(*map(ctypes.pointer, tensors))
        many, one, source = self.library.so.ndreduce_many, self.library.so.ndreduce, ctypes.byref(array)
        self.library.check(many(source, len(dims), dims, len(ops), ops, pointers, None))
        if len(ops) > 1:
            return Call(lambda: (many(source, len(dims), dims, len(ops), ops, pointers, None), results)[1])
        count, op, target = len(dims), ops[0], ctypes.byref(tensors[0])
        call = Call(lambda: (one(source, count, dims, op, target, None), results)[1])
        call.keep = (array, tensors, x)
        return call

    def torch(self, problem, memory, x):
        function = torch_functions(problem)
        return function and Call(lambda: function(x))

    def inductor(self, problem, memory, x):
        function = torch_functions(problem)
        if not function:
            return None
        torch._dynamo.reset()
        compiled = torch.compile(function, dynamic=False)
        return Call(lambda: compiled(x))

    def cupy(self, problem, memory, x):
        import cupy
        functions = [cupy_function(op, problem.dims, problem.ddof) for op in problem.ops]
        if None in functions or problem.dtype == "bf16":
            return None
        if problem.dtype == "bool":
            array = cupy.from_dlpack(x.view(torch.uint8)).view(cupy.bool_)
        else:
            array = cupy.from_dlpack(x)
        return Call(lambda: [function(array) for function in functions],
                    lambda result: torch.from_dlpack(result.astype(cupy.int64) if result.dtype.kind in "bu" else result))

    def jax(self, problem, memory, x):
        import jax
        jax.config.update("jax_enable_x64", True)
        order = compact_order(problem, memory)
        functions = [jax_function(op, problem.dims, problem.ddof) for op in problem.ops]
        if not order or None in functions:
            return None

        def load(flat):
            if problem.dtype == "bool":
                return jax.dlpack.from_dlpack(flat.view(torch.uint8).reshape(order[0])).astype(bool)
            return jax.dlpack.from_dlpack(flat.reshape(order[0]))

        # The transposition is inside what is compiled: XLA sees the layout that the others see.
        compiled = jax.jit(lambda a: [function(a.transpose(order[1])) for function in functions])
        copies = [load(memory)] + [load(memory.clone()) for _ in range(2)]

        def to_torch(result):
            result = np.array(result.astype("float32") if problem.dtype == "bf16" else result)
            return torch.from_numpy(result.astype(np.int64) if result.dtype.kind == "u" else result)

        return Call(lambda: compiled(copies[0]), to_torch, lambda i: compiled(copies[i % len(copies)])[0])


def result_dtype(op, dtype):
    if op in ("argmin", "argmax", "count", "valid"):
        return "i64"
    if op in ("any", "all"):
        return "bool"
    if op in ("sum", "prod"):
        return {"i": "i64", "u": "u64", "b": "u64"}.get("f" if dtype == "bf16" else dtype[0], dtype)
    if op in ("min", "max"):
        return dtype
    return "f64" if dtype[0] in "iu" or dtype == "bool" else dtype


# ---- results

def is_right(op, problem, x, got):
    """Integers exactly; floats against float64, a sum to 1e-6 of what is added up."""
    got = got.to(x.device)
    if op in ("argmin", "argmax"):
        extreme = (torch.amin if op == "argmin" else torch.amax)(x, dim=problem.dims)
        if len(problem.dims) == x.dim():
            return bool(x.flatten()[got.long()] == extreme)
        d = problem.dims[0]
        return bool((torch.take_along_dim(x, got.long().unsqueeze(d), d).squeeze(d) == extreme).all())
    if op in ("any", "all", "count", "min", "max") or (op == "sum" and not (x.is_floating_point() or x.is_complex())):
        return bool((got.double() == torch_function(op, problem)(x).double()).all())
    wide = x.to(torch.complex128 if x.is_complex() else torch.float64)
    wanted = torch_function(op, problem)(wide)
    slack = 1e-6 * wide.abs().sum(dim=problem.dims) if op == "sum" else 1e-6
    relative = {torch.float16: 2e-3, torch.bfloat16: 2e-2}.get(x.dtype, 1e-4)
    return bool(((got.to(wanted.dtype) - wanted).abs() <= relative * wanted.abs() + slack).all())


def check(name, call, problem, x):
    for op, got in zip(problem.ops, call.results()):
        if not is_right(op, problem, x, got):
            raise ValueError(f"another {op} than float64 gives")


# ---- times

class Clock:
    def __init__(self, place):
        self.on_gpu = place == "cuda"
        if self.on_gpu:
            l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
            self.other = torch.zeros(max(4 * l2, 64 << 20) // 4, device=place)

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def samples(self, call, count):
        """Seconds of `count` calls, each with cold caches."""
        if call.queued:
            return self.queued(call, count)
        if not self.on_gpu:
            return [self.wall(call.run) for _ in range(count)]
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for start, stop in events:
            torch.amax(self.other, 0)  # the host is done queueing the call before this is through
            start.record()
            call.run()
            stop.record()
        self.wait()
        return [1e-3 * start.elapsed_time(stop) for start, stop in events]

    def wall(self, run):
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    def queued(self, call, count):
        """What a call more in the queue takes: the first one's way there and the last one's way back do not count."""
        def run(calls):
            start = time.perf_counter()
            for i in range(calls):
                last = call.queued(i)
            last.block_until_ready()
            return time.perf_counter() - start
        return [max(run(3 * count) - run(count), 1e-9) / (2 * count)] * count

    def back_to_back(self, call, count=300):
        finish = call.queued and (lambda: call.queued(0).block_until_ready())
        for _ in range(10):
            call.run()
        (finish or self.wait)()
        start = time.perf_counter()
        for _ in range(count):
            call.run()
        (finish or self.wait)()
        return (time.perf_counter() - start) / count

    def time(self, calls):
        """Fills in the samples of all, in turns."""
        counts = {}
        for name, call in calls.items():
            first = max(*self.samples(call, 3), 1e-9)
            counts[name] = max(1, int(min(SAMPLES, PATIENCE / first)) // ROUNDS)
        for _ in range(ROUNDS):
            for name, call in calls.items():
                call.samples += self.samples(call, counts[name])


# ---- a record

def make_calls(names, peers, problem, memory, x, skip):
    calls = {}
    for name in names:
        if name in skip:
            continue
        try:
            call = getattr(peers, name)(problem, memory, x)
            if call:
                check(name, call, problem, x)
                calls[name] = call
        except Exception as error:  # whatever a peer does wrong is its own affair
            sentence = (str(error).splitlines() or [""])[0]
            print(f"  {name}: {type(error).__name__}: {sentence[:120]}", flush=True)
    return calls


def measure(row, problem, calls, clock):
    clock.time(calls)
    short = any(statistics.median(call.samples) < SHORT_CALL for call in calls.values())
    row["python"] = {}
    for name, call in calls.items():
        seconds = statistics.median(call.samples)
        times = {} if call.queued and short else {"median_seconds": float(f"{seconds:.6g}"),
                                                  "gbps": float(f"{row['bytes'] / seconds / 1e9:.6g}")}
        if short:
            times["back_to_back_seconds"] = float(f"{clock.back_to_back(call):.6g}")
        row["python"][name] = times


def show(row, names):
    cells = []
    for name in names:
        times = row["python"].get(name, {})
        if "back_to_back_seconds" in times:
            device = f"{times['median_seconds'] * 1e6:.1f}" if "median_seconds" in times else "-"
            cells.append(f"{device}/{times['back_to_back_seconds'] * 1e6:.1f} us")
        else:
            cells.append(f"{times['gbps']:.0f}" if times else "-")
    print(f"{row['problem']:44}" + "".join(f"{cell:>15}" for cell in cells), flush=True)


def write(path, record):
    head = {key: value for key, value in record.items() if key != "rows"}
    rows = ",\n".join("    " + json.dumps(row) for row in record["rows"])
    new = path.with_suffix(".new")
    new.write_text(json.dumps(head, indent=2)[:-2] + ',\n  "rows": [\n' + rows + "\n  ]\n}\n", encoding="utf-8")
    os.replace(new, path)


def versions(names):
    modules = {"torch": "torch", "inductor": "triton", "jax": "jax", "cupy": "cupy"}
    found = {}
    for name in names:
        try:
            found[modules[name]] = __import__(modules[name]).__version__
        except (KeyError, ImportError, AttributeError):
            pass
    return found


def options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", default=os.environ.get("NDREDUCE"))
    parser.add_argument("--peers", default="ndreduce,torch,inductor,jax,cupy")
    parser.add_argument("--inductor-every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    unknown = set(given.peers.split(",")) - {"ndreduce", "torch", "inductor", "jax", "cupy"}
    if unknown:
        fail(f"no such peer: {', '.join(sorted(unknown))}")
    return given


def importable(name, library):
    if name == "ndreduce":
        return library is not None
    if name in ("jax", "cupy"):
        try:
            __import__(name)
        except Exception as error:
            print(f"{name} is left out: {error}")
            return False
    return True


def main():
    given = options()
    try:
        record = json.loads(given.record.read_text(encoding="utf-8"))
        library = Library(given.library) if given.library else None
    except (OSError, ValueError) as error:
        fail(error)
    place = record["device"]
    if place == "cuda" and not torch.cuda.is_available():
        fail("the record is of a GPU, and PyTorch sees none")
    torch.manual_seed(1)
    names = [name for name in given.peers.split(",") if importable(name, library)]
    record["python"] = versions(names)
    peers, clock, began = Peers(library, place), Clock(place), time.monotonic()
    shapes = {}
    print(f"{'GB/s, or us on the device/back to back':44}" + "".join(f"{name:>15}" for name in names))
    for row in record["rows"]:
        problem = Problem(row["problem"])
        if not problem.dims or None in [torch_function(op, problem) for op in problem.ops] or not row["bytes"]:
            continue
        memory = memory_for(problem, row.get("offset", 0), place)
        if memory is None or problem.keepdims or problem.skip_nan:
            continue
        x = torch.as_strided(memory, problem.shape, problem.strides, row.get("offset", 0))
        shape = shapes.setdefault(tuple(problem.shape), len(shapes))
        late = time.monotonic() - began > given.seconds
        skip = {"inductor", "jax"} if late else {"inductor"} if shape % given.inductor_every else set()
        calls = make_calls(names, peers, problem, memory, x, skip)
        if calls:
            measure(row, problem, calls, clock)
            show(row, names)
        write(given.record, record)


if __name__ == "__main__":
    main()
