#!/usr/bin/python3
"""Parts that are selected by coordinates, [lat=30:60, time=2001-03], against NumPy: selection.py TOOL

Data are small whole numbers, so that sums are exact. Which elements a text means on any axis is tested in
tests/h5/test_h5_value_range.c; here they are read, reduced and written.
"""
import csv
import io
import json
import sys

from output import attach, attributes, h5py, make_scale, np, run_checks, text

LON = np.arange(0.0, 360, 7.5)
LAT = np.arange(88.0, -89, -8)
TIME = np.arange(800)


def make(folder, name="tas.nc", lon=LON, **options):
    """tas(time, lat, lon) of 800 days from 2000-11-20 on, with bounds; mask of the same lat and lon."""
    source = np.random.default_rng(7)
    data = source.integers(-50, 50, (len(TIME), len(LAT), len(lon)))
    with h5py.File(folder.file(name), "w") as file:
        time = make_scale(file, "time", TIME + 0.5, units="days since 2000-11-20", calendar="noleap")
        lat = make_scale(file, "lat", LAT.astype("f4"), units="degrees_north")
        x = make_scale(file, "lon", lon, units="degrees_east", bounds="lon_bnds")
        nv = make_scale(file, "nv", np.zeros(2))
        attach(file.create_dataset("lon_bnds", data=np.stack([lon - 3.75, lon + 3.75], 1)), x, nv)
        tas = file.create_dataset("tas", data=data.astype("f4"), **options)
        attach(tas, time, lat, x)
        attach(file.create_dataset("mask", data=data[0] > 0), lat, x)
        attach(file.create_dataset("lon2", data=np.ones((len(LAT), len(lon)))), lat, x)
        tas.attrs["coordinates"] = "lon2"
    return data


def values(folder, *arguments):
    return [json.loads(line)["data"] for line in folder.run(*arguments, "--json")[0].splitlines()]


def fails(folder, part, *words, status=1):
    errors = folder.run(f"tas.nc:/tas[{part}]", status=status)[1]
    assert len(errors.splitlines()) == 1 and all(word in errors for word in words), errors


def dates():
    """YYYY-MM-DD of each time; no year has a leap day."""
    months = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
    first = np.concatenate([[0], np.cumsum(months)])
    found = []
    for day in TIME + first[10] + 19:
        year, rest = 2000 + day // 365, day % 365
        month = int(np.searchsorted(first, rest, "right"))
        found.append(f"{year:04d}-{month:02d}-{rest - first[month - 1] + 1:02d}")
    return np.array(found)


def check_values_select_what_indices_do(folder):
    """In every layout, over the seam too, and beside indices."""
    day = dates()
    east, west = (LON >= 350) | (LON <= 20), (LON >= 100) & (LON <= 300)
    parts = {
        "lat=-30:40": np.ix_(TIME >= 0, abs(LAT - 5) <= 35, LON >= 0),
        "time=2001-03:2001-05": np.ix_((day >= "2001-03") & (day < "2001-06"), abs(LAT) < 99, LON >= 0),
        "time=2001": np.ix_(np.char.startswith(day, "2001"), abs(LAT) < 99, LON >= 0),
        "time=2002-02-28, lat=41": np.ix_(day == "2002-02-28", LAT == 40, LON >= 0),
        "time=2002-01:,lat=0:,lon=100:300": np.ix_(day >= "2002-01", LAT >= 0, west),
        "lon=350:20": np.ix_(TIME >= 0, abs(LAT) < 99, east),
        "0:100:3, lon=350:20": np.ix_((TIME < 100) & (TIME % 3 == 0), abs(LAT) < 99, east),
        "..., 3:5, lon=-10:20": None,
        "lon=-10:20, time=2001-02-01, lat=:-80": np.ix_(day == "2001-02-01", LAT <= -80, east),
    }
    for options in ({}, {"chunks": (7, 5, 9), "compression": "gzip", "shuffle": True}, {"chunks": (50, 4, 4), "scaleoffset": 2}):
        data = make(folder, **options)
        for part, cells in parts.items():
            if cells is None:
                fails(folder, part, "selected twice")
                continue
            found = values(folder, f"tas.nc:/tas[{part}]", "--op", "sum,max,valid")
            chosen = data[cells]
            assert found == [[chosen.sum()], [chosen.max()], [chosen.size]], f"{options} {part}: {found}"
            found = values(folder, f"tas.nc:/tas[{part}]", "-d", "time,lat", "--op", "sum")[0]
            order = np.argsort((LON[cells[2].ravel()] + 180) % 360, kind="stable") if "lon=-" in part or "350" in part else slice(None)
            assert found == chosen.sum((0, 1))[order].tolist(), f"{options} {part}: {found}"


