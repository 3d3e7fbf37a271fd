#!/usr/bin/python3
"""Files as a whole, and datasets by pattern: which are reduced, copied, left out, and where they go: variables.py TOOL"""
import json
import os
import shutil
import subprocess
import sys

from names import answers, fails, make_bare
from output import attach, attributes, h5py, make_scale, np, run_checks

TIMES = np.arange(24) * 30.5 + 15


def put(place, name, values, *scales, **described):
    made = place.create_dataset(name, data=values)
    attach(made, *scales)
    made.attrs.update(described)
    return made


def make(folder, name="in.nc", shift=0):
    """Data of all kinds, and what describes them."""
    source = np.random.default_rng(3)
    with h5py.File(folder.file(name), "w") as file:
        file.attrs["title"] = np.bytes_("all kinds")
        time = make_scale(file, "time", TIMES + shift, units=np.bytes_("days since 2001-01-01"), bounds=np.bytes_("time_bnds"))
        lat = make_scale(file, "lat", np.linspace(-60, 60, 4), units=np.bytes_("degrees_north"))
        lon = make_scale(file, "lon", np.arange(0.0, 360, 60), units=np.bytes_("degrees_east"))
        nv, station = make_bare(file, "nv", 2), make_bare(file, "station", 3)
        put(file, "time_bnds", np.stack([TIMES - 15, TIMES + 15], 1) + shift, time, nv)
        put(file, "crs", np.int32(0), grid_mapping_name=np.bytes_("latitude_longitude"))
        put(file, "area", source.random((4, 6)), lat, lon, units=np.bytes_("m2"))
        put(file, "tas", source.random((24, 4, 6)).astype("f4"), time, lat, lon, grid_mapping=np.bytes_("crs"),
            cell_measures=np.bytes_("area: area"))
        put(file, "pr", source.integers(-90, 90, (24, 4, 6)).astype("i2"), time, lat, lon, scale_factor=0.5, _FillValue=np.int16(-7))
        put(file, "index", source.random(24), time)
        put(file, "zonal", source.random((24, 4)), time, lat)
        put(file, "orog", source.random((4, 6)).astype("f4"), lat, lon, cell_methods=np.bytes_("area: mean"), units=np.bytes_("m"))
        put(file, "soil", source.integers(0, 9, (4, 6)).astype(">i2"), lat, lon, scale_factor=0.5, flag_values=np.arange(3, dtype="i2"))
        put(file, "place", np.array(["Oslo", "Roma", "Wien"], object), station)
        put(file, "code", np.array([b"abc", b"de", b"f"]), station)
        put(file, "label", np.array([b"x"] * 24), time)
        file["flags"] = np.array([True, False, True])
        attach(file["flags"], station)
    return folder.file(name)


def same_elements(made, source):
    return made.dtype == source.dtype and made[()].tobytes() == source[()].tobytes() if made.dtype.kind != "O" else \
        made[()].tolist() == source[()].tolist()


# ---- A file as a whole -----------------------------------------------------------------------------------------------


REDUCED, COPIED = {"tas", "pr", "index", "zonal"}, {"orog", "soil", "place", "code", "area"}


