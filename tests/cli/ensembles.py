#!/usr/bin/python3
"""--concat new:NAME, against NumPy: ensembles.py TOOL
"""
import json
import sys

from output import attach, attributes, h5py, make_scale, np, run_checks, text

DAYS = np.array([15.0, 45, 75, 105])
LAT = np.array([-40.0, 0, 40])
LON = np.arange(0, 360, 72.0)


def make_member(folder, name, seed, time=DAYS, units="days since 2001-01-01", calendar="standard", lat=LAT,
                realization=None, dtype="f4", **storage):
    """t(time, lat, lon) of whole numbers, whose sums are exact; one in ten is missing."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-99, 99, (len(time), len(lat), len(LON))).astype(dtype)
    gone = rng.random(x.shape) < 0.1
    with h5py.File(folder.file(name), "w") as file:
        scales = [make_scale(file, "time", np.asarray(time, "f8"), units=units, calendar=calendar),
                  make_scale(file, "lat", lat, units="degrees_north"), make_scale(file, "lon", LON, units="degrees_east")]
        file.create_dataset("t", data=np.where(gone, -999, x), **storage)
        attach(file["t"], *scales)
        file["t"].attrs.update({"units": "K", "_FillValue": np.array([-999], dtype), "coordinates": "height run"})
        file["height"] = 2.0
        if realization is not None:
            file["run"] = np.int32(realization)
            file["run"].attrs.update({"standard_name": "realization", "long_name": "which run"})
    return np.where(gone, np.nan, x)


def make_all(folder):
    """Four members, each stored in its own way, with times in units of their own."""
    chunks = {"chunks": (1, 2, 2), "compression": 1, "shuffle": True}
    return np.stack([
        make_member(folder, "a.nc", 1, realization=3),
        make_member(folder, "b.nc", 2, (DAYS - 1) * 24, "hours since 2001-01-02", "gregorian", realization=5, **chunks),
        make_member(folder, "c.nc", 3, DAYS, calendar="proleptic_gregorian", realization=2, chunks=(2, 3, 5), scaleoffset=0),
        make_member(folder, "d.nc", 4, lat=LAT + 1e-5, realization=9, dtype=">f4", chunks=(3, 2, 5))])


FILES = ("a.nc", "b.nc", "c.nc", "d.nc")
STACK = ("--concat", "new:member", *FILES)


def answers(folder, *arguments):
    lines = folder.run("--json", *arguments)[0].decode().splitlines()
    return {item["op"]: (item, np.array([np.nan if v is None else v for v in item["data"]]).reshape(item["shape"]))
            for item in map(json.loads, lines)}


def check_numbers(folder):
    """Over the new dim, over others, over both, and in parts, whatever memory there is."""
    x = make_all(folder)
    for memory in ("100M", "100K"):
        found = answers(folder, *STACK, "-d", "member", "--op", "mean,std,valid,sum", "--ddof", "1", "--memory", memory)
        np.testing.assert_allclose(found["mean"][1], np.nanmean(x, 0), rtol=1e-6)
        np.testing.assert_allclose(found["std"][1], np.nanstd(x, 0, ddof=1), rtol=1e-5)
        np.testing.assert_array_equal(found["valid"][1], np.isfinite(x).sum(0))
        for dims, axes in (("lat,lon", (2, 3)), ("member,time", (0, 1)), ("0,-1", (0, 3)), ("all", (0, 1, 2, 3))):
            found = answers(folder, *STACK, "-d", dims, "--op", "sum,max", "--memory", memory)
            np.testing.assert_array_equal(found["sum"][1], np.nansum(x, axes))
            np.testing.assert_array_equal(found["max"][1], np.nanmax(x, axes))
    part = "[time=2001-02:2001-03, lat=0:50, ..., ::2]"
    found = answers(folder, "--concat", "new:m", *[f + ":/t" + part for f in FILES], "-d", "m,time")
    assert found["sum"][0]["dim_names"] == ["m", "time"]
    np.testing.assert_array_equal(found["sum"][1], np.nansum(x[:, 1:3, 1:, ::2], (0, 1)))
    found = answers(folder, *STACK, "-d", "all", "--op", "argmax", "--coords")["argmax"][0]
    assert found["coords"]["member"] == [[3, 5, 2, 9][np.unravel_index(np.nanargmax(x), x.shape)[0]]], found


def check_beside(folder):
    """Groups, weights, masks and second arrays."""
    x = make_all(folder)
    found = answers(folder, *STACK, "--by", "time:season", "-d", "member", "--op", "sum")["sum"]
    assert found[0]["groups"] == ["DJF", "MAM"], found
    np.testing.assert_array_equal(found[1], np.stack([np.nansum(x[:, :2], (0, 1)), np.nansum(x[:, 2:], (0, 1))]))
    found = answers(folder, *STACK, "--coarsen", "member=2", "--op", "max")["max"]
    np.testing.assert_array_equal(found[1], np.stack([np.fmax.reduce(x[i:i + 2]) for i in (0, 2)]))
    weights = np.ma.masked_invalid(x)
    cosine = np.broadcast_to(np.cos(np.radians(LAT))[:, None], x.shape)
    found = answers(folder, *STACK, "-d", "lat,member", "--op", "mean", "--weights", "lat:cos")["mean"]
    np.testing.assert_allclose(found[1], np.ma.average(weights, axis=(0, 2), weights=cosine), rtol=1e-12)
    with h5py.File(folder.file("a.nc"), "a") as file:
        file["area"] = area = np.arange(15.0).reshape(3, 5)
        attach(file["area"], file["lat"], file["lon"])
    named = [f + ":/t" for f in FILES]
    found = answers(folder, "--concat", "new:member", *named, "-d", "lat,lon", "--op", "mean", "--weights", "/area", "--where", "area > 3")["mean"]
    inside = np.ma.masked_where(np.broadcast_to(area <= 3, x.shape), weights)
    np.testing.assert_allclose(found[1], np.ma.average(inside, axis=(2, 3), weights=np.broadcast_to(area, x.shape)), rtol=1e-12)
    pair = [word for f in FILES for word in ("--with", f"y={f}:/t")]
    found = answers(folder, *STACK, "-d", "all", "--op", "twice(x, y): s += x + y -> s", *pair)["twice"]
    assert found[1] == 2 * np.nansum(x), found


def check_file(folder):
    """The new dim has the members' numbers; what is of one member alone is not copied."""
    x = make_all(folder)
    with folder.reduce(*STACK, "-d", "lat,lon", "--op", "sum") as out:
        assert [dim[0].name for dim in out["t"].dims] == ["/member", "/time"]
        assert out["member"][...].tolist() == [3, 5, 2, 9] and out["member"].dtype == np.dtype("i4")
        assert attributes(out["member"]) == {"standard_name": "realization", "long_name": "which run"}
        assert out["time"][...].tolist() == DAYS.tolist() and text(out["t"].attrs["coordinates"]) == "height", list(out)
        assert "run" not in out and out["height"][()] == 2
        np.testing.assert_array_equal(out["t"], np.nansum(x, (2, 3)))
    with folder.reduce(*STACK, "-d", "member", "--op", "max") as out:
        assert text(out["t"].attrs["cell_methods"]) == "member: maximum" and "run" not in out and "member" not in out
    make_member(folder, "e.nc", 5)
    with folder.reduce("--concat", "new:run", "a.nc", "e.nc", "-d", "time") as out:
        assert text(out["run"].attrs["NAME"]).startswith("This is a netCDF dimension") and out["t"].shape == (2, 3, 5)
    make_member(folder, "e.nc", 5, realization=7)
    with h5py.File(folder.file("e.nc"), "a") as file:
        file.move("run", "realization")
        del file["realization"].attrs["standard_name"], file["t"].attrs["coordinates"]
    with folder.reduce("--concat", "new:realization", "e.nc", "e.nc", "-d", "time") as out:
        assert out["realization"][...].tolist() == [7, 7]


