#!/usr/bin/python3
"""Compares where=, weights=, initial= and operators of one's own with NumPy: operands.py LIBRARY [CASES [SEED]]

Arrays, and the arrays beside them, are random views that broadcast. Expressions of operators are random trees that NumPy
evaluates with the same promotion. NDR_TEST_CASES and NDR_TEST_SEED in the environment do the same as CASES and SEED. Exits
77, which CTest shows as skipped, without NumPy.
"""
import sys

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    sys.exit(77)

import compare
from compare import random_dims, random_shape, random_values, random_view
from expected import divided, gathered, growth
from expressions import Tree
from library import DTYPES, ERR_EMPTY, OPS, Failure, Options

ORDERED = ("min", "max", "ptp", "argmin", "argmax", "logsumexp")
WITHOUT_EMPTY = ("min", "max", "ptp", "argmin", "argmax")
WEIGHED = ("sum", "mean", "var", "std", "norm2")
BEGUN = ("sum", "prod", "min", "max")
UNIT = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}


def random_operand(random, shape, values):
    """An array that broadcasts to shape, of any strides."""
    own = [size if random.integers(0, 3) else 1 for size in shape][int(random.integers(0, len(shape) + 1)):]
    if random.integers(0, 3) == 0:
        own = list(shape)
    order = random.permutation(len(own))
    steps = [int(random.choice([1, 1, -1, 2, -2])) for _ in own]
    whole = values([own[d] * abs(steps[d]) for d in order])
    return whole.transpose(np.argsort(order))[tuple(slice(None, None, s) for s in steps) + (...,)]


def random_mask(random, shape):
    kind = random.integers(0, 5)
    share = (0.5, 0.1, 0.9, 0.0, 1.0)[kind]
    return random_operand(random, shape, lambda s: np.asarray(random.random(s) < share))


def random_weights(random, shape):
    dtype = (np.float32, np.float64)[random.integers(0, 2)]
    return random_operand(random, shape, lambda s: np.asarray(random.integers(0, 9, s) / 4).astype(dtype))


def gather(array, shape, dims):
    return gathered(np.broadcast_to(array, shape), dims)


def wide(x):
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def is_real(dtype):
    return dtype.kind in "fc"


# ---- built-in operators ----


def masked(x, live, op, initial, result_dtype):
    """What NumPy makes of the elements that count, and the bound on the error."""
    n = live.sum(axis=-1)
    floats = is_real(x.dtype)
    if op in ("sum", "prod"):
        neutral = 0 if op == "sum" else 1
        v = np.where(live, wide(x) if floats else x.astype(result_dtype), neutral)
        value = getattr(np, op)(v, axis=-1, dtype=v.dtype)
        if initial is not None:
            first = v.dtype.type(initial)
            value = value + first if op == "sum" else value * first
        if op == "sum":
            return value, np.nan_to_num(np.abs(v.real) + np.abs(v.imag)).sum(axis=-1) + abs(np.nan_to_num(initial or 0))
        # Where a part of the product may overflow, the order of the factors counts.
        large = np.abs(np.log2(np.where(np.abs(v) > 0, np.abs(v), 1))).sum(axis=-1) > 1000 if floats else False
        return value, np.where(large, np.inf, np.nan_to_num(np.abs(value)) + abs(np.nan_to_num(initial or 0)))
    if op in ("min", "max"):
        v = wide(x) if floats else x.astype(np.int64 if x.dtype.kind == "i" else np.uint64)
        if floats:
            neutral = np.inf if op == "min" else -np.inf
        else:
            limits = (0, 1) if x.dtype.kind == "b" else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
            neutral = limits[op == "min"]
        v = np.where(live, v, v.dtype.type(neutral))
        value = getattr(np, op)(v, axis=-1, initial=v.dtype.type(neutral))
        if initial is not None:
            value = (np.minimum if op == "min" else np.maximum)(value, v.dtype.type(initial))
        return value, 0
    if op in ("argmin", "argmax"):
        if x.shape[-1] == 0:
            return np.full(n.shape, -1), 0
        value = np.full(n.shape, -1, np.int64)
        for at in np.ndindex(*n.shape):
            where = np.flatnonzero(live[at])
            if where.size:
                value[at] = where[getattr(np, op)(x[at][where])]
        return value, 0
    if op == "ptp":
        low, _ = masked(x, live, "min", None, None)
        high, _ = masked(x, live, "max", None, None)
        if not floats:
            return np.where(n == 0, x.dtype.type(0), (high - low).astype(x.dtype)), 0
        return np.where((n == 0) | ~(low <= high), np.nan, high - low), np.abs(high) + np.abs(low)
    nonzero = (x != 0) & live
    if op in ("any", "all"):
        return nonzero.any(axis=-1) if op == "any" else (nonzero | ~live).all(axis=-1), 0
    if op == "count":
        return nonzero.sum(axis=-1), 0
    if op == "valid":
        return (live & ~np.isnan(x)).sum(axis=-1), 0
    return None, None