def check_all_that_have_the_dim_are_reduced_and_others_copied(folder):
    make(folder)
    out, errors = folder.run("in.nc", "-d", "time", "--op", "mean", "-o", "out.nc")
    assert errors == "h5gpured: in.nc: left out what has the dims and no numbers: /label\n", errors
    lines = out.decode().splitlines()
    assert [line.split()[0] for line in lines if " copy of " in line] == [f"out.nc:/{name}" for name in
                                                                        ("code", "flags", "orog", "place", "soil")], lines
    assert "out.nc:/orog  f32 [lat 4, lon 6]  copy of in.nc:/orog" in lines, lines
    assert "out.nc:/place  strings  copy of in.nc:/place" in lines, lines
    with h5py.File(folder.file("in.nc")) as source, h5py.File(folder.file("out.nc")) as made:
        assert REDUCED | COPIED <= set(made) and "label" not in made, set(made)
        for name in ("tas", "index", "zonal"):
            assert np.allclose(made[name][()], source[name][()].mean(0), 1e-6), name
            assert attributes(made[name])["coordinates"] == "time"
        packed = np.where(source["pr"][()] == -7, np.nan, source["pr"][()] * 0.5)
        assert np.allclose(made["pr"][()], np.nanmean(packed, 0))
        for name in ("orog", "soil", "place", "code"):
            assert same_elements(made[name], source[name]), name
            assert attributes(made[name]) == attributes(source[name]), name
            assert [made[name].dims[d][0].name for d in range(made[name].ndim)] == \
                [source[name].dims[d][0].name for d in range(source[name].ndim)], name
        assert made["flags"].dtype == "i1" and made["flags"][()].tolist() == [1, 0, 1]
        assert attributes(made["tas"])["cell_measures"] == "area: area"
        assert made["time_bnds"].shape == (2,) and attributes(made)["title"] == "all kinds"


def check_the_listing_in_json(folder):
    make(folder)
    out, _ = folder.run("in.nc", "-d", "time", "--op", "mean", "-o", "out.nc", "--json", "-q")
    lines = [json.loads(line) for line in out.decode().splitlines()]
    assert {line["dataset"] for line in lines if line["op"] == "mean"} == {"/" + name for name in REDUCED}
    copies = {line["dataset"]: line for line in lines if line["op"] == "copy"}
    assert copies["/orog"] == {"file": "in.nc", "dataset": "/orog", "op": "copy", "shape": [4, 6], "dtype": "f32"}, copies
    assert copies["/place"]["dtype"] == "strings" and copies["/soil"]["dtype"] == "i16", copies


def check_printing_takes_all_that_have_the_dims(folder):
    make(folder)
    assert set(answers(folder, "in.nc", "-d", "time", "--op", "mean")) == {"/" + name for name in REDUCED}
    assert set(answers(folder, "in.nc", "-d", "time,lon", "--op", "mean")) == {"/tas", "/pr"}
    assert set(answers(folder, "in.nc:/tas", "-d", "time", "--op", "mean")) == {"/tas"}
    fails(folder, "in.nc: which dataset? 2 have 3 dims: /pr [24,4,6], /tas [24,4,6]; name one, as FILE:/pr, or all: 'FILE:/**'",
          "in.nc", "-d", "0", status=1)
    fails(folder, "in.nc: no dataset has the dim depth; there are lat, lon, station, time", "in.nc", "-d", "depth", status=1)
    fails(folder, "in.nc: no dataset has the dims depth,lat; there are lat, lon, station, time", "in.nc", "-d", "depth,lat", status=1)
    with h5py.File(folder.file("unnamed.h5"), "w") as file:
        file["x"], file["y"] = np.zeros((2, 3)), np.zeros(4)
    fails(folder, "unnamed.h5: no dataset has the dim lat; its dims have no names, only numbers from 0", "unnamed.h5", "-d", "lat", status=1)
    fails(folder, "in.nc: npy has room for one dataset only, not for /index, /pr ...; name one, as FILE:/index, or take --format "
          "json or -o FILE.nc", "in.nc", "-d", "time", "--format", "npy", status=1)


