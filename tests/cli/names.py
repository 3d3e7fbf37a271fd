#!/usr/bin/python3
"""How datasets and dims are called: what netCDF-4 hides in HDF5, which dataset is meant, and what a listing shows:
names.py TOOL
"""
import json
import os
import resource
import sys

from output import attach, h5py, make_scale, np, run_checks, text

BARE = "This is a netCDF dimension but not a netCDF variable."


def make_bare(file, name, size, most=0):
    """A dim without coordinates, as netCDF-4 writes it."""
    bare = file.create_dataset(name, (size,), ">f4", maxshape=(most,) if most is None else None)
    bare.make_scale(f"{BARE}{size:10}")
    return bare


def answers(folder, *arguments):
    """dataset -> the first result."""
    out, _ = folder.run(*arguments, "--json")
    return {line["dataset"]: line["data"] for line in map(json.loads, out.decode().splitlines())}


def listed(folder, *arguments):
    """The lines of a listing, by path."""
    out, _ = folder.run("--list", *arguments)
    return dict(line.strip().split(None, 1) for line in out.decode().splitlines()[1:])


def fails(folder, sentence, *arguments, status=1):
    _, errors = folder.run(*arguments, status=status)
    assert errors == f"h5gpured: {sentence}\n", errors


# ---- What netCDF-4 hides ---------------------------------------------------------------------------------------------


def make_hidden(folder):
    """y(x, y) beside the dims x and y, which have no coordinates, at the root and in a group."""
    with h5py.File(folder.file("hidden.nc"), "w") as file:
        for place in (file, file.create_group("g")):
            x, y = make_bare(place, "x", 4), make_bare(place, "y", 5)
            place["_nc4_non_coord_y"] = np.arange(20.0).reshape(4, 5)
            attach(place["_nc4_non_coord_y"], x, y)
        file["z"] = np.ones((4, 5, 2))
        attach(file["z"], file["x"], file["y"])
        file["z"].attrs["coordinates"] = "y"


def check_variables_called_as_a_dim(folder):
    make_hidden(folder)
    for path in ("y", "_nc4_non_coord_y", "g/y"):
        assert list(answers(folder, f"hidden.nc:/{path}").items()) == [("/" + path.replace("_nc4_non_coord_", ""), [190])]
    assert answers(folder, "hidden.nc:/y[1:, :2]", "--op", "max") == {"/y": [16]}
    lines = listed(folder, "hidden.nc")
    assert lines["/y"].startswith("f64 [x 4, y 5]") and lines["/g/y"] == lines["/y"], lines
    assert "without coordinates" in lines["/x"] and set(lines) == {"/x", "/y", "/z", "/g/x", "/g/y"}, lines
    fails(folder, "hidden.nc:/x: is a netCDF dimension of size 4 without coordinates, not data", "hidden.nc:/x")
    with folder.reduce("hidden.nc:/z", "-d", "2") as out:
        assert set(out) == {"x", "y", "z", "y_2"} and text(out["z"].attrs["coordinates"]) == "y_2", list(out)
        assert out["z"].dims[1][0] == out["y"] and out["y_2"].dims[1][0] == out["y"]
    with folder.reduce("hidden.nc:/y", "-d", "x") as out:
        assert set(out) == {"y", "_nc4_non_coord_y"} and text(out["y"].attrs["NAME"]).startswith(BARE), list(out)
        assert out["_nc4_non_coord_y"].dims[0][0] == out["y"] and out["_nc4_non_coord_y"][...].tolist() == [30, 34, 38, 42, 46]
    assert answers(folder, "out.nc") == {"/y": [190]}
    fails(folder, "two.nc: would have two datasets called y; write one of them to another file, or join files that follow each other by --concat", "hidden.nc:/y", "hidden.nc:/g/y", "-d", "x", "-o", "two.nc", status=1)


