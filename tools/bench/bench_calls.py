"""The libraries that bench_peers.py times, each as a call that takes no arguments, and what their results must be."""
import ctypes
import math

import numpy as np
import torch

from library import OPS, DataType, Device, Tensor

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
    if op == "ptp" and len(dims) == 1:
        def ptp(x):
            low, high = torch.aminmax(x, dim=dims[0])
            return high - low

        return ptp
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
    got = got.to(wanted.dtype)
    near = (got - wanted).abs() <= relative * wanted.abs() + slack
    return bool((near | (got == wanted.to(x.dtype).to(wanted.dtype))).all())  # the same infinity is right, too


def check(call, problem, x):
    """Raises where a result is not what it must be."""
    for op, got in zip(problem.ops, call.results()):
        if not is_right(op, problem, x, got):
            raise ValueError(f"another {op} than float64 gives")