def check_what_has_some_of_the_dims_is_left_out(folder):
    make(folder)
    with h5py.File(folder.file("in.nc"), "a") as file:
        put(file, "band", np.zeros(file["lat"].shape), file["lat"])
    _, errors = folder.run("in.nc", "-d", "time,lon", "--op", "mean", "-o", "out.nc")
    assert "left out what has only some of the dims time,lon: /area, /index, /orog and 2 more" in errors, errors
    with h5py.File(folder.file("out.nc")) as made:
        assert {"tas", "pr", "place", "band"} <= set(made) and not {"zonal", "orog", "area"} & set(made), set(made)
    for options, dims in ((["--by", "time:month", "-d", "lat"], "lat,time"), (["--by", "time:month", "-d", "time,lat"], "time,lat"),
                          (["--coarsen", "lat=1,lon=2", "-d", "time"], "time,lat,lon")):
        _, errors = folder.run("in.nc", *options, "--op", "mean", "-o", "out.nc", "--overwrite")
        assert errors.startswith(f"h5gpured: in.nc: left out what has only some of the dims {dims}: /area, "), errors
        with h5py.File(folder.file("out.nc")) as made:
            assert "tas" in made and not {"index", "orog", "area", "band"} & set(made), set(made)
    fails(folder, "in.nc: no dataset has the dims time,depth; there are lat, lon, station, time", "in.nc", "-d", "time,depth", "--by", "time:month", status=1)


def check_groups_weights_and_conditions(folder):
    make(folder)
    with h5py.File(folder.file("in.nc")) as file:
        source = {name: file[name][()].astype("f8") for name in ("tas", "zonal", "index")}
    month = (np.datetime64("2001-01-01") + TIMES.astype("m8[D]")).astype("M8[M]").astype(int) % 12
    with folder.reduce("in.nc", "--by", "time:month", "--op", "max") as made:
        for name, values in source.items():
            wanted = [values[month == m].max(0) for m in np.unique(month)]
            assert np.allclose(made[name][()], wanted), name
            assert made[name].dims[0][0].name == "/time", name
        assert attributes(made["time"])["climatology"] == "climatology_bounds" and "orog" in made
    with folder.reduce("in.nc", "--coarsen", "time=6", "--op", "mean") as made:
        assert all(np.allclose(made[name][()], values.reshape(4, 6, *values.shape[1:]).mean(1)) for name, values in source.items())
    weights = np.cos(np.radians(np.linspace(-60, 60, 4)))
    with folder.reduce("in.nc", "-d", "lat", "--op", "mean", "--weights", "lat:cos", "--where", "lat > -50") as made:
        assert np.allclose(made["tas"][()], np.average(source["tas"][:, 1:], axis=1, weights=weights[1:]))
        assert np.allclose(made["zonal"][()], np.average(source["zonal"][:, 1:], axis=1, weights=weights[1:]))
        assert "index" in made and made["index"].shape == (24,), set(made)


def check_each_variable_meets_its_own_of_another_file(folder):
    """--with y=FILE is the dataset of the same path; another file must have one array, or a name."""
    for name, factor in (("a.nc", 1), ("b.nc", 3)):
        with h5py.File(folder.file(name), "w") as file:
            t = make_scale(file, "t", np.arange(4.0))
            for path in ("tas", "pr", "ocean/tas"):
                put(file, path, factor * (np.arange(4.0) + len(path)), t)
    with h5py.File(folder.file("c.nc"), "w") as file:
        put(file, "other", np.ones(4), make_scale(file, "t", np.arange(4.0)))
    apart = ("--op", "apart(x, y): s += y - x -> s", "--json")
    wanted = {path: sum(2 * (i + len(path)) for i in range(4)) for path in ("tas", "pr", "ocean/tas")}
    read = lambda *arguments: {item["dataset"][1:]: item["data"][0] for item in map(json.loads, folder.run(*arguments, *apart)[0].splitlines())}
    assert read("a.nc", "-d", "t", "--with", "y=b.nc") == wanted
    assert read("a.nc:/tas[1:3]", "--with", "y=b.nc") == read("a.nc:/tas[1:3]", "--with", "y=b.nc[1:3]") == {"tas": 2 * (4 + 5)}
    series = ("--concat", "t", "a.nc:/tas", "a.nc:/tas", "--with", "y=b.nc", "--with", "y=b.nc")
    assert read(*series) == {"tas": 2 * wanted["tas"]}
    errors = folder.run("a.nc:/tas", "--with", "y=c.nc", *apart, status=1)[1]
    assert "a.nc:/tas: --with y=c.nc: c.nc has no /tas; name a dataset of that file, as c.nc:/other" in errors, errors
    assert read("a.nc:/tas", "--with", "y=c.nc:/other") == {"tas": 4 - sum(range(3, 7))}
    with h5py.File(folder.file("c.nc"), "a") as file:
        put(file, "more", np.ones(4), file["t"])
    errors = folder.run("a.nc:/tas", "--with", "y=c.nc", *apart, status=1)[1]
    several = "--with y=c.nc: c.nc has no /tas; name a dataset of that file, as c.nc:/more; these fit: /more, /other\n"
    assert errors == f"h5gpured: a.nc:/tas: {several}", errors
    errors = folder.run("--concat", "t", "a.nc:/tas", "a.nc:/tas", "--with", "y=c.nc", "--with", "y=c.nc", *apart, status=1)[1]
    assert f"a.nc and 1 more:/tas: {several}" in errors, errors