def check_refusals(folder):
    """One line that names the file and what differs."""
    make_member(folder, "a.nc", 1)
    make_member(folder, "late.nc", 2, DAYS + [0, 0, 1, 0])
    make_member(folder, "model.nc", 2, calendar="360_day")
    make_member(folder, "julian.nc", 2, [15, 45, 75, 105], "days since 1500-01-01")
    make_member(folder, "proleptic.nc", 2, [15, 45, 75, 105], "days since 1500-01-01", "proleptic_gregorian")
    make_member(folder, "steps.nc", 2, units="1")
    make_member(folder, "grid.nc", 2, lat=LAT + 1)
    make_member(folder, "short.nc", 2, DAYS[:3])
    make_member(folder, "double.nc", 2, dtype="f8")
    end = "; members of a new dim have the same coordinates"
    for name, files, reason in (
            ("new:m", ("a.nc", "late.nc"), "late.nc:/t: its time[2] is 2001-03-18, that of a.nc:/t is 2001-03-17" + end),
            ("new:m", ("a.nc", "a.nc", "model.nc"),
             "model.nc:/t: its time is of the calendar 360_day, that of a.nc:/t of the calendar standard" + end),
            ("new:m", ("julian.nc", "proleptic.nc"),
             "proleptic.nc:/t: its time is of the calendar proleptic_gregorian, that of julian.nc:/t of the calendar standard" + end),
            ("new:m", ("a.nc", "steps.nc"), "steps.nc:/t: its time has units '1', that of a.nc:/t has 'days since 2001-01-01'" + end),
            ("new:m", ("a.nc", "grid.nc"), "grid.nc:/t: its lat[0] is -39, that of a.nc:/t is -40" + end),
            ("new:m", ("a.nc", "short.nc"), "short.nc:/t: dim 0 (time) has size 3 where a.nc:/t has 4"),
            ("new:m", ("a.nc:/t", "a.nc:/height"), "a.nc:/height: has 0 dims where a.nc:/t has 3"),
            ("new:m", ("a.nc", "double.nc"), "double.nc:/t: holds f64 where a.nc:/t holds f32"),
            ("new:lat", ("a.nc", "a.nc"), "a.nc:/t: has a dim lat already: 'lat' lays files along it, and a new dim needs another name"),
            ("new:3", ("a.nc", "a.nc"), "a.nc:/t: '3' is no name for a new dim, which begins with a letter and has no comma")):
        errors = folder.run("--concat", name, *files, status=1)[1]
        assert errors == f"h5gpured: {reason}\n", errors
    with h5py.File(folder.file("a.nc"), "a") as file:
        file["more"] = np.zeros(len(LAT))
        attach(file["more"], file["lat"])
    for name in ("time", "lat"):
        errors = folder.run("--concat", f"new:{name}", "-q", "-d", "time", "a.nc", "a.nc", status=1)[1]
        assert errors == (f"h5gpured: a.nc:/t: has a dim {name} already: '{name}' lays files along it, and a new dim needs "
                          "another name\n"), errors
    errors = folder.run("--concat", "new:", "a.nc", status=2)[1]
    assert errors.count("\n") == 1 and "--concat new:NAME" in errors, errors


