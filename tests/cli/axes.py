#!/usr/bin/python3
"""What coordinates mean: units, packing, times and dates, in one file and along several: axes.py TOOL

Dates are compared with cftime's where that is installed.
"""
import csv
import datetime
import io
import itertools
import json
import random
import sys
import warnings

from output import attach, attributes, h5py, make_scale, np, run_checks

try:
    import cftime
except ImportError:
    cftime = None


def make_packed(folder):
    """lat as i2 with a scale and an offset, and f of 0 .. 5."""
    with h5py.File(folder.file("packed.nc"), "w") as file:
        lat = make_scale(file, "lat", np.array([0, 70, 140], "i2"), scale_factor=0.5, add_offset=10.0, units="degrees_north")
        x = make_scale(file, "x", np.array([250, 3], "u1").view("i1"), _Unsigned="true", _FillValue=np.int8(3))
        attach(file.create_dataset("f", data=np.arange(6.0).reshape(3, 2)), lat, x)


def values(folder, *arguments):
    return json.loads(folder.run(*arguments, "--json")[0].splitlines()[0])


def table(folder, *arguments):
    return list(csv.reader(io.StringIO(folder.run(*arguments, "--format", "csv")[0].decode())))


def check_packed_coordinates(folder):
    make_packed(folder)
    lat = np.array([10.0, 45, 80])
    weights = np.cos(np.radians(lat))[:, None] * np.ones(2)
    mean = np.average(np.arange(6.0).reshape(3, 2), weights=weights)
    found = values(folder, "packed.nc:/f", "--op", "mean", "--weights", "lat:cos")["data"][0]
    assert abs(found - mean) < 1e-14 and round(mean, 4) == 1.6304, found
    found = values(folder, "packed.nc:/f", "--op", "sum", "--weights", "lat")["data"][0]
    assert found == (lat * [1, 5, 9]).sum(), found
    assert [row[0] for row in table(folder, "packed.nc:/f", "-d", "x")] == ["lat", "10", "45", "80"]
    assert [row[0] for row in table(folder, "packed.nc:/f", "-d", "lat")] == ["x", "250", "nan"]
    assert values(folder, "packed.nc:/f", "--op", "argmax", "--coords")["coords"] == {"lat": [80], "x": [None]}
    assert values(folder, "packed.nc:/f", "--op", "argmax", "--coords", "--raw")["coords"] == {"lat": [140], "x": [3]}
    assert [row[0] for row in table(folder, "packed.nc:/f", "-d", "x", "--raw")] == ["lat", "0", "70", "140"]


def check_packed_coordinates_in_files(folder):
    """A scale is copied as it is stored; what is found is f64, and no longer packed."""
    make_packed(folder)
    with folder.reduce("packed.nc:/f", "-d", "x", "--op", "mean") as out:
        assert out["lat"][...].tolist() == [0, 70, 140] and attributes(out["lat"])["scale_factor"] == [0.5]
    with folder.reduce("packed.nc:/f", "-d", "lat", "--op", "argmax", "--coords") as out:
        assert out["f_argmax_lat"][...].tolist() == [80, 80]
        assert not {"scale_factor", "add_offset"} & set(out["f_argmax_lat"].attrs) and attributes(out["f_argmax_lat"])["units"] == "degrees_north"
    with folder.reduce("packed.nc:/f", "-d", "lat", "--op", "argmax", "--coords", "--raw") as out:
        assert out["f_argmax_lat"][...].tolist() == [140, 140] and attributes(out["f_argmax_lat"])["scale_factor"] == [0.5]