def make_axes(folder):
    """Two variables of one axis; axes of the same name and size in another group and in another file."""
    source = np.random.default_rng(4)

    def put_on(place, first, *names):
        time = make_scale(place, "time", first + 9.0 * np.arange(12), units=np.bytes_("days since 2001-01-01"))
        lat = make_scale(place, "lat", first + np.arange(4.0), units=np.bytes_("degrees_north"))
        put(place, "zones", source.integers(0, 3, (12, 4)), time, lat)
        for name in names:
            put(place, name, source.random((12, 4)), time, lat)

    for path, places in (("axes.nc", {"a": 0, "b": 14}), ("far.nc", {"a": 20})):
        with h5py.File(folder.file(path), "w") as file:
            for name, first in places.items():
                put_on(file.create_group(name), first, "one", "two")
    with h5py.File(folder.file("axes.nc"), "r+") as file:
        file["a/three"] = file["a/one"][()].T
        attach(file["a/three"], file["a/lat"], file["a/time"])
        file["a/zebra"] = h5py.ExternalLink("far.nc", "/a/one")


def check_groups_are_those_of_each_axis(folder):
    """They are made once for all variables along one axis, and are others along another one."""
    make_axes(folder)
    paths = ["/a/one", "/a/two", "/a/three", "/b/one", "/b/two", "/a/zebra"]
    for options in (("--by", "time:month"), ("--by", "time:month", "-d", "lat"), ("--coarsen", "time=4,pad,lat=2"), ("--by", "lat,time:/a/zones", "--pair-by-number"),
                    ("--by", "time:month", "--weights", "time:days")):
        for part in ("", "[time=2001-01-15:2001-03-20]"):
            alone = {path: answers(folder, f"axes.nc:{path}{part}", *options, "--op", "mean") for path in paths}
            together = answers(folder, "axes.nc:/{" + ",".join(path[1:] for path in paths) + "}" + part, *options, "--op", "mean")
            assert len({str(found) for found in alone.values()}) == len(paths)
            for path in paths:
                assert together[path] == alone[path][path], (options, part, path)


# ---- Parts -----------------------------------------------------------------------------------------------------------


def check_a_part_by_names_cuts_what_has_the_dims(folder):
    make(folder)
    with h5py.File(folder.file("in.nc")) as source, folder.reduce("in.nc[time=2001, lat=0:60, lon=300:60]", "-d", "time", "--op", "max") as made:
        chosen = source["tas"][:12, 2:][:, :, [5, 0, 1]].max(0)
        assert np.array_equal(made["tas"][()], chosen)
        assert made["lon"][()].tolist() == [300, 360, 420] and made["index"][()] == source["index"][:12].max()
        assert np.array_equal(made["orog"][()], source["orog"][2:][:, [5, 0, 1]])
        assert made["place"].shape == (3,)
    fails(folder, "in.nc: 'lev=850': no dataset to reduce has that dim; there are lat, lon, station, time", "in.nc[lat=0:60, lev=850]", "-d", "time")
    fails(folder, "in.nc: which dataset? 2 have 3 dims: /pr [24,4,6], /tas [24,4,6]; name one, as FILE:/pr, or all: 'FILE:/**'; "
          "what has no name in '[0:6]' is an index, and a range of coordinates is NAME=FROM:TO",
          "in.nc[0:6]", "-d", "time", status=1)