def weighed(w, x):
    """Part by part: complex multiplication would spread a NaN to both."""
    result = np.array(np.broadcast_to(x, np.broadcast_shapes(w.shape, x.shape)))
    result.real = w * x.real
    if x.dtype.kind == "c":
        result.imag = w * x.imag
    return result


def moments(x, live, weight, op, options):
    """Weighted sums, means, variances and norms, by their definitions."""
    x = np.where(live, wide(x), 0)
    w = np.where(live, wide(weight), 0)
    total = w.sum(axis=-1)
    size = (np.nan_to_num(np.abs(x.real) + np.abs(x.imag)) * w).sum(axis=-1)
    if op == "sum":
        return weighed(w, x).sum(axis=-1), size
    if op == "norm2":
        value = np.sqrt((w * (x.real**2 + x.imag**2)).sum(axis=-1))
        return value, value
    mean = divided(weighed(w, x).sum(axis=-1), total)
    if op == "mean":
        return np.where(total == 0, np.nan * (1 + 1j if x.dtype.kind == "c" else 1), mean), size / total
    far = np.abs(x - mean[..., None]) ** 2
    spread = np.where(w > 0, w * far, 0).sum(axis=-1)
    less = options.ddof * (((w * w).sum(axis=-1) / total) if options.weighting else 1)
    divisor = np.maximum(total - less, 0)
    value = np.where(total == 0, np.nan, spread / divisor)
    power = np.where(live, np.abs(x) ** 2 * w, 0).sum(axis=-1)
    return (value, power / divisor) if op == "var" else (np.sqrt(value), np.sqrt(power / divisor))


def plain(x, live, op, options):
    """Operators that only weights and counts would make different: as if all weights were 1."""
    if op in ("mean", "var", "std", "norm2"):
        same = Options(ddof=options.ddof)
        return moments(x, live, np.ones(x.shape), op, same)
    if op in ("norm1", "norminf"):
        size = np.where(live, np.abs(wide(x)), 0)
        value = size.sum(axis=-1) if op == "norm1" else size.max(axis=-1, initial=0)
        return value, value
    v = np.where(live, wide(x), -np.inf)
    top = v.max(axis=-1, initial=-np.inf)
    shift = np.where(np.isfinite(top), top, 0)
    value = np.where(np.isinf(top), top, shift + np.log(np.exp(v - shift[..., None]).sum(axis=-1)))
    return value, np.abs(value) + np.abs(shift) + np.log(x.shape[-1] + 1)


def close(got, value, size, n, loose=False):
    """Whether got is value but for rounding; size is what the error is relative to."""
    if got.dtype.kind not in "fc":
        return got == value
    real = got.real.dtype.name
    bound = np.nan_to_num(np.asarray(size, np.float64), nan=0, posinf=np.inf) * (
        growth(n) * UNIT["float32" if loose or real != "float64" else real] * (64 if loose else 8)) + np.abs(
        np.nan_to_num(np.abs(value))) * UNIT[real] + (2.0**-24 if real == "float16" else 0)
    right = np.ones(np.shape(got), bool)
    for part in (np.real, np.imag) if got.dtype.kind == "c" else (np.real,):
        a, b = part(got).astype(np.longdouble), part(value).astype(np.longdouble)
        largest = np.finfo(got.real.dtype).max
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.isinf(a) & (np.abs(b) >= largest) & (np.sign(a) == np.sign(b)))
        with np.errstate(invalid="ignore"):
            right &= same | (np.abs(a - b) <= bound) | np.isposinf(bound)
    return right