def check_angles(folder):
    degrees = np.array([-60.0, 0, 45])
    for name, units, factor in (("lat", "degrees_north", 1), ("lon", "Degrees_North", 1), ("y", "degree", 1), ("y", "degreeN", 1),
                                ("y", "degrees_N", 1), ("lat", None, 1), ("lat", "", 1), ("nav_lat", " ", 1), ("grid_latitude", None, 1), ("lat", "radian", np.pi / 180),
                                ("y", "radians", np.pi / 180), ("lat", "rad", np.pi / 180)):
        with h5py.File(folder.file("in.nc"), "w") as file:
            scale = make_scale(file, name, degrees * factor, **({"units": units} if units else {}))
            attach(file.create_dataset("f", data=[1.0, 2, 5]), scale)
        found = values(folder, "in.nc:/f", "--op", "mean", "--weights", name + ":cos")["data"][0]
        assert abs(found - np.average([1, 2, 5], weights=np.cos(np.radians(degrees)))) < 1e-12, (name, units, found)
    for name, units in (("time", "days since 2001-01-01"), ("lat", "m"), ("y", None), ("lat", "degrees_up")):
        with h5py.File(folder.file("in.nc"), "w") as file:
            scale = make_scale(file, name, degrees, **({"units": units} if units is not None else {}))
            attach(file.create_dataset("f", data=[1.0, 2, 5]), scale)
        _, errors = folder.run("in.nc:/f", "--op", "mean", "--weights", name + ":cos", status=1)
        wanted = f"its {name} has " + (f"units '{units}'" if units is not None else "no units")
        assert wanted in errors and "degrees_north" in errors and "radian" in errors and errors.count("\n") == 1, errors


def make_line(folder, name, values, weights=None, **described):
    """f of 1, 2, .. along a dim with coordinates, and other weights beside it."""
    with h5py.File(folder.file("in.nc"), "w") as file:
        scale = make_scale(file, name, np.asarray(values), **described)
        attach(file.create_dataset("f", data=np.arange(len(values)) + 1.0), scale)
        if weights is not None:
            attach(file.create_dataset("w", data=np.array(weights)), scale)


def check_latitudes(folder):
    """A cosine weighs cells by their latitude alone; a pole is one however it is rounded."""
    for name, described in (("lon", {"units": "degrees_east"}), ("x", {"units": "degreesE"}), ("lon", {"units": "degree"}),
                            ("x", {"units": "degree", "standard_name": "grid_longitude"}), ("nav_lon", {}),
                            ("lat", {"units": "degrees_west"})):
        make_line(folder, name, [0.0, 120, 240], **described)
        _, errors = folder.run("in.nc:/f", "--op", "mean", "--weights", name + ":cos", status=1)
        assert f"in.nc:/f: --weights: its {name} is a longitude; " in errors and "latitude" in errors and errors.count("\n") == 1, errors
    make_line(folder, "x", [0.0, 45, 95], units="degree")
    _, errors = folder.run("in.nc:/f", "--op", "mean", "--weights", "x:cos", status=1)
    assert "its x has 95 at index 2, which is no latitude" in errors, errors
    with h5py.File(folder.file("in.nc"), "w") as file:
        lat = make_scale(file, "lat", np.array([-np.pi / 2, 0, np.pi / 2], "f4"), units="radian")
        x = make_scale(file, "x", np.arange(2.0))
        attach(file.create_dataset("f", data=np.arange(6.0).reshape(3, 2)), lat, x)
    assert np.float64(np.float32(np.pi / 2)) > np.pi / 2
    found = values(folder, "in.nc:/f", "-d", "x", "--op", "mean", "--weights", "lat:cos")["data"]
    assert np.allclose(found, [0.5, 2.5, 4.5], rtol=1e-14), found


def check_weights_that_mean_nothing(folder):
    lat, named = [-75.0, 0, 75], "in.nc:/f: --weights "
    for by, coordinates, own, said in (
            ("lat", lat, None, "lat: -75 at [0] is no weight: weights are finite and not negative; DIM:cos takes"),
            ("lat", [1.0, np.nan, 2], None, "lat: nan at [1] is no weight"), ("lat", [0.0, 0, 0], None, "lat: all weights are 0"),
            ("/w", lat, [1.0, 2, -3], "in.nc:/w: -3 at [2] is no weight: weights are finite and not negative\n"),
            ("/w", lat, [1.0, np.inf, 3], "in.nc:/w: inf at [1] is no weight"), ("/w", lat, [1.0, np.nan, 3], "in.nc:/w: nan at [1] is no weight"),
            ("/w", lat, [0, 0, 0], "in.nc:/w: all weights are 0\n")):
        make_line(folder, "lat", coordinates, own, units="degrees_north")
        for op in ("mean", "sum,valid"):
            _, errors = folder.run("in.nc:/f", "--op", op, "--weights", by, status=1)
            assert named + said in errors and errors.count("\n") == 1, errors
    with h5py.File(folder.file("in.nc"), "w") as file:
        y, x = make_scale(file, "y", np.arange(2.0)), make_scale(file, "x", np.arange(3.0))
        attach(file.create_dataset("f", data=np.arange(6.0).reshape(2, 3)), y, x)
        attach(file.create_dataset("w", data=np.array([[1.0, 2, 3], [4, -5, 6]])), y, x)
    _, errors = folder.run("in.nc:/f", "--weights", "/w", "--op", "mean", status=1)
    assert named + "in.nc:/w: -5 at [1, 1] is" in errors, errors


