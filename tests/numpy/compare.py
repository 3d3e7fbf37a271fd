#!/usr/bin/python3
"""Compares libndreduce.so with NumPy on random views: compare.py LIBRARY [CASES [SEED]]

NDR_TEST_CASES and NDR_TEST_SEED in the environment do the same. Exits 77, which CTest shows as skipped, without NumPy.
"""
import os
import sys
import warnings

try:
    import numpy as np
except ImportError:
    print("skipped: python3-numpy is not installed")
    sys.exit(77)

from expected import accepts, gathered
from library import DTYPES, ERR_EMPTY, OPS, Failure, Library, Options

ORDERED = ("min", "max", "ptp", "argmin", "argmax", "logsumexp")
WITHOUT_EMPTY = ("min", "max", "ptp", "argmin", "argmax")
MOST = 20000
EDGES = (15, 16, 17, 31, 33, 64, 65, 127, 129, 255, 257, 1000, 1025)


def random_shape(random):
    shape, most = [], MOST
    for _ in range(random.integers(0, 6)):
        kind = random.integers(0, 12)
        size = 1 if kind == 0 else 0 if random.integers(0, 40) == 0 else int(random.choice(EDGES)) if kind < 5 else int(
            random.integers(2, 9))
        size = min(size, most)
        most //= max(size, 1)
        shape.append(size)
    return shape


def small_values(random, dtype, shape):
    if dtype == np.bool_:
        return np.asarray(random.integers(0, 2, shape)).astype(dtype)
    low = 0 if dtype.kind == "u" else -8
    return np.asarray(random.integers(low, 9, shape)).astype(dtype)


def wide_values(random, dtype, shape):
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    if dtype.kind == "b":
        return small_values(random, dtype, shape)
    values = np.asarray(random.standard_normal(shape)) * 2.0 ** random.integers(-3, 4, shape)
    if dtype.kind == "c":
        values = values + 1j * random.standard_normal(shape)
    return values.astype(dtype)


def special_values(random, dtype, shape):
    values = np.array(wide_values(random, dtype, shape))
    if dtype.kind in "fc":
        values[random.integers(0, 6, shape) == 0] = np.nan
        values[random.integers(0, 6, shape) == 0] = 0
    if dtype.kind == "f":
        values[random.integers(0, 30, shape) == 0] = np.inf
        values[random.integers(0, 30, shape) == 0] = -np.inf
    return values


def random_values(random, dtype, shape, op):
    if op == "prod" and dtype.kind in "fc":
        return np.asarray(random.choice([1, -1, 1.0009765625], shape)).astype(dtype)
    fill = [small_values, wide_values, special_values][random.integers(0, 3)]
    return np.asarray(fill(random, dtype, shape), dtype)


def random_view(random, array):
    """Slices with steps of either sign, then permutes, then perhaps repeats along a new or single dim."""
    slices = []
    for size in array.shape:
        step = int(random.choice([1, 1, 1, -1, 2, -3]))
        slices.append(slice(None, None, step) if random.integers(0, 3) else slice(int(random.integers(0, 2)), None, step))
    view = array[tuple(slices) + (...,)]
    view = view.transpose(random.permutation(view.ndim)) if random.integers(0, 3) else view
    if random.integers(0, 8) == 0:
        view = np.broadcast_to(view, (int(random.integers(1, 5)),) + view.shape)
        view = np.moveaxis(view, 0, int(random.integers(0, view.ndim)))
    return view


def random_dims(random, ndim):
    count = int(random.integers(0, ndim + 1))
    return [int(d) - (ndim if random.integers(0, 4) == 0 else 0) for d in random.permutation(ndim)[:count]]


def case_text(array, dims, op, name, options):
    """The case in ndreduce's problem mini-language."""
    axes = ",".join(f"{n}:{s // array.itemsize}" for n, s in zip(array.shape, array.strides))
    words = [op, name, f"[{axes}]", "/" + ",".join(map(str, dims))]
    words += ["keepdims"] * options.keepdims + ["skipnan"] * options.skip_nan
    words += [f"ddof={options.ddof}"] * (options.ddof != 0) + ["acc=f64"] * options.accumulate
    return " ".join(words)


def numpy_dtype(array, op):
    """The dtype rules of NumPy, but that sums of bool are unsigned and norms and logsumexp have rules of their own."""
    if op in ("sum", "prod"):
        return np.dtype(np.uint64) if array.dtype.kind in "bu" else getattr(np, op)(np.ones(1, array.dtype)).dtype
    if op in ("mean", "var", "std"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.dtype(getattr(np, op)(np.ones(1, array.dtype)).dtype)
    if op in ("norm1", "norm2", "norminf", "logsumexp"):
        return array.real.dtype if array.dtype.kind in "fc" else np.dtype(np.float64)
    return {"any": np.dtype(np.bool_), "all": np.dtype(np.bool_), "min": array.dtype,
            "max": array.dtype, "ptp": array.dtype}.get(op, np.dtype(np.int64))


def check(library, random):
    """One random case; None, or what is wrong with it."""
    name = str(random.choice(list(DTYPES)))
    op = str(random.choice([o for o in OPS if not (name.startswith("c") and o in ORDERED)]))
    dtype = np.dtype(DTYPES[name])
    array = random_view(random, random_values(random, dtype, random_shape(random), op))
    dims = random_dims(random, array.ndim)
    options = Options(keepdims=int(random.integers(0, 2)), skip_nan=int(random.integers(0, 3) == 0),
                      ddof=float(random.choice([0, 0, 1, 2.5])), accumulate=int(random.integers(0, 4) == 0))
    text = case_text(array, dims, op, name, options)
    x = gathered(array, dims)
    must_fail = op in WITHOUT_EMPTY and x.shape[-1] == 0 and x.size == 0 and np.prod(x.shape[:-1], dtype=np.int64) > 0
    try:
        got = library.reduce(array, dims, op, options)
    except Failure as failure:
        return None if must_fail and failure.status == ERR_EMPTY else f"{text}: {failure}"
    if must_fail:
        return f"{text}: a value, where NumPy raises"
    shape = np.sum(array, axis=tuple(dims), keepdims=bool(options.keepdims)).shape
    if got.shape != shape or got.dtype != numpy_dtype(array, op):
        return f"{text}: {got.dtype} {got.shape}, NumPy {numpy_dtype(array, op)} {shape}"
    right, value = accepts(got.reshape(x.shape[:-1]), x, op, options, name)
    if not np.all(right):
        at = int(np.argmin(np.ravel(right)))
        return f"{text}: output {at} is {got.ravel()[at]!r}, NumPy {np.ravel(value)[at]!r}"
    return None


def run(usage, check):
    """Calls check(library, random, number) for each case, prints what it complains of, and returns the exit status."""
    if len(sys.argv) < 2:
        sys.exit(usage)
    cases = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("NDR_TEST_CASES", 4000))
    seed = int(sys.argv[3] if len(sys.argv) > 3 else os.environ.get("NDR_TEST_SEED", 20240607))
    library = Library(os.path.abspath(sys.argv[1]))
    random = np.random.default_rng(seed)
    wrong = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(cases):
            complaint = check(library, random, number)
            if complaint:
                wrong.append(complaint)
    for complaint in wrong[:20]:
        print(complaint)
    print(f"ndreduce {library.so.ndr_version().decode()}, NumPy {np.__version__}, seed {seed}: "
          f"{cases - len(wrong)} of {cases} cases agree")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(run(__doc__, lambda library, random, number: check(library, random)))
