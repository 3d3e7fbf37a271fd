#!/usr/bin/python3
"""--by and --coarsen, against loops in NumPy with dates of their own: groups.py TOOL
"""
import datetime
import json
import sys

from output import attach, attributes, h5py, make_scale, np, run_checks, text

FIRST = datetime.datetime(2001, 11, 20)  # the proleptic Gregorian calendar is Python's own
SEASONS = {12: "DJF", 1: "DJF", 2: "DJF", 3: "MAM", 4: "MAM", 5: "MAM", 6: "JJA", 7: "JJA", 8: "JJA", 9: "SON",
           10: "SON", 11: "SON"}
ORDER = ["DJF", "MAM", "JJA", "SON"]

# What a date's group is called, by what groups are in order, and whether they are of many years or days.
KEYS = {
    "month": (lambda d: str(d.month), int, True),
    "season": (lambda d: SEASONS[d.month], ORDER.index, True),
    "year": (lambda d: f"{d.year:04}", int, False),
    "yearmonth": (lambda d: f"{d:%Y-%m}", str, False),
    "yearseason": (lambda d: f"{d.year + (d.month == 12)}-{SEASONS[d.month]}",
                   lambda name: (name[:4], ORDER.index(name[5:])), False),
    "day": (lambda d: f"{d:%Y-%m-%d}", str, False),
    "dayofyear": (lambda d: str(d.timetuple().tm_yday), int, True),
    "monthday": (lambda d: f"{d:%m-%d}", str, True),
    "hour": (lambda d: str(d.hour), int, True),
}

LOOPS = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "ptp": np.ptp, "std": np.std, "argmax": np.argmax,
         "valid": lambda part, axis: np.isfinite(part).sum(axis)}