def report(got, value, right, text):
    if got.shape != np.shape(value):
        return f"{text}: shape {got.shape}, NumPy {np.shape(value)}"
    if np.all(right):
        return None
    at = int(np.argmin(np.ravel(right)))
    return f"{text}: output {at} is {got.ravel()[at]!r}, NumPy {np.ravel(value)[at]!r}"


def describe(array, dims, op, options, given):
    axes = ",".join(f"{n}:{s // array.itemsize}" for n, s in zip(array.shape, array.strides))
    beside = " ".join(f"{k}={v.dtype}{list(v.shape)}" if isinstance(v, np.ndarray) else f"{k}={v!r}"
                      for k, v in given.items())
    return (f"{op} {array.dtype} [{axes}] /{dims} keepdims={options.keepdims} skip_nan={options.skip_nan} "
            f"ddof={options.ddof} weighting={options.weighting} {beside}")


def random_initial(random, dtype, op):
    if is_real(dtype):
        return float(random.choice([0, 1, -3, 0.1, np.inf, -np.inf, np.nan]))
    if dtype.kind == "b" and op in ("min", "max"):
        return float(random.integers(0, 2))
    return float(random.integers(0 if dtype.kind in "ub" else -9, 10))


def check_built_in(library, random):
    name = str(random.choice(list(DTYPES)))
    dtype = np.dtype(DTYPES[name])
    kind = random.integers(0, 3)
    choice = WEIGHED if kind == 0 else BEGUN if kind == 1 else OPS
    op = str(random.choice([o for o in choice if not (name.startswith("c") and o in ORDERED)]))
    array = random_view(random, random_values(random, dtype, random_shape(random), op))
    dims = random_dims(random, array.ndim)
    options = Options(keepdims=int(random.integers(0, 2)), skip_nan=int(random.integers(0, 3) == 0),
                      ddof=float(random.choice([0, 0, 1, 2.5])), weighting=int(random.integers(0, 2)))
    given = {}
    if random.integers(0, 4) or kind == 2:
        given["where"] = random_mask(random, array.shape)
    if kind == 0:
        given["weights"] = random_weights(random, array.shape)
    if kind == 1:
        given["initial"] = random_initial(random, dtype, op)
    text = describe(array, dims, op, options, given)
    x = gathered(array, dims)
    live = gather(given.get("where", np.True_), array.shape, dims)
    if options.skip_nan and is_real(dtype):
        live = live & ~np.isnan(x)
    initial = given.get("initial")
    if initial is not None and np.isnan(initial) and options.skip_nan and is_real(dtype):
        initial = None
    must_fail = (op in WITHOUT_EMPTY and "initial" not in given and x.shape[-1] == 0 and
                 np.prod(x.shape[:-1], dtype=np.int64) > 0)
    try:
        got = library.reduce_operands(array, dims, op, options, **given)
    except Failure as failure:
        return None if must_fail and failure.status == ERR_EMPTY else f"{text}: {failure}"
    if must_fail:
        return f"{text}: a value, where NumPy raises"
    shape = np.sum(array, axis=tuple(dims), keepdims=bool(options.keepdims)).shape
    if got.shape != shape:
        return f"{text}: {got.shape}, NumPy {shape}"
    got = got.reshape(x.shape[:-1])
    if kind == 0:
        value, size = moments(x, live, gather(given["weights"], array.shape, dims), op, options)
    else:
        value, size = masked(x, live, op, initial, got.dtype)
        if value is None:
            value, size = plain(x, live, op, options)
    if options.skip_nan and op in ("min", "max") and is_real(dtype) and initial is None:
        value = np.where(live.any(axis=-1), value, np.nan)
    if op in ("var", "std"):  # what NaN and infinities, and spreads of rounding alone, make of these is not compared
        fine = np.isfinite(np.where(live, wide(x).real + wide(x).imag, 0)).all(axis=-1)
        got, value, size = (np.where(fine, v, 0).astype(np.asarray(v).dtype) for v in (got, value, size))
        if options.ddof:
            far = np.isfinite(value) & (value > np.abs(size) * 2.0**-12)
            got, value = (np.where(far, v, 0).astype(np.asarray(v).dtype) for v in (got, value))
    return report(got, value, close(got, value, size, x.shape[-1], op in ("var", "std", "prod", "logsumexp")), text)