def make_whole(folder, name, seed, orography=7):
    """Two variables, one along time alone, and what does not change from member to member."""
    make_member(folder, name, seed, realization=seed)
    rng = np.random.default_rng(seed)
    with h5py.File(folder.file(name), "a") as file:
        time, lat, lon = file["time"], file["lat"], file["lon"]
        for made, values, scales in (("index", rng.random(4), (time,)), ("orog", np.full((3, 5), orography, ">i2"), (lat, lon)),
                                     ("place", np.array(["x", "y", "z"], object), (lat,))):
            file[made] = values
            attach(file[made], *scales)
        file["orog"].attrs["units"] = "m"


def check_whole_files(folder):
    """FILE alone, and patterns: every variable is stacked; what is not reduced is copied if it is the same everywhere."""
    files = FILES[:3]
    for seed, name in enumerate(files):
        make_whole(folder, name, seed + 1)
    stack = ("--concat", "new:member", *files)

    def elements(path):
        members = []
        for name in files:
            with h5py.File(folder.file(name)) as file:
                members.append(np.where(file[path][()] == -999, np.nan, file[path][()]))
        return np.stack(members)

    with folder.reduce(*stack, "-d", "member", "--op", "mean") as out:
        for path in ("t", "index", "orog"):
            np.testing.assert_allclose(out[path], np.nanmean(elements(path), 0), rtol=1e-6)
        assert text(out["orog"].attrs["units"]) == "m" and "place" in out and "run" not in out, list(out)
        assert out["orog"].dtype == ">i2" and "cell_methods" not in out["orog"].attrs
    with folder.reduce(*stack, "-d", "member,time", "--op", "max") as out:
        np.testing.assert_array_equal(out["index"][()], elements("index").max())
        np.testing.assert_array_equal(out["t"], np.nanmax(elements("t"), (0, 1)))
        assert (out["orog"][()] == 7).all() and out["orog"].dtype == ">i2" and list(out["place"].asstr()) == ["x", "y", "z"]
    with folder.reduce(*stack, "--by", "time:season", "--op", "min") as out:
        assert out["t"].shape == (3, 2, 3, 5) and out["index"].shape == (3, 2) and out["orog"].shape == (3, 5)
    with folder.reduce("--concat", "new:member", *[f + ":/{t,index}[lat=0:50]" for f in files], "-d", "member", "--op", "sum") as out:
        assert out["t"].shape == (4, 2, 5) and out["index"].shape == (4,) and "orog" not in out
    with folder.reduce(*stack, "-d", "member,lat", "--op", "sum") as out:
        assert (out["orog"][()] == 63).all() and out["orog"].shape == (5,)
    make_whole(folder, "b.nc", 2, orography=8)
    with folder.reduce(*stack, "-d", "member", "--op", "max") as out:
        assert (out["orog"][()] == 8).all() and "cell_methods" in out["orog"].attrs
    out, errors = folder.run(*stack, "-d", "member,time", "--op", "mean", "-o", "out.nc", "--overwrite")
    assert errors == "h5gpured: a.nc: left out what is not in all files, or not the same in them: /orog\n", errors
    assert b"out.nc:/place  strings  copy of" in out and b"orog" not in out, out
    with h5py.File(folder.file("b.nc"), "a") as file:
        del file["index"]
    errors = folder.run(*stack, "-d", "time", "--op", "mean", "-o", "out.nc", "--overwrite", status=1)[1]
    assert errors.startswith("h5gpured: a.nc:/index: b.nc has no such variable; --concat joins only what all files have: "), errors
    with h5py.File(folder.file("b.nc"), "a") as file:
        file["index"] = np.zeros(5)
        attach(file["index"], file["lon"])
    errors = folder.run(*stack, "-d", "member", "--op", "mean", "-o", "out.nc", "--overwrite", status=1)[1]
    assert errors == "h5gpured: b.nc:/index: dim 0 (time) has size 5 where a.nc:/index has 4\n", errors