def make_hours(folder, name="hours.nc", count=3000, step=7, chunks=None, seed=1, first=0):
    """x(time, lat, lon) of whole numbers, whose sums are exact, every `step` hours; labels along the time."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-50, 50, (count, 3, 5)).astype("f4")
    with h5py.File(folder.file(name), "w") as file:
        hours = first + np.arange(count) * float(step)
        scales = [file.create_dataset("time", data=hours, maxshape=(None,), chunks=(1024,)),
                  make_scale(file, "lat", np.array([-40.0, 0.0, 40.0]), units="degrees_north"),
                  make_scale(file, "lon", np.arange(5.0), units="degrees_east")]
        scales[0].make_scale("time")
        scales[0].attrs.update({"units": f"hours since {FIRST:%Y-%m-%d}", "calendar": "proleptic_gregorian", "axis": "T"})
        file.create_dataset("x", data=x, chunks=chunks or (100, 3, 5), maxshape=(None, 3, 5))
        attach(file["x"], *scales)
        file["x"].attrs.update({"units": "K", "cell_methods": "area: mean"})
        labels = rng.integers(-2, 40, count).astype("i2") * 3
        labels[:7] = 9999
        file["zone"] = labels
        attach(file["zone"], scales[0])
        file["zone"].attrs.update({"_FillValue": np.array([9999], "i2"), "long_name": "which zone", "flag_values": labels[:3]})
        file["float_zone"] = labels.astype("f4")
        file["map"] = np.zeros((3, 5), "i4")
    return x, [FIRST + datetime.timedelta(hours=h) for h in hours], labels


def groups_of(names, order):
    """The names of the groups in their order, and the steps of each."""
    known = sorted(set(names) - {None}, key=order)
    return known, [[i for i, name in enumerate(names) if name == group] for group in known]


def answer(folder, *arguments):
    """The answers as JSON, by operator."""
    lines = folder.run("--json", *arguments)[0].decode().splitlines()
    return {item["op"]: item for item in map(json.loads, lines)}


def same(found, expected):
    """Whether an answer has these numbers."""
    data = np.array([np.nan if v is None else v for v in found["data"]], dtype="f8").reshape(found["shape"])
    np.testing.assert_allclose(data, expected, rtol=2e-6, atol=1e-5)


def looped(x, steps, op, axes):
    """Each group reduced by itself over these axes."""
    if op == "argmax":
        return np.stack([whole_argmax(x, group, axes) for group in steps], 0)
    return np.stack([LOOPS[op](x[group].astype("f8"), axis=axes) for group in steps], 0)


def whole_argmax(x, group, axes):
    """The index in the whole array over the reduced dims."""
    masked = np.full(x.shape, -np.inf)
    masked[group] = x[group]
    kept = [d for d in range(x.ndim) if d not in axes]
    moved = np.transpose(masked, kept + list(axes))
    return moved.reshape([x.shape[d] for d in kept] + [-1]).argmax(-1)


def check_keys(folder):
    """All keys and operators, over the time alone and with other dims, whatever memory and threads there are."""
    x, dates, _ = make_hours(folder)
    ops = ",".join(LOOPS)
    for key, (name, order, _) in KEYS.items():
        known, steps = groups_of([name(d) for d in dates], order)
        for dims, axes in ((None, (0,)), ("time,lat", (0, 1)), ("lat,lon", (0, 1, 2))):
            for more in ((), ("--memory", "300K", "-t", "1")):
                arguments = ("hours.nc:/x", "--by", "time:" + key, "--op", ops) + (("-d", dims) if dims else ()) + more
                found = answer(folder, *arguments)
                assert found["sum"]["groups"] == known and found["sum"]["by"] == "time:" + key, found["sum"]["groups"]
                for op in LOOPS:
                    expected = looped(x, steps, op, axes)
                    same(found[op], expected)


def check_the_default_is_said(folder):
    make_hours(folder, count=1000)
    for option, what in (("--by", "time:month"), ("--coarsen", "time=40")):
        said = f"h5gpured: {option} without --op gives sums, as everywhere; --op mean gives means\n"
        plain, errors = folder.run("hours.nc:/x", option, what)
        assert errors == said and folder.run("hours.nc:/x", option, what, "--op", "sum") == (plain, ""), errors
        assert folder.run("hours.nc:/x", option, what, "-q") == (plain, "")
    assert folder.run("hours.nc:/x")[1] == ""


def check_coarsen(folder):
    """Windows, and what becomes of a rest."""
    x, _, _ = make_hours(folder, count=1000)
    found = answer(folder, "hours.nc:/x", "--coarsen", "time=40", "--op", "mean,argmax")
    same(found["mean"], looped(x, [range(i, i + 40) for i in range(0, 1000, 40)], "mean", (0,)))
    same(found["argmax"], looped(x, [range(i, i + 40) for i in range(0, 1000, 40)], "argmax", (0,)))
    found = answer(folder, "hours.nc:/x", "--coarsen", "time=300,trim", "-d", "lon")
    same(found["sum"], looped(x, [range(i, i + 300) for i in (0, 300, 600)], "sum", (0, 2)))
    found = answer(folder, "hours.nc:/x", "--coarsen", "time=300,pad", "-k", "-d", "all")
    assert found["sum"]["shape"] == [4, 1, 1], found["sum"]["shape"]
    same(found["sum"], looped(x, [range(i, min(i + 300, 1000)) for i in (0, 300, 600, 900)], "sum", (0, 1, 2)).reshape(4, 1, 1))
    found = answer(folder, "hours.nc:/x", "--coarsen", "lon=2,pad")
    same(found["sum"], np.stack([x[..., 0:2].sum(-1), x[..., 2:4].sum(-1), x[..., 4]], -1))
    errors = folder.run("hours.nc:/x", "--coarsen", "time=300", status=1)[1]
    assert errors == ("h5gpured: hours.nc:/x: --coarsen time=300: time has size 1000, of which 100 are left over: time=300,trim leaves "
                      "them out, time=300,pad makes them a window\n"), errors
    with folder.reduce("hours.nc:/x", "--coarsen", "time=300,pad") as out:
        np.testing.assert_allclose(out["time"], [(i + min(i + 299, 999)) * 7 / 2 for i in (0, 300, 600, 900)])
        assert text(out["time"].attrs["bounds"]) == "time_bnds" and out["x"].shape == (4, 3, 5)
        assert out["time_bnds"][1].tolist() == [2096.5, 4196.5] and out["x"].maxshape[0] is None
        assert text(out["x"].attrs["cell_methods"]) == "area: mean time: sum", attributes(out["x"])
    with folder.reduce("hours.nc:/x", "--coarsen", "lon=2,trim") as out:
        assert out["lon"][...].tolist() == [0.5, 2.5] and attributes(out["lon"])["units"] == "degrees_east"


def check_labels(folder):
    """Labels of a dataset: in ascending order; missing and negative ones are in no group."""
    x, _, labels = make_hours(folder)
    names = [None if v < 0 or v == 9999 else v for v in labels]
    known, steps = groups_of(names, int)
    for more in ((), ("--memory", "300K")):
        found = answer(folder, "hours.nc:/x", "--by", "time:/zone", "--op", "sum,argmax,std", *more)
        assert found["sum"]["groups"] == [str(k) for k in known]
        for op in ("sum", "argmax", "std"):
            same(found[op], looped(x, steps, op, (0,)))
    with folder.reduce("hours.nc:/x", "--by", "time:/zone", "--op", "sum") as out:
        assert out["zone"][...].tolist() == known and out["zone"].dtype == np.dtype("i2")
        assert text(out["zone"].attrs["long_name"]) == "which zone" and "time" not in out, list(out)
        assert text(out["x"].attrs["cell_methods"]) == "area: mean time: sum" and out["x"].dims[0][0].name == "/zone"
        np.testing.assert_array_equal(out["x"], looped(x, steps, "sum", (0,)))
    with folder.reduce("hours.nc", "--by", "time:/zone", "--op", "sum") as out:  # labels are no data
        assert out["zone"][...].tolist() == known and set(out) == {"x", "float_zone", "zone", "lat", "lon", "map"}, list(out)
    part = answer(folder, "hours.nc:/x[100:2000:3]", "--by", "time:/zone")
    known, steps = groups_of(names[100:2000:3], int)
    same(part["sum"], looped(x[100:2000:3], steps, "sum", (0,)))


def check_output(folder):
    """Files as CF has them: a time, its bounds or climatology bounds, and cell_methods."""
    x, dates, _ = make_hours(folder)
    origin = FIRST
    hours = lambda d: (d - origin).total_seconds() / 3600
    for key, (name, order, climatology) in KEYS.items():
        known, steps = groups_of([name(d) for d in dates], order)
        with folder.reduce("hours.nc:/x", "--by", "time:" + key, "--op", "mean", "-d", "time,lon") as out:
            time = out["time"]
            attribute, bounds = ("climatology", "climatology_bounds") if climatology else ("bounds", "time_bnds")
            assert attributes(time) == {"units": f"hours since {FIRST:%Y-%m-%d}", "calendar": "proleptic_gregorian",
                                        "axis": "T", attribute: bounds}, attributes(time)
            assert [dim[0].name for dim in out["x"].dims] == ["/time", "/lat"] and out["x"].maxshape[0] is None
            assert out[bounds].shape == (len(known), 2) and out[bounds].dims[0][0].name == "/time"
            np.testing.assert_allclose(out["x"], looped(x, steps, "mean", (0, 2)), rtol=2e-6, atol=1e-5)
            over = {"hour": "days"}.get(key, "years")
            methods = (f"area: mean lon: mean time: mean within {over} time: mean over {over}" if climatology else
                       "area: mean time: lon: mean")
            assert text(out["x"].attrs["cell_methods"]) == methods, text(out["x"].attrs["cell_methods"])
            for group, low, high, at in zip(steps, out[bounds][:, 0], out[bounds][:, 1], time):
                assert low <= hours(dates[group[0]]) and hours(dates[group[-1]]) < high, (key, low, high)
                # the only 29 February is of 2004: days behind it are dated in that year, of which there are no more steps
                assert low < at < (high if key != "monthday" else hours(datetime.datetime(2005, 1, 1))), (key, low, at, high)
            assert (np.diff(time) > 0).all(), (key, time[...])
            if key == "yearmonth":
                expected = [hours(datetime.datetime(int(k[:4]), int(k[5:]), 1)) for k in known]
                assert out[bounds][:, 0].tolist() == expected and out[bounds][:-1, 1].tolist() == expected[1:]


def check_climatology_methods(folder):
    """What is no composition of years is said to be over all of them."""
    make_hours(folder, count=1000)
    for key, over in (("month", "years"), ("hour", "days")):
        with folder.reduce("hours.nc:/x", "--by", "time:" + key, "--op", "std,max") as out:
            assert text(out["x_std"].attrs["cell_methods"]) == f"area: mean time: standard_deviation (of all {over} together)"
            assert text(out["x_max"].attrs["cell_methods"]) == f"area: mean time: maximum within {over} time: maximum over {over}"


def check_beside(folder):
    """With masks, weights, operators of one's own, selections and packed data."""
    x, dates, _ = make_hours(folder)
    known, steps = groups_of([d.month for d in dates], int)
    by = ("--by", "time:month")
    found = answer(folder, "hours.nc:/x", *by, "--op", "hot(x; t): n += x > t -> n", "--set", "t=20", "--op", "max")
    same(found["hot"], np.stack([(x[g] > 20).sum(0) for g in steps]))
    found = answer(folder, "hours.nc:/x", *by, "--op", "sum,valid,min", "--where", "x > 10 && lat < 20 && index(0) > 500")
    inside = (x > 10) & (np.array([-40, 0, 40]) < 20)[:, None] & (np.arange(len(x)) > 500)[:, None, None]
    same(found["valid"], np.stack([inside[g].sum(0) for g in steps]))
    expected = np.stack([np.where(inside[g], x[g], 0).sum(0) for g in steps])
    same(found["sum"], np.where(np.stack([inside[g].any(0) for g in steps]), expected, np.nan))
    cosine = np.cos(np.radians([-40.0, 0, 40]))
    for memory in ("100M", "300K"):
        found = answer(folder, "hours.nc:/x", *by, "--op", "mean", "--weights", "lat:cos", "-d", "lat", "--memory", memory)
        same(found["mean"], np.stack([np.average(x[g].mean(0), axis=0, weights=cosine) for g in steps]))
        weights = np.random.default_rng(5).random(len(x))
        with h5py.File(folder.file("hours.nc"), "a") as file:
            if "w" not in file:
                file["w"] = weights
                attach(file["w"], file["time"])
        found = answer(folder, "hours.nc:/x", *by, "--op", "mean,std", "--weights", "/w", "--memory", memory)
        same(found["mean"], np.stack([np.average(x[g], axis=0, weights=weights[g]) for g in steps]))
    part = answer(folder, "hours.nc:/x[time=2002-01:2002-12, lat=0, ..., ::2]", *by, "--op", "sum")
    inside = [i for i, d in enumerate(dates) if d.year == 2002]
    _, steps = groups_of([dates[i].month for i in inside], int)
    same(part["sum"], looped(x[inside][:, 1:2, ::2], steps, "sum", (0,)))


