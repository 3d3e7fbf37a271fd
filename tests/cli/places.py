#!/usr/bin/python3
"""Pairs the elements of arrays beside a dataset by their coordinates: places.py TOOL

What differs is refused in a line that names both coordinates; what lies in reverse is turned; parts of longitudes are cut by their
places. Exits 77 without h5py.
"""
import itertools
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from besides import NAMES, RMSE, Failures, h5py, np
from problems import case_count


def run(command, folder):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)


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
        "west": ({"lon": (lon - 180, east)}, ""),
        "back": ({"lon": (180 - lon, east)}, ""),
        "between": ({"lon": (lon + 20, east)}, "its lon[0] is 20, that of own.nc:/x is 0; "),
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
        result = run([tool, "--where", f"{name}.nc:/y", "own.nc:/x"], folder)
        if result.returncode != 1 or result.stderr != f"h5gpured: own.nc:/x: --where {name}.nc:/y: {expected}\n":
            failures.report(f"{name}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{expected}'")
    for name, (axes, expected) in others.items():
        write_axes(os.path.join(folder, f"{name}.nc"), {**own, **axes}, number_elements)
        for options, title in ((["--where", f"{name}.nc:/y"], f"--where {name}.nc:/y"), (["--weights", f"{name}.nc:/y"], f"--weights {name}.nc:/y"),
                               (["--with", f"y={name}.nc:/y", "--op", RMSE], f"--with {name}.nc:/y"),
                               (["--by", f"time,lat,lon:{name}.nc:/k"], f"--by time,lat,lon:{name}.nc:/k")):
            for more in ([], ["--pair-by-number"])[:2 if expected else 1]:
                fails = bool(expected) and not more
                command = [tool, "--dims", "time,lat,lon", "--op", "mean", *options, *more, "own.nc:/x"]
                result = run(command, folder)
                said = f"h5gpured: own.nc:/x: {title}: {expected}" if title[2] == "w" else expected
                if result.returncode != fails or (said not in result.stderr if fails else result.stderr):
                    failures.report(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}' instead of '{said}'")
    # By number goes what differs: latitudes in reverse are turned all the same.
    turned = {**own, "lat": (lat[::-1] + 0.1, north), "time": others["noleap"][0]["time"]}
    write_axes(os.path.join(folder, "turned.nc"), turned, lambda name, shape: number_elements(name, shape)[:, ::-1])
    for options in (["--with", "y={}:/y", "--op", "d(x, y): s += abs(x - y) -> s"], ["--by", "time,lat,lon:{}:/k"], ["--weights", "{}:/y"]):
        answers = []
        for file in ("own.nc", "turned.nc"):
            command = [tool, "--dims", "time,lat,lon", "--op", "mean", "--pair-by-number", *(option.format(file) for option in options), "own.nc:/x"]
            answer = run(command, folder)
            answers.append(answer.stdout.split("\n", 1)[1:])  # the first line names the file
        if answers[0] != answers[1] or not answers[0] or not answers[0][0]:
            failures.report(f"{options} by number: {answers}")
    # The only time of a file is repeated over many, and is the same beside one that is selected of them.
    write_axes(os.path.join(folder, "fixed.nc"), {**own, "time": (time[2:3] + 500, standard)}, number_elements)
    for part in ("", "[1]", "[1:2]"):
        command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", "y=fixed.nc:/y", f"own.nc:/x{part}"]
        result = run(command, folder)
        if result.returncode or result.stderr or not result.stdout.endswith("d         1600\n" if part else "d         9600\n"):
            failures.report(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}', {result.stdout}")
    for options in (["--where", "own.nc:/k[1]"], ["--by", "time,lat,lon:own.nc:/k[1]"]):  # a step that is chosen is of any place
        command = [tool, "--dims", "time,lat,lon", "--op", "valid", *options, "own.nc:/x[0]"]
        result = run(command, folder)
        if result.returncode or result.stderr:
            failures.report(f"{command}: exit status {result.returncode}, '{result.stderr.strip()}'")