def check_dims_of_coordinates_of_several_dims(folder):
    """A netCDF variable siglay(siglay, node) is a scale, which has no scales: its dims are told by numbers."""
    with h5py.File(folder.file("mesh.nc"), "w") as file:
        group = file.create_group("g")
        for number, scale in enumerate((make_bare(file, "time", 3), file.create_dataset("siglay", data=np.arange(8.0).reshape(2, 4)),
                                        make_bare(file, "node", 4))):
            if scale.ndim > 1:
                scale.make_scale("siglay")
            scale.attrs["_Netcdf4Dimid"] = np.int32(number)
        file["siglay"].attrs["_Netcdf4Coordinates"] = np.array([1, 2], "i4")
        group["sigma"] = np.arange(24.0).reshape(3, 2, 4)
        group["sigma"].make_scale("sigma")
        group["sigma"].attrs["_Netcdf4Coordinates"] = np.array([0, 1, 2], "i4")
    lines = listed(folder, "mesh.nc")
    assert lines["/siglay"].startswith("f64 [siglay 2, node 4]"), lines
    assert lines["/g/sigma"].startswith("f64 [time 3, siglay 2, node 4]"), lines
    assert answers(folder, "mesh.nc:/siglay", "-d", "node") == {"/siglay": [6, 22]}
    with folder.reduce("mesh.nc:/siglay", "mesh.nc:/g/sigma", "-d", "node") as out:
        assert set(out) == {"siglay", "_nc4_non_coord_siglay", "sigma", "time"}, list(out)
        assert [dim[0].name for dim in out["sigma"].dims] == ["/time", "/siglay"]


# ---- Variables that are shorter than their dims ----------------------------------------------------------------------


def make_short(folder, **how):
    """time has 5 records, of which `late` has 3, `wide` has 2, and `full` all; `wide` lacks stations, too."""
    with h5py.File(folder.file("short.nc"), "w") as file:
        time = file.create_dataset("time", data=np.arange(5.0), maxshape=(None,), chunks=(2,))
        station = file.create_dataset("station", data=np.arange(4, dtype="i4"), maxshape=(None,), chunks=(3,))
        for scale in (time, station):
            scale.make_scale(scale.name[1:])
        for name, shape in (("late", (3, 4)), ("wide", (2, 3)), ("full", (5, 4))):
            values = 1 + np.arange(np.prod(shape), dtype=how.get("dtype", "f4")).reshape(shape)
            options = {"chunks": (2, 3), "maxshape": (None, None), "fillvalue": -9, **how.get("options", {})}
            item = file.create_dataset(name, data=values, **options)
            attach(item, time, station)
            if how.get("marked", True):
                item.attrs["_FillValue"] = np.array([-9], values.dtype)


def whole(shape, fill=-9.0):
    values = np.full((5, 4), fill)
    values[:shape[0], :shape[1]] = 1 + np.arange(np.prod(shape)).reshape(shape)
    return values


SHAPES = {"late": (3, 4), "wide": (2, 3), "full": (5, 4)}
FORMS = ({}, {"marked": False}, {"dtype": "i2"}, {"dtype": ">f8"}, {"options": {"compression": "gzip", "shuffle": True}},
         {"options": {"scaleoffset": 0}, "dtype": "i4"}, {"options": {"chunks": (7, 9)}}, {"options": {"chunks": (1, 1)}},
         {"options": {"fillvalue": None}})


def check_short_variables(folder):
    for form in FORMS:
        make_short(folder, **form)
        for name, shape in SHAPES.items():
            x = whole(shape)
            if form.get("marked", True):
                x[x == -9] = np.nan
            for part in ((slice(None),), (slice(3, 5),), (slice(1, 5, 2), slice(1, 4, 2)), (slice(2, 3), slice(2, 4))):
                key = ",".join(f"{p.start or ''}:{p.stop or ''}:{p.step or ''}" for p in part)
                for dims, axes in (("all", (0, 1)), ("time", 0), ("station", 1)):
                    for extra in ((), ("--memory", "1M", "-t", "1")) if form == {} else ((),):
                        wanted = np.sum(np.where(np.isnan(x[part]), 0, x[part]), axis=axes)
                        wanted = np.where(np.all(np.isnan(x[part]), axis=axes), np.nan, wanted)
                        found = answers(folder, f"short.nc:/{name}[{key}]", "-d", dims, *extra)["/" + name]
                        found = [np.nan if value is None else value for value in found]
                        assert np.array_equal(found, np.ravel(wanted), True), f"{form} {name}[{key}] over {dims}: {found}"