def make_described(folder, name, seed):
    """t(time, lat, lon), and the area of its cells, a mask, and numbers of each time that are the same for all seeds."""
    make_member(folder, name, seed)
    with h5py.File(folder.file(name), "a") as file:
        time, lat, lon = file["time"], file["lat"], file["lon"]
        for made, values, scales in (("area", np.arange(15.0).reshape(3, 5), (lat, lon)), ("land", np.arange(15).reshape(3, 5) % 2, (lat, lon)),
                                     ("co2", np.array([1.0, 2, 4, 8]), (time,)), ("top", np.float64(100), ())):
            file[made] = values
            attach(file[made], *scales)
        file["t"].attrs["cell_measures"] = "area: area"


SET_ASIDE = "h5gpured: a.nc: left out what is the same in all files, and has no times: {}; named, as FILE:/NAME, it is reduced\n"


def check_what_does_not_vary(folder):
    """FILE alone: what has no times and is the same in all files is copied, and not reduced over the new dim."""
    files = FILES[:3]
    for seed, name in enumerate(files):
        make_described(folder, name, seed + 1)
    stack = ("--concat", "new:member", *files)
    for options in (["-d", "member", "--op", "sum"], ["-d", "member", "--op", "sum", "--raw"], ["--coarsen", "member=3", "--op", "sum"],
                    ["-d", "member", "--scan", "sum"]):
        said, errors = folder.run(*stack, *options, "-o", "out.nc", "--overwrite")
        said = said.decode().splitlines()
        assert not errors and [line.split()[0] for line in said] == ["out.nc:/co2", "out.nc:/t", "out.nc:/area", "out.nc:/land", "out.nc:/top"], said
        assert said[2] == "out.nc:/area  f64 [lat 3, lon 5]  copy of a.nc:/area", said
        with h5py.File(folder.file("out.nc")) as out:
            assert "area_2" not in out and out["area"][()].tolist() == np.arange(15.0).reshape(3, 5).tolist() and out["land"].dtype == "i8"
            assert out["top"][()] == 100 and text(out["t"].attrs["cell_measures"]) == "area: area", list(out)
            assert options[2] != "--op" or out["co2"][()].ravel().tolist() == [3, 6, 12, 24]
    lines = folder.run(*stack, "-d", "member", "-o", "out.nc", "--overwrite", "--json")[0].decode().splitlines()
    assert [(item["dataset"], item["op"], item.get("files")) for item in map(json.loads, lines)] == [
        ("/co2", "sum", list(files)), ("/t", "sum", list(files)), ("/area", "copy", None), ("/land", "copy", None), ("/top", "copy", None)], lines
    # Printed, it is left out with a word; a name or a pattern means it.
    out, errors = folder.run(*stack, "-d", "member", "--json")
    assert [json.loads(line)["dataset"] for line in out.decode().splitlines()] == ["/co2", "/t"]
    assert errors == SET_ASIDE.format("/area, /land, /top"), errors
    assert not folder.run(*stack, "-d", "member", "--json", "-q")[1]
    named = answers(folder, "--concat", "new:member", *[f + ":/area" for f in files], "-d", "member")["sum"][1]
    assert named.tolist() == (3 * np.arange(15.0).reshape(3, 5)).tolist()
    out, errors = folder.run("--concat", "new:member", *[f + ":/*" for f in files], "-d", "member", "--json")
    assert not errors and len(out.splitlines()) == 5
    # What is wrong with one of them does not keep the others from being printed.
    with h5py.File(folder.file("b.nc"), "a") as file:
        file["land"].attrs["scale_factor"] = "x"
    out, errors = folder.run(*stack, "-d", "member", "--json", status=1)
    assert [json.loads(line)["dataset"] for line in out.decode().splitlines()] == ["/co2", "/t"]
    assert errors.startswith(SET_ASIDE.format("/area, /top") + "h5gpured: b.nc:/land: ") and errors.count("\n") == 2, errors
    with h5py.File(folder.file("b.nc"), "a") as file:
        del file["land"].attrs["scale_factor"]
    with h5py.File(folder.file("b.nc"), "a") as file:
        del file["land"]
        file["land"] = np.full((3, 5), b"sea")
    out, errors = folder.run(*stack, "-d", "member", "--json", status=1)
    assert [json.loads(line)["dataset"] for line in out.decode().splitlines()] == ["/co2", "/t"]
    assert errors.startswith(SET_ASIDE.format("/area, /top") + "h5gpured: b.nc:/land: holds strings") and errors.count("\n") == 2, errors
    make_described(folder, "b.nc", 2)
    # A bit makes a difference, and so does what an element means, or where it is missing.
    for change in (lambda file: file["top"].write_direct(np.array(np.nextafter(100, 101))), lambda file: file["top"].attrs.update({"scale_factor": 2.0}),
                   lambda file: file["top"].attrs.update({"valid_max": 99.0})):
        make_described(folder, "c.nc", 3)
        with h5py.File(folder.file("c.nc"), "a") as file:
            change(file)
        with folder.reduce(*stack, "-d", "member", "--op", "max") as out:
            assert out["top"][()] >= 100 and "cell_methods" in out["top"].attrs and "cell_methods" not in out["land"].attrs
    # The same elements at other places are not the same.
    for seed, name in enumerate(files):
        make_described(folder, name, seed + 1)
        with h5py.File(folder.file(name), "a") as file:
            file["depth"] = np.arange(3.0)[:: -1 if seed else 1]
            file["depth"].make_scale("depth")
            file["layers"] = np.ones(3)
            attach(file["layers"], file["depth"])
    errors = folder.run(*stack, "-d", "member", "--op", "max", "-o", "out.nc", "--overwrite", status=1)[1]
    assert errors.startswith("h5gpured: b.nc:/layers: its depth[0] is 2, that of a.nc:/layers is 0; "), errors
    # Where nothing varies, all is reduced.
    for name in files:
        with h5py.File(folder.file(name), "w") as file:
            file["still"] = np.arange(3.0)
            file["x"] = np.arange(3.0)
            file["x"].make_scale("x")
            attach(file["still"], file["x"])
    found, errors = folder.run(*stack, "-d", "member", "--op", "sum", "--json")
    assert not errors and json.loads(found)["data"] == [0, 3, 6], found
    # 256 MiB are compared, more are not.
    for rows, count in ((1 << 25, 1), ((1 << 25) + 1, 2)):
        for name in files:
            with h5py.File(folder.file(name), "w") as file:
                file.create_dataset("moves", data=float(name == "a.nc"))
                file.create_dataset("vast", (rows, 2), "i4", chunks=(1 << 20, 2), fillvalue=0)
        found = folder.run(*stack, "-d", "member", "--op", "max", "-o", "out.nc", "--overwrite")[0].decode().splitlines()
        assert sum("max of" in line for line in found) == count, found