def check_weights_that_are_missing(folder):
    """A fill value weighs nothing; what only weighs nothing has no mean."""
    with h5py.File(folder.file("in.nc"), "w") as file:
        y, x = make_scale(file, "y", np.arange(2.0)), make_scale(file, "x", np.arange(3.0))
        attach(file.create_dataset("f", data=np.arange(6.0).reshape(2, 3)), y, x)
        attach(file.create_dataset("w", data=np.array([[1, 9, 3], [9, 9, 9]], "i2")), y, x)
        file["w"].attrs["_FillValue"] = np.int16(9)
    found = values(folder, "in.nc:/f", "-d", "all", "--weights", "/w", "--op", "mean")["data"]
    assert found == [1.5], found
    found, _ = folder.run("in.nc:/f", "-d", "x", "--weights", "/w", "--op", "mean,valid", "--json")
    assert [json.loads(line)["data"] for line in found.splitlines()] == [[1.5, None], [3, 3]], found


def check_weights_of_raw_data(folder):
    """--raw is about the elements; what weighs them means what it says."""
    make_packed(folder)
    with h5py.File(folder.file("packed.nc"), "r+") as file:
        attach(file.create_dataset("w", data=np.array([1, 2, 99], "i2")), file["lat"])
        file["w"].attrs.update(scale_factor=0.5, _FillValue=np.int16(99))
        file["f"].attrs["scale_factor"] = 10.0
    elements = np.array([1.0, 5, 9])
    for by, weights in (("lat:cos", np.cos(np.radians([10.0, 45, 80]))), ("lat", np.array([10.0, 45, 80])), ("/w", np.array([0.5, 1, 0]))):
        for options, factor in (([], 10), (["--raw"], 1)):
            found = values(folder, "packed.nc:/f", "--op", "sum", "--weights", by, *options)["data"][0]
            assert np.isclose(found, factor * (elements * weights).sum(), rtol=1e-14), (by, options, found)


def make_times(folder, name, units, calendar, times, dtype="f8", **packing):
    with h5py.File(folder.file(name), "w") as file:
        described = {"units": units, **({"calendar": calendar} if calendar else {}), **packing}
        times = np.asarray(times)
        time = make_scale(file, "time", times.astype(dtype), bounds="time_bnds", **described)
        nv = make_scale(file, "nv", np.arange(2.0))
        attach(file.create_dataset("time_bnds", data=np.stack([times - 1, times + 1], 1).astype(dtype)), time, nv)
        attach(file.create_dataset("f", data=np.arange(len(times)) + 1.0), time)


