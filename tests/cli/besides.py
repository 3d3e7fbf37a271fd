#!/usr/bin/python3
"""Compares what h5gpured does with arrays beside a dataset with NumPy: besides.py TOOL

Masks, conditions, weights and second arrays of every layout, with missing values in each of them, over random shapes,
under budgets of memory that cut the work up, and over series of files. Exits 77 without h5py.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from problems import case_count

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

FILL = -99
NAMES = ("time", "lat", "lon")
warnings.simplefilter("ignore")


class Files:
    """Datasets over time, lat and lon, and what their elements are to NumPy: missing ones are NaN."""

    def __init__(self, folder, seed):
        self.rng = np.random.default_rng(seed)
        self.folder = folder
        self.shape = tuple(int(self.rng.integers(1, most)) for most in (40, 30, 50))
        self.path = os.path.join(folder, f"{seed}.nc")
        self.values = {}
        with h5py.File(self.path, "w") as file:
            for name, size in zip(NAMES, self.shape):
                file[name] = np.arange(size, dtype="f8") * 10 - 60
                file[name].make_scale(name)
            for name, dims in (("x", NAMES), ("full", NAMES), ("grid", NAMES[1:]), ("turned", ("lon", "lat")),
                               ("line", ("time",))):
                self.add(file, name, dims)

    def add(self, file, name, dims):
        """The dataset of random numbers: y = scaled, packed or plain; land = a mask; w = weights."""
        shape = [self.shape[NAMES.index(dim)] for dim in dims]
        for kind in ("", "_mask", "_weight"):
            packed = self.rng.integers(0, 2 if kind == "_mask" else 100, shape).astype("i2" if kind else "f4")
            if kind == "":
                packed -= 50
            missing = self.rng.random(shape) < (0.1 if self.rng.random() < 0.6 else 0)
            packed[missing] = FILL
            options = {}
            if shape and self.rng.random() < 0.7:
                options["chunks"] = tuple(int(self.rng.integers(1, size + 1)) for size in shape)
                options["compression"] = "gzip" if self.rng.random() < 0.5 else None
            dataset = file.create_dataset(name + kind, data=packed, **options)
            values = packed.astype("f8")
            if missing.any():
                dataset.attrs["_FillValue"] = packed.dtype.type(FILL)
                values[missing] = np.nan
            if kind == "" and self.rng.random() < 0.5:
                dataset.attrs["scale_factor"] = 0.5
                values *= 0.5
            for i, dim in enumerate(dims):
                dataset.dims[i].attach_scale(file[dim])
            self.values[name + kind] = self.spread(values, dims)

    def spread(self, values, dims):
        order = [dims.index(name) for name in NAMES if name in dims]
        index = tuple(slice(None) if name in dims else None for name in NAMES)
        return np.broadcast_to(np.transpose(values, order)[index], self.shape)


def run(tool, *arguments):
    result = subprocess.run([tool, "--json", *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    if result.returncode:
        return result.stderr.decode(errors="backslashreplace").strip()
    return [json.loads(line) for line in result.stdout.decode().splitlines()]


def numbers(answer):
    return np.array(answer["data"], dtype="f8").reshape(answer["shape"])


def weighted(x, w, ddof, reliability, axes):
    """Sum, mean, var, std and norm2 of x weighted by w, its max and its valid, NaN left out, over the axes."""
    valid = ~np.isnan(x)
    whole = x
    x, w = np.where(valid, x, 0), np.where(valid, w, 0)
    count, total, squares = valid.sum(axes), w.sum(axes), (w * w).sum(axes)
    first = (w * x).sum(axes)
    mean = first / total
    spread = (w * (x - np.expand_dims(mean, axes)) ** 2).sum(axes)
    divisor = total - ddof * squares / total if reliability else total - ddof
    var = spread / np.maximum(divisor, 0)
    nothing = lambda values: np.where(count == 0, np.nan, values)
    return {"max": np.nanmax(whole, axes), "sum": first, "mean": mean, "var": var, "std": np.sqrt(var), "norm2": np.sqrt((w * x * x).sum(axes)),
            "valid": count}, nothing, count


class Failures:
    count = 0

    def report(self, text):
        print(text)
        self.count += 1

    def check(self, what, answers, expected, masked):
        if isinstance(answers, str):
            if "one chunk at a time takes" in answers:
                return
            self.report(f"{what}: {answers}")
            return
        for answer in answers:
            name = answer["op"]
            values, got = expected[name], numbers(answer)
            if name in ("sum", "norm2") and masked is not None:
                values = masked(values)
            if not np.allclose(got, values, rtol=1e-5, atol=1e-5, equal_nan=True):
                self.report(f"{what}: {name} is {got.ravel()[:5]}, not {np.ravel(values)[:5]}")


def own_expected(x, y, live, axes):
    live = live & ~np.isnan(x) & ~np.isnan(y)
    n = live.sum(axes)
    difference = np.where(live, x - y, 0)
    return {"rmse": np.sqrt((difference ** 2).sum(axes) / n), "above": (live & (x > y + 5)).sum(axes)}


PLACE = "place(x): s += index(0) + 100 * index(2) * (x > 0) -> s"
RMSE = "rmse(x, y): s += (x - y)**2, n += 1 -> sqrt(s / n)"
ABOVE = "above(x, y; t): n += x > y + t -> n"


def places(shape, x, live, axes):
    time, _, lon = np.indices(shape)
    return np.where(live, time + 100 * lon * (x > 0), 0).sum(axes)


def masks(files, choose):
    """An argument for --where, and which elements it leaves."""
    values, x = files.values, files.values["x"]
    name = choose.choice(("full", "grid", "turned", "line"))
    mask = np.nan_to_num(values[name + "_mask"]) != 0
    lat = files.spread(np.arange(files.shape[1]) * 10. - 60, ("lat",))
    y = values[name]
    place = np.broadcast_to(np.arange(files.shape[0])[:, None, None], files.shape)
    return choose.choice((
        (f"/{name}_mask", mask),
        (f"{files.path}:/{name}_mask", mask),
        (f"{name}_mask", mask),
        ("x > 1.5", x > 1.5),
        ("lat < 0", lat < 0),
        (f"x > 1.5 && ({name} < 3 || lat > 100)", (x > 1.5) & ~np.isnan(y) & ((y < 3) | (lat > 100))),
        (f"index(0) >= 2 && {name}_mask", (place >= 2) & mask),
    ))


def try_one(tool, files, choose, failures):
    values = files.values
    dims = choose.choice((("time",), ("lat", "lon"), NAMES, ("lon",), ("time", "lon")))
    axes = tuple(NAMES.index(dim) for dim in dims)
    live, condition = np.ones(files.shape, bool), []
    if choose.random() < 0.7:
        text, live = masks(files, choose)
        condition = ["--where", text]
    memory = choose.choice((["--memory", "40K"], ["--memory", "200K"], []))
    common = [*condition, *memory, "--threads", choose.choice("12"), "--dims", ",".join(dims), f"{files.path}:/x"]
    what = " ".join(common)
    x = np.where(live, values["x"], np.nan)
    masked = np.isnan(values["x"]).any()

    name = choose.choice(("full", "grid", "turned", "line"))
    w = np.nan_to_num(values[name + "_weight"])
    if w.any():
        reliability, ddof = choose.random() < 0.5, choose.choice((0, 1))
        by = ["--weights", f"/{name}_weight", "--ddof", str(ddof)] + ["--weighting", "reliability"] * reliability
        expected, nothing, _ = weighted(x, w, ddof, reliability, axes)
        failures.check(f"{what} {by}", run(tool, "--op", "sum,mean,max,var,std,norm2,valid", *by, *common), expected,
                       nothing if masked or condition else None)

    name = choose.choice(("full", "grid", "turned", "line"))
    answers = run(tool, "--op", RMSE, "--op", "valid", "--op", ABOVE, "--op", PLACE, "--set", "t=5", "--with", f"y=/{name}", *common)
    expected = own_expected(values["x"], values[name], live, axes)
    expected["valid"] = (live & ~np.isnan(values["x"])).sum(axes)
    expected["place"] = places(files.shape, values["x"], live & ~np.isnan(values["x"]), axes)
    failures.check(f"{what} with {name}", answers, expected, None)

    if condition:
        expected = {"min": np.nanmin(x, axes), "max": np.nanmax(x, axes), "ptp": np.nanmax(x, axes) - np.nanmin(x, axes)}
        failures.check(what, run(tool, "--op", "min,max,ptp", *common), expected, None)


def try_series(tool, folder, failures):
    """Two series cut in different places, and an array that is repeated along them."""
    rng = np.random.default_rng(7)
    x, y, mask = rng.random((30, 4, 5)), rng.random((30, 4, 5)), rng.random((4, 5)) < 0.5
    parts = {"x": (11, 19), "y": (5, 5, 20)}
    paths = {"x": [], "y": []}
    for name, values in (("x", x), ("y", y)):
        begin = 0
        for size in parts[name]:
            path = os.path.join(folder, f"{name}{begin}.h5")
            with h5py.File(path, "w") as file:
                file[name] = values[begin:begin + size]
                file["mask"] = mask
                for i, dim in enumerate(("t", "a", "b")):
                    file[name].dims[i].label = dim
                file["mask"].dims[0].label, file["mask"].dims[1].label = "a", "b"
            paths[name].append(f"{path}:/{name}")
            begin += size
    second = [text for path in paths["y"] for text in ("--with", f"y={path}")]
    for dims, axes in (("t", 0), ("a,b", (1, 2)), ("all", (0, 1, 2))):
        for memory in ([], ["--memory", "20K"]):
            answers = run(tool, "--concat", "t", "--op", RMSE, "--op", "mean", *second, "--where", "/mask", "--dims", dims,
                          *memory, *paths["x"])
            live = np.broadcast_to(mask, x.shape)
            expected = own_expected(x, y, live, axes)
            expected["mean"] = np.nanmean(np.where(live, x, np.nan), axes)
            failures.check(f"series over {dims} {memory}", answers, expected, None)


def try_each_file(tool, folder, failures):
    """Arrays of the inputs' own files go along the series: with one step in the first file, with parts that are together
    as long as that file's dim, by places of other dims, and of dims without names."""
    x = np.arange(7 * 3 * 2, dtype="f8").reshape(7, 3, 2)
    for named in (True, False):
        paths = []
        for begin, end in ((0, 1), (1, 4), (4, 7)):
            paths.append(os.path.join(folder, f"each{named}{begin}.h5"))
            with h5py.File(paths[-1], "w") as file:
                arrays = {"x": (x[begin:end], "tab"), "same": (x[begin:end], "tab")}
                if named:
                    arrays.update(turned=(x[begin:end, :, 0].T, "at"), line=(x[begin:end, 0, 0], "t"))
                for name, (values, dims) in arrays.items():
                    file[name] = values
                    for i, dim in enumerate(dims if named else ""):
                        file[name].dims[i].label = dim
        beside = {"same": x, "turned": x[:, :, :1], "line": x[:, :1, :1]}
        for part, takes in (("", [range(7)]), ("[:1]", [[0, 1, 4]]), ("[-2:,1:3]", [[0, 2, 3, 5, 6], slice(1, 3)]),
                            ("[...,1]", [range(7), slice(None), slice(1, 2)])):
            for name in beside if named else ["same"]:
                taken = np.broadcast_to(beside[name], x.shape)[takes[0]], x[takes[0]]
                y, own = (values[(slice(None), *takes[1:])] for values in taken)
                answers = run(tool, "--concat", "t" if named else "0", "--op", RMSE, "--with", f"y=/{name}", "--where", f"{name} > 10",
                              *(f"{path}:/x{part}" for path in paths))
                failures.check(f"{name} of each file {part}", answers, own_expected(own, y, y > 10, (0, 1, 2)), None)
    answers = run(tool, "--concat", "0", "--op", "sum", "--where", "same > 12", f"{paths[1]}:/x[1:]", f"{paths[2]}:/x[:1]")
    failures.check("parts as long as the first file", answers, {"sum": x[2:5].sum() - 12}, None)