def check_arrays_of_each_member(folder):
    """A condition and a second array of the files themselves are each member's own, of parts of the files, too; what the
    first file alone has is for all members, and what one of them lacks is refused."""
    x, wet = make_all(folder), np.random.default_rng(9).random((4, 4, 3, 5))
    for name, values in zip(FILES, wet):
        with h5py.File(folder.file(name), "a") as file:
            file["wet"], file["row"] = values, values[0, 0]
            attach(file["wet"], file["time"], file["lat"], file["lon"])
            attach(file["row"], file["lon"])
            if name != "c.nc":
                file["some"] = values
    with h5py.File(folder.file("a.nc"), "a") as file:
        file["first"] = wet[0]
        attach(file["first"], file["time"], file["lat"], file["lon"])
    box = np.s_[:, 1:3, :, [4, 0, 1]]
    for part, taken in (("", np.s_[:]), ("[1:3,lon=-72:72]", box)):
        files = [f"{name}:/t{part}" for name in FILES]
        masks = {"wet": wet, "row": np.broadcast_to(wet[:, :1, :1], wet.shape), "first": np.broadcast_to(wet[:1], wet.shape)}
        for name, values in masks.items():
            own, beside = x[taken], values[taken]
            for way in (("--where", f"{name} > 0.5"), ("--where", "y > 0.5", "--with", f"y=/{name}")):
                found = answers(folder, "--concat", "new:member", *files, *way, "-d", "time,lat,lon", "--op", "valid")
                expected = ((beside > 0.5) & ~np.isnan(own)).sum((1, 2, 3))
                assert np.array_equal(found["valid"][1], expected), (part, way, found, expected)
    for way in (("--where", "/some"), ("--where", "some > 0.5"), ("--where", "y > 0.5", "--with", "y=/some")):
        errors = folder.run("--concat", "new:member", *(name + ":/t" for name in FILES), *way, status=1)[1]
        assert "c.nc has no /some, which each file has for itself; a.nc:/some, with its file, is for all" in errors, errors


CHECKS = [check_numbers, check_beside, check_arrays_of_each_member, check_file, check_refusals, check_whole_files, check_what_does_not_vary]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