def check_series(folder):
    make(folder)
    make(folder, "next.nc", 732)
    with h5py.File(folder.file("in.nc")) as source, folder.reduce("--concat", "time", "in.nc", "next.nc", "-d", "time", "--op", "sum") as made:
        assert np.allclose(made["tas"][()], 2 * source["tas"][()].sum(0), 1e-6)
        assert same_elements(made["soil"], source["soil"]) and made["time_bnds"][()].tolist() == [0, 732 + TIMES[-1] + 15]
    with folder.reduce("--concat", "time", "in.nc", "next.nc", "-d", "lon", "--op", "mean") as made:
        assert made["tas"].shape == (48, 4) and made["index"].shape == (48,) and made["label"].shape == (48,), made["index"]
        assert made["orog"].shape == (4,) and made["time"].shape == (48,)
    with folder.reduce("--concat", "time", "in.nc:/{tas,pr}[lat=0:60]", "next.nc[lat=0:60]", "-d", "time", "--op", "max") as made:
        assert made["tas"].shape == (2, 6) and "index" not in made


# ---- Patterns --------------------------------------------------------------------------------------------------------


def make_alike(folder, name, start, spacing):
    """Four variables over time and lat, and two over lat alone, all with an attribute that netCDF cannot read."""
    with h5py.File(folder.file(name), "w") as file:
        scales = [make_scale(file, "time", start + np.arange(2.0)), make_scale(file, "lat", spacing * np.arange(3.0))]
        for path, dims in (("a", 0), ("ab", 0), ("group/a", 0), ("group/b", 0), ("u", 1), ("v", 1)):
            put(file, path, np.ones((2, 3)[dims:]), *scales[dims:], levels=np.zeros((2, 2)))


def check_a_reason_is_given_once(folder):
    """Of a series, too, whose files a sentence names; and of copies as of results."""
    for name, start, spacing in (("one.nc", 0, 10), ("two.nc", 2, 10), ("far.nc", 2, 11)):
        make_alike(folder, name, start, spacing)
    more = "h5gpured: the same is true of %d more datasets\n"
    _, errors = folder.run("--concat", "time", "-d", "time", "one.nc", "far.nc", status=1)
    assert errors == ("h5gpured: far.nc:/a: its lat[1] is 11, that of one.nc:/a is 10; files of a series have the same coordinates "
                      "along its other dims\n" + more % 3), errors
    lacks = "h5gpured: one.nc:/a: the attribute levels is left out: it has several dims, which netCDF cannot read\n"
    for series in (["one.nc"], ["--concat", "time", "one.nc", "two.nc"]):
        _, errors = folder.run("-d", "time", "-q", "--overwrite", "-o", "out.nc", *series)
        assert errors == lacks + more % 5, errors


def make_groups(folder):
    with h5py.File(folder.file("groups.nc"), "w", track_order=True) as file:
        lon = make_scale(file, "lon", np.arange(3.0))
        put(file, "top", np.ones((3,)), lon)
        for name, size in (("a", 2), ("b", 4)):
            place = file.create_group(name)
            place.attrs["source"] = np.bytes_(name)
            time = make_scale(place, "time", np.arange(float(size)), units=np.bytes_("days since 2001-01-01"))
            lat = make_scale(place, "lat", np.arange(float(size)))
            put(place, "tas", np.arange(size * size * 3.0).reshape(size, size, 3), time, lat, lon, coordinates=np.bytes_("lat2"))
            put(place, "lat2", np.arange(size * 3.0).reshape(size, 3), lat, lon)
            put(place, "mask", np.ones((size, 3)), lat, lon)
            put(place.create_group("deep"), "pr", np.arange(float(size)), time)


