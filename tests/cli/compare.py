#!/usr/bin/python3
"""Compares h5gpured with h5py and NumPy on every dataset of files: compare.py TOOL FILE_OR_FOLDER...

Each dataset is reduced by every operator over all dims, over each dim and over the first and last: as stored (--raw),
and, where attributes give its numbers another meaning, with missing elements left out and packed ones unpacked. What
h5py cannot read, and what is no array of numbers, must fail with status 1 and one line. Exits 77, which CTest shows as
skipped, without h5py or where none of the files exist.
"""
import io
import json
import os
import subprocess
import sys
import warnings

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

from problems import share_of

ORDERED = ("min", "max", "ptp", "argmin", "argmax", "logsumexp")
WITHOUT_EMPTY = ("min", "max", "ptp", "argmin", "argmax")
OPS = ("sum", "prod", "mean", "var", "std", "norm1", "norm2", "norminf", "any", "all", "count", "valid") + ORDERED
# More than NumPy is asked to hold; such data is tried, but its results are compared elsewhere.
MOST_BYTES = 1 << 28
# Where there are more results than this, one operator has to do, and .npy: JSON is not made for millions of numbers.
MOST_OUTPUTS = 100000
DTYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4",
          "u64": "u8", "f16": "f2", "bf16": "f4", "f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}


class Run:
    def __init__(self, tool, file, dataset, dims, ops, *options):
        self.npy = "npy" in options
        form = () if self.npy else ("--json",)
        command = [tool, *form, *options, "--no-plugins", "--op", ",".join(ops), "--dims", dims, f"{file}:{dataset}"]
        result = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=120)
        self.status = result.returncode
        self.errors = result.stderr.decode(errors="backslashreplace")
        if self.npy:
            self.answers = [array_of(result.stdout)] if result.stdout else []
        else:
            self.answers = [json.loads(line) for line in result.stdout.decode().splitlines()]

    def failed_cleanly(self):
        return self.status == 1 and self.errors.count("\n") == 1 and self.errors.startswith("h5gpured: ")


def array_of(npy):
    """A .npy as JSON would have said it, but for its data, which is the array."""
    array = np.load(io.BytesIO(npy))
    name = next(name for name, dtype in DTYPES.items() if np.dtype(dtype) == array.dtype)
    return {"dtype": name, "shape": array.shape, "data": array}


def is_bare(dataset):
    """Whether it is a netCDF dimension without coordinates."""
    name = dataset.attrs.get("NAME", "") if dataset.ndim == 1 else ""
    name = name.decode(errors="replace") if isinstance(name, bytes) else name
    return isinstance(name, str) and name.startswith("This is a netCDF dimension but not a netCDF variable")


def is_complex(dtype):
    """As MATLAB, Octave and JLD2 write it, of which h5py does not know."""
    return (dtype.names is not None and set(dtype.names) in ({"real", "imag"}, {"re", "im"}) and
            dtype[0] == dtype[1] and dtype[0].kind == "f")


def readable(dataset):
    """The elements as NumPy has them; None for what h5gpured must refuse."""
    if not isinstance(dataset, h5py.Dataset) or dataset.shape is None:
        return None
    try:
        dtype = dataset.dtype
    except TypeError:
        return None
    if is_bare(dataset) or dataset.is_virtual or dataset.external or dtype.subdtype:
        return None
    if dtype.kind not in "iufbc" and not is_complex(dtype):
        return None
    if dataset.nbytes > MOST_BYTES:
        return None
    try:
        if is_complex(dtype):
            return sum(dataset[name] * (1j if name.startswith("i") else 1) for name in dtype.names)
        return dataset[...]
    except (OSError, TypeError, ValueError):
        return None


def numbers_of(dataset, name, most):
    """The numbers of an attribute; none where it is not there, holds anything else, or too much."""
    try:
        value = np.atleast_1d(dataset.attrs[name])
    except (KeyError, OSError, TypeError, ValueError):
        return []
    return list(value.ravel()) if value.dtype.kind in "iuf" and 0 < value.size <= most else []


def as_packed(number, dtype, unsigned):
    """The attribute's number as one of the data, or None where no element could be that."""
    if dtype.kind == "f":
        packed = dtype.type(number)
        return packed if np.isfinite(packed) or not np.isfinite(number) else None
    if not np.isfinite(number) or number != int(number):
        return None
    signed = np.dtype(f"i{dtype.itemsize}")
    for candidate in (signed, dtype) if unsigned else (dtype,):
        if np.iinfo(candidate).min <= int(number) <= np.iinfo(candidate).max:
            return np.array(int(number), candidate).view(dtype)[()]
    return None


