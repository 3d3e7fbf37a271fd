#!/usr/bin/python3
"""Compares scans, selections, partitions and nonzero with NumPy: scans.py LIBRARY [CASES [SEED]]

Arrays and results are random views. NDR_TEST_CASES and NDR_TEST_SEED in the environment do the same as CASES and SEED. Exits
77, which CTest shows as skipped, without NumPy.
"""
import ctypes
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    sys.exit(77)

import compare
from compare import random_shape, random_values, random_view
from library import DTYPES, MAX_DIMS, OPS, Failure, Tensor, numpy_type, tensor_of

SCANNED = ("sum", "prod", "min", "max", "logsumexp", "any", "all")
ORDERED = ("min", "max", "logsumexp")
BEGUN = ("sum", "prod", "min", "max")
SCAN_ALL = -(2**31)
ERR_RESULT = 50
UNIT = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53, "complex64": 2.0**-24, "complex128": 2.0**-53}


class ScanOptions(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("exclusive", ctypes.c_int), ("include_initial", ctypes.c_int), ("reverse", ctypes.c_int),
        ("skip_nan", ctypes.c_int), ("initial", ctypes.POINTER(ctypes.c_double)), ("others", ctypes.POINTER(ctypes.POINTER(Tensor))),
        ("other_count", ctypes.c_int), ("threads", ctypes.c_int), ("stream", ctypes.c_void_p), ("force_family", ctypes.c_char_p),
    ]

    def __init__(self, **given):
        super().__init__(size=ctypes.sizeof(ScanOptions), **given)


def strided(random, shape, dtype):
    """An array to be written, in a random layout with gaps; and the memory that it lies in."""
    order = random.permutation(len(shape))
    steps = [int(random.choice([1, 1, 1, -1, 2, -3])) for _ in shape]
    whole = np.full([shape[d] * abs(steps[d]) for d in order], 77, dtype)
    return whole.transpose(np.argsort(order))[tuple(slice(None, None, s) for s in steps) + (...,)], whole


def gaps_untouched(result, whole):
    result[...] = 77
    return bool((whole == np.full((), 77, whole.dtype)).all())


# ---- what NumPy makes of a scan, along the last axis -----------------------------------------------------------------


def identity(op, dtype, skip):
    if op in ("min", "max"):
        if dtype.kind == "f":
            return np.nan if skip else np.inf if op == "min" else -np.inf
        if dtype.kind == "b":
            return op == "min"
        return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min
    return {"sum": 0, "prod": 1, "logsumexp": -np.inf, "any": False, "all": True}[op]


def running(x, op, skip):
    """All prefixes of x with what stands before it, in the dtype that x has."""
    if op in ("sum", "prod"):
        return getattr(np, "cum" + op)(x, axis=-1)
    if op in ("min", "max"):
        name = ("fmin" if op == "min" else "fmax") if skip else op + "imum"
        return getattr(np, name).accumulate(x, axis=-1)
    if op == "logsumexp":
        return np.logaddexp.accumulate(x, axis=-1)
    return (np.logical_or if op == "any" else np.logical_and).accumulate(x, axis=-1)


def result_dtype(dtype, op):
    if op in ("sum", "prod"):
        return np.dtype(np.uint64) if dtype.kind in "bu" else np.dtype(np.int64) if dtype.kind == "i" else dtype
    if op in ("any", "all"):
        return np.dtype(bool)
    return np.dtype(np.float64) if op == "logsumexp" and dtype.kind in "biu" else dtype


def expected(x, op, options, initial):
    """The result along the last axis, in a wider dtype, and the size that its error is relative to."""
    skip = bool(options.skip_nan) and x.dtype.kind in "fc"
    kind = result_dtype(x.dtype, op)
    wide = kind if kind.kind in "biu" else np.dtype(np.clongdouble if kind.kind == "c" else np.longdouble)
    nothing = identity(op, kind, skip)
    if op in ("any", "all"):
        lacks = np.isnan(x) & skip if x.dtype.kind in "fc" else np.zeros(x.shape, bool)
        x = np.where(lacks, nothing, x != 0)
    else:
        lacks = np.isnan(x) & skip if x.dtype.kind in "fc" and op not in ("min", "max") else np.zeros(x.shape, bool)
        x = np.where(lacks, np.array(nothing, wide), x.astype(wide))
    if initial is not None and not (skip and np.isnan(initial)):
        nothing = initial
    first = np.full(x.shape[:-1] + (1,), nothing, x.dtype)
    x = np.concatenate([first, x[..., ::-1] if options.reverse else x], axis=-1)
    value = running(x, op, skip)
    size = np.zeros(value.shape, np.longdouble)
    if kind.kind in "fc" and op == "sum":
        size = np.cumsum(np.where(np.isfinite(x), abs(x), 0), axis=-1)
    elif kind.kind in "fc" and op == "prod":
        size = np.abs(value)
    elif op == "logsumexp":
        size = np.maximum(np.where(np.isfinite(value), np.abs(value), 0), 1)
    keep = slice(None) if options.include_initial else slice(None, -1) if options.exclusive else slice(1, None)
    value, size = value[..., keep], size[..., keep]
    return (value[..., ::-1], size[..., ::-1]) if options.reverse else (value, size)