def check_dims_are_in_sight(folder):
    """netCDF knows the dims of a variable's group and of those around it."""
    make_groups(folder)
    for arguments in (("groups.nc", "-d", "time"), ("groups.nc", "-d", "time", "-k"), ("groups.nc", "-d", "lat"), ("groups.nc", "--by", "time:month"),
                      ("groups.nc:/**", "groups.nc:/a/tas", "-d", "lon"), ("groups.nc:/b/tas", "groups.nc:/a/*", "-d", "lat")):
        with folder.reduce(*arguments, "--op", "mean") as made:
            found = []
            made.visititems(lambda name, item: found.append(item) if isinstance(item, h5py.Dataset) else None)
            for item in found:
                scales = [dim[0].name for dim in item.dims if len(dim) > 0]
                assert all(item.name.startswith(name[:name.rindex("/") + 1]) for name in scales), (arguments, item.name, scales)


def check_groups_stay_groups(folder):
    make_groups(folder)
    for options in ((), ("-k",)):
        with h5py.File(folder.file("groups.nc")) as source, folder.reduce("groups.nc", "-d", "time", "--op", "mean", *options) as made:
            assert set(made) == {"a", "b", "lon", "top"}, set(made)
            for name in "ab":
                for path in ("tas", "deep/pr"):
                    assert np.allclose(made[name][path][()], source[name][path][()].mean(0, keepdims=bool(options))), path
                assert attributes(made[name]) == {"source": name}
                assert made[name]["lat"].shape == source[name]["lat"].shape and same_elements(made[name]["mask"], source[name]["mask"])
                assert made[name]["tas"].dims[bool(options)][0].name == f"/{name}/lat" and made[name]["lat2"].ndim == 2
                assert attributes(made[name]["tas"])["coordinates"] == ("lat2" if options else "lat2 time")
                assert attributes(made[name]["tas"])["cell_methods"] == "time: mean"
    with folder.reduce("groups.nc:/a/tas", "-d", "time", "--op", "mean") as made:
        assert {"tas", "lat"} <= set(made) and "a" not in made
    with folder.reduce("groups.nc:/{a,b}/tas", "-d", "time", "--op", "min,max") as made:
        assert {"tas_min", "tas_max", "lat"} <= set(made["a"]) and "mask" not in made["a"] and "top" not in made


def check_patterns(folder):
    make_groups(folder)
    for pattern, wanted in (("/**", "a/tas b/tas a/deep/pr b/deep/pr"), ("/a/*", "a/tas"), ("/?/t*s", "a/tas b/tas"), ("/**/pr", "a/deep/pr b/deep/pr"),
                            ("/{a,b}/tas", "a/tas b/tas"), ("/a/{deep/pr,tas}", "a/tas a/deep/pr"), ("/a/**", "a/tas a/deep/pr"),
                            ("/{**/pr,a/*}", "a/tas a/deep/pr b/deep/pr"), ("/*/*[time=2001-01-02]", "a/tas b/tas")):
        found = answers(folder, "groups.nc:" + pattern, "-d", "time")
        assert set(found) == {"/" + path for path in wanted.split()}, (pattern, found)
    fails(folder, "groups.nc:/{a,b/tas: there is a '{' without its '}'", "groups.nc:/{a,b/tas", "-d", "time")
    fails(folder, "groups.nc:/c*: matches no data variable; --list shows what there is", "groups.nc:/{a/*,c*}", "-d", "time")
    fails(folder, "groups.nc:/*: no dataset has the dim time; there are time, lat, lon", "groups.nc:/*", "-d", "time")
    fails(folder, "groups.nc:/a/tass: there is no such dataset; did you mean /a/tas?", "groups.nc:/a/{tas,tass}", "-d", "time")
    fails(folder, "groups.nc:/a/mask: no dim is named 'time'; its dims are lat, lon", "groups.nc:/a/{tas,mask}", "-d", "time", status=None)
    fails(folder, "groups.nc:" + "/{a,b}" * 12 + ": its braces stand for too many names", "groups.nc:" + "/{a,b}" * 12)
    fails(folder, "groups.nc:/" + "{}" * 60 + ": its braces stand for too many names", "groups.nc:/" + "{}" * 60)