def check_the_output_is_one_axis(folder):
    data = make(folder)
    order = np.concatenate([np.flatnonzero(LON >= 350), np.flatnonzero(LON <= 20)])
    for part, lon in (("lon=350:20", np.arange(352.5, 381, 7.5)), ("lon=-10:20", np.arange(-7.5, 21, 7.5))):
        with folder.reduce(f"tas.nc:/tas[{part}]", "-d", "time", "--op", "sum") as out:
            assert out["lon"][...].tolist() == lon.tolist() and attributes(out["lon"])["bounds"] == "lon_bnds"
            assert (out["lon_bnds"][...] == np.stack([lon - 3.75, lon + 3.75], 1)).all()
            assert (out["tas"][...] == data.sum(0)[:, order]).all()
            assert (out["lat"][...] == LAT).all() and out["lon2"].shape == (len(LAT), len(lon))
        rows = list(csv.reader(io.StringIO(folder.run(f"tas.nc:/tas[{part}]", "-d", "time,lat", "--op", "sum", "--format", "csv")[0].decode())))
        assert [float(row[0]) for row in rows[1:]] == lon.tolist()
    with folder.reduce("tas.nc:/tas[lon=-30:-20]", "-d", "time") as out:
        assert out["lon"][...].tolist() == [-30, -22.5] and out["lon_bnds"][0].tolist() == [-33.75, -26.25]
    with folder.reduce("tas.nc:/tas[lon=-30]", "-d", "time") as out:
        assert out["lon"][...].tolist() == [330] and out["tas"].shape == (len(LAT), 1)
    with folder.reduce("tas.nc:/tas[lon=350:20]", "tas.nc:/mask[lon=-10:20]", "-d", "lat", "--op", "max") as out:
        for name in ("tas", "mask"):  # each with the bounds of its own turn
            lon = out[name].dims[out[name].ndim - 1][0]
            bounds = out[text(lon.attrs["bounds"])][...]
            assert (bounds == np.stack([lon[...] - 3.75, lon[...] + 3.75], 1)).all(), (name, bounds)
        axes = sorted(item[...].tolist() for name, item in out.items() if name.startswith("lon") and item.shape == (4,))
        assert axes == [np.arange(-7.5, 21, 7.5).tolist(), np.arange(352.5, 381, 7.5).tolist()], axes


def check_files_along_longitudes(folder):
    data = make(folder)
    with folder.reduce("--concat", "lon", "tas.nc:/tas[lon=0:10]", "tas.nc:/tas[lon=370:400]", "-d", "time", "--op", "max") as out:
        lon = np.array([0, 7.5, 375, 382.5, 390, 397.5])
        assert out["lon"][...].tolist() == lon.tolist(), out["lon"][...]
        assert (out["lon_bnds"][...] == np.stack([lon - 3.75, lon + 3.75], 1)).all()
        assert (out["tas"][...] == data.max(0)[:, [0, 1, 2, 3, 4, 5]]).all()


def check_what_is_read_beside(folder):
    """Weights, masks and a series of files go along with the part."""
    data = make(folder)
    cells = np.concatenate([np.flatnonzero(LON >= 350), np.flatnonzero(LON <= 20)])
    part, mask = data[:, :, cells], data[0][:, cells] > 0
    found = values(folder, "tas.nc:/tas[lon=350:20]", "--where", "tas.nc:/mask[lon=350:20]", "--op", "sum,valid")
    assert found == [[part[:, mask].sum()], [mask.sum() * len(TIME)]], found
    found = values(folder, "tas.nc:/tas[lon=350:20]", "--where", "lon > 355 && m > 0", "--with", "m=/mask[lon=350:20]", "--op", "sum")
    east = np.array([False, True, True, True])  # as the axis goes on to 375
    assert found == [[part[:, mask & east].sum()]], found
    found = values(folder, "tas.nc:/tas[lon=350:20]", "--weights", "lat:cos", "--op", "mean")[0][0]
    weights = np.cos(np.radians(LAT.astype("f4").astype("f8")))[None, :, None] * np.ones(part.shape)
    assert abs(found - np.average(part, weights=weights)) < 1e-12, found
    found = values(folder, "--concat", "time", "tas.nc:/tas[time=2001,lon=-30:-20]", "tas.nc:/tas[time=2002,lon=-30:-20]", "--op", "sum,valid")
    day = dates()
    chosen = data[(day >= "2001") & (day < "2003")][:, :, (LON >= 330) & (LON <= 340)]
    assert found == [[chosen.sum()], [chosen.size]], found
    errors = folder.run("--concat", "time", "tas.nc:/tas[lon=350:20]", "tas.nc:/tas", status=1)[1]
    assert errors == "h5gpured: tas.nc:/tas: dim 2 (lon) has size 48 where tas.nc:/tas has 4\n", errors


