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
    """Sum, mean, var, std, norm2 and valid of x, NaN left out, weighted by w, over the axes."""
    valid = ~np.isnan(x)
    x, w = np.where(valid, x, 0), np.where(valid, w, 0)
    count, total, squares = valid.sum(axes), w.sum(axes), (w * w).sum(axes)
    first = (w * x).sum(axes)
    mean = first / total
    spread = (w * (x - np.expand_dims(mean, axes)) ** 2).sum(axes)
    divisor = total - ddof * squares / total if reliability else total - ddof
    var = spread / np.maximum(divisor, 0)
    nothing = lambda values: np.where(count == 0, np.nan, values)
    return {"sum": first, "mean": mean, "var": var, "std": np.sqrt(var), "norm2": np.sqrt((w * x * x).sum(axes)),
            "valid": count}, nothing, count


class Failures:
    count = 0

    def check(self, what, answers, expected, masked):
        if isinstance(answers, str):
            if "one chunk at a time takes" in answers:
                return
            print(f"{what}: {answers}")
            self.count += 1
            return
        for answer in answers:
            name = answer["op"]
            values, got = expected[name], numbers(answer)
            if name in ("sum", "norm2") and masked is not None:
                values = masked(values)
            if not np.allclose(got, values, rtol=1e-5, atol=1e-5, equal_nan=True):
                print(f"{what}: {name} is {got.ravel()[:5]}, not {np.ravel(values)[:5]}")
                self.count += 1


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
        failures.check(f"{what} {by}", run(tool, "--op", "sum,mean,var,std,norm2,valid", *by, *common), expected,
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


def write_axes(path, axes, make, chunks=None):
    """x, y and labels k over axes, each the values of a coordinate and its attributes; make(name, shape) is what they hold."""
    with h5py.File(path, "w") as file:
        for name, (values, attributes) in axes.items():
            file[name] = values
            file[name].make_scale(name)
            file[name].attrs.update({key: np.bytes_(text) for key, text in attributes.items()})
        shape = tuple(len(values) for values, _ in axes.values())
        for name in "xyk":
            file.create_dataset(name, data=make(name, shape), chunks=chunks)
            for i, axis in enumerate(axes):
                file[name].dims[i].attach_scale(file[axis])


def number_elements(name, shape):
    count = np.arange(np.prod(shape)).reshape(shape)
    return count % 3 if name == "k" else count.astype("f4")


def try_coordinates(tool, folder, failures):
    """What is beside a dataset and has other coordinates is refused: the first place that differs is named, or the calendars, and
    what can be done. --pair-by-number pairs it all the same. Rounding, and whole turns, are no difference."""
    lat, lon, time = np.arange(-60.0, 61, 30), np.arange(0.0, 360, 45), np.arange(4.0) * 30 + 15.1
    north, east = {"units": "degrees_north"}, {"units": "degrees_east"}
    days, standard = "days since 2001-01-01", {"units": "days since 2001-01-01", "calendar": "standard"}
    own = {"time": (time, standard), "lat": (lat + 0.1, north), "lon": (lon, east)}
    others = {  # what differs, and what is said of it
        "same": ({}, ""),
        "f32": ({name: (np.float32(values), attributes) for name, (values, attributes) in own.items()}, ""),
        "hours": ({"time": (time * 24 + 24, {"units": "hours since 2000-12-31", "calendar": "proleptic_gregorian"})}, ""),
        "turn": ({"lon": (lon - 360, east)}, ""),
        "shifted": ({"lat": (lat + 1.1, north)}, "its lat[0] is -58.9, that of own.nc:/x is -59.9; --pair"),
        "one": ({"lat": (lat + 0.1 + [0, 0, 0, 1, 0], north)}, "its lat[3] is 31.1, that of own.nc:/x is 30.1; --pair"),
        "digits": ({"lat": (lat + 0.1 + 1e-10, north), "lon": (lon * 1e-12, east)}, "its lon[1] is 4.5e-11, that of own.nc:/x is 45; "),
        "west": ({"lon": (lon - 180, east)}, "its lon[0] is -180, that of own.nc:/x is 0; the part [lon=0:315] of it has that order; --pair"),
        "later": ({"time": (time + 365, standard)}, "its time[0] is 2002-01-16T02:24:00, that of own.nc:/x is 2001-01-16T02:24:00; they have no time in common; --pair"),
        "next": ({"time": (time + 30, standard)}, "its time[0] is 2001-02-15T02:24:00, that of own.nc:/x is 2001-01-16T02:24:00; "
                 "[time=2001-02-15:2001-04-16] of each is the part that both have; --pair"),
        "noleap": ({"time": (time, {"units": days, "calendar": "noleap"})},
                   "its time is of the calendar noleap, that of own.nc:/x of the calendar standard; --pair"),
        "months": ({"time": (np.arange(4.0), {"units": "months since 2001-01-01"})},
                   "its time[0] is 0 months since 2001-01-01, that of own.nc:/x is 2001-01-16T02:24:00; --pair"),
    }
    sizes = {  # other sizes, and the part in common that is named: none where the same range has other steps
        "longer": (np.arange(-90.0, 91, 30), "has size 7 along dim 1 (lat) of size 5; [lat=-59.9:60.1] of it is the part that both have"),
        "shorter": (np.arange(-60.0, 31, 30), "has size 4 along dim 1 (lat) of size 5; [lat=-59.9:30.1000004] of the dataset is the part that both have"),
        "between": (np.array([-50.0, -20, 10, 40, 59, 80]), "has size 6 along dim 1 (lat) of size 5; /PATH[START:STOP] is a part of it"),
        "finer": (np.arange(-60.0, 61, 15), "has size 9 along dim 1 (lat) of size 5; /PATH[START:STOP] is a part of it"),
        "beyond": (np.arange(70.0, 90, 10), "has size 2 along dim 1 (lat) of size 5; they have no lat in common"),
    }
    write_axes(os.path.join(folder, "own.nc"), own, number_elements)
    for name, (values, expected) in sizes.items():
        write_axes(os.path.join(folder, f"{name}.nc"), {**own, "lat": (np.float32(values + 0.1), north)}, number_elements)
        result = subprocess.run([tool, "--where", f"{name}.nc:/y", "own.nc:/x"], capture_output=True, text=True, timeout=60, cwd=folder)
        if result.returncode != 1 or result.stderr != f"h5gpured: own.nc:/x: --where {name}.nc:/y: {expected}\n":
            failures.count += 1
            print(f"{name}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{expected}'")
    for name, (axes, expected) in others.items():
        write_axes(os.path.join(folder, f"{name}.nc"), {**own, **axes}, number_elements)
        for options, title in ((["--where", f"{name}.nc:/y"], f"--where {name}.nc:/y"), (["--weights", f"{name}.nc:/y"], f"--weights {name}.nc:/y"),
                               (["--with", f"y={name}.nc:/y", "--op", RMSE], f"--with {name}.nc:/y"),
                               (["--by", f"time,lat,lon:{name}.nc:/k"], f"--by time,lat,lon:{name}.nc:/k")):
            for more in ([], ["--pair-by-number"])[:2 if expected else 1]:
                fails = bool(expected) and not more
                command = [tool, "--dims", "time,lat,lon", "--op", "mean", *options, *more, "own.nc:/x"]
                result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
                said = f"h5gpured: own.nc:/x: {title}: {expected}" if title[2] == "w" else expected
                if result.returncode != fails or (said not in result.stderr if fails else result.stderr):
                    failures.count += 1
                    print(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{said}'")
    # By number goes what differs: latitudes in reverse are turned all the same.
    turned = {**own, "lat": (lat[::-1] + 0.1, north), "time": others["noleap"][0]["time"]}
    write_axes(os.path.join(folder, "turned.nc"), turned, lambda name, shape: number_elements(name, shape)[:, ::-1])
    for options in (["--with", "y={}:/y", "--op", "d(x, y): s += abs(x - y) -> s"], ["--by", "time,lat,lon:{}:/k"], ["--weights", "{}:/y"]):
        answers = []
        for file in ("own.nc", "turned.nc"):
            command = [tool, "--dims", "time,lat,lon", "--op", "mean", "--pair-by-number", *(option.format(file) for option in options), "own.nc:/x"]
            answer = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
            answers.append(answer.stdout.split("\n", 1)[1:])  # the first line names the file
        if answers[0] != answers[1] or not answers[0] or not answers[0][0]:
            failures.count += 1
            print(f"{options} by number: {answers}")
    # The only time of a file is repeated over many, and is the same beside one that is selected of them.
    write_axes(os.path.join(folder, "fixed.nc"), {**own, "time": (time[2:3] + 500, standard)}, number_elements)
    for part in ("", "[1]", "[1:2]"):
        command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", "y=fixed.nc:/y", f"own.nc:/x{part}"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
        if result.returncode or result.stderr or not result.stdout.endswith("d         1600\n" if part else "d         9600\n"):
            failures.count += 1
            print(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}', {result.stdout}")
    for options in (["--where", "own.nc:/k[1]"], ["--by", "time,lat,lon:own.nc:/k[1]"]):  # a step that is chosen is of any place
        command = [tool, "--dims", "time,lat,lon", "--op", "valid", *options, "own.nc:/x[0]"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
        if result.returncode or result.stderr:
            failures.count += 1
            print(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}'")


def try_endless_coordinates(tool, folder, failures):
    """The last class of sizes ends at infinity: the others are compared all the same, and turned."""
    sizes = np.array([0, 0.1, 2, np.inf])
    others = {"same": (sizes, ""), "f32": (np.float32(sizes), ""), "reverse": (sizes[::-1], ""), "other": (sizes + [0, 1, 0, 0], "its size[1] is 1.1, "),
              "finite": (np.append(sizes[:3], 9), "its size[3] is 9, that of own.nc:/x is inf; ")}
    write_axes(os.path.join(folder, "own.nc"), {"size": (sizes, {})}, number_elements)
    for name, (values, expected) in others.items():
        write_axes(os.path.join(folder, f"{name}.nc"), {"size": (values, {})}, lambda name, shape: number_elements(name, shape)[:: -1 if values[0] else 1])
        command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", f"y={name}.nc:/x", "own.nc:/x"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
        if (expected not in result.stderr or result.returncode != 1) if expected else result.stderr or result.stdout.split()[-1] != "0":
            failures.count += 1
            print(f"{command}: '{result.stderr.strip()}', {result.stdout} instead of '{expected}'")


def try_turned(tool, folder, failures):
    """What lies in its file in reverse is paired by its coordinates: all answers are those of the array as the dataset lies."""
    rng, choose = np.random.default_rng(11), random.Random(11)
    for number in range(case_count(8)):
        shape = [int(rng.integers(2, most)) for most in (20, 15, 20)]
        axes = {name: (np.cumsum(rng.random(size) + 0.5), {}) for name, size in zip(NAMES, shape)}
        values = {name: rng.random(shape).astype("f4") for name in "xy"} | {"k": rng.integers(0, 3, shape)}
        turned = [choose.random() < 0.6 for _ in shape]
        turns = tuple(slice(None, None, -1) if turn else slice(None) for turn in turned)
        chunks = tuple(int(rng.integers(1, size + 1)) for size in shape) if number % 2 else None
        path, beside = os.path.join(folder, f"x{number}.nc"), os.path.join(folder, f"beside{number}.nc")
        write_axes(path, axes, lambda name, _: values[name], chunks if choose.random() < 0.5 else None)
        part = choose.choice(["", "[1:]", f"[:, 0:{shape[1]}:2, 1:{shape[2]}]"])
        rows = "time" if choose.random() < 0.5 else "time,lat,lon"
        reads = (["--with", f"y={beside}", "--op", RMSE], ["--where", "y > 0.5", "--with", f"y={beside}:/y", "--op", "sum,valid"],
                 ["--where", f"{beside}:/y", "--op", "sum"], ["--weights", f"{beside}:/y", "--op", "mean"], ["--by", f"{rows}:{beside}:/k", "--op", "sum"],
                 ["--with", f"y={beside}:/y[-1]", "--op", RMSE], ["--scan", "sum", "--where", f"y > x", "--with", f"y={beside}:/y"])
        for options in reads:
            dims = choose.choice(["time", "lat", "lon"] if "--scan" in options else ["time", "lat,lon", "all"])
            dims = rows if "--by" in options else dims
            if (options[0] == "--by" and len(rows) == 4) or (part and "--scan" in options):
                continue
            memory = choose.choice([[], ["--memory", "30K"]])
            answers = []
            for lies in (tuple([slice(None)] * 3), turns):
                own = {name: (axis[lie], attributes) for (name, (axis, attributes)), lie in zip(axes.items(), lies)}
                if "[-1]" in str(options):  # the same step of the file for both
                    own, lies = {**own, "time": axes["time"]}, (slice(None), *lies[1:])
                write_axes(beside, own, lambda name, _: values[name][lies], chunks)
                command = [tool, "--json", "--dims", dims, *memory, *options, f"{path}:/x{part}"]
                result = subprocess.run(command, capture_output=True, text=True, timeout=60)
                answers.append((result.returncode, result.stdout, result.stderr))
            if answers[0] != answers[1] or answers[0][0] or answers[0][2]:
                failures.count += 1
                print(f"{command}, turned {turned}: {answers[1]} instead of {answers[0]}")


def try_turned_series(tool, folder, failures):
    """Files that follow each other, whose latitudes lie in reverse; a time that does is refused."""
    rng = np.random.default_rng(5)
    values = {name: rng.random((6, 3, 4)).astype("f4") for name in "xyk"}
    axes = {"time": (np.arange(6.0), {}), "lat": (np.arange(3.0), {}), "lon": (np.arange(4.0), {})}
    write_axes(os.path.join(folder, "all.nc"), axes, lambda name, _: values[name])
    for title, steps in {"first": [0, 1], "last": [2, 3, 4, 5], "back": [5, 4, 3, 2], "start": [1, 0]}.items():
        write_axes(os.path.join(folder, f"{title}.nc"), {**axes, "time": (axes["time"][0][steps], {}), "lat": (axes["lat"][0][::-1], {})},
                   lambda name, _: values[name][steps, ::-1])
    common = [tool, "--json", "--op", RMSE, "--concat", "time", "all.nc:/x"]
    answers = [subprocess.run([*common, *(word for name in names for word in ("--with", f"y={name}.nc:/y"))], capture_output=True, text=True, timeout=60,
                              cwd=folder) for names in (["all"], ["first", "last"], ["last", "first"], ["back", "start"])]
    if answers[1].stdout.split('"data"')[1:] != answers[0].stdout.split('"data"')[1:] or answers[0].returncode or answers[1].stderr:
        failures.count += 1
        print(f"turned files: {answers[1]} instead of {answers[0]}")
    for answer, difference in zip(answers[2:], ("its time[0] is 2, that of all.nc:/x is 0",
                                                "its time[0] is 5, that of all.nc:/x is 0; its files have them in reverse")):
        if answer.returncode != 1 or not answer.stderr.endswith(f"{difference}; --pair-by-number pairs them all the same\n"):
            failures.count += 1
            print(f"files in another order: {answer} instead of {difference}")


def try_turned_seam(tool, folder, failures):
    """Beside a part across the seam, longitudes in reverse are refused for arrays, and turned for labels."""
    lon = np.arange(0.0, 360, 45)
    values = number_elements("k", (3, lon.size))
    for name, turn in (("whole", 1), ("reverse", -1)):
        axes = {"time": (np.arange(3.0), {}), "lon": (lon[::turn], {"units": "degrees_east"})}
        write_axes(os.path.join(folder, f"{name}.nc"), axes, lambda _, shape: values[:, ::turn])
    for name, option, status in (("whole", "--where", 0), ("reverse", "--where", 1), ("whole", "--by", 0), ("reverse", "--by", 0)):
        beside = f"{name}.nc:/k" if option == "--where" else f"time,lon:{name}.nc:/k"
        command = [tool, "--json", "--op", "sum", "-d", "time,lon", option, beside, "whole.nc:/x[lon=270:90]"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
        expected = "its lon[0] is 45, that of whole.nc:/x is 270; " if status else ""
        right = expected in result.stderr if status else not result.stderr
        if option == "--by":  # the sum of a group is its label times its elements
            kept = values[:, [6, 7, 0, 1, 2]]
            right = right and json.loads(result.stdout)["data"] == [label * int((kept == label).sum()) for label in range(3)]
        if result.returncode != status or not right:
            failures.count += 1
            print(f"{command}: exit status {result.returncode}, {result.stdout}, '{result.stderr.strip()}' instead of '{expected}'")


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
            failures.count += 1
            print(f"{option} {text}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{expected}'")


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
                failures.count += 1
                print(f"{raw} {options}: {answers} instead of {values}")


def main():
    tool, failures, choose = os.path.abspath(sys.argv[1]), Failures(), random.Random(3)
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(case_count(25)):
            files = Files(folder, seed)
            for _ in range(4):
                try_one(tool, files, choose, failures)
        try_series(tool, folder, failures)
        try_coordinates(tool, folder, failures)
        try_endless_coordinates(tool, folder, failures)
        try_turned(tool, folder, failures)
        try_turned_series(tool, folder, failures)
        try_turned_seam(tool, folder, failures)
        try_files_alone(tool, folder, failures)
        try_raw(tool, folder, failures)
    sys.exit(1 if failures.count else 0)


main()