def check_series_of_times(folder):
    """One axis in the units of the first file, bounds included."""
    for calendar, days in (("standard", 366), (None, 366), ("noleap", 365), ("360_day", 360), ("all_leap", 366), ("julian", 366)):
        make_times(folder, "a.nc", "days since 2000-01-01", calendar, [0.5, 1.5])
        make_times(folder, "b.nc", "days since 2001-1-1 00:00:00", calendar, [0.5, 1.5])
        make_times(folder, "c.nc", "hours since 2001-01-01", calendar, [60, 84], "i4")
        series = ("--concat", "time", "a.nc:/f", "b.nc:/f", "c.nc:/f")
        axis = [0.5, 1.5] + [days + day for day in (0.5, 1.5, 2.5, 3.5)]
        with folder.reduce(*series, "-d", "time", "-k", "--op", "sum") as out:
            assert out["f"][...].tolist() == [9]
        with make_kept(folder, series) as out:
            assert out["time"][...].tolist() == axis and attributes(out["time"])["units"] == "days since 2000-01-01", axis
            halves = [1] * 4 + [1 / 24] * 2
            assert np.allclose(out["time_bnds"][...], [[t - h, t + h] for t, h in zip(axis, halves)], rtol=0, atol=1e-12)
        found = values(folder, *series, "--op", "argmax", "--coords")
        assert found["coords"]["time"] == [1.5], found
        found = values(folder, "--concat", "time", "c.nc:/f", "a.nc:/f", "--op", "argmin", "--coords")
        assert found["coords"]["time"] == [60], found


def check_overlap_is_remarked_on(folder):
    """In whatever order and units, once for all variables of the files."""
    make_times(folder, "a.nc", "days since 2000-01-01", None, [0.5, 1.5, 2.5])
    make_times(folder, "b.nc", "hours since 2000-01-02", None, [36, 60, 84], "i4")
    make_times(folder, "c.nc", "days since 2000-01-01", None, [5.5, 6.5])
    for name in "abc":
        with h5py.File(folder.file(f"{name}.nc"), "a") as file:
            attach(file.create_dataset("g", data=np.ones(file["f"].shape)), file["time"])
    said = ("h5gpured: b.nc: its time overlaps that of a.nc from 2000-01-03T12:00:00 on: 1 of 8 coordinates repeat others, and "
            "their elements are counted again\n")
    assert folder.run("--concat", "time", "a.nc", "b.nc", "c.nc", "-d", "time")[1] == said
    assert folder.run("--concat", "time", "c.nc:/f", "a.nc:/f", "b.nc:/f")[1] == said
    assert "from 2000-01-01T12:00:00 on: 3 of 6" in folder.run("--concat", "time", "a.nc:/f", "a.nc:/f")[1]
    assert folder.run("--concat", "time", "a.nc:/f[0:2]", "b.nc:/f", "c.nc:/f")[1] == ""
    assert folder.run("--concat", "time", "a.nc", "b.nc", "c.nc", "-d", "time", "--select", "time=2000-01-04:")[1] == ""
    assert folder.run("--concat", "new:member", "a.nc:/f", "a.nc:/f")[1] == ""


def make_kept(folder, series):
    """Files of two dims, so that one of them is left."""
    files = [argument.split(":")[0] for argument in series if ".nc" in argument]
    for name in files:
        with h5py.File(folder.file(name), "r+") as file:
            data = file["f"][...]
            del file["f"]
            x = make_scale(file, "x", np.arange(2.0)) if "x" not in file else file["x"]
            attach(file.create_dataset("f", data=np.stack([data, data], 1)), file["time"], x)
    return folder.reduce(*series, "-d", "x", "--op", "mean")


def check_series_of_packings(folder):
    """Parts of one meaning that are stored in several ways."""
    make_times(folder, "a.nc", "days since 2000-01-01", "standard", [0, 1], "i2", scale_factor=0.5)
    make_times(folder, "b.nc", "days since 2000-01-01", "standard", [1.25, 1.5], "f4")
    with make_kept(folder, ("--concat", "time", "a.nc:/f", "b.nc:/f")) as out:
        assert out["time"][...].tolist() == [0, 0.5, 1.25, 1.5] and "scale_factor" not in out["time"].attrs