def check_short_variables_in_company(folder):
    make_short(folder)
    assert listed(folder, "short.nc")["/late"].startswith("f32 [time 5, station 4]")
    assert answers(folder, "short.nc:/late", "--weights", "/full", "--op", "sum", "-d", "time") == {"/late": [107, 140, 179, 224]}
    joined = answers(folder, "--concat", "time", "short.nc:/late", "short.nc:/full", "--op", "valid", "-d", "station")
    assert joined == {"/late": [4, 4, 4, 0, 0, 4, 4, 4, 4, 4]}, joined
    with folder.reduce("short.nc:/late", "short.nc:/full", "-d", "station") as out:
        assert set(out) == {"late", "full", "time"} and out["time"][...].tolist() == [0, 1, 2, 3, 4], list(out)
        assert out["late"].dims[0][0] == out["time"] == out["full"].dims[0][0]
        assert out["late"][...].tolist()[:3] == [10, 26, 42] and out["late"].attrs["_FillValue"] == -9
    with h5py.File(folder.file("short.nc"), "r+") as file:
        file["full"].attrs["coordinates"] = "late"
    with folder.reduce("short.nc:/full[1:]", "-d", "time", "--op", "argmax", "--coords") as out:
        assert "late" not in out and out["full_argmax_time"][...].tolist() == [4, 4, 4, 4]
    with h5py.File(folder.file("short.nc"), "r+") as file:
        file["cube"] = np.ones((5, 4, 2))
        attach(file["cube"], file["time"], file["station"])
        file["cube"].attrs["coordinates"] = "late"
    with folder.reduce("short.nc:/cube[1:4]", "-d", "2") as out:
        assert out["late"][...].tolist() == whole((3, 4))[1:4].tolist(), out["late"][...]


# ---- Which dataset --------------------------------------------------------------------------------------------------


def make_choice(folder):
    """tas(time, lat, lon), and what describes it; area has fewer dims."""
    with h5py.File(folder.file("choice.nc"), "w") as file:
        group = file.create_group("g")
        time, lat, lon = (make_scale(file, name, np.arange(float(size))) for name, size in (("time", 2), ("lat", 3), ("lon", 4)))
        nv = make_bare(file, "nv", 4)
        for place, name, scales in ((file, "lat_bnds", (time, lat, nv)), (file, "where", (time, lat, lon)), (file, "area", (lat, lon)),
                                    (file, "seasons", (time, lat, nv)), (group, "tas", (time, lat, lon))):
            place[name] = np.ones([len(scale) for scale in scales])
            attach(place[name], *scales)
        lat.attrs["bounds"], time.attrs["climatology"] = "lat_bnds", "/seasons"
        group["tas"].attrs["coordinates"] = "time where"


def check_which_dataset_is_meant(folder):
    make_choice(folder)
    assert answers(folder, "choice.nc") == {"/g/tas": [24]}
    _, errors = folder.run("choice.nc")
    assert errors == ("h5gpured: choice.nc: took /g/tas, which has the most dims, and left 1 other: 'FILE:/**' takes all, --list "
                      "shows them\n"), errors
    assert folder.run("choice.nc", "-q")[1] == "" and folder.run("choice.nc:/g/tas")[1] == ""
    with h5py.File(folder.file("choice.nc"), "r+") as file:
        for i in range(5):
            file[f"t{i}"] = np.ones((2, 3, 4))
    fails(folder, "choice.nc: which dataset? 6 have 3 dims: /g/tas [2,3,4], /t0 [2,3,4], /t1 [2,3,4], /t2 [2,3,4] and 2 more; "
          "name one, as FILE:/g/tas, or all: 'FILE:/**'", "choice.nc", status=1)


def check_all_datasets(folder):
    make_choice(folder)
    assert answers(folder, "choice.nc:/**") == {"/area": [12], "/g/tas": [24]}
    assert answers(folder, "choice.nc:/**", "-d", "time,lon") == {"/g/tas": [8, 8, 8]}
    assert answers(folder, "choice.nc:/**[:, 1:]", "-d", "lat,lon") == {"/area": [9], "/g/tas": [8, 8]}
    out, _ = folder.run("choice.nc:/**", "-d", "lat", "--op", "max")
    assert out.decode().count("max over lat") == 2, out
    with folder.reduce("choice.nc:/**", "-d", "lat", "--op", "max") as made:
        assert set(made) == {"area", "g", "time", "lon"} and set(made["g"]) == {"tas"}, list(made)
    fails(folder, "choice.nc:/**: no dataset has the dim depth; there are lat, lon, time", "choice.nc:/**", "-d", "depth")
    fails(folder, "choice.nc: npy has room for one dataset only, not for /area, /g/tas; name one, as FILE:/area, or take "
          "--format json or -o FILE.nc", "choice.nc:/**", "--format", "npy", "-o", "out.npy")
    assert not os.path.exists(folder.file("out.npy"))
    assert folder.run("choice.nc:/**", "--format", "csv")[0] == b"variable,sum\narea,12\ng/tas,24\n"


