#!/usr/bin/python3
"""Boxes across the seam of longitudes, of one file and of many, against NumPy: seams.py TOOL

Elements are small whole numbers, so that sums are exact; the last bits of means are compared with those of files that
have the box in one piece. Exits 77 without h5py.
"""
import json
import sys

from output import attach, h5py, make_scale, np, run_checks

LON, LAT, YEARS, DAYS = np.arange(0.0, 360, 15), np.array([-60.0, -20, 20, 60]), (2001, 2002, 2003), 40
BOXES = {"lon=-40:70": (-40, 70), "lon=315:20": (315, 380), "lon=180:179": (180, 539), "lat=0:90, lon=-180:165": (-180, 165)}
LAYOUTS = {"contiguous": {}, "wide": {"chunks": (7, 2, 24), "compression": 1}, "small": {"chunks": (16, 3, 5), "shuffle": True},
           "library": {"chunks": (9, 4, 7), "scaleoffset": 0}}


def whole(model):
    """The elements of all years, lon from 0 on."""
    numbers = np.random.default_rng(sum(map(ord, model))).integers(-40, 60, (len(YEARS) * DAYS, len(LAT), len(LON)))
    return numbers.astype("f4")


def put(file, name, data, scales, **options):
    """options: chunks are those of three dims."""
    if "chunks" in options:
        chunks = options["chunks"][-data.ndim:]
        options["chunks"] = tuple(min(pair) for pair in zip(chunks, data.shape))
    attach(file.create_dataset(name, data=data, **options), *scales)