def check_names_that_look_like_patterns(folder):
    with h5py.File(folder.file("odd.h5"), "w") as file:
        for name in ("a*", "ab", "{x,y}", "x", "y", "q?", "qa", "p[0]", "p", "\u00e9t\u00e9"):
            file[name] = np.full((2,), len(file) + 1.0)
    assert set(answers(folder, "odd.h5:/a*")) == {"/a*"} and set(answers(folder, "odd.h5:/{x,y}")) == {"/{x,y}"}
    assert set(answers(folder, "odd.h5:/a?")) == {"/a*", "/ab"} and set(answers(folder, "odd.h5:/{x,y}[0]")) == {"/{x,y}"}
    assert set(answers(folder, "odd.h5:/q*")) == {"/q?", "/qa"} and set(answers(folder, "odd.h5:/p*")) == {"/p", "/p[0]"}
    assert answers(folder, "odd.h5:/p*[1]") == {"/p": [9], "/p[0]": [8]}
    assert set(answers(folder, "odd.h5:/?t?")) == {"/\u00e9t\u00e9"}
    assert len(answers(folder, "odd.h5:/**")) == 10


# ---- Files that are not as they should be ----------------------------------------------------------------------------


def check_nothing_is_written_where_one_fails(folder):
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        bad = file.create_dataset("zz", (24, 6), "f4", chunks=(24, 6), fletcher32=True)
        bad[:] = 1
        attach(bad, file["time"], file["lon"])
        offset = bad.id.get_chunk_info(0).byte_offset
    with open(folder.file("in.nc"), "r+b") as file:
        file.seek(offset)
        file.write(b"\xff" * 16)
    for dims in ("time", "lat"):  # reduced, and copied
        _, errors = folder.run("in.nc", "-d", dims, "--op", "mean", "-o", "out.nc", "-q", status=1)
        assert "/zz" in errors and not os.path.exists(folder.file("out.nc")), errors
    found, _ = folder.run("in.nc", "-d", "time", "--op", "mean", status=1)
    assert found.decode().count("mean over time") + found.decode().count("over time") >= 4, found


def check_a_copy_that_is_too_large(folder):
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        file.create_dataset("vast", (1 << 20, 1 << 24), "f8", chunks=(1, 1 << 12))
    fails(folder, "in.nc:/vast: too large to be copied: its elements need 1.41e+05 GB, twice; 'FILE:/**' copies no other variables",
          "in.nc", "-d", "time", "-o", "out.nc", "-q")
    folder.run("in.nc:/**", "-d", "time", "-o", "out.nc", "-q")


def check_groups_in_a_circle(folder):
    make_groups(folder)
    with h5py.File(folder.file("groups.nc"), "r+") as file:
        file["a/again"] = file["/"]
        file["b/a"] = file["a"]
        file["lost"] = h5py.SoftLink("/none")
        file["away"] = h5py.ExternalLink("none.nc", "/x")
    found = answers(folder, "groups.nc:/**", "-d", "time")
    assert len(found) == 4, found
    fails(folder, "groups.nc:/away: needs none.nc, which does not exist; 'FILE:/**' passes it over", "groups.nc", "-d", "time", "-o", "out.nc")