# ---- operators of one's own ----

UPDATES = {"+=": "sum", "*=": "prod", "min=": "min", "max=": "max", "&=": "all", "|=": "any"}
OWN_DTYPES = ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64")


def check_own(library, random):
    shape = random_shape(random)
    names = "xyz"[: int(random.integers(1, 4))]
    values = {}
    for name in names:
        dtype = np.dtype(DTYPES[str(random.choice(OWN_DTYPES))])
        kind = compare.special_values if random.integers(0, 4) == 0 else compare.small_values
        fill = lambda s: np.asarray(kind(random, dtype, s), dtype)
        values[name] = random_view(random, fill(shape)) if name == "x" else random_operand(random, values["x"].shape, fill)
    array = values["x"]
    dims = random_dims(random, array.ndim)
    parameters = [float(p) for p in random.integers(-8, 9, 2) / 2]
    update = str(random.choice(list(UPDATES)))
    tree = Tree(random, {k: np.broadcast_to(v, array.shape) for k, v in values.items()}, parameters, array.shape)
    whole = np.broadcast_to(tree.value, array.shape)
    if update in ("&=", "|="):
        whole = whole != 0
    text = f"own({', '.join(names)}; p, q): s {update} {tree.text} -> s"
    skip_nan = int(random.integers(0, 4) == 0)
    given = {"others": [values[name] for name in names[1:]]}
    if random.integers(0, 3) == 0:
        given["where"] = random_mask(random, array.shape)
    options = Options(keepdims=int(random.integers(0, 2)), skip_nan=skip_nan)
    line = describe(array, dims, text, options, {k: v for k, v in given.items() if k == "where"}) + "".join(
        f" {k}:{v.dtype}{list(v.shape)}" for k, v in values.items())
    x = gathered(whole, dims)
    live = gather(given.get("where", np.True_), array.shape, dims)
    for value in values.values() if skip_nan else ():
        live = live & ~np.isnan(gather(value, array.shape, dims))
    try:
        op = library.operator(text, parameters)
    except Failure as failure:
        return f"{line}: {failure}"
    try:
        got = library.reduce_operands(array, dims, op, options, **given)
    except Failure as failure:
        return f"{line}: {failure}"
    finally:
        library.so.ndr_operator_destroy(op)
    dtype = compare.numpy_dtype(np.ones(1, x.dtype), UPDATES[update])
    if got.dtype != dtype:
        return f"{line}: {got.dtype}, NumPy {dtype}"
    got = got.reshape(x.shape[:-1])
    value, size = masked(x, live, UPDATES[update], None, got.dtype)
    if tree.inexact:
        fine = np.isfinite(np.where(live, wide(x), 0)).all(axis=-1) & np.isfinite(value)
        got, value, size = (np.where(fine, v, 0).astype(np.asarray(v).dtype) for v in (got, value, size))
        size = size + np.abs(value)
    return report(got, value, close(got, value, size, x.shape[-1] + 1, tree.inexact or update == "*="), line)


def check(library, random, number):
    compare.MOST = 2000
    return (check_built_in, check_own)[number % 2](library, random)


if __name__ == "__main__":
    sys.exit(compare.run(__doc__, check))