def check_series_that_are_refused(folder):
    make_times(folder, "a.nc", "days since 2000-01-01", "noleap", [0, 1.5])
    last = "a.nc:/f ends with 2000-01-02T12:00:00 of the calendar noleap: two calendars are no one axis; set one"
    first = "b.nc:/f: its time begins with 2001-01-01 of the calendar "
    other = "a.nc:/f has units 'days since 2000-01-01', calendar noleap: one cannot be converted to the other"
    for units, calendar, said, of in (("days since 2001-01-01", "360_day", first + "360_day, ", last),
                                      ("days since 2001-01-01", "standard", first + "standard, ", last),
                                      ("days since 2001-01-01", None, first + "standard, ", last),
                                      ("m", None, "its time has units 'm', that of ", other), ("", None, "its time has no units, ", other),
                                      ("months since 2000-01-01", "noleap", "units 'months since 2000-01-01', calendar noleap, ", other)):
        make_times(folder, "b.nc", units, calendar, [0, 1])
        _, errors = folder.run("--concat", "time", "a.nc:/f", "b.nc:/f", status=1)
        assert said in errors and of in errors and errors.count("\n") == 1, errors
        folder.run("--concat", "time", "a.nc:/f", "b.nc:/f", "--raw")


def check_series_of_two_grids(folder):
    """The coordinates of other dims agree, but for how they are written; elements as stored may be of any grid."""
    def make(name, lat, **described):
        with h5py.File(folder.file(name), "w") as file:
            time, y = make_scale(file, "time", np.arange(2.0)), make_scale(file, "lat", np.array(lat), **described)
            attach(file.create_dataset("f", data=np.ones((2, 3))), time, y)

    make("a.nc", [10.0, 20.0, 30.0], units="degrees_north")
    for lat, units in (([10.0001, 20, 30.001], "degrees_north"), (np.array([10, 20, 30], "i2"), "degree_north"), ([10.0, 20, 30], "m")):
        make("b.nc", lat, units=units)
        folder.run("--concat", "time", "a.nc:/f", "b.nc:/f")
    make("b.nc", [10.0, 21.0, 30.0], units="degrees_north")
    errors = folder.run("--concat", "time", "a.nc:/f", "a.nc:/f", "b.nc:/f", status=1)[1]
    assert errors == ("h5gpured: b.nc:/f: its lat[1] is 21, that of a.nc:/f is 20; files of a series have the same coordinates "
                      "along its other dims\n"), errors
    folder.run("--concat", "time", "a.nc:/f", "b.nc:/f", "--raw")
    folder.run("--concat", "lat", "a.nc:/f", "b.nc:/f")


def check_series_of_gregorian_calendars(folder):
    """Two calendars are one from 15 October 1582 on, whatever their references."""
    for first, second in (("standard", "proleptic_gregorian"), ("proleptic_gregorian", "gregorian"), (None, "proleptic_gregorian")):
        make_times(folder, "a.nc", "days since 1582-10-15", first, [0, 1])
        make_times(folder, "b.nc", "days since 1582-10-17", second, [0, 1])
        make_times(folder, "c.nc", "hours since 1582-10-19", first, [0, 24])
        with make_kept(folder, ("--concat", "time", "a.nc:/f", "b.nc:/f", "c.nc:/f")) as out:
            assert out["time"][...].tolist() == [0, 1, 2, 3, 4, 5] and out["time"].attrs.get("calendar") == first
            assert out["time_bnds"][...].tolist()[2:4] == [[1, 3], [2, 4]]
        make_times(folder, "b.nc", "days since 1582-10-14", second, [0, 1])
        if second == "proleptic_gregorian":
            make_times(folder, "a.nc", "days since 1582-10-15", first, [0, 1])
            _, errors = folder.run("--concat", "time", "a.nc:/f", "b.nc:/f", status=1)
            assert ("begins with 1582-10-14 of the calendar proleptic_gregorian, that of a.nc:/f ends with 1582-10-16 of the calendar "
                    "standard: two calendars are no one axis before 1582-10-15; ") in errors and errors.count("\n") == 1, errors


def check_series_without_units(folder):
    """Units that are blank are none."""
    for units in (("", " "), ("", None), (None, "")):
        for name, own in zip(("a.nc", "b.nc"), units):
            with h5py.File(folder.file(name), "w") as file:
                x = make_scale(file, "x", np.arange(2.0), **({} if own is None else {"units": own}))
                attach(file.create_dataset("f", data=np.ones((2, 2))), x, make_scale(file, "y", np.arange(2.0)))
        with folder.reduce("--concat", "x", "a.nc:/f", "b.nc:/f", "-d", "y") as out:
            assert out["x"][...].tolist() == [0, 1, 0, 1], units