def check_many_variables(folder):
    with h5py.File(folder.file("many.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(3.0))
        for i in range(500):
            put(file, f"v{i:03}", np.arange(3.0) + i, time)
            put(file, f"w{i:03}", np.float32(i))
    with folder.reduce("many.nc", "-d", "time", "--op", "mean") as made:
        assert len(made) == 1000 and all(made[f"v{i:03}"][()] == i + 1 and made[f"w{i:03}"][()] == i for i in range(500))


def check_tables_are_named(folder):
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        file["table"] = np.zeros(2, [("a", "f4"), ("b", "S2")])
    _, errors = folder.run("in.nc", "-d", "time", "--op", "mean", "-o", "out.nc")
    assert "passed over 1 field of tables" in errors and "left out what cannot be copied: /table.a, /table.b\n" in errors, errors
    for pattern, said in (("**", True), ("*", True), ("ta?", False), ("{tas,pr}", False), ("tas", False)):
        errors = folder.run(f"in.nc:/{pattern}", "-d", "time", "--op", "mean")[1]
        assert ("passed over 1 field of tables" in errors) == said, (pattern, errors)


def check_two_files_share_what_is_equal(folder):
    make(folder)
    make(folder, "two.nc")
    with h5py.File(folder.file("two.nc"), "r+") as file:
        for name in ("tas", "pr", "index", "zonal"):
            file.move(name, name + "2")
        file["soil"][0, 0] += 1
    with folder.reduce("in.nc", "two.nc", "-d", "time", "--op", "mean") as made:
        assert {"tas", "tas2", "orog", "soil", "soil_2"} <= set(made) and "orog_2" not in made and "lat_2" not in made, set(made)


def check_large_copies_are_compressed_as_their_source_is(folder):
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        wide = make_scale(file, "wide", np.arange(40000.0))
        static = file.create_dataset("static", data=np.arange(40000) % 7, dtype="i4", chunks=(10000,), compression=5, shuffle=True)
        attach(static, wide)
    with h5py.File(folder.file("in.nc")) as source, folder.reduce("in.nc", "-d", "time", "--op", "mean") as made:
        assert same_elements(made["static"], source["static"]) and made["static"].compression_opts == 5, made["static"].compression_opts


def check_netcdf_tools_open_the_outputs(folder):
    if not shutil.which("ncdump"):
        print("skipped: netcdf-bin is not installed")
        return
    make(folder)
    make_groups(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        del file["code"]  # netCDF has no texts of a fixed length, and its reader crashes on the input's, too
    for arguments, wanted in ((("in.nc", "-d", "time"), 'string place(station) ;'), (("in.nc", "--by", "time:season"), "byte flags(station) ;"),
                              (("groups.nc", "-d", "time"), "double tas(lat, lon) ;"), (("groups.nc:/*/tas", "-d", "time", "-k"), "double tas(time, lat, lon) ;")):
        folder.run(*arguments, "--op", "mean", "-o", "out.nc", "--overwrite", "-q")
        shown = subprocess.run(["ncdump", folder.file("out.nc")], capture_output=True, text=True, check=True).stdout
        assert wanted in shown, shown


def check_rivals(folder):
    """All variables of a file at once are CDO's and NCO's."""
    if not shutil.which("cdo") or not shutil.which("ncwa"):
        print("skipped: not both of cdo and ncwa are installed")
        return
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        for name in ("flags", "label", "code", "place"):
            del file[name]
    for options, rival in (("-d time --op mean", "cdo -s -f nc4 timmean"), ("--by time:yearmonth --op mean", "cdo -s -f nc4 monmean"),
                           ("-d time --op max", "cdo -s -f nc4 timmax"), ("-d time --op mean", "ncwa -O -4 -a time")):
        subprocess.run([*rival.split(), "in.nc", "other.nc"], cwd=folder.path, check=True, capture_output=True)
        with folder.reduce("in.nc", *options.split()) as made, h5py.File(folder.file("other.nc")) as other:
            for name in ("tas", "index", "zonal", "orog"):
                own, theirs = made[name][()], other[name][()]
                assert np.allclose(own.ravel(), theirs.ravel(), 2e-6), (rival, name)
            assert made["soil"][()].ravel().tolist() == other["soil"][()].ravel().tolist(), rival


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