def narrowed(value, dtype):
    """NumPy rounds a longdouble to f16 by way of f32, and so now and then to the wrong neighbour; an f64 it rounds once."""
    return value.astype(np.float64).astype(dtype)


def close(got, value, size, length):
    if got.dtype.kind in "biu":
        return got == value
    bound = size * (length + 8) * 2.0**-51
    right = np.ones(got.shape, bool)
    for part in (np.real, np.imag) if got.dtype.kind == "c" else (np.real,):
        g, v = part(got), part(value)
        b = np.where(np.isfinite(v), bound, 0)
        right &= (np.isnan(v) & np.isnan(g)) | ((narrowed(v - b, g.dtype) <= g) & (g <= narrowed(v + b, g.dtype)))
    return right


# ---- cases -----------------------------------------------------------------------------------------------------------


def random_array(random, op="sum"):
    name = str(random.choice([n for n in DTYPES if not (n.startswith("c") and op in ORDERED)]))
    values = random_values(random, np.dtype(DTYPES[name]), random_shape(random), op)
    return random_view(random, values), name


def random_options(random, op, dtype):
    kind = int(random.integers(0, 5))
    options = ScanOptions(exclusive=int(kind == 1), include_initial=int(kind == 2), reverse=int(random.integers(0, 3) == 0),
                          skip_nan=int(random.integers(0, 3) == 0), threads=int(random.integers(0, 4)))
    initial = None
    if op in BEGUN and random.integers(0, 4) == 0:
        initial = float(random.choice([0, 1] if result_dtype(dtype, op).kind in "bu" else [-3, 0, 2, 5]))
        options.initial = ctypes.pointer(ctypes.c_double(initial))
    if random.integers(0, 8) == 0:
        options.force_family = b"scalar"
    return options, initial


def describe(library, array, dim, number, options):
    form = Tensor(shape=(ctypes.c_int64 * MAX_DIMS)())
    library.check(library.so.ndr_scan_describe(ctypes.byref(tensor_of(array)), dim, number, ctypes.byref(options), ctypes.byref(form)))
    return tuple(form.shape[: form.ndim]), numpy_type(form.dtype)


def check_scan(library, random):
    op = str(random.choice(SCANNED))
    array, name = random_array(random, op)
    options, initial = random_options(random, op, array.dtype)
    whole = array.ndim == 0 or random.integers(0, 6) == 0
    dim = SCAN_ALL if whole else int(random.integers(-array.ndim, array.ndim))
    axes = ",".join(f"{n}:{s // array.itemsize}" for n, s in zip(array.shape, array.strides))
    words = [f for f in ("exclusive", "include_initial", "reverse", "skip_nan") if getattr(options, f)]
    text = f"{op} {name} [{axes}] along {'all' if whole else dim} {' '.join(words)} initial={initial} {options.force_family or ''}"
    x = array.reshape(-1) if whole else np.moveaxis(array, dim, -1)
    value, size = expected(x, op, options, initial)
    try:
        shape, dtype = describe(library, array, dim, OPS.index(op), options)
        shaped = array.shape if whole and not options.include_initial and random.integers(0, 2) else shape
        in_place = shaped == array.shape and dtype == array.dtype and random.integers(0, 3) == 0 and 0 not in array.strides
        result, memory = (array.copy("K"), None) if in_place else strided(random, shaped, dtype)
        source = result if in_place else array
        library.check(library.so.ndr_scan(ctypes.byref(tensor_of(source)), dim, OPS.index(op), ctypes.byref(tensor_of(result)),
                                          ctypes.byref(options)))
    except Failure as failure:
        return f"{text}: {failure}"
    wanted = value.shape if whole else np.moveaxis(value, -1, dim).shape
    if shape != wanted or dtype != result_dtype(array.dtype, op):
        return f"{text}: {dtype} {shape}, NumPy {result_dtype(array.dtype, op)} {wanted}"
    got = result.reshape(-1) if whole else np.moveaxis(result, dim, -1)
    right = close(got, value, size, x.shape[-1])
    if not right.all():
        at = np.unravel_index(int(np.argmin(right)), right.shape)
        return f"{text}: place {at} is {got[at]!r}, NumPy {value[at]!r}{' in place' if in_place else ''}"
    if memory is not None and not gaps_untouched(result, memory):
        return f"{text}: wrote between its elements"
    return None