def check_packed(folder):
    """Packed numbers, missing ones, and a group of missing elements alone."""
    x, dates, _ = make_hours(folder, count=500)
    packed = (x * 4).astype("i2")
    packed[np.random.default_rng(2).random(x.shape) < 0.3] = -999
    with h5py.File(folder.file("hours.nc"), "a") as file:
        days = [d.strftime("%Y-%m-%d") for d in dates]
        packed[[i for i, d in enumerate(days) if d == days[200]]] = -999
        file.create_dataset("p", data=packed, chunks=(50, 3, 5), compression=1, shuffle=True)
        attach(file["p"], file["time"], file["lat"], file["lon"])
        file["p"].attrs.update({"_FillValue": np.array([-999], "i2"), "scale_factor": 0.25, "add_offset": 1.0})
    values = np.where(packed == -999, np.nan, packed * 0.25 + 1)
    for key in ("day", "month"):
        name, order, _ = KEYS[key]
        known, steps = groups_of([name(d) for d in dates], order)
        some = np.stack([np.isfinite(values[g]).any(0) for g in steps])
        for memory in ("100M", "200K"):
            found = answer(folder, "hours.nc:/p", "--by", "time:" + key, "--op", "sum,valid,max", "--memory", memory)
            same(found["sum"], np.where(some, np.stack([np.nansum(values[g], 0) for g in steps]), np.nan))
            same(found["valid"], np.stack([np.isfinite(values[g]).sum(0) for g in steps]))
            assert key != "day" or not some.all()