def make_year(folder, name, model, number, lon, lat=LAT, **layout):
    """x, y = 2 x, the map m, which is the same in all files, and zones of one year: where these longitudes and latitudes
    are."""
    at = np.rint(np.mod(lon, 360) / 15).astype(int)
    rows = [int(np.flatnonzero(value == LAT)[0]) for value in lat]
    values = whole(model)[number * DAYS:(number + 1) * DAYS][:, rows][..., at]
    with h5py.File(folder.file(name), "w") as file:
        days = 365.0 * number + 9 * np.arange(DAYS)
        scales = [make_scale(file, "time", days - 365 * number, units=f"days since {YEARS[number]}-01-01", calendar="noleap"),
                  make_scale(file, "lat", lat, units="degrees_north"),
                  make_scale(file, "lon", lon, units="degrees_east", bounds="lon_bnds")]
        attach(file.create_dataset("lon_bnds", data=np.stack([lon - 7.5, lon + 7.5], 1)), scales[2], make_scale(file, "nv", np.zeros(2)))
        put(file, "x", values, scales, **layout)
        put(file, "y", 2 * values, scales, **layout)
        put(file, "m", whole(model)[0][rows][:, at], scales[1:], **layout)
        put(file, "zone", at[None, :] // 7 + 4 * np.array(rows)[:, None], scales[1:])


def make(folder, model="a", lon=LON, lat=LAT, layout="contiguous", years=3):
    """The files of some years, and their names."""
    names = [f"{model}{YEARS[number]}.nc" for number in range(years)]
    for number, name in enumerate(names):
        make_year(folder, name, model, number, lon, lat, **LAYOUTS[layout])
    return names


def places(box):
    """The longitudes of a box, going on from its west end, and their indices in LON."""
    west, east = BOXES[box]
    lon = np.arange(np.ceil(west / 15) * 15, east + 1, 15)
    return lon, np.rint(np.mod(lon, 360) / 15).astype(int)


def rows(box):
    return np.flatnonzero(LAT >= 0) if "lat" in box else np.arange(len(LAT))


def cut(values, box):
    return values[..., rows(box)[:, None], places(box)[1]]


def answers(folder, *arguments):
    found = [json.loads(line) for line in folder.run("--json", *arguments)[0].splitlines()]
    return [np.array([np.nan if v is None else v for v in item["data"]], "f8").reshape(item["shape"]) for item in found]


def same(found, expected, what):
    assert found.shape == np.shape(expected) and np.array_equal(found, expected), f"{what}: {found} instead of {expected}"


AXES = {"time": (0,), "lat,lon": (1, 2), "lon": (2,), "time,lon": (0, 2), "all": (0, 1, 2)}


def check_files_that_follow_each_other(folder):
    values = whole("a").astype("f8")
    for layout in LAYOUTS:
        names = make(folder, layout=layout)
        for box in BOXES:
            x = cut(values, box)
            for dims, axes in AXES.items():
                for memory in ("1G", "100K"):
                    job = ("-d", dims, "--op", "sum,max,valid", "--memory", memory, "--select", box)
                    found = answers(folder, "--concat", "time", *job, *(f"{name}:/x" for name in names))
                    for item, expected in zip(found, (x.sum(axes), x.max(axes), np.ones_like(x).sum(axes))):
                        same(item, expected, (layout, box, dims, memory))
            found = answers(folder, "a2002.nc:/x[" + box + "]", "-d", "time", "--op", "sum,argmax")
            same(found[0], x[DAYS:2 * DAYS].sum(0), (layout, box))
            same(found[1], x[DAYS:2 * DAYS].argmax(0), (layout, box))
            same(answers(folder, f"--concat=time", *(f"{name}:/x[{box}]" for name in names), "-d", "lat,lon", "--op", "argmax")[0],
                 x.reshape(len(x), -1).argmax(1), (layout, box))


def check_files_that_are_stacked(folder):
    values = whole("a").reshape(3, DAYS, len(LAT), len(LON)).astype("f8")
    for number in range(3):
        make_year(folder, f"r{number}.nc", "a", number, LON, **LAYOUTS["wide"])
        with h5py.File(folder.file(f"r{number}.nc"), "a") as file:
            file["time"].attrs["units"] = "days since 2001-01-01"
    for box in BOXES:
        x = cut(values, box)
        for dims, axes in (("member", 0), ("member,lon", (0, 3)), ("time,lat", (1, 2))):
            found = answers(folder, "--concat", "new:member", "--select", box, "r?.nc:/x", "-d", dims, "--op", "sum,max")
            same(found[0], x.sum(axes), (box, dims))
            same(found[1], x.max(axes), (box, dims))
    with folder.reduce("--concat", "new:member", "--select", "lon=-40:70", "r0.nc", "r1.nc", "-d", "member", "--op", "mean") as out:
        same(out["x"][...], cut(values, "lon=-40:70")[:2].mean(0), "mean of members")
        assert out["lon"][...].tolist() == places("lon=-40:70")[0].tolist()


def check_all_variables(folder):
    """Results, what is copied beside them, and their coordinates and bounds."""
    values = whole("a")
    make(folder, layout="wide")
    for box in BOXES:
        lon = places(box)[0]
        with folder.reduce("--concat", "time", "a200?.nc", "--select", box, "-d", "time", "--op", "max") as out:
            for name, factor in (("x", 1), ("y", 2)):
                same(out[name][...], factor * cut(values, box).max(0), (box, name))
            same(out["m"][...], cut(values, box)[0], (box, "m"))
            same(out["lon"][...], lon, box)
            same(out["lon_bnds"][...], np.stack([lon - 7.5, lon + 7.5], 1), box)
            same(out["lat"][...], LAT[rows(box)], box)
    with folder.reduce("--concat", "time", "a200?.nc:/x", "--select", "time=2001-12:2002-02, lon=-40:70", "-d", "lon", "--op", "sum") as out:
        time = np.concatenate([365 * n + 9 * np.arange(DAYS) for n in range(3)])
        kept = (time >= 334) & (time < 365 + 59)
        same(out["x"][...], cut(values, "lon=-40:70")[kept].sum(2), "a period")
        same(out["time"][...], time[kept], "its times")


def check_groups_and_scans(folder):
    values = whole("a").astype("f8")
    make(folder, layout="small")
    series = ("--concat", "time", "a200?.nc:/x")
    time = np.concatenate([9 * np.arange(DAYS)] * 3)
    month = np.searchsorted(np.cumsum([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30]), time, "right")
    for box in BOXES:
        x, job = cut(values, box), (*series, "--select", box)
        same(answers(folder, *job, "--by", "time:month", "--op", "sum")[0], np.stack([x[month == m].sum(0) for m in range(12)]), box)
        found = answers(folder, *job, "--by", "time:year", "-d", "lat,lon", "--op", "max", "--memory", "100K")[0]
        same(found, x.reshape(3, DAYS, -1).max((1, 2)), box)
        count = x.shape[2] // 3
        same(answers(folder, *job, "--coarsen", "lon=3,trim", "--op", "sum", "-d", "time")[0],
             x[..., :3 * count].reshape(*x.shape[:2], count, 3).sum((0, 3)), box)
        zone = (np.arange(len(LON))[None, :] // 7 + 4 * np.arange(len(LAT))[:, None])[rows(box)[:, None], places(box)[1]]
        same(answers(folder, *job, "--by", "lat,lon:/zone", "--op", "sum")[0],
             np.stack([x[:, zone == z].sum(1) for z in np.unique(zone)], -1), box)
        for dim, axis in (("time", 0), ("lon", 2)):
            for more in ((), ("--memory", "100K")):
                with folder.reduce(*job, "--scan", "sum", "-d", dim, *more) as out:
                    same(out["x"][...], x.cumsum(axis), (box, dim))


def check_what_is_read_beside(folder):
    """Maps and series of the whole, in the same order of longitudes and in others, whose files go round elsewhere or westwards."""
    x0, y0 = whole("a").astype("f8"), whole("b").astype("f8")
    make(folder, layout="wide")
    orders = {"same": (LON, LAT), "west": (np.arange(-180.0, 180, 15), LAT), "shifted": (LON + 45, LAT[::-1]),
              "back": (LON[::-1], LAT), "west and back": (np.arange(165.0, -181, -15), LAT[::-1])}
    for order, (lon, lat) in orders.items():
        make(folder, "b", lon, lat, layout="small")
        for box in BOXES:
            x, y, job = cut(x0, box), cut(y0, box), ("--concat", "time", "--select", box, "a200?.nc:/x")
            beside = (*job, "--with", "y=b200?.nc:/x")
            for memory in ("1G", "100K"):
                what = (order, box, memory)
                dot = (*beside, "--memory", memory, "--op", "dot(x, y): s += x * y -> s")
                same(answers(folder, *dot, "-d", "time,lon")[0], (x * y).sum((0, 2)), what)
                found = answers(folder, *beside, "--memory", memory, "--where", "y > 5 && lat > -30", "--op", "sum,valid", "-d", "time")
                kept = (y > 5) & (LAT[rows(box)] > -30)[:, None]
                same(np.nan_to_num(found[0]), np.where(kept, x, 0).sum(0), what)
                same(found[1], kept.sum(0), what)
                same(answers(folder, *job, "--memory", memory, "--where", "b2001.nc:/m", "--op", "valid")[0], (y[:1] != 0).sum() * len(x), what)
            found = answers(folder, *job, "--weights", "lat:cos", "--op", "mean", "-d", "lat,lon")[0]
            weights = np.cos(np.radians(LAT[rows(box)]))[:, None] * np.ones(x.shape[2])
            np.testing.assert_allclose(found, np.average(x.reshape(len(x), -1), axis=1, weights=weights.ravel()), rtol=1e-12)
        # Whole globes are paired by place, too; what is a part of both as it is.
        pairs = [("", "", np.arange(24)), ("[lon=-180:170]", "", np.roll(np.arange(24), 12))]
        if "back" not in order:
            pairs += [("[lon=0:359]", "[lon=0:359]", np.arange(24)), ("[lon=300:10]", "[lon=-60:10]", [20, 21, 22, 23, 0])]
        for mine, other, index in pairs:
            found = answers(folder, "--concat", "time", f"a200?.nc:/x{mine}", "--with", f"y=b200?.nc:/x{other}", "-d", "time,lat", "--op",
                            "dot(x, y): s += x * y -> s")
            same(found[0], (x0 * y0).sum((0, 1))[index], (order, mine, other))


def check_arrays_of_each_file(folder):
    """Arrays of the files themselves, which begin at other longitudes each: the first at that of the box, so that it alone
    has no seam."""
    values = whole("a").astype("f8")
    for number, begin in enumerate((180, 0, -90)):
        make_year(folder, f"o{number}.nc", "a", number, LON + begin, **LAYOUTS["small"])
        make_year(folder, f"s{number}.nc", "a", number, LON + begin, **LAYOUTS["wide"])
        with h5py.File(folder.file(f"s{number}.nc"), "a") as file:
            file["time"].attrs["units"] = "days since 2001-01-01"
    for box in (*BOXES, "lon=180:539"):
        x = cut(values, box if box in BOXES else "lon=180:179")
        kept = np.where(2 * x > 10, x, 0)
        for way in (("--where", "y > 10"), ("--where", "z > 10", "--with", "z=/y")):
            found = answers(folder, "--concat", "time", "--select", box, "o?.nc:/x", *way, "-d", "time", "--op", "sum,valid")
            same(np.nan_to_num(found[0]), kept.sum(0), (box, way))
            same(found[1], (2 * x > 10).sum(0), (box, way))
            found = answers(folder, "--concat", "new:member", "--select", box, "s?.nc:/x", *way, "-d", "time", "--op", "valid")
            same(found[0], (2 * x > 10).reshape(3, DAYS, *x.shape[1:]).sum(1), (box, way))


def check_bits(folder):
    """Those of files that have the box in one piece; memory, threads and parts do not show."""
    for layout, rolled in (("contiguous", {}), ("wide", {"chunks": (7, 2, 8), "compression": 1})):
        make(folder, layout=layout)
        lon, _ = places("lon=-40:70")
        for number in range(3):
            make_year(folder, f"rolled{number}.nc", "a", number, lon, **rolled)
        for dims in ("time", "lat,lon", "all"):
            job = ("-d", dims, "--op", "mean,std,logsumexp")
            wanted = [item.tobytes() for item in answers(folder, "--concat", "time", "rolled?.nc:/x", *job)]
            series = ("--concat", "time", "a200?.nc:/x", "--select", "lon=-40:70", *job)
            for more in ((), ("--memory", "100K"), ("--threads", "1"), ("--threads", "3", "--memory", "100K")):
                assert [item.tobytes() for item in answers(folder, *series, *more)] == wanted, (layout, dims, more)
            for count in (2, 5):
                states = [f"{layout}.{dims}.{k}.{count}" for k in range(count)]
                for k, state in enumerate(states):
                    folder.run(*series, "--part", f"{k + 1}/{count}", "--state", state)
                assert [item.tobytes() for item in answers(folder, "--merge", *states)] == wanted, (layout, dims, count)


def check_two_seams(folder):
    """A matrix of longitudes by longitudes, cut across the seam of both: elements, maps beside it, running sums."""
    x = np.random.default_rng(3).integers(0, 50, (6, len(LON), len(LON)))
    for layout in ({}, {"chunks": (2, 24, 24), "compression": 1}, {"chunks": (4, 7, 24)}, {"chunks": (3, 5, 7), "scaleoffset": 0}):
        with h5py.File(folder.file("pairs.nc"), "w") as file:
            scales = [make_scale(file, "time", np.arange(6.0)), make_scale(file, "lon", LON, units="degrees_east"),
                      make_scale(file, "longitude", LON - 180, units="degrees_east")]
            put(file, "x", x.astype("i2"), scales, **layout)
            put(file, "k", (x[0] % 2).astype("i2"), scales[1:], **layout)
        part = x[:, [22, 23, 0, 1, 2, 3]][..., [23, 0, 1]]
        job = ("pairs.nc:/x[lon=-30:45, longitude=165:195]",)
        same(answers(folder, *job, "-d", "time", "--op", "sum")[0], part.sum(0), layout)
        same(answers(folder, *job, "-d", "lon", "--op", "max")[0], part.max(1), layout)
        same(answers(folder, *job, "--where", "/k", "--op", "sum")[0], (part * (part[0] % 2)).sum(), layout)
        with folder.reduce(*job, "--scan", "sum", "-d", "lon") as out:
            same(out["x"][...], part.cumsum(1), layout)
            assert out["longitude"][...].tolist() == [165, 180, 195], out["longitude"][...]


def check_stages(folder):
    """Windows along the longitudes are reduced in stages, one of which has the seam."""
    with h5py.File(folder.file("long.nc"), "w") as file:
        lon = make_scale(file, "lon", LON, units="degrees_east")
        x = file.create_dataset("x", (len(LON), 6 << 20), "i1", chunks=(1, 6 << 20), compression=1)
        for i in range(len(LON)):
            x[i] = i
        x.dims[0].attach_scale(lon)
    job = ("long.nc:/x[lon=90:75]", "--coarsen", "lon=4", "--op", "max")
    assert " stages" in folder.run(*job, "--explain", "-q", "-o", "out.nc", "--overwrite")[1]
    with h5py.File(folder.file("out.nc")) as out:
        rows = np.roll(np.arange(len(LON)), -6).reshape(-1, 4).max(1)
        assert (out["x"][:, ::99991] == rows[:, None]).all(), out["x"][:, 0]


def check_both_orders_of_longitudes(folder):
    """Files whose longitudes begin elsewhere are refused; the error names a part that gives them one order, and under it they are reduced."""
    make(folder, "a")
    for name, lon in (("west", LON - 180), ("down", (LON - 180)[::-1]), ("thirds", np.float32((LON - 180) / 3) * 3.0 + 1e-4)):
        make(folder, name, lon)
        first = "a2001.nc"
        if name == "down":
            make(folder, "b", LON[::-1])
            first = "b2001.nc"
        for concat, ends in (("time", "files of a series have the same coordinates along its other dims"),
                             ("new:m", "members of a new dim have the same coordinates")):
            other = f"{name}2001.nc" if concat == "new:m" else f"{name}2002.nc"
            errors = folder.run("--concat", concat, "-d", "time", f"{first}:/x", f"{other}:/x", status=1)[1]
            said, part = errors.rstrip("\n").split("; these are the same longitudes, and agree under --select ")
            assert said.endswith(ends) and (part == "lon=0:345") == (name != "thirds"), errors
            with folder.reduce("--concat", concat, "-d", "time", f"{first}:/x", f"{other}:/x", "--select", part, "--op", "max") as out:
                turn = -1 if name == "down" else 1
                years = [whole(first[0])[:DAYS], whole(name)[:DAYS] if concat == "new:m" else whole(name)[DAYS:2 * DAYS]]
                maxima = [year.max(0)[:, ::turn] for year in years]
                same(out["x"][...], np.stack(maxima) if concat == "new:m" else np.maximum(*maxima), f"{name} {concat}")
                same(out["lon"][...], LON[::turn], "their longitudes")


def check_files_along_longitudes(folder):
    """Files that follow each other along the longitudes, the first of which has the seam."""
    make(folder)
    index = [21, 22, 23, 0, 2, 3, 4]
    series = ("--concat", "lon", "a2001.nc:/x[lon=-45:10]", "a2001.nc:/x[lon=30:60]")
    with folder.reduce(*series, "-d", "time", "--op", "sum") as out:
        same(out["x"][...], whole("a")[:DAYS][..., index].sum(0), "files along lon")
        lon = np.array([-45, -30, -15, 0, 30, 45, 60])
        same(out["lon"][...], lon, "their longitudes")
        same(out["lon_bnds"][...], np.stack([lon - 7.5, lon + 7.5], 1), "their bounds")


def check_strange_bounds(folder):
    """Bounds that begin anew at 360 are those of the cells of their longitudes; texts are no bounds, and left out."""
    make(folder)
    with h5py.File(folder.file("a2001.nc"), "a") as file:
        file["lon_bnds"][...] = np.mod(file["lon_bnds"][...], 360)
    for part, wanted in (("", [[-7.5, 82.5], [82.5, 172.5], [172.5, 262.5], [262.5, 352.5]]), ("[lon=-45:30]", [[-52.5, 37.5]])):
        with folder.reduce(f"a2001.nc:/x{part}", "--coarsen", "lon=6", "--op", "mean") as out:
            same(out["lon_bnds"][...], wanted, part)
    with h5py.File(folder.file("a2001.nc"), "a") as file:
        scale = file["nv"]
        del file["lon_bnds"]
        attach(file.create_dataset("lon_bnds", data=np.array([[b"a", b"b"]] * len(LON))), file["lon"], scale)
    with folder.reduce("a2001.nc:/x[lon=-45:30]", "-d", "time") as out:
        assert "lon_bnds" not in out and "bounds" not in out["lon"].attrs, list(out)


def check_cells(folder):
    """What lies in another order than the cells of another file does not name its areas."""
    make(folder)
    with h5py.File(folder.file("a2001.nc"), "a") as file:
        file["x"].attrs["cell_measures"] = "area: elsewhere"
    for part, kept in (("", True), ("[lon=180:179]", False), ("[lon=-40:70]", False)):
        with folder.reduce(f"a2001.nc:/x{part}", "-d", "time") as out:
            assert ("cell_measures" in out["x"].attrs) == kept, part


CHECKS = [check_files_that_follow_each_other, check_files_that_are_stacked, check_all_variables, check_groups_and_scans,
          check_what_is_read_beside, check_arrays_of_each_file, check_bits, check_two_seams, check_stages,
          check_both_orders_of_longitudes, check_files_along_longitudes, check_strange_bounds, check_cells]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