def random_mask(random, shape):
    share = float(random.choice([0, 0.01, 0.1, 0.5, 0.9, 1]))
    own = [size if random.integers(0, 4) else 1 for size in shape] if random.integers(0, 3) == 0 else list(shape)
    own = own[int(random.integers(0, len(own) + 1)):] if random.integers(0, 6) == 0 else own
    order = random.permutation(len(own))
    steps = [int(random.choice([1, 1, -1, 2])) for _ in own]
    whole = np.asarray(random.random([own[d] * abs(steps[d]) for d in order]) < share)
    return whole.transpose(np.argsort(order))[tuple(slice(None, None, s) for s in steps) + (...,)]


def call(library, function, *arguments):
    count = ctypes.c_int64(-1)
    status = getattr(library.so, function)(*arguments[:-1], ctypes.byref(count), None)
    return status, count.value


def check_selection(library, random, function):
    """select and partition, of elements or of slices."""
    array, name = random_array(random)
    whole = array.ndim == 0 or random.integers(0, 2) == 0
    dim = SCAN_ALL if whole else int(random.integers(-array.ndim, array.ndim))
    mask = random_mask(random, array.shape if whole else (array.shape[dim],))
    if not whole and mask.ndim == 0:
        return None
    full = np.broadcast_to(mask, array.shape if whole else (array.shape[dim],))
    text = f"{function} {name} {array.shape} strides {array.strides} along {dim}, mask {mask.shape} {mask.strides}"
    if whole:
        kept, others = array[full], array[~full]
    else:
        kept, others = np.compress(full, array, axis=dim), np.compress(~full, array, axis=dim)
    n = int(full.sum())
    axis = 0 if whole else dim
    if function == "ndr_partition":
        wanted, room = np.concatenate([kept, others], axis=axis), full.size
        shape = list(wanted.shape)
        if whole and random.integers(0, 2):
            wanted, shape = wanted.reshape(array.shape), list(array.shape)
    else:
        room = max(n + int(random.choice([0, 0, 3, -1, -n // 2])), 0)
        wanted = np.take(kept, range(min(n, room)), axis=axis)
        shape = list(kept.shape)
        shape[axis] = room
    result, memory = strided(random, shape, array.dtype)
    status, count = call(library, function, ctypes.byref(tensor_of(array)), ctypes.byref(tensor_of(mask)), dim,
                         ctypes.byref(tensor_of(result)), None)
    if status != (ERR_RESULT if room < n else 0) or count != n:
        return f"{text}: status {status}, count {count} of {n}, room for {room}: {library.so.ndr_last_error().decode()}"
    if function == "ndr_select":
        index = [slice(None)] * result.ndim
        index[axis] = slice(0, min(n, room))
        result = result[tuple(index)]
    if not np.array_equal(result, wanted, equal_nan=array.dtype.kind in "fc"):
        return f"{text}: wrong elements"
    return None if gaps_untouched(result, memory) else f"{text}: wrote elsewhere"


def check_nonzero(library, random, function):
    array, name = random_array(random)
    if random.integers(0, 2):
        array = np.where(random.random(array.shape) < 0.05, array, array.dtype.type(0))
    wanted = np.argwhere(array != 0) if array.ndim else np.zeros((int(array != 0), 0), np.int64)
    room = max(len(wanted) + int(random.choice([0, 0, 3, -1])), 0)
    result, memory = strided(random, [room, array.ndim], np.dtype(np.int64))
    status, count = call(library, function, ctypes.byref(tensor_of(array)), ctypes.byref(tensor_of(result)), None)
    text = f"{function} {name} {array.shape} strides {array.strides}"
    if status != (ERR_RESULT if room < len(wanted) else 0) or count != len(wanted):
        return f"{text}: status {status}, count {count} of {len(wanted)}: {library.so.ndr_last_error().decode()}"
    result = result[: len(wanted)]
    if not np.array_equal(result, wanted[:room]):
        return f"{text}: wrong indices"
    return None if gaps_untouched(result, memory) else f"{text}: wrote elsewhere"


def check(library, random):
    kind = int(random.integers(0, 6))
    if kind < 3:
        return check_scan(library, random)
    if kind == 5:
        return check_nonzero(library, random, "ndr_nonzero")
    return check_selection(library, random, ("ndr_select", "ndr_partition")[kind - 3])


def check_number(library, random, number):
    compare.MOST = 200000 if number % 50 == 0 else 3000
    return check(library, random)


if __name__ == "__main__":
    sys.exit(compare.run(__doc__, check_number))