def check_all_datasets_that_have_the_dims(folder):
    data, day = make(folder), dates()
    found = values(folder, "tas.nc:/*[time=2001-02]", "-d", "time,lon", "--op", "sum")
    assert found == [data[np.char.startswith(day, "2001-02")].sum((0, 2)).tolist()], found
    found = values(folder, "tas.nc:/*[lat=0:20]", "-d", "lat", "--op", "count")
    assert len(found) == 2, found
    errors = folder.run("tas.nc:/*[time=2030]", "-d", "time", status=1)[1]
    assert len(errors.splitlines()) == 1 and "selects nothing" in errors, errors


def check_memory_does_not_show(folder):
    make(folder, chunks=(50, 4, 4), compression="gzip")
    results = {folder.run("tas.nc:/tas[lon=350:20]", "--op", "mean,std", "-d", "time,lon", "--json", "--memory", memory,
                          "--threads", threads)[0] for memory in ("400K", "1M", "1G") for threads in ("1", "3")}
    assert len(results) == 1


def check_coordinates_are_read_as_they_mean(folder):
    """Packed, in radians, called by their names, and under --raw, which is about elements."""
    with h5py.File(folder.file("packed.nc"), "w") as file:
        lat = make_scale(file, "lat", np.array([0, 70, 140], "i2"), scale_factor=0.5, add_offset=10.0)
        lon = make_scale(file, "longitude", np.array([0, 1.5, 3, 4.5, 6]), units="radians")
        data = file.create_dataset("f", data=np.arange(15, dtype="i2").reshape(3, 5))
        data.attrs["scale_factor"] = 2.0
        attach(data, lat, lon)
    assert values(folder, "packed.nc:/f[lat=45:80]", "--op", "sum")[0] == [2 * (35 + 60)]
    assert values(folder, "packed.nc:/f[lat=45:80]", "--op", "sum", "--raw")[0] == [35 + 60]
    assert values(folder, "packed.nc:/f[lat=10, longitude=5:1]", "--op", "sum")[0] == [2 * (4 + 0)]
    assert values(folder, "packed.nc:/f[lat=10, longitude=5:1]", "--op", "sum", "--raw")[0] == [4 + 0]
    with folder.reduce("packed.nc:/f[longitude=5:1]", "-d", "lat") as out:
        assert np.allclose(out["longitude"][...], [6, 2 * np.pi], rtol=1e-15)


def check_files_of_a_series_without_the_period(folder):
    """A range of the series' dim may select nothing of a file, but not of all; other dims and single values may not."""
    for year in (2001, 2002, 2003):
        with h5py.File(folder.file(f"y{year}.nc"), "w") as file:
            days = 365.0 * (year - 2001) + np.arange(365)
            time = make_scale(file, "time", days, units="days since 2001-01-01", calendar="noleap")
            lat = make_scale(file, "lat", np.array([10.0, 20.0]), units="degrees_north")
            attach(file.create_dataset("t", data=np.repeat(days[:, None], 2, 1)), time, lat)
    files = lambda part: [f"y{year}.nc:/t[{part}]" for year in (2001, 2002, 2003)]
    for part, first, count in (("time=2002-06:2002-08", 516, 92), ("time=2001-12:2002-02", 334, 90), ("time=2003", 730, 365)):
        found = values(folder, "--concat", "time", *files(part), "-d", "time", "--op", "min,max,valid,argmax")
        assert found == [2 * [number] for number in (first, first + count - 1, count, count - 1)], (part, found)
        whole = [name.partition("[")[0] for name in files("")]
        assert values(folder, "--concat", "time", *whole, "--select", part, "-d", "time", "--op", "min,max,valid,argmax") == found
        with folder.reduce("--concat", "time", *files(part), "-d", "lat", "--op", "mean") as out:
            assert out["time"][...].tolist() == list(range(first, first + count)) and out["t"].shape == (count,)
    for part, reason in (("time=2009", "y2001.nc:/t: time=2009 selects nothing: time goes from 2001-01-01 to 2001-12-31, and the "
                          "other files have nothing of it, either"),
                         ("time=2002, lat=50:60", "y2001.nc:/t: lat=50:60 selects nothing: lat goes from 10 to 20")):
        errors = folder.run("--concat", "time", *files(part), status=1)[1]
        assert errors == f"h5gpured: {reason}\n", errors