def try_files_alone(tool, folder, failures):
    """FILE without a dataset, where none has the path of the one that is reduced: the options say what would do. And a condition
    whose dtypes do not fit, in the words of the condition."""
    with h5py.File(os.path.join(folder, "own.h5"), "w") as file:
        file["x"], file["b"] = np.ones((3, 4)), np.ones((3, 4), "u1")
    with h5py.File(os.path.join(folder, "two.h5"), "w") as file:
        file["land"], file["row"], file["other"], file["x"] = np.ones((3, 4)), np.arange(4), np.ones(5), np.ones((2, 3, 4))
    with h5py.File(os.path.join(folder, "none.h5"), "w") as file:
        file["other"] = np.ones(5)
    with h5py.File(os.path.join(folder, "sea.h5"), "w") as file:
        file["sea"] = np.ones((3, 4))
    fit = "name a dataset of that file, as two.h5:/land; these fit: /land, /row"
    none = "name a dataset, as none.h5:/NAME; none of that file has only dims of this one"
    for option, text, status, expected in (
            ("--where", "two.h5", 1, f"own.h5:/x: --where two.h5: {fit}"),
            ("--where", os.path.join(folder, "sea.h5"), 1, "sea.h5:/sea; these fit: /sea"),
            ("--weights", "two.h5", 1, f"own.h5:/x: --weights two.h5: {fit}"),
            ("--weights", "none.h5", 1, f"own.h5:/x: --weights none.h5: {none}"),
            ("--by", "0:two.h5", 1, f"own.h5:/x: --by two.h5: {fit}"),
            ("--with", "y=sea.h5", 1, "own.h5:/x: --with y=sea.h5: sea.h5 has no /x; name a dataset of that file, as sea.h5:/sea; these fit: /sea"),
            ("--where", "b + 300 > 2", 1, "own.h5:/x: --where 'b + 300 > 2': 300 does not fit in u8"),
            ("--with", "y=own.h5", 0, "")):
        own = ["--op", RMSE] if option == "--with" else []
        result = subprocess.run([tool, "own.h5:/x", option, text, *own], capture_output=True, text=True, timeout=60, cwd=folder)
        if result.returncode != status or (expected not in result.stderr if expected else result.stderr):
            failures.report(f"{option} {text}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{expected}'")