def check_series(folder):
    """Files that follow each other, and labels in each of them."""
    parts = [make_hours(folder, f"part{i}.nc", count=n, seed=i, first=f) for i, n, f in
             ((1, 400, 0), (2, 700, 400 * 7), (3, 300, 1100 * 7))]
    x = np.concatenate([p[0] for p in parts])
    dates = sum((p[1] for p in parts), [])
    labels = np.concatenate([p[2] for p in parts])
    files = [f"part{i}.nc:/x" for i in (1, 2, 3)]
    for key in ("month", "yearmonth", "day"):
        name, order, _ = KEYS[key]
        known, steps = groups_of([name(d) for d in dates], order)
        for memory in ("100M", "300K"):
            found = answer(folder, "--concat", "time", *files, "--by", "time:" + key, "--op", "sum,argmax", "--memory", memory)
            assert found["sum"]["groups"] == known
            for op in ("sum", "argmax"):
                same(found[op], looped(x, steps, op, (0,)))
    known, steps = groups_of([None if v < 0 or v == 9999 else v for v in labels], int)
    found = answer(folder, "--concat", "time", *files, "--by", "time:/zone")
    same(found["sum"], looped(x, steps, "sum", (0,)))
    found = answer(folder, "--concat", "lat", *["part3.nc:/x"] * 2, "--by", "time:/zone", "-d", "lat")
    known, steps = groups_of([None if v < 0 or v == 9999 else v for v in parts[2][2]], int)
    same(found["sum"], looped(np.concatenate([parts[2][0]] * 2, 1), steps, "sum", (0, 1)))