def check_one_part_of_a_series(folder):
    """--select is of the series, not of each file: a single value is one element, and what is read beside goes along."""
    x, y = np.arange(10.0), np.arange(10.0)[::-1] ** 2
    for name, levels in (("a.nc", slice(0, 5)), ("b.nc", slice(5, 9)), ("c.nc", slice(9, 10)), ("all.nc", slice(0, 10))):
        with h5py.File(folder.file(name), "w") as file:
            scales = make_scale(file, "lev", x[levels]), make_scale(file, "lat", np.array([10.0, 20.0]))
            for key, numbers in (("x", x[levels]), ("y", y[levels])):
                attach(file.create_dataset(key, data=numbers[:, None] * [1, 10]), *scales)
    series = ("--concat", "lev", "a.nc:/x", "b.nc:/x", "c.nc:/x", "-d", "lev", "--op")
    for part, levels in (("lev=4", [4]), ("lev=9", [9]), ("lev = 2", [2]), ("lev=3:6", range(3, 7)), ("lat=12,lev=5", [5])):
        expected = [x[levels].sum() * lat for lat in ((1,) if "lat" in part else (1, 10))]
        assert values(folder, *series, "sum", "--select", part) == [expected], part
    errors = folder.run(*series, "sum", "--select", "lev=4.4", status=1)[1]
    assert errors == ("h5gpured: a.nc:/x: lev=4.4:4.4 selects nothing: lev goes from 0 to 4, and the other files have nothing "
                      "of it, either\n"), errors
    for part in ("0=4", "-2=4", "1=12"):
        errors = folder.run(*series, "sum", "--select", part, status=2)[1]
        assert f"--select '{part}': a single value takes names of dims" in errors, errors
    distance = "d(x, y): s += abs(x - y) -> s"
    expected = [[float(np.abs(x - y)[3:7].sum() * lat) for lat in (1, 10)]]
    beside = [("--with", "y=all.nc:/y"), ("--with", "y=all.nc:/y[lev=3:6]"),
              ("--with", "y=a.nc:/y", "--with", "y=b.nc:/y", "--with", "y=c.nc:/y"),
              ("--with", "y=a.nc:/y[lev=3:6]", "--with", "y=b.nc:/y[lev=3:6]")]
    for arrays in beside:
        assert values(folder, *series, distance, "--select", "lev=3:6", *arrays) == expected, arrays
        found = values(folder, *series, "sum", "--select", "lev=3:6", "--where", "y < 30", *arrays)
        assert found == [[4 + 5 + 6, None]], (arrays, found)
    for part in ((), ("--select", "lev=3:6"), ("--select", "lev=3:6,lat=10")):
        levels, lats = slice(*((3, 7) if part else (0, 10))), [1] if part and "lat" in part[1] else [1, 10]
        for where, kept in (("y < 30", y[:, None] * lats < 30), ("/y", y[:, None] * lats > 0)):
            cells = np.where(kept, x[:, None] * lats, np.nan)[levels].T
            expected = [[None if np.isnan(column).all() else np.nansum(column) for column in cells]]
            for beside in ((), ("--with", "y=/y")) if where != "/y" else ((),):
                assert values(folder, *series, "sum", *part, "--where", where, *beside) == expected, (part, where)