def is_unsigned(dataset):
    text = dataset.attrs.get("_Unsigned", "")
    text = text.decode() if isinstance(text, bytes) else text
    return isinstance(text, str) and text.lower() == "true"


def has_odd_scale(dataset, values):
    """One that is no number, without which the elements mean something else."""
    if values.dtype.kind not in "iuf" or h5py.check_enum_dtype(dataset.dtype):
        return False
    return any(name in dataset.attrs and not numbers_of(dataset, name, 1) for name in ("scale_factor", "add_offset"))


def meaning(dataset, values):
    """What the elements mean: missing ones NaN, packed ones unpacked. None: what is stored, NaN being an element."""
    if values.dtype.kind not in "iuf" or h5py.check_enum_dtype(dataset.dtype):
        return None
    values = values.astype(values.dtype.newbyteorder("="))
    unsigned = values.dtype.kind == "i" and is_unsigned(dataset)
    if unsigned:
        values = values.view(f"u{values.itemsize}")

    def packed(name, most):
        pairs = (as_packed(number, values.dtype, unsigned) for number in numbers_of(dataset, name, most))
        return [number for number in pairs if number is not None]

    missing = np.zeros(values.shape, bool)
    marks = packed("_FillValue", 1) + packed("missing_value", 15)
    for mark in marks:
        missing |= values == mark
    masked = bool(marks)
    bounds = numbers_of(dataset, "valid_range", 2) if len(numbers_of(dataset, "valid_range", 2)) == 2 else [None, None]
    if bounds == [None, None]:
        bounds = [(numbers_of(dataset, name, 1) or [None])[0] for name in ("valid_min", "valid_max")]
    least, most = (None if bound is None else as_packed(bound, values.dtype, unsigned) for bound in bounds)
    if least is not None and not (values.dtype.kind != "f" and least == np.iinfo(values.dtype).min):
        missing, masked = missing | (values < least), True
    if most is not None and not (values.dtype.kind != "f" and most == np.iinfo(values.dtype).max):
        missing, masked = missing | (values > most), True
    scale = float((numbers_of(dataset, "scale_factor", 1) or [1])[0])
    offset = float((numbers_of(dataset, "add_offset", 1) or [0])[0])
    scaled = scale != 1 or offset != 0
    if not (masked or scaled or unsigned):
        return None
    if scaled:
        unpacked = values.astype("f8") * scale + offset
    else:
        unpacked = values.astype("f8") if masked and values.dtype.kind != "f" else values
    return (np.where(missing, unpacked.dtype.type(np.nan), unpacked) if masked else unpacked), masked


def flattened(values, axes):
    """The reduced dims, in ascending order, as one last axis."""
    kept = [d for d in range(values.ndim) if d not in axes]
    moved = values.transpose(kept + sorted(axes))
    return moved.reshape([values.shape[d] for d in kept] + [-1 if values.size else int(np.prod([values.shape[d] for d in axes]))])


def exact(op, x):
    """What is right to the last bit, or None for an op that rounds."""
    if op in ("min", "max", "argmin", "argmax"):
        return getattr(np, op)(x, axis=-1)
    if op == "ptp":
        return x.max(-1) ^ x.min(-1) if x.dtype.kind == "b" else x.max(-1) - x.min(-1)
    if op in ("any", "all"):
        return getattr(np, op)(x, axis=-1)
    if op == "count":
        return np.count_nonzero(x, axis=-1)
    if op == "valid":
        return np.count_nonzero(~np.isnan(x), axis=-1)
    if op in ("sum", "prod") and x.dtype.kind in "iub":
        return getattr(np, op)(x, axis=-1, dtype="u8" if x.dtype.kind in "ub" else "i8")
    return None


def widened(x):
    """In a wider float: f64, which is fast, where the results are of narrower floats, else the widest there is."""
    narrow = x.dtype.kind in "fc" and np.finfo(x.dtype).bits <= 32
    if x.dtype.kind == "c":
        return x.astype("D" if narrow else "G")
    return x.astype("d" if narrow else "g")