def check_forms(folder):
    """Groups are named in text and tables."""
    x, dates, _ = make_hours(folder, count=100)
    known, steps = groups_of([KEYS["season"][0](d) for d in dates], ORDER.index)
    output = folder.run("hours.nc:/x", "--by", "time:season", "-d", "all", "--op", "max")[0].decode().splitlines()
    assert output[1].split() == ["groups", "by", "time:season:"] + known and known == ["DJF", "SON"], output
    found = answer(folder, "hours.nc:/x", "--by", "time:season", "-d", "lon,lat")["sum"]
    assert found["dims"] == [0, 1, 2] and found["dim_names"] == ["time", "lat", "lon"], found
    table = folder.run("hours.nc:/x", "--by", "time:season", "--op", "max", "--format", "csv")[0].decode().splitlines()
    expected = looped(x, steps, "max", (0,))
    assert table[0] == "time,lat,lon,max" and table[1] == f"DJF,-40,0,{expected[0, 0, 0]:g}" and len(table) == 31
    explained = folder.run("hours.nc:/x", "--by", "time:season", "--explain")[1]
    assert "groups   2 by time:season, of 38 to 62 steps, each in one run\n" in explained, explained
    explained = folder.run("hours.nc:/x[::24]", "--by", "time:hour", "--explain")[1]
    assert "groups   1 by time:hour, of 5 steps, each in one run\n" in explained, explained
    make_hours(folder, count=960, step=1)
    explained = folder.run("hours.nc:/x", "--by", "time:hour", "--explain")[1]
    assert "groups   24 by time:hour, of 40 steps, repeating every 24 steps\n" in explained, explained
    assert " + states 5.625 KiB " in explained, explained  # of 24 groups of 15 outputs, 8 bytes each, twice
    explained = folder.run("hours.nc:/x", "--by", "time:/zone", "--explain")[1]
    assert ", scattered: " in explained, explained