def make_elements(folder, name, elements, **described):
    with h5py.File(folder.file(name), "w") as file:
        file["f"] = np.array(elements)
        file["f"].attrs.update(described)


def check_series_of_elements(folder):
    """Each file's own packing and fill value count; other units of the elements are no one array."""
    make_elements(folder, "a.nc", np.int16([1, 2, 7]), scale_factor=0.5, add_offset=1.0, _FillValue=np.int16(7), units="K")
    make_elements(folder, "b.nc", np.int16([1, 7, 9]), scale_factor=2.0, add_offset=3.0, _FillValue=np.int16(9), units=" K")
    found, _ = folder.run("--concat", "0", "a.nc:/f", "b.nc:/f", "--op", "sum,valid", "--json")
    assert [json.loads(line)["data"] for line in found.splitlines()] == [[1.5 + 2 + 5 + 17], [4]], found
    make_elements(folder, "b.nc", np.int16([1, 7, 9]), scale_factor=2.0, units="degC")
    _, errors = folder.run("--concat", "0", "a.nc:/f", "b.nc:/f", status=1)
    assert "b.nc:/f: has units 'degC' where a.nc:/f has 'K'; " in errors and errors.count("\n") == 1, errors
    folder.run("--concat", "0", "a.nc:/f", "b.nc:/f", "--raw")
    make_elements(folder, "b.nc", np.int16([1, 7, 9]), scale_factor=2.0, units="")
    folder.run("--concat", "0", "a.nc:/f", "b.nc:/f")


def check_series_that_begin_empty(folder):
    make_times(folder, "none.nc", "days since 1900-01-01", "noleap", [])
    make_times(folder, "a.nc", "days since 2000-01-01", "noleap", [5, 6])
    with make_kept(folder, ("--concat", "time", "none.nc:/f", "a.nc:/f")) as out:
        assert out["time"][...].tolist() == [5, 6] and attributes(out["time"])["units"] == "days since 2000-01-01"


def check_dates(folder):
    """In text and CSV; numbers in JSON and under --raw; all rows of a column alike."""
    make_times(folder, "a.nc", "days since 2001-01-01", "360_day", [58, 59, 359])
    found, _ = folder.run("a.nc:/f", "--op", "argmax", "--coords")
    assert found.decode().splitlines()[1].endswith("at time 2001-12-30"), found
    found, _ = folder.run("a.nc:/f", "--op", "argmax", "--coords", "--raw")
    assert found.decode().splitlines()[1].endswith("at time 359"), found
    assert values(folder, "a.nc:/f", "--op", "argmax", "--coords")["coords"] == {"time": [359]}
    make_kept(folder, ("a.nc:/f",)).close()
    assert [row[0] for row in table(folder, "a.nc:/f", "-d", "x")] == ["time", "2001-02-29", "2001-02-30", "2001-12-30"]
    found, _ = folder.run("a.nc:/f", "-d", "time", "--op", "argmax", "--coords")
    assert found.decode().splitlines()[-1].split() == ["2001-12-30"] * 2, found
    rows = table(folder, "a.nc:/f", "-d", "time", "--op", "argmin", "--coords")
    assert rows == [["x", "argmin", "argmin_time"], ["0", "0", "2001-02-29"], ["1", "0", "2001-02-29"]], rows
    make_times(folder, "b.nc", "hours since 1999-12-31 18:00", None, [6, 7.5, np.nan])
    make_kept(folder, ("b.nc:/f",)).close()
    column = [row[0] for row in table(folder, "b.nc:/f", "-d", "x")]
    assert column == ["time", "2000-01-01T00:00:00", "2000-01-01T01:30:00", "nan"], column


