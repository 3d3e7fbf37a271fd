"""What NumPy makes of a reduction: in long double where rounding counts, with the error that ndreduce may have."""
import numpy as np

ACCUMULATED_IN_F64 = ("f64", "c128")
HALF_UNIT = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}


def growth(n):
    """Additions that one element goes through in a blockwise sum of n."""
    return n if n <= 256 else 256 + np.log2(n)


def gathered(array, dims):
    """The kept dims in front and the reduced ones, flattened in ascending order, as the last axis."""
    dims = sorted(d % array.ndim for d in dims) if array.ndim else []
    kept = [d for d in range(array.ndim) if d not in dims]
    n = int(np.prod([array.shape[d] for d in dims], dtype=np.int64))
    return array.transpose(kept + dims).reshape([array.shape[d] for d in kept] + [n])


def widened(x):
    return x.astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)


def arg(x, op, skip_nan):
    if x.shape[-1] == 0:
        return np.zeros(x.shape[:-1], np.int64)
    if not skip_nan or x.dtype.kind != "f":
        return getattr(np, op)(x, axis=-1)
    nothing = np.isnan(x).all(axis=-1)
    filled = np.where(nothing[..., None], 0, x)
    best = getattr(np, "nan" + op[3:])(filled, axis=-1, keepdims=True)
    return np.where(nothing, -1, (filled == best).argmax(axis=-1))  # np.nanargmin takes a NaN for an infinity


def variance(x, present, ddof):
    """np.var's divisor max(n - ddof, 0), under skip_nan too, where np.nanvar gives NaN instead of dividing by 0."""
    n = present.sum(axis=-1)
    mean = np.where(present, x, 0).sum(axis=-1) / n
    spread = np.where(present, np.abs(x - mean[..., None]) ** 2, 0).sum(axis=-1)
    divisor = np.maximum(n - np.longdouble(ddof), 0)
    return np.where(n == 0, np.nan, spread / divisor), np.abs(mean), spread, n, divisor


def log_sum_exp(x):
    if x.shape[-1] == 0:
        return np.full(x.shape[:-1], -np.inf, x.dtype)
    top = x.max(axis=-1)
    shift = np.where(np.isfinite(top), top, 0)
    return np.where(np.isinf(top), top, shift + np.log(np.exp(x - shift[..., None]).sum(axis=-1)))


def exact_value(x, op, options, result_dtype):
    skip = options.skip_nan and x.dtype.kind in "fc"
    present = ~np.isnan(x) if skip else np.ones(x.shape, bool)
    if op in ("sum", "prod"):
        return getattr(np, op)(x, axis=-1, dtype=result_dtype)
    if op in ("min", "max"):
        if x.shape[-1] == 0:
            return np.zeros(x.shape[:-1], x.dtype)
        return getattr(np, ("nan" if skip else "") + op)(x, axis=-1)
    if op == "ptp":
        if x.shape[-1] == 0:
            return np.zeros(x.shape[:-1], x.dtype)
        high, low = ((np.nanmax, np.nanmin) if skip else (np.max, np.min))
        high, low = high(x, axis=-1), low(x, axis=-1)
        return high ^ low if x.dtype.kind == "b" else high - low
    if op in ("argmin", "argmax"):
        return arg(x, op, skip)
    if op == "count":
        return np.count_nonzero((x != 0) & present, axis=-1)
    if op == "valid":
        return np.count_nonzero(~np.isnan(x), axis=-1)
    return (present & (x != 0)).any(axis=-1) if op == "any" else (~present | (x != 0)).all(axis=-1)


def divided(total, n):
    """By a real number, part by part: complex division would spread a NaN to both."""
    result = np.array(total)
    result.real = np.real(total) / n
    if result.dtype.kind == "c":
        result.imag = np.imag(total) / n
    return result


def is_exact(x, op):
    return op in ("min", "max", "ptp", "argmin", "argmax", "any", "all", "count", "valid") or (
        op in ("sum", "prod") and x.dtype.kind in "biu")


def norm(wide, op):
    if wide.shape[-1] == 0:
        return np.zeros(wide.shape[:-1], np.longdouble)
    return np.linalg.norm(wide, {"norm1": 1, "norm2": 2, "norminf": np.inf}[op], axis=-1)


def rounded_value(x, op, options, name):
    """The value in long double and the bound on the error before the result is rounded; two where the parts differ."""
    skip = options.skip_nan and x.dtype.kind in "fc"
    wide = widened(x)
    present = ~np.isnan(wide) if skip else np.ones(x.shape, bool)
    wide_accumulator = options.accumulate or name in ACCUMULATED_IN_F64 or x.dtype.kind in "biu"
    unit = 2.0 ** -53 if wide_accumulator else 2.0 ** -24
    length = x.shape[-1]
    relative = (growth(length) + 4) * unit
    zeroed = np.where(present, wide, 0)
    sizes = [np.abs(part(zeroed)).sum(axis=-1) for part in (np.real, np.imag)]
    if op == "sum":
        return zeroed.sum(axis=-1), [size * relative for size in sizes]
    if op == "prod":
        value = np.where(present, wide, 1).prod(axis=-1)
        return value, 3 * (length + 1) * unit * np.abs(value)
    if op == "mean":
        n = present.sum(axis=-1)
        return divided(zeroed.sum(axis=-1), n), [size * relative / n for size in sizes]
    if op in ("var", "std"):
        value, mean, spread, n, divisor = variance(wide, present, options.ddof)
        bound = 2 * relative * (spread + mean * np.sqrt(spread * n) + 2 * relative * mean**2 * n) / divisor
        # A spread that is zero but for rounding, divided by zero, is NaN or infinite.
        bound = np.where((divisor == 0) & (n > 1) & (spread <= mean**2 * n * relative), np.inf, bound)
        if op == "var":
            return value, bound
        return np.sqrt(value), np.where(bound > 0, np.sqrt(value + bound) - np.sqrt(np.maximum(value - bound, 0)), 0)
    if op == "logsumexp":
        value = log_sum_exp(np.where(present, wide, -np.inf))
        top = np.where(present, np.abs(wide), 0).max(axis=-1, initial=0)
        return value, unit * (growth(length) + np.log(length + 1) + 8 + 2 * top + 2 * np.abs(value))
    value = norm(zeroed, op)
    return value, value * (relative if op != "norminf" or x.dtype.kind == "c" else 0)


def part_accepts(got, value, bound):
    """got is one of the results that values within the bound round to."""
    bound = np.where(np.isfinite(value), np.nan_to_num(bound, posinf=np.inf), 0)
    low, high = (value - bound).astype(got.dtype), (value + bound).astype(got.dtype)
    return (np.isnan(value) & np.isnan(got)) | ((low <= got) & (got <= high)) | np.isposinf(bound)


def accepts(got, x, op, options, name):
    """Which outputs are right; x as gathered() gives it."""
    with np.errstate(all="ignore"):
        if is_exact(x, op):
            value = exact_value(x, op, options, got.dtype)
            return (got == value) | ((got != got) & (value != value)), value
        value, bound = rounded_value(x, op, options, name)
        real, imaginary = bound if isinstance(bound, list) else (bound, bound)
        right = part_accepts(got.real, np.real(value), real)
        if got.dtype.kind == "c":
            right &= part_accepts(got.imag, np.imag(value), imaginary)
        return right, value