def check_one_part_for_all_inputs(folder):
    """--select is what [PART] behind each input is."""
    for i in range(2):
        make(folder, f"s{i}.nc")
    inputs = ["s0.nc:/tas", "s1.nc:/tas"]
    for part in ("time=2001-03:2001-05,lat=30:60", " lat = 10 , lon=350:20", "[time=2001]", "0:5,...,3", "lat=40"):
        bare = part.strip("[]")
        expected = values(folder, *(f"{name}[{bare}]" for name in inputs), "-d", "time,lat")
        assert values(folder, *inputs, "--select", part, "-d", "time,lat") == expected, part
    part = "time=2000-12-01:2001-01-31,lat=30:60"
    behind = [f"{name}[{part}]" for name in inputs]
    assert values(folder, "--concat", "new:run", *inputs, "--select", part) == values(folder, "--concat", "new:run", *behind)
    with folder.reduce("s0.nc", "-d", "time", "--op", "mean", "--select", "time=2001,lat=0:90") as made:
        assert made["tas"].shape == (12, len(LON)) and made["mask"].shape == (12, len(LON)), made["tas"]
    for arguments, said in (((*inputs, "--select", ""), "--select: the part is empty"), ((*inputs, "--select", "[ ]"), "--select: the part is empty"),
                            (("s0.nc:/tas[0]", "--select", "lat=0:10"), "--select: s0.nc:/tas[0] has a part of its own already"),
                            (("--concat", "time", *inputs, "--select", "0:5"), "--select '0:5': under --concat take coordinates"),
                            (("--list", "s0.nc", "--select", "lat=0:10"), "--list lists what files hold, without --select")):
        errors = folder.run(*arguments, status=2)[1]
        assert said in errors, errors
    errors = folder.run("s0.nc:/tas", "--select", "lat=91:95", status=1)[1]
    assert "lat=91:95 selects nothing" in errors, errors


def check_longitudes_that_are_none(folder):
    """Where turns do not count, as on an axis in metres or one that goes round twice, a line says so of a range beyond the axis: one for all variables of a file."""
    for name, lon, units, part, selected, reason in (
            ("m.nc", LON, "m", "lon=345:15", "15 to 345", "the units 'm' of lon are not those of longitudes"),
            ("m.nc", LON, "m", "lon=-10:40", "0 to 37.5", "the units 'm' of lon are not those of longitudes"),
            ("twice.nc", np.arange(0.0, 691, 10), "degrees_east", "lon=-10:40", "0 to 40", "lon goes more than once round")):
        with h5py.File(folder.file(name), "w") as file:
            axis = make_scale(file, "lon", lon, units=units)
            for variable in ("tas", "pr"):
                attach(file.create_dataset(variable, data=lon), axis)
        output, errors = folder.run(name, "--select", part, "-d", "lon", "--op", "min,max", "--json")
        assert errors == f"h5gpured: {name}: {part} selects {selected}: turns do not count, as {reason}\n", errors
        assert [json.loads(line)["data"] for line in output.splitlines()] == 2 * [[float(end)] for end in selected.split(" to ")], output
    errors = folder.run("twice.nc:/tas[lon=350:10]", status=1)[1]
    assert errors == ("h5gpured: twice.nc:/tas: lon=350:10 selects nothing: lon goes from 0 to 690; "
                      "turns do not count, as lon goes more than once round\n"), errors


def check_errors_name_the_axis(folder):
    make(folder)
    fails(folder, "lat=95:99", "tas.nc:/tas: lat=95:99 selects nothing: lat goes from -88 to 88")
    fails(folder, "time=2010", "time=2010 selects nothing: time goes from 2000-11-20T12:00:00 to 2003-01-28T12:00:00")
    fails(folder, "time=2001-02-29", "'2001-02-29' is no date of the calendar noleap")
    fails(folder, "lon2=0:1", "lon2 is a coordinate of 2 dims")
    fails(folder, "lev=0:1", "no dim is named 'lev'; its dims are time, lat, lon")
    errors = folder.run("tas.nc:/tas", "-d", "time,lon2", status=1)[1]
    assert errors == "h5gpured: tas.nc:/tas: no dim is named 'lon2'; its dims are time, lat, lon; lon2 has the dims lat, lon\n", errors
    fails(folder, "lat=north", "'lat=north' is no range of numbers")
    with h5py.File(folder.file("plain.h5"), "w") as file:
        file["x"] = np.arange(6.0)
        lev = make_scale(file, "lev", np.array([1000.0, 50000, 85000, 100000]), units="Pa")
        attach(file.create_dataset("y", data=np.arange(4.0)), lev)
    errors = folder.run("plain.h5:/y[lev=500:850]", status=1)[1]
    assert errors == "h5gpured: plain.h5:/y: lev=500:850 selects nothing: lev goes from 1000 to 100000 Pa\n", errors
    errors = folder.run("plain.h5:/x[0=1:2]", status=1)[1]
    assert errors == "h5gpured: plain.h5:/x: its dim 0 has no coordinates\n", errors


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