def check_lengths_of_times_as_weights(folder):
    """By bounds, else by months, also those of several files."""
    months, data = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31], np.arange(12.0)
    starts = np.concatenate([[0], np.cumsum(months)]).astype(float)
    for name, since, bounds in (("months.nc", "days since 2001-01-01", None), ("bounds.nc", "hours since 2001-01-01", starts)):
        scale = 24 if "hours" in since else 1
        with h5py.File(folder.file(name), "w") as file:
            time = make_scale(file, "time", starts[:12] * scale + 0.5 * scale, units=since, calendar="noleap")
            attach(file.create_dataset("f", data=data), time)
            if bounds is not None:
                nv = make_scale(file, "nv", np.zeros(2))
                time.attrs["bounds"] = "time_bnds"
                attach(file.create_dataset("time_bnds", data=np.stack([bounds[:12], bounds[1:]], 1) * scale), time, nv)
        for arguments, cells in (((f"{name}:/f",), slice(None)), ((f"{name}:/f[2:7]",), slice(2, 7)), ((f"{name}:/f", "--raw"), slice(None)),
                                 (("--concat", "time", f"{name}:/f[0:5]", f"{name}:/f[5:]"), slice(None))):
            found = values(folder, *arguments, "--op", "mean", "--weights", "time:days")["data"][0]
            wanted = np.average(data[cells], weights=months[cells])
            assert abs(found - wanted) < 1e-14, f"{arguments}: {found}, not {wanted}"
    with folder.reduce("bounds.nc:/f", "-d", "time", "--op", "mean", "--weights", "time:days") as out:
        assert attributes(out["f"])["cell_methods"] == "time: mean (weighted by the days of time)"
    with h5py.File(folder.file("months.nc"), "a") as file:
        file["time"].attrs["units"] = "months since 2001-01-01"
        file["time"].attrs["calendar"] = "standard"
    errors = folder.run("months.nc:/f", "--op", "mean", "--weights", "time:days", status=1)[1]
    assert "counts 'months since 2001-01-01' in the calendar 'standard'" in errors, errors
    with h5py.File(folder.file("months.nc"), "a") as file:
        del file["time"].attrs["units"]
    errors = folder.run("months.nc:/f", "--op", "mean", "--weights", "time:days", status=1)[1]
    assert "its time has no dates: it has no units, like 'days since 2001-01-01'\n" in errors, errors
    with h5py.File(folder.file("months.nc"), "a") as file:
        file["time"].attrs["units"] = "m"
    errors = folder.run("months.nc:/f", "--op", "mean", "--weights", "time:days", status=1)[1]
    assert "its time has no dates: its units are 'm', not like" in errors, errors
    errors = folder.run("bounds.nc:/f[3]", "--op", "mean", "--weights", "time:days")[1]
    for spoiled in ("plain", "f"):
        with h5py.File(folder.file("bounds.nc"), "a") as file:
            file.require_dataset("plain", (12, 2), "f8")
            file["time"].attrs["bounds"] = spoiled
        errors = folder.run("bounds.nc:/f", "--op", "mean", "--weights", "time:days", status=1)[1]
        assert errors == ("h5gpured: bounds.nc:/f: --weights: its time: the bounds do not fit it: they must be numbers, two for "
                          "each time, whose dims have dimension scales\n"), errors
    with h5py.File(folder.file("bounds.nc"), "a") as file:
        del file["time"].attrs["bounds"]
    errors = folder.run("bounds.nc:/f[3]", "--op", "mean", "--weights", "time:days", status=1)[1]
    assert errors == "h5gpured: bounds.nc:/f: --weights: its time: a single time without bounds does not say how long it stands for\n", errors