def try_endless_coordinates(tool, folder, failures):
    """The last class of sizes ends at infinity: the others are compared all the same, and turned."""
    sizes = np.array([0, 0.1, 2, np.inf])
    others = {"same": (sizes, ""), "f32": (np.float32(sizes), ""), "reverse": (sizes[::-1], ""), "other": (sizes + [0, 1, 0, 0], "its size[1] is 1.1, "),
              "finite": (np.append(sizes[:3], 9), "its size[3] is 9, that of own.nc:/x is inf; ")}
    write_axes(os.path.join(folder, "own.nc"), {"size": (sizes, {})}, number_elements)
    for name, (values, expected) in others.items():
        write_axes(os.path.join(folder, f"{name}.nc"), {"size": (values, {})}, lambda name, shape: number_elements(name, shape)[:: -1 if values[0] else 1])
        command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", f"y={name}.nc:/x", "own.nc:/x"]
        result = run(command, folder)
        if (expected not in result.stderr or result.returncode != 1) if expected else result.stderr or result.stdout.split()[-1] != "0":
            failures.report(f"{command}: '{result.stderr.strip()}', {result.stdout} instead of '{expected}'")


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
                result = run(command, folder)
                answers.append((result.returncode, result.stdout, result.stderr))
            if answers[0] != answers[1] or answers[0][0] or answers[0][2]:
                failures.report(f"{command}, turned {turned}: {answers[1]} instead of {answers[0]}")


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
    answers = [run([*common, *(word for name in names for word in ("--with", f"y={name}.nc:/y"))], folder)
               for names in (["all"], ["first", "last"], ["last", "first"], ["back", "start"])]
    if answers[1].stdout.split('"data"')[1:] != answers[0].stdout.split('"data"')[1:] or answers[0].returncode or answers[1].stderr:
        failures.report(f"turned files: {answers[1]} instead of {answers[0]}")
    for answer, difference in zip(answers[2:], ("its time[0] is 2, that of all.nc:/x is 0",
                                                "its time[0] is 5, that of all.nc:/x is 0; its files have them in reverse")):
        if answer.returncode != 1 or not answer.stderr.endswith(f"{difference}; --pair-by-number pairs them all the same\n"):
            failures.report(f"files in another order: {answer} instead of {difference}")


def try_turned_seam(tool, folder, failures):
    """Beside a part across the seam, longitudes in reverse are turned, also by number."""
    lon = np.arange(0.0, 360, 45)
    values = number_elements("k", (3, lon.size))
    for name, turn in (("whole", 1), ("reverse", -1)):
        axes = {"time": (np.arange(3.0), {}), "lon": (lon[::turn], {"units": "degrees_east"})}
        write_axes(os.path.join(folder, f"{name}.nc"), axes, lambda _, shape: values[:, ::turn])
    kept = values[:, [6, 7, 0, 1, 2]]  # x is k: the sum of a group is its label times its elements
    for name, option in itertools.product(("whole", "reverse"), ("--where", "--by", "--where --pair-by-number")):
        option, *more = option.split()
        beside = f"{name}.nc:/k" if option == "--where" else f"time,lon:{name}.nc:/k"
        command = [tool, "--json", "--op", "sum", "-d", "time,lon", *more, option, beside, "whole.nc:/x[lon=270:90]"]
        result = run(command, folder)
        wanted = [int(kept.sum())] if option == "--where" else [label * int((kept == label).sum()) for label in range(3)]
        if result.returncode or result.stderr or json.loads(result.stdout)["data"] != wanted:
            failures.report(f"{command}: exit status {result.returncode}, {result.stdout}, '{result.stderr.strip()}' instead of {wanted}")