def bounded(op, x, eps):
    """The result in a wider float, and how far from it an answer may be. Sums and means are summed in blocks, whose
    error grows with log n of the sum of magnitudes; a product's with n; a variance's with the mean square."""
    wide = widened(x)
    n = max(x.shape[-1], 1)
    slack = eps * (4 + 2 * np.log2(n + 1))
    size = np.abs(wide)
    if op in ("var", "std"):
        square = np.mean(size ** 2, axis=-1)
    if op == "sum":
        return wide.sum(-1), slack * size.sum(-1)
    if op == "mean":
        return wide.mean(-1), slack * size.mean(-1)
    if op == "prod":
        value = wide.prod(-1)
        return value, eps * (n + 4) * np.abs(value)
    if op == "var":
        return wide.var(-1), slack * square
    if op == "std":
        value = wide.std(-1)
        return value, slack * np.where(value > 0, square / np.where(value > 0, value, 1), np.sqrt(square))
    if op == "norm1":
        return size.sum(-1), slack * size.sum(-1)
    if op == "norm2":
        value = np.sqrt((size ** 2).sum(-1))
        return value, slack * value
    if op == "norminf":
        value = size.max(-1) if x.shape[-1] else size.sum(-1)
        return value, 2 * eps * value
    top = wide.max(-1, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0)
    value = np.log(np.exp(wide - top).sum(-1)) + top[..., 0]
    return value, slack * np.maximum(np.abs(value), 1)


def bounded_valid(op, x, eps):
    """The same with missing elements, which are NaN, left out; 0 is how far an exact result may be."""
    valid = ~np.isnan(x)
    n = valid.sum(-1)
    if op in ("min", "max", "argmin", "argmax"):
        low = op.endswith("min")
        value = getattr(np, op[-3:])(np.where(valid, x, np.inf if low else -np.inf), axis=-1)
        if op.startswith("arg"):
            return np.where(n, np.argmax(valid & (x == value[..., None]), axis=-1), -1), 0
        return np.where(n, value, np.nan), 0
    if op == "ptp":
        low, high = np.where(valid, x, np.inf).min(-1), np.where(valid, x, -np.inf).max(-1)
        return np.where(n, high - low, np.nan), 0
    if op in ("any", "all", "count", "valid"):
        return {"valid": n, "any": np.any(valid & (x != 0), axis=-1), "all": np.all(~valid | (x != 0), axis=-1),
                "count": np.sum(valid & (x != 0), axis=-1)}[op], 0
    neutral = {"prod": 1, "logsumexp": -np.inf}.get(op, 0)
    value, slack = bounded(op, np.where(valid, x, x.dtype.type(neutral)), eps)
    if op in ("mean", "var", "std"):
        wide = widened(np.where(valid, x, x.dtype.type(0)))
        mean = wide.sum(-1) / n
        square = (wide ** 2).sum(-1) / n
        spread = (np.where(valid, wide - mean[..., None], 0) ** 2).sum(-1) / n
        slack = eps * (4 + 2 * np.log2(n + 1.0))
        value, slack = {"mean": (mean, slack * np.abs(wide).sum(-1) / n), "var": (spread, slack * square),
                        "std": (np.sqrt(spread), slack * np.where(spread > 0, square / np.sqrt(np.where(spread > 0, spread, 1)),
                                                                 np.sqrt(square)))}[op]
    return np.where(n, value, np.nan), np.where(n, slack, 0)


def epsilon(name):
    return 2.0 ** -7 if name == "bf16" else float(np.finfo(DTYPES[name]).eps)


def has_product(x, dtype):
    """Whether no order of multiplying leaves the range of the dtype: otherwise inf, 0 and nan depend on it."""
    limits = np.finfo(dtype)
    with np.errstate(divide="ignore"):
        powers = np.log2(np.abs(widened(x)))
    reach = np.where(np.isfinite(powers), np.abs(powers), 0).sum(-1)
    return bool(np.all(reach < min(limits.maxexp, -limits.minexp) - 1))


def decoded(answer):
    dtype = np.dtype(DTYPES[answer["dtype"]])
    data = answer["data"]
    if isinstance(data, np.ndarray):
        return data
    if dtype.kind == "c":
        numbers = [complex(*(np.nan if part is None else part for part in pair)) for pair in data]
    else:
        numbers = [np.nan if value is None else value for value in data]
    return np.array(numbers, dtype).reshape(answer["shape"])