def check_refusals(folder):
    """One line that names the thing and the reason."""
    make_hours(folder, count=100)
    with h5py.File(folder.file("hours.nc"), "a") as file:
        file["never"] = np.full(100, -5)
        file["short"] = np.zeros(7, "i4")
        file["plain"] = np.zeros((4, 5))
        file["u64"] = np.array([3] * 98 + [2**63 - 1, 2**63], "u8")
        file["i64"] = np.array([3] * 98 + [2**53 - 1, 2**53], "i8")
        file["i64"].attrs["_FillValue"] = np.int64(-9)
    x = "hours.nc:/x"
    for arguments, reason in (
            ((x, "--by", "time:week"), "hours.nc:/x: --by: times have no groups by 'week', only by month, season, year, "
             "yearmonth, yearseason, day, dayofyear, monthday and hour"),
            ((x, "--by", "time:zone"), "hours.nc:/x: --by: times have no groups by 'zone', only by month, season, year, "
             "yearmonth, yearseason, day, dayofyear, monthday and hour; did you mean time:/zone?"),
            ((x, "--by", "lat:month"), "hours.nc:/x: --by: its lat has no dates: its units are 'degrees_north', not like 'days since 2001-01-01'"),
            (("hours.nc:/plain", "--by", "0:month"), "hours.nc:/plain: --by: its dim 0 has no coordinates"),
            ((x, "--by", "level:month"), "hours.nc:/x: no dim is named 'level'; its dims are time, lat, lon"),
            ((x, "--by", "time:/float_zone"), "hours.nc:/x: --by: hours.nc:/float_zone: labels are f32, must be integers"),
            ((x, "--by", "time:/map"), "hours.nc:/x: --by: hours.nc:/map: labels have 2 dims, must have the one that they lie along"),
            ((x, "--by", "time,lat:/zone"), "hours.nc:/x: --by: hours.nc:/zone: labels have 1 dim, must have the 2 that they lie along"),
            ((x, "--by", "time,lon:/map"), "hours.nc:/x: --by: time,lon do not lie next to each other"),
            ((x, "--coarsen", "time=2,lon=2"), "hours.nc:/x: --coarsen: time,lon do not lie next to each other"),
            ((x, "--coarsen", "lat=3,lon=2"), "hours.nc:/x: --coarsen lat=3,lon=2: lon has size 5, of which 1 is left over: "
             "lat=3,lon=2,trim leaves it out, lat=3,lon=2,pad makes it a window"),
            ((x, "--coarsen", "lon=6"), "hours.nc:/x: --coarsen lon=6: lon has size 5, less than a window of 6: lon=6,pad makes one shorter window of it"),
            ((x, "--by", "time,lat:month"), "hours.nc:/x: --by: only labels, as DIM,DIM:/PATH, lie along 2 dims"),
            ((x, "--by", "time,lat:/map"), "hours.nc:/x: --by: hours.nc:/map: has 3 labels along time, hours.nc:/x has 100 steps"),
            ((x, "--by", "lat,lon:none.nc:/map"), "hours.nc:/x: --by: none.nc: No such file or directory"),
            ((x, "--by", "time:/short"), "hours.nc:/x: --by: hours.nc:/short: has 7 labels, hours.nc:/x has 100 steps"),
            ((x, "--by", "time:/u64"), "hours.nc:/x: --by: hours.nc:/u64: label number 99 is too large: labels go up to 2^63 - 1"),
            ((x, "--by", "time:/i64"), "hours.nc:/x: --by: hours.nc:/i64: label number 99 is too large: labels that may be missing go "
             "up to 2^53 - 1"),
            ((x, "--by", "time:/never"), "hours.nc:/x: --by: by time:/never no step is in any group")):
        errors = folder.run(*arguments, status=1)[1]
        assert errors == f"h5gpured: {reason}\n", errors
    for labels, last in (("u64", 2**63 - 1), ("i64", 2**53 - 1)):
        assert answer(folder, "hours.nc:/x[:99]", "--by", f"time:/{labels}")["sum"]["groups"] == ["3", str(last)]
    for arguments in (("--by", "time"), ("--coarsen", "time=0"), ("--coarsen", "time=3,cut"), ("--coarsen", "trim"),
                      ("--coarsen", "time=3,trim,pad"), ("--coarsen", "time=3,,lat=2"), ("--coarsen", "time=3,lat"), ("--by", ":month"),
                      ("--by", "time:month", "--coarsen", "time=3")):
        errors = folder.run(x, *arguments, status=2)[1]
        assert errors.count("\n") == 1 and "--by" in errors or "--coarsen" in errors, errors


CHECKS = [check_keys, check_the_default_is_said, check_coarsen, check_labels, check_output, check_climatology_methods, check_beside, check_packed, check_series, check_forms,
          check_refusals]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