def try_places(tool, folder, failures):
    """Beside longitudes, or a part of them, arrays of all of them are cut by their coordinates, wherever their files begin, eastwards
    or westwards. What lies between the places is refused with a coordinate that its file has."""
    east, lon = {"units": "degrees_east"}, np.arange(0.0, 360, 30)
    for name, axis in {"own": lon, "west": lon - 180, "shift": lon + 60, "reverse": lon[::-1], "back": 210 - lon,
                       "between": lon - 165}.items():
        values = number_elements("x", (3, lon.size))[:, (axis // 30).astype(int) % lon.size]
        write_axes(os.path.join(folder, f"{name}.nc"), {"time": (np.arange(3.0), {}), "lon": (axis, east)},
                   lambda kind, _: values.astype("i4") % 5 if kind == "k" else values)
    reads = (["--with", "y={}:/y", "--op", "d(x, y): s += abs(x - y), n += 1 -> n + 1000 * s"], ["--where", "{}:/k", "--op", "sum"],
             ["--weights", "{}:/y", "--op", "mean"], ["--by", "time,lon:{}:/k", "--op", "sum"])
    for dataset in ("own.nc:/x", "own.nc:/x[lon=330:60]", "own.nc:/x[lon=-90:90]", "own.nc:/x[lon=-180:150]", "own.nc:/x[lon=30:150]", "own.nc:/x[:,2:6:2]",
                    "west.nc:/x[lon=150:210]", "west.nc:/x[lon=-60:60]"):
        for options, memory in itertools.product(reads, ([], ["--memory", "20K"])):
            wanted = None
            for beside in ("own", "west", "shift", "reverse", "back", "between"):
                command = [tool, "--json", *memory, *(option.format(f"{beside}.nc") for option in options), dataset]
                result = run(command, folder)
                found = result.stdout.split('"data":')[-1]
                wanted = wanted or found
                named = re.search(r"its lon\[\d+\] is (-?\d+),", result.stderr)
                fails = beside == "between" and result.returncode == 1 and named and -180 <= float(named[1]) <= 390
                if not fails and (found != wanted or result.returncode or beside == "between"):
                    failures.report(f"{command}: {found} '{result.stderr.strip()}' instead of {wanted}")
            if options[0] == "--with" and not 0 < json.loads(wanted[:-2])[0] < 1000:  # elements, without a difference
                failures.report(f"{dataset}: {wanted}")
    # Both are parts across a seam, which lies elsewhere.
    command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", "y=shift.nc:/y[lon=-90:90]", "own.nc:/x[lon=-90:90]"]
    result = run(command, folder)
    if result.returncode or result.stdout.split()[-1] != "0":
        failures.report(f"{command}: {result}")


def try_what_longitudes_are(tool, folder, failures):
    """The direction in the units says what is a longitude, else the standard name, else the name of the dim; other units deny it."""
    lon, named = np.arange(0.0, 360, 45), {"standard_name": "longitude"}
    for name, attributes, turns in (("i", {"units": "degree", **named}, True), ("i", {"units": "degrees_east"}, True), ("lon", {}, True), ("i", {"units": "degree"}, False),
                                    ("lon", {"units": "km"}, False), ("i", {"units": "1", **named}, False), ("lon", {"units": "degrees_north"}, False)):
        for file, axis in (("own.nc", lon), ("other.nc", lon - 360)):
            write_axes(os.path.join(folder, file), {name: (axis, attributes)}, number_elements)
        command = [tool, "--op", "d(x, y): s += abs(x - y) -> s", "--with", "y=other.nc:/y", "own.nc:/x"]
        result = run(command, folder)
        refused = result.returncode == 1 and f"its {name}[0] is -360, that of own.nc:/x is 0; " in result.stderr
        paired = result.returncode == 0 and not result.stderr
        if not (paired if turns else refused):
            failures.report(f"{name} {attributes}: {result}")


def try_times_that_cannot_be_decoded(tool, folder, failures):
    """They are compared as numbers, of the same units and calendar."""
    days, months, martian = "days since 2001-01-01", "months since 2001-01-01", {"calendar": "martian"}
    files = {"days": (days, {}, 1), "none": (None, {}, 1), "foo": ("foo", {}, 1), "bar": ("bar", {}, 1), "months": (months, {}, 1), "later": ("months since 2002-01-01", {}, 1),
             "standard": (months, {"calendar": "proleptic_gregorian"}, 1), "noleap": (months, {"calendar": "noleap"}, 1), "mars": (days, martian, 1),
             "venus": (days, {"calendar": "venusian"}, 1), "far": (days, {}, 1e30), "hours": ("hours since 2001-01-01", {}, 1e30)}
    for name, (units, more, step) in files.items():
        described = more | ({"units": units} if units else {})
        write_axes(os.path.join(folder, f"{name}.nc"), {"time": ([step, 2 * step, 4 * step], described)}, number_elements)
    write_axes(os.path.join(folder, "further.nc"), {"time": ([1e30, 2e30, 5e30], {"units": days})}, number_elements)
    for own, other, expected in (
            *((name, name, "") for name in files), ("foo", "none", ""), ("none", "days", ""), ("months", "standard", ""),
            ("foo", "bar", "its time counts 'bar', that of foo.nc:/x counts 'foo'; "), ("days", "foo", "its time counts 'foo', that of days.nc:/x counts 'days since 2001-01-01'; "),
            ("days", "months", "its time counts 'months since 2001-01-01', that of days.nc:/x counts 'days since 2001-01-01'; "),
            ("months", "later", "its time counts 'months since 2002-01-01', that of months.nc:/x counts 'months since 2001-01-01'; "),
            ("months", "noleap", "its time counts 'months since 2001-01-01' of the calendar noleap, that of months.nc:/x counts 'months since 2001-01-01'; "),
            ("mars", "venus", "its time counts 'days since 2001-01-01' of the calendar venusian, that of mars.nc:/x counts 'days since 2001-01-01' of the calendar martian; "),
            ("far", "further", "its time[2] is 5e+30, that of far.nc:/x is 4e+30; "),
            ("far", "hours", "its time[0] is 1e+30 hours since 2001-01-01, that of far.nc:/x is 1e+30 days since 2001-01-01; ")):
        for options in (["--where", f"{other}.nc:/y"], ["--by", f"time:{other}.nc:/k"], ["--where", f"{other}.nc:/y", "--pair-by-number"]):
            command = [tool, "--op", "sum", *options, f"{own}.nc:/x"]
            result = run(command, folder)
            wanted = "" if "--pair-by-number" in options else expected
            if (wanted not in result.stderr or result.returncode != 1) if wanted else result.returncode or result.stderr:
                failures.report(f"{command}: {result.returncode}, '{result.stderr.strip()}' instead of '{wanted}'")


def main():
    tool, failures = os.path.abspath(sys.argv[1]), Failures()
    with tempfile.TemporaryDirectory() as folder:
        try_coordinates(tool, folder, failures)
        try_endless_coordinates(tool, folder, failures)
        try_turned(tool, folder, failures)
        try_turned_series(tool, folder, failures)
        try_turned_seam(tool, folder, failures)
        try_places(tool, folder, failures)
        try_what_longitudes_are(tool, folder, failures)
        try_times_that_cannot_be_decoded(tool, folder, failures)
    sys.exit(1 if failures.count else 0)


main()