def try_raw(tool, folder, failures):
    """Under --raw what is called by a name is taken as it is stored, a mask and weights are not."""
    with h5py.File(os.path.join(folder, "packed.nc"), "w") as file:
        file["lat"] = np.array([1, 2], "i2")
        file["lat"].make_scale("lat")
        for name in ("x", "y", "z", "mask"):
            file[name] = np.array([3, 4], "i2")
            file[name].dims[0].attach_scale(file["lat"])
            file[name].attrs["scale_factor"] = 0.5
        file["lat"].attrs["scale_factor"] = 10.0
        file["mask"].attrs["add_offset"] = -1.5  # 0, 0.5
    path = os.path.join(folder, "packed.nc:/x")
    sums = [word for op in "yz" for word in ("--op", f"sum{op}(x, {op}): s += {op} -> s")] + ["--op", "sumlat(x, lat): s += lat -> s"]
    for raw, own, expected in (([], [3.5, 3.5, 30], (2, 6.25)), (["--raw"], [7, 7, 3], (4, 12.5))):
        for options, values in (([*sums, "--with", "y=/y"], own), (["--where", "/mask"], expected[:1]), (["--weights", "/y"], expected[1:])):
            answers = run(tool, *raw, *options, path)
            if isinstance(answers, str) or [answer["data"][0] for answer in answers] != list(values):
                failures.report(f"{raw} {options}: {answers} instead of {values}")


def main():
    tool, failures, choose = os.path.abspath(sys.argv[1]), Failures(), random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(case_count(25)):
            files = Files(folder, seed)
            for _ in range(4):
                try_one(tool, files, choose, failures)
        try_series(tool, folder, failures)
        try_each_file(tool, folder, failures)
        try_files_alone(tool, folder, failures)
        try_raw(tool, folder, failures)
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()