def check_times_that_are_none(folder):
    """Numbers beyond dates, calendars that are no texts, and bounds some of which are NaN: never without a word."""
    make_times(folder, "fill.nc", "days since 2001-01-01", None, [0, 9.97e36, 40])
    errors = folder.run("fill.nc:/f", "--by", "time:month", status=1)[1]
    assert errors == ("h5gpured: fill.nc:/f: --by: the time at index 1 is 9.97e+36, more than 10^9 years away, which is no date; if it is "
                      "missing, _FillValue must say so\n"), errors
    make_times(folder, "numeric.nc", "days since 2001-01-01", np.int32(1), [0, 31, 59])
    none = "its calendar is '(no text)', which is none of CF's"
    errors = folder.run("numeric.nc:/f", "--by", "time:month", status=1)[1]
    assert errors == f"h5gpured: numeric.nc:/f: --by: its time has no dates: {none}\n", errors
    errors = folder.run("numeric.nc:/f[time=2001-01:2001-02]", status=1)[1]
    assert errors.startswith("h5gpured: numeric.nc:/f: 'time=2001-01:2001-02' is no range of numbers: ") and none in errors, errors
    found, _ = folder.run("numeric.nc:/f", "--op", "argmax", "--coords")
    assert found.decode().splitlines()[1].endswith("at time 59"), found
    for first in (np.nan, 20):
        make_times(folder, "gap.nc", "days since 2001-01-01", None, [1, 3, 5, 7])
        with h5py.File(folder.file("gap.nc"), "a") as file:
            file["time_bnds"][1 if first == first else slice(4), 0] = np.nan
        said = "h5gpured: gap.nc:/f: the bounds of time are not used: those at index 1 are no numbers\n" if first == first else ""
        for arguments in (("--coarsen", "time=2"), ("-d", "time", "--op", "mean"), ("-d", "time", "-k")):
            errors = folder.run("gap.nc:/f", *arguments, "-q", "-o", "out.nc", "--overwrite")[1]
            assert errors == said, (arguments, errors)
        if said:
            errors = folder.run("gap.nc:/f", "--weights", "time:days", status=1)[1]
            assert "its time: the bounds at index 1 are nan and 4, which are no length of time" in errors, errors


def check_long_years(folder):
    make_times(folder, "far.nc", "days since 0001-01-01", "noleap", [365.0 * year + 40 for year in (9998, 9999, 12344, 1234566, -20001)])
    for written, wanted in (("9999", 1), ("10000-02", 2), ("12345", 3), ("+12345-02-10", 3), ("12345-02-10T00:00", 3), ("1234567-02", 4),
                            ("+1234567", 4), ("1000000-01:", 4), ("-20000", 5), ("-20000-02:-19999", 5), (":-19999-01", 5)):
        assert values(folder, f"far.nc:/f[time={written}]", "--op", "sum")["data"] == [wanted], written
    for written in ("1234567", "12345678901-01", "10000-13"):
        assert "is no date of the calendar" in folder.run(f"far.nc:/f[time={written}]", status=1)[1], written
    out, _ = folder.run("far.nc:/f[0:5]", "-d", "time", "--op", "argmax", "--coords")
    assert out.decode().split()[-1] == "-20000-02-10", out


def four_digits(year):
    return f"{'-' if year < 0 else ''}{abs(year):04d}"


def check_dates_against_cftime(folder):
    source = random.Random(20261122)
    if not cftime:
        print("without cftime: its dates are not compared")
        return
    calendars = ("standard", "gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap", "366_day", "360_day")
    for calendar, unit in itertools.product(calendars, ("days", "hours", "minutes", "seconds")):
        year, month, day = source.choice((-4713, -1, 1, 1500, 1582, 1850, 2000)), source.randint(1, 12), source.randint(1, 4)
        zone = source.choice(("", "Z", " UTC", " +02:30", " -06:00"))
        units = f"{unit} since {four_digits(year)}-{month:02d}-{day:02d} {source.randint(0, 23):02d}:00:00{zone}"
        times = np.array([source.randint(0, 800000) * {"days": 1, "hours": 24, "minutes": 1440, "seconds": 86400}[unit]
                          + source.randint(0, 23) / (24 if unit == "days" else 1) for _ in range(300)])
        make_times(folder, "in.nc", units, calendar, times)
        make_kept(folder, ("in.nc:/f",)).close()
        own = [row[0] for row in table(folder, "in.nc:/f", "-d", "x")][1:]
        half = datetime.timedelta(microseconds=500000)  # it does not round to the second that a number stands for
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # CF has no year 0 in some of these calendars
            dates = [date + half for date in cftime.num2date(times, units, calendar)]
        wanted = [f"{four_digits(d.year)}-{d.month:02d}-{d.day:02d}T{d.hour:02d}:{d.minute:02d}:{d.second:02d}" for d in dates]
        wrong = [(t, a, b) for t, a, b in zip(times, own, wanted) if a != b]
        assert not wrong, f"{units} {calendar}: {wrong[:3]}"


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