def check_datasets_of_several_paths(folder):
    """Each is taken once: by the path in the fewest groups, or by one that a pattern matches."""
    with h5py.File(folder.file("in.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(3.0))
        for i, name in enumerate(("v", "w", "g/u", "z/only")):
            file[name] = np.full((3, 2), i)
            attach(file[name], time)
        for link, name in (("a/v", "v"), ("z/v", "v"), ("z/b/w", "w"), ("a/b/c/u", "g/u"), ("same", "w"), ("z/t", "time")):
            file[link] = file[name]
    for pattern, found in (("*", "/same /v"), ("**", "/same /v /g/u /z/only"), ("a/*", "/a/v"), ("z/**", "/z/v /z/b/w /z/only"), ("{z/v,a/*,*}", "/z/v /same"),
                           ("{v,z/v}", "/v /z/v"), ("a/**", "/a/v /a/b/c/u"), ("v", "/v")):
        assert set(answers(folder, f"in.nc:/{pattern}", "-d", "time")) == set(found.split()), pattern
    assert set(listed(folder, "in.nc")) == {"/g/u", "/same", "/time", "/v", "/z/only"}
    with folder.reduce("in.nc", "-d", "time") as out:
        assert set(out) == {"v", "same", "g", "z"} and set(out["z"]) == {"only"}, list(out)
    with folder.reduce("in.nc:/z/*", "-d", "time") as out:
        assert set(out) == {"z"} and set(out["z"]) == {"v", "only"}, list(out)


# ---- What a listing shows --------------------------------------------------------------------------------------------


def check_external_links(folder):
    """A master file has nothing else; what they lead to is listed, and found."""
    os.mkdir(folder.file("in"))
    for path in ("in/part.h5", "out.h5"):
        with h5py.File(folder.file(path), "w") as file:
            file["x"], file["g/y"] = np.ones((2, 3)), np.ones(4)
            attach(file["x"], make_scale(file, "t", np.arange(2.0)))
    with h5py.File(folder.file("in/master.h5"), "w") as file:
        for name, target, path in (("data", "part.h5", "/x"), ("group", "part.h5", "/g"), ("refused", "../out.h5", "/x"),
                                   ("lost", "none.h5", "/x"), ("nothing", "part.h5", "/none")):
            file["entry/" + name] = h5py.ExternalLink(target, path)
    lines = listed(folder, "in/master.h5")
    assert lines["/entry/data"].startswith("f64 [t 2, 3]") and lines["/entry/group/y"].startswith("f64 [4]"), lines
    assert "outside the folder of the input" in lines["/entry/refused"], lines
    assert lines["/entry/lost"] == "needs none.h5, which does not exist", lines
    assert lines["/entry/nothing"] == "is a link that leads nowhere", lines
    assert listed(folder, "--allow-external", "in/master.h5")["/entry/refused"].startswith("f64 [t 2, 3]")
    assert answers(folder, "in/master.h5") == {"/entry/data": [6]}
    assert answers(folder, "in/master.h5:/**") == {"/entry/data": [6], "/entry/group/y": [4]}


def check_names_that_would_steer_a_terminal(folder):
    with h5py.File(folder.file("steer.h5"), "w") as file:
        for name in (b"c1\xc2\x9b2J", b"raw\x9b2J", "m\u00fcd".encode(), b"esc\x1b[2J"):
            file[name] = np.ones(2)
    assert set(listed(folder, "steer.h5")) == {r"/c1\xc2\x9b2J", r"/raw\x9b2J", "/m\u00fcd", r"/esc\x1b[2J"}
    out, _ = folder.run("steer.h5:/*", "--json")
    assert b"\xc2\x9b" not in out and b"c1\\u009b2J" in out, out


def check_control_characters_in_tables_and_explanations(folder):
    with h5py.File(folder.file("steer.h5"), "w") as file:
        file["x\nroute\x1b"] = np.ones((2, 3))
        attach(file["x\nroute\x1b"], make_scale(file, b"c1\xc2\x9b,\n\"raw\x9b\x1b", np.arange(2.0)))
    out, errors = folder.run("steer.h5", "-d", "1", "--format", "csv", "--explain")
    assert out == rb'''"c1\xc2\x9b,\x0a""raw\x9b\x1b",sum''' + b"\n0,3\n1,3\n", out
    lines = errors.splitlines()
    assert lines[0] == r"dataset  steer.h5:/x\x0aroute\x1b f64 [2,3]" and lines[1].startswith("layout "), lines


def check_paths_of_any_length(folder):
    """They are longer than what systems allow for files."""
    path = "/".join(["", *["g" * 200] * 30, "x"])
    with h5py.File(folder.file("deep.h5"), "w") as file:
        file[path] = np.ones(3)
        file[path[:-1] + "text"] = np.array([b"a"])
    lines = listed(folder, "deep.h5")
    assert lines[path].startswith("f64 [3]") and "strings" in lines[path[:-1] + "text"], lines
    out, errors = folder.run("deep.h5", "--explain", "--json")
    assert json.loads(out)["dataset"] == path and json.loads(out)["data"] == [3], out
    assert errors.startswith(f"dataset  deep.h5:{path} f64 [3]\n") and "\na leaf " in errors, errors
    _, errors = folder.run("deep.h5:" + path[:-1] + "text", status=1)
    assert errors.startswith("h5gpured: deep.h5:/ggg") and "ggg...ggg" in errors, errors
    assert errors.endswith("ggg/text: holds strings, which cannot be reduced\n"), errors
    _, errors = folder.run("deep.h5:" + path, "-d", "depth", status=1)
    assert f"deep.h5:{path}: " in errors and "depth" in errors, errors
    with h5py.File(folder.file("long.h5"), "w") as file:
        file[3000 * "n"] = np.ones(3)
    folder.run("long.h5", "--op", "min,max", "-o", "out.h5")
    with h5py.File(folder.file("out.h5")) as file:
        assert sorted(file) == [3000 * "n" + "_max", 3000 * "n" + "_min"], list(file)


def check_reasons_behind_long_names(folder):
    """What does not fit is left out before the reason, between letters; of two shifts one meets the inside of a letter."""
    for name in (600 * "\u00e9", "x" + 600 * "\u00e9"):
        with h5py.File(folder.file("in.h5"), "w") as file:
            file[name] = np.array([b"a"])
        _, errors = folder.run("in.h5:/" + name, status=1)
        assert errors.startswith(f"h5gpured: in.h5:/{name[:40]}") and "\u00e9...\u00e9" in errors, errors
        assert errors.endswith("\u00e9: holds strings, which cannot be reduced\n") and "\\x" not in errors, errors


def seconds_of(folder, *arguments):
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    folder.run(*arguments)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - begin.ru_utime


def check_many_variables_that_share_their_scales(folder):
    """HDF5 searches all of a file for the path of a scale, which must not be done for each variable: a scale that has its own
    name as an attribute, and one that has none, as a netCDF dimension without coordinates."""
    counts = (250, 1000)
    for count in counts:
        with h5py.File(folder.file(f"{count}.nc"), "w") as file:
            scales = [make_scale(file, "z_time", np.arange(3.0)), make_bare(file, "z_lat", 3)]  # found last
            for i in range(count):
                file[f"v{i:04}"] = np.ones((3, 3), "f4")
                attach(file[f"v{i:04}"], *scales)
        assert len(listed(folder, f"{count}.nc")) == count + 2
    for job in (["--list"], ["-d", "z_time", "--op", "mean"], ["-d", "z_time", "-o", "out.nc", "--overwrite"]):
        few, many = (seconds_of(folder, f"{count}.nc", *job) for count in counts)
        assert many < 8 * few + 0.2, f"{job}: {counts} variables take {few} and {many} s"
    with h5py.File(folder.file("out.nc")) as out:
        references = out["z_lat"].attrs["REFERENCE_LIST"]
        assert sorted((out[one].name, dim) for one, dim in references) == [(f"/v{i:04}", 0) for i in range(1000)]
        assert all(out[f"v{i:04}"].dims[0][0] == out["z_lat"] for i in range(0, 1000, 99))


def check_scales_of_several_paths(folder):
    """A scale with several links has one path, whichever variable leads to it and whatever was opened before; so do scales of
    several files that lie at one address."""
    for name, other in (("a.nc", "first/t"), ("b.nc", "time_2")):
        with h5py.File(folder.file(name), "w") as file:
            time = make_scale(file, "time", np.arange(3.0))
            for group in ("", "first/", "last/"):
                file[group + "v"] = np.ones((3, 2))
                attach(file[group + "v"], time)
            file[other] = time
    for names, dim in ((["a.nc"], "t"), (["b.nc"], "time"), (["b.nc", "a.nc"], "")):
        for order in ("/v", "/first/v", "/last/v"), ("/last/v", "/first/v", "/v"):
            inputs = [f"{name}:{path}" for name in names for path in order]
            lines = [json.loads(line) for line in folder.run(*inputs, "-d", "0", "--json")[0].decode().splitlines()]
            found = {(line["file"], line["dim_names"][0]) for line in lines}
            assert found == {(name, dim or {"a.nc": "t", "b.nc": "time"}[name]) for name in names}, (inputs, found)


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