def agrees(answer, op, x, masked):
    got = decoded(answer)
    if list(got.shape) != list(x.shape[:-1]):
        return False
    want = None if masked else exact(op, x)
    if want is not None:
        return np.array_equal(got, np.asarray(want).astype(got.dtype), equal_nan=got.dtype.kind in "fc")
    if op == "prod" and not has_product(np.where(np.isnan(x), 1, x) if masked else x, got.dtype):
        return True
    eps = epsilon(answer["dtype"]) if got.dtype.kind in "fc" else 0
    value, slack = (bounded_valid if masked else bounded)(op, x, eps)
    if got.dtype.kind not in "fc":
        return np.array_equal(got, value)
    narrow = np.asarray(value).astype(got.dtype)
    tiny = np.finfo(got.dtype).smallest_subnormal
    with np.errstate(invalid="ignore"):
        near = np.abs(got - value) <= slack + eps * np.abs(value) + tiny
    same = (got == narrow) | (np.isnan(got) & np.isnan(narrow))
    # Close to the largest float of the dtype, either side of it is right.
    edge = np.isinf(got) & (np.abs(value) * (1 + 64 * eps) > np.finfo(got.dtype).max)
    return bool(np.all(near | same | edge))


def check_dataset(tool, file, name, dataset, problems):
    values = readable(dataset)
    if values is None:
        run = Run(tool, file, name, "all", ("sum",), "--raw")
        # What this h5py cannot read, h5gpured may.
        if not run.failed_cleanly() and not (isinstance(dataset, h5py.Dataset) and run.status == 0):
            problems.append(f"{file}:{name}: status {run.status}: {run.errors}")
        return 1
    if values.dtype == np.longdouble:
        values = values.astype("f8")
    count = check_values(tool, file, name, values, False, ("--raw",), problems)
    if has_odd_scale(dataset, values):
        run = Run(tool, file, name, "all", ("sum",))
        if run.status != 1 or "--raw takes its numbers as stored" not in run.errors:
            problems.append(f"{file}:{name}: status {run.status}: {run.errors}")
        return count + 1
    meant = meaning(dataset, values)
    return count + check_values(tool, file, name, *(meant or (values, False)), (), problems)


def check_values(tool, file, name, values, masked, options, problems):
    choices = {"all": tuple(range(values.ndim))}
    choices.update({str(d): (d,) for d in range(values.ndim)})
    if values.ndim > 2:
        choices["0,-1"] = (0, values.ndim - 1)
    for dims, axes in choices.items():
        x = flattened(values, axes)
        ops = [op for op in OPS if not (values.dtype.kind == "c" and op in ORDERED)]
        ops = [op for op in ops if x.shape[-1] or op not in WITHOUT_EMPTY]
        many = x.size // max(x.shape[-1], 1) > MOST_OUTPUTS
        if many:
            ops = ops[:1]
        run = Run(tool, file, name, dims, ops, *options, *(("--format", "npy") if many else ()))
        if run.failed_cleanly() and "needs filter" in run.errors:
            continue
        if run.status:
            problems.append(f"{file}:{name} over {dims} {' '.join(options)}: status {run.status}: {run.errors}")
            continue
        holes = masked and (x.size == 0 or np.isnan(x).any())  # where none is missing, the results are the plain ones
        for op, answer in zip(ops, run.answers):
            if not agrees(answer, op, x, holes):
                problems.append(f"{op} of {file}:{name} over {dims} {' '.join(options)} is not NumPy's")
    return len(choices)


def check_file(tool, path, problems):
    try:
        file = h5py.File(path, "r")
    except OSError:
        run = Run(tool, path, "/", "all", ("sum",))
        if not run.failed_cleanly():
            problems.append(f"{path}: status {run.status}: {run.errors}")
        return 1
    with file:
        names = []
        try:
            file.visit(names.append)
        except RuntimeError:
            pass
        count = 0
        names = names or ["/"]
        for name in names[:1] + share_of(names[1:]):
            try:
                dataset = file[name]
            except (KeyError, OSError, RuntimeError):
                dataset = None
            count += check_dataset(tool, path, "/" + name.strip("/"), dataset, problems)
        return count


def main():
    tool, paths = os.path.abspath(sys.argv[1]), []
    for place in sys.argv[2:]:
        if os.path.isdir(place):
            paths += sorted(os.path.join(place, name) for name in os.listdir(place)
                            if name.endswith((".nc", ".h5", ".hdf", ".hdf5", ".nx5")))
        elif os.path.exists(place):
            paths.append(place)
    if not paths:
        print("skipped: none of these exist:", *sys.argv[2:])
        return 77
    problems, count = [], 0
    warnings.simplefilter("ignore")
    with np.errstate(all="ignore"):
        for path in paths:
            count += check_file(tool, path, problems)
    print(*problems, sep="\n")
    print(f"{count} reductions of {len(paths)} files by {len(OPS)} operators, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
