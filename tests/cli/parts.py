#!/usr/bin/env python3
"""Parts of datasets, series of files and weights, in every layout, against h5py and NumPy: parts.py TOOL

Data are small whole numbers, so that sums are exact in whatever order they are taken.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile

from problems import case_count

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SHAPE = (13, 9, 22)
LAYOUTS = {
    "contiguous": {},
    "chunks": {"chunks": (4, 3, 5)},
    "rows": {"chunks": (1, 9, 22)},
    "columns": {"chunks": (13, 1, 1)},
    "deflate": {"chunks": (5, 9, 4), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "library": {"chunks": (3, 4, 22), "scaleoffset": 0},
    "lzf": {"chunks": (7, 4, 11), "compression": "lzf", "shuffle": True},
    "edge": {"chunks": (10, 7, 20), "compression": "gzip"},
}


def make(name, length, seed):
    values = np.random.default_rng(seed)
    with h5py.File(name, "w") as file:
        for dim, size in zip(("time", "lat", "lon"), (length,) + SHAPE[1:]):
            file[dim] = np.linspace(-60, 60, size) + (61 if dim == "lon" else 0)
            file[dim].make_scale(dim)
        for layout, options in LAYOUTS.items():
            if "chunks" in options:
                options = options | {"chunks": (min(options["chunks"][0], length),) + options["chunks"][1:]}
            for dtype in ("f4", ">i2"):
                data = values.integers(-50, 50, (length,) + SHAPE[1:]).astype(dtype)
                dataset = file.create_dataset(f"{layout}_{dtype[-2:]}", data=data, **options)
                for d, dim in enumerate(("time", "lat", "lon")):
                    dataset.dims[d].attach_scale(file[dim])
        sparse = file.create_dataset("sparse", (length,) + SHAPE[1:], "f4", chunks=(1, 3, 5), fillvalue=7)
        sparse[length // 2:length // 2 + 1, 3:5, :6] = values.integers(-50, 50, (1, 2, 6))
        for d, dim in enumerate(("time", "lat", "lon")):
            sparse.dims[d].attach_scale(file[dim])
        file["area"] = np.arange(1.0, SHAPE[1] * SHAPE[2] + 1).reshape(SHAPE[1:])
        file["area"].dims[0].attach_scale(file["lat"])
        file["area"].dims[1].attach_scale(file["lon"])


def random_range(size):
    """A range as it is written, and what it means."""
    if random.random() < 0.2:
        index = random.randrange(-size, size)
        return str(index), slice(index, index + 1 or None)
    ends = [random.choice((None, random.randrange(-size - 2, size + 3))) for _ in range(2)]
    step = random.choice((None, None, 1, 2, 3, 7, 40))
    text = ":".join("" if end is None else str(end) for end in ends)
    return text + ("" if step is None else f":{step}"), slice(ends[0], ends[1], step)


def random_part():
    """[PART] and the slices that it means; nothing at times, and nothing chosen at times."""
    if random.random() < 0.2:
        return "", (slice(None),) * 3
    ranges = [random_range(size) for size in SHAPE]
    if random.random() < 0.2:
        return f"[..., {ranges[2][0]}]", (slice(None), slice(None), ranges[2][1])
    return "[" + ", ".join(text for text, _ in ranges) + "]", tuple(slices for _, slices in ranges)


def reduce(tool, arguments):
    done = subprocess.run([tool, "--json", "--memory", random.choice(("300K", "1M", "256M")), "-t", random.choice("123"),
                           *arguments], capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        return None, f"status {done.returncode}: {done.stderr}"
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [np.array([np.nan if x is None else x for x in line["data"]], float) for line in lines], ""


def same(got, expected, exact):
    expected = np.asarray(expected, float).ravel()
    close = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-6, "atol": 1e-9}
    return got.shape == expected.shape and np.allclose(got, expected, equal_nan=True, **close)


def check_part(tool, names):
    name, (text, slices) = random.choice(names), random_part()
    axes = tuple(sorted(random.sample(range(3), random.randrange(4))))
    with h5py.File("a.h5") as file:
        data = file[name][()][slices].astype(float)
    ops = {"sum": lambda x: x.sum(axes), "valid": lambda x: np.isfinite(x).sum(axes)}
    if data.size and len(axes) == 1:
        ops["argmax"] = lambda x: x.argmax(axes[0])
    if not axes:
        return ""
    arguments = [f"a.h5:/{name}{text}", "-d", ",".join(map(str, axes)), "--op", ",".join(ops)]
    got, problem = reduce(tool, arguments)
    if not problem and not all(same(g, op(data), True) for g, op in zip(got, ops.values())):
        problem = f"{got} instead of {[op(data) for op in ops.values()]}"
    return problem and f"{' '.join(arguments)}: {problem}"


def check_series(tool, names):
    name, files = random.choice(names), random.sample(("a.h5", "b.h5", "c.h5"), random.randrange(1, 4))
    axes = tuple(sorted(random.sample(range(3), random.randrange(1, 4))))
    arrays = []
    for file in files:
        with h5py.File(file) as opened:
            arrays.append(opened[name][()].astype(float))
    data = np.concatenate(arrays)
    arguments = ["--concat", random.choice(("time", "0")), *[f"{file}:/{name}" for file in files],
                 "-d", ",".join(map(str, axes)), "--op", "sum,min" + (",argmin" if len(axes) == 1 else "")]
    got, problem = reduce(tool, arguments)
    expected = [data.sum(axes), data.min(axes)] + ([data.argmin(axes[0])] if len(axes) == 1 else [])
    if not problem and not all(same(g, e, True) for g, e in zip(got, expected)):
        problem = f"{got} instead of {expected}"
    return problem and f"{' '.join(arguments)}: {problem}"


def check_weights(tool, names):
    name, by = random.choice(names), random.choice(("lat:cos", "lon", "/area"))
    axes = tuple(sorted(random.sample(range(3), random.randrange(1, 4))))
    with h5py.File("a.h5") as file:
        data = file[name][()].astype(float)
        weights = {"lat:cos": np.cos(np.radians(file["lat"][()]))[:, None], "lon": file["lon"][()][None, :],
                   "/area": file["area"][()]}[by][None]
    weights = np.broadcast_to(weights, data.shape)
    arguments = [f"a.h5:/{name}", "--weights", by, "-d", ",".join(map(str, axes)), "--op", "sum,mean,valid"]
    got, problem = reduce(tool, arguments)
    total = (data * weights).sum(axes)
    with np.errstate(all="ignore"):
        expected = [total, total / weights.sum(axes), np.ones(data.shape).sum(axes)]
    if not problem and not all(np.allclose(g, np.ravel(e), rtol=1e-9, atol=1e-7) for g, e in zip(got, expected)):
        problem = f"{got} instead of {expected}"
    return problem and f"{' '.join(arguments)}: {problem}"


def check_many_files(tool):
    """More files than the soft limit lets a program open."""
    most = 64
    for i in range(most + 10):
        with h5py.File(f"many{i}.h5", "w") as file:
            file["x"] = np.array([float(i)])

    def limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    files = [f"many{i}.h5" for i in range(most + 10)]
    done = subprocess.run([tool, "--concat", "0", *files, "--json"], capture_output=True, text=True, preexec_fn=limit)
    if done.returncode or json.loads(done.stdout)["data"] != [sum(range(most + 10))]:
        return f"{most + 10} files where {most} may be open: {done.stdout}{done.stderr}"
    return None


def check_weights_told_apart(tool):
    """Weights whose dim has no name could lie along either dim of a square."""
    with h5py.File("square.h5", "w") as file:
        file["x"], file["long"] = np.arange(36.0).reshape(6, 6), np.arange(24.0).reshape(4, 6)
        file["w"] = np.arange(6.0)
    done = subprocess.run([tool, "square.h5:/x", "--weights", "/w", "-d", "1", "--op", "mean"], capture_output=True, text=True)
    if done.returncode != 1 or "dim 0 of /w could be dim 0 or dim 1" not in done.stderr:
        return f"weights along either dim: {done.stdout}{done.stderr}"
    got, problem = reduce(tool, ["square.h5:/long", "--weights", "/w[::2]", "-d", "1", "--op", "mean"])
    if not problem:
        return f"three weights for six elements: {got}"
    got, problem = reduce(tool, ["square.h5:/long[:,::2]", "--weights", "/w[::2]", "-d", "1", "--op", "mean"])
    return problem or (None if np.allclose(got[0], [3.3333333333, 9.3333333333, 15.3333333333, 21.3333333333]) else f"{got}")


def check_weights_of_every_dtype(tool):
    """Elements may have any dtype, weights any but a complex one; both are f64 in the sum, where elements are real."""
    with h5py.File("dtypes.h5", "w") as file:
        for dtype in ("?", "i1", "i2", ">i4", "i8", "u1", ">u2", "u4", "u8", "f2", ">f4", "f8", "c8"):
            name = np.dtype(dtype).name
            file["elements_" + name] = np.array([[1, 1, 1], [1, 0, 1]]).astype(dtype)
            file.create_dataset("chunked_" + name, data=file["elements_" + name], chunks=(1, 2), compression="gzip")
            file["weights_" + name] = np.array([0, 1]).astype(dtype)
        names = [name.split("_")[1] for name in file if name.startswith("weights_")]
    for name in names:
        for elements, weights in (("elements_" + name, "/weights_float64"), ("chunked_" + name, "/weights_float64"),
                                  ("elements_float64", "/weights_" + name)):
            got, problem = reduce(tool, ["dtypes.h5:/" + elements, "--weights", weights, "-d", "all", "--op", "sum,mean"])
            right = not problem and np.allclose(np.ravel(got)[:: 2 if elements.endswith("complex64") else 1], [2, 2 / 3])
            if not ("are no weights" in str(problem) if weights.endswith("complex64") else right):
                return f"{elements} by {weights}: {got}{problem}"
    return None


def check_infinite_elements(tool):
    """One of weight 0 makes NaN, as in NumPy, and is valid."""
    with h5py.File("infinite.h5", "w") as file:
        file["x"], file["w"] = np.array([[1, np.inf, 2], [np.nan, 3, 4]]), np.array([[1, 0, 2], [0, 0, 1.0]])
    got, problem = reduce(tool, ["infinite.h5:/x", "--skipna", "--weights", "/w", "-d", "1", "--op", "sum,mean,valid"])
    return problem or (None if np.allclose(got, [[np.nan, 4], [np.nan, 4], [3, 2]], equal_nan=True) else f"weights of 0: {got}")


def main():
    tool = os.path.abspath(sys.argv[1])
    count, seed = case_count(150), int(os.environ.get("NDR_TEST_SEED", 20261121))
    random.seed(seed)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, length, number in (("a.h5", SHAPE[0], 1), ("b.h5", 1, 2), ("c.h5", 6, 3)):
            make(name, length, number)
        problems += filter(None, (check_many_files(tool), check_weights_told_apart(tool),
                                  check_weights_of_every_dtype(tool), check_infinite_elements(tool)))
        names = [f"{layout}_{dtype}" for layout in LAYOUTS for dtype in ("f4", "i2")] + ["sparse"]
        for _ in range(count):
            check = random.choice((check_part, check_part, check_series, check_weights))
            problem = check(tool, names)
            if problem:
                problems.append(problem)
    print("\n".join(problems[:10]))
    print(f"{count} cases, seed {seed}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
