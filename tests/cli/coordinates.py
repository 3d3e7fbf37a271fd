#!/usr/bin/python3
"""Coordinates in files that h5gpured -o writes: dims, their scales, and the other variables that say more of a result:
coordinates.py TOOL
"""
import shutil
import sys

from output import attach, attributes, h5py, make_climate, make_scale, np, run_checks, text


def make_curved(folder):
    """A model's curved grid in a group, with bounds, a scalar coordinate and a grid mapping."""
    with h5py.File(folder.file("grid.nc"), "w") as file:
        group = file.create_group("run")
        time = make_scale(group, "time", np.arange(3.0), units="days since 1850-1-1", bounds="time_bnds")
        y, x = make_scale(group, "y", np.arange(2.0), bounds="y_bnds"), make_scale(group, "x", np.arange(4.0))
        nv = make_scale(file, "nv", np.zeros(2))
        for name, scales, described in (
                ("t", (time, y, x), {"coordinates": "time lat level lon_lost label model", "grid_mapping": "crs"}),
                ("u", (time, y, x), {"coordinates": "lat", "grid_mapping": "crs: y x"}),
                ("lat", (y, x), {"units": "degrees_north", "bounds": "lat_bnds"}), ("time_bnds", (time, nv), {}),
                ("lon_lost", (time, x), {}), ("lat_bnds", (y, x, nv), {}), ("y_bnds", (y, nv), {"units": "m"})):
            values = np.random.default_rng(3).random([len(s) for s in scales])
            item = group.create_dataset(name, data=values, maxshape=[None if s == time else len(s) for s in scales])
            attach(item, *scales)
            item.attrs.update(described)
        group["level"] = 2.0
        group["level"].attrs.update({"units": "m", "coordinates": "time"})
        group["label"] = np.array([b"abc", b"def"])
        attach(group["label"], y)
        group["model"] = np.array(["", "CESM\u00b2"], h5py.string_dtype())
        attach(group["model"], y)
        file["crs"] = np.int32(0)
        file["crs"].attrs["grid_mapping_name"] = "latitude_longitude"


def dims_of(item):
    """Names and sizes, as netCDF sees them: one of each name, whose scale is as long as the dim."""
    if "DIMENSION_LIST" not in item.attrs:
        return [item.name.strip("/")] * len(item.shape)
    for dim, size in zip(item.dims, item.shape):
        assert len(dim) == 1 and dim[0].shape == (size,), f"{item.name}: {dim[0].name} is {dim[0].shape}, not {size}"
    return [dim[0].name.strip("/") for dim in item.dims]


def tied(out):
    """The names in a file, all of whose attributes name only what is there; and all that is there is named."""
    named = set()
    for name, item in out.items():
        dims = dims_of(item)
        named.update(set(dims) - {name})
        for key in ("bounds", "climatology", "coordinates", "grid_mapping", "cell_measures", "formula_terms"):
            words = [word for word in text(item.attrs.get(key, "")).split() if not word.endswith(":")]
            assert not set(words) - set(out), f"{name}: {key} is {words}"
            named.update(words)
            alien = [word for word in words if key == "coordinates" and set(dims_of(out[word])) - set(dims)]
            assert not alien, f"{name} has coordinates of other dims: {alien}"
        assert "ancillary_variables" not in item.attrs
    strange = {name for name in set(out) - named if "cell_methods" not in out[name].attrs}
    assert not strange, f"nothing names {strange}"
    return set(out)


def check_auxiliary_variables(folder):
    """What belongs to a result comes with it, unless it has dims that were reduced."""
    make_curved(folder)
    with folder.reduce("grid.nc:/run/t", "grid.nc:/run/u", "-d", "time", "--op", "mean,max") as out:
        assert sorted(out) == sorted(["t_mean", "t_max", "u_mean", "u_max", "y", "x", "nv", "lat", "lat_bnds", "y_bnds",
                                      "level", "label", "model", "crs", "time", "time_bnds"]), sorted(out)
        for op in ("mean", "max"):
            assert text(out["t_" + op].attrs["coordinates"]) == "lat level label model time", attributes(out["t_mean"])
            assert text(out["t_" + op].attrs["grid_mapping"]) == "crs"
            assert text(out["u_" + op].attrs["coordinates"]) == "lat time" and "grid_mapping" not in out["u_" + op].attrs
        assert attributes(out["lat"]) == {"units": "degrees_north", "bounds": "lat_bnds"}
        assert attributes(out["y"])["bounds"] == b"y_bnds".decode() and "bounds" not in out["x"].attrs
        assert attributes(out["level"]) == {"units": "m"} and out["level"][()] == 2
        assert [dim[0].name for dim in out["lat_bnds"].dims] == ["/y", "/x", "/nv"]
        assert out["label"][...].tolist() == [b"abc", b"def"]
        assert out["model"].asstr()[...].tolist() == ["", "CESM\u00b2"]
        with h5py.File(folder.file("grid.nc"), "r") as file:
            assert (out["lat_bnds"][...] == file["run/lat_bnds"][...]).all()
    with folder.reduce("grid.nc:/run/t", "-d", "y,x") as out:
        assert sorted(out) == ["level", "nv", "t", "time", "time_bnds"], sorted(out)
        assert text(out["t"].attrs["coordinates"]) == "time level"


def check_auxiliary_variables_of_parts(folder):
    """They are cut as the dataset is: by ranges, steps and indices, whole where they do not have the dim."""
    make_curved(folder)
    with h5py.File(folder.file("grid.nc"), "r") as file:
        group = {name: item[...] for name, item in file["run"].items()}
    with folder.reduce("grid.nc:/run/t[:,1:,::2]", "grid.nc:/run/u[1:,:,1]", "-d", "time", "--op", "mean") as out:
        names = tied(out)
        assert {"lat", "lat_2", "lat_bnds", "lat_bnds_2", "y_bnds", "y_bnds_2", "level", "model", "crs"} <= names, names
        assert text(out["t"].attrs["coordinates"]) == "lat level label model time" and dims_of(out["t"]) == ["y", "x"]
        assert text(out["u"].attrs["coordinates"]) == "lat_2 time_2" and dims_of(out["u"]) == ["y_2", "x_2"]
        for name, cut in (("lat", np.s_[1:, ::2]), ("lat_bnds", np.s_[1:, ::2]), ("label", np.s_[1:]), ("y_bnds", np.s_[1:])):
            assert (out[name][...] == group[name][cut]).all(), name
        assert (out["lat_2"][...] == group["lat"][:, 1:2]).all() and out["lat_bnds_2"].shape == (2, 1, 2)
        assert out["model"].asstr()[...].tolist() == ["CESM\u00b2"] and out["level"][()] == 2
    with folder.reduce("grid.nc:/run/t[0:3:2,0:0]", "-d", "x", "--op", "sum") as out:
        assert {"time_bnds", "y_bnds", "level", "label", "model"} <= tied(out), tied(out)
        assert (out["time_bnds"][...] == group["time_bnds"][::2]).all() and out["y_bnds"].shape == (0, 2)


def check_auxiliary_variables_of_series(folder):
    """What has the dim along which files follow each other does so, too, if it means the same in all of them."""
    make_curved(folder)
    shutil.copy(folder.file("grid.nc"), folder.file("next.nc"))
    with h5py.File(folder.file("next.nc"), "r+") as file:
        for name in ("t", "time", "time_bnds", "lon_lost", "lat"):
            file["run"][name][...] += 3
    with h5py.File(folder.file("grid.nc"), "r") as one, h5py.File(folder.file("next.nc"), "r") as two:
        first, second = ({name: item[...] for name, item in file["run"].items()} for file in (one, two))
    series = ("--concat", "time", "grid.nc:/run/t[1:]", "next.nc:/run/t[::2]")
    with folder.reduce(*series, "-d", "y") as out:
        assert tied(out) == {"t", "time", "time_bnds", "nv", "x", "lon_lost", "level", "crs"}, tied(out)
        for name in ("time", "time_bnds", "lon_lost"):
            assert (out[name][...] == np.concatenate([first[name][1:], second[name][::2]])).all(), name
    with folder.reduce(*series, "-d", "time") as out:
        assert {"lat", "lat_bnds", "y_bnds", "label"} <= tied(out) and (out["lat"][...] == first["lat"]).all()
    shutil.copy(folder.file("next.nc"), folder.file("beside.nc"))
    with h5py.File(folder.file("beside.nc"), "r+") as file:
        for name in ("time", "time_bnds"):
            file["run"][name][...] = first[name]
    with folder.reduce("--concat", "x", "grid.nc:/run/t", "beside.nc:/run/t[:,:,:1]", "-d", "time") as out:
        assert tied(out) == {"t", "y", "y_bnds", "nv", "x", "lat", "lat_bnds", "level", "label", "model", "crs",
                             "time", "time_bnds"}, tied(out)
        assert (out["lat"][...] == np.concatenate([first["lat"], second["lat"][:, :1]], 1)).all()
    with h5py.File(folder.file("next.nc"), "r+") as file:
        del file["run/time_bnds"]
        file["run/lon_lost"].attrs["units"] = "degrees_east"
    with folder.reduce(*series, "-d", "y") as out:
        assert tied(out) == {"t", "time", "x", "level", "crs"}, tied(out)
        assert text(out["t"].attrs["coordinates"]) == "time level" and "bounds" not in out["time"].attrs


def check_measures_and_terms(folder):
    """Cell measures, climatological bounds, and the terms of a vertical coordinate, which go together or not at all."""
    with h5py.File(folder.file("ocean.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(4.0), units="days since 1850-1-1", climatology="seasons")
        level = make_scale(file, "lev", np.arange(3.0), formula_terms="a: a b: b ps: ps", bounds="lev_bnds")
        x, nv = make_scale(file, "x", np.arange(2.0)), make_scale(file, "nv", np.zeros(2))
        for name, scales in (("t", (time, level, x)), ("a", (level,)), ("b", (level,)), ("ps", (time, x)),
                             ("seasons", (time, nv)), ("lev_bnds", (level, nv)), ("area", (x,)), ("volume", (level, x)),
                             ("quality", (time, x))):
            file[name] = np.random.default_rng(4).random([len(s) for s in scales])
            attach(file[name], *scales)
        file["t"].attrs.update({"cell_measures": "area: area volume: volume", "ancillary_variables": "quality"})
    cases = (("lev", "", {"t", "time", "x", "seasons", "nv", "area"}, "area: area"),
             ("x", "[:,1:]", {"t", "time", "lev", "seasons", "nv", "lev_bnds"}, None),
             ("time", "[:2]", {"t", "lev", "x", "lev_bnds", "nv", "area", "volume", "time", "seasons"},
              "area: area volume: volume"))
    for dims, part, wanted, measures in cases:
        with folder.reduce("ocean.nc:/t" + part, "-d", dims) as out:
            assert tied(out) == wanted, f"over {dims}: {tied(out)}"
            assert text(out["t"].attrs.get("cell_measures")) == measures, attributes(out["t"])
    with h5py.File(folder.file("ocean.nc"), "r+") as file:
        file["t"].dims[2].detach_scale(file["x"])
        file["t"].dims[2].attach_scale(make_scale(file, "station", np.arange(2.0)))
    with folder.reduce("ocean.nc:/t[1:3]", "-d", "station") as out:
        assert {"a", "b", "ps"} <= tied(out) and text(out["lev"].attrs["formula_terms"]) == "a: a b: b ps: ps", tied(out)
        assert out["ps"].shape == (2, 2) and dims_of(out["ps"]) == ["time", "x"]


def check_parts(folder):
    """Coordinates follow what is selected, and files that follow each other."""
    make_climate(folder)
    with folder.reduce("tas.nc:/tas[1:4:2,:,1:]", "-d", "lat", "--op", "argmax,mean") as out:
        assert out["time"][...].tolist() == [1, 3] and out["lon"][...].tolist() == [120, 240]
        assert out["tas_mean"][...].tolist() == [[8.5, 9.5], [20.5, 21.5]]
    shutil.copy(folder.file("tas.nc"), folder.file("two.nc"))
    with h5py.File(folder.file("two.nc"), "r+") as file:
        file["tas"][...] += 100
        file["time"][...] += 4
        file["other"] = file["tas"][...]
        attach(file["other"], file["time"], file["lat"], file["lon"])
    with folder.reduce("two.nc:/tas[0:2]", "two.nc:/other[2:4]", "-d", "1,2", "--op", "max") as out:
        assert out["tas"].dims[0][0][...].tolist() == [4, 5] and out["other"].dims[0][0][...].tolist() == [6, 7]
    with folder.reduce("--concat", "time", "tas.nc", "two.nc:/tas", "-d", "lat,lon", "--op", "max") as out:
        assert out["tas"].dims[0][0][...].tolist() == list(range(8)) and out["time"].attrs["calendar"]
    with h5py.File(folder.file("two.nc"), "r+") as file:
        file["time"].attrs["units"] = "days since 1900-1-1"
    with folder.reduce("--concat", "time", "tas.nc", "two.nc:/tas", "-d", "lat,lon", "--op", "max") as out:
        assert out["time"][...].tolist() == [0, 1, 2, 3] + [18250 + day for day in range(4, 8)], out["time"][...]
    with folder.reduce("--raw", "--concat", "time", "tas.nc", "two.nc:/tas", "-d", "lat,lon", "--op", "max") as out:
        assert out["time"].attrs["NAME"].startswith(b"This is a netCDF dimension but not a netCDF variable")


def check_dims_kept_or_unnamed(folder):
    """All dims of a result have scales or none has: netCDF cannot read one that has some."""
    make_climate(folder)
    with folder.reduce("tas.nc", "-d", "time", "-k", "--op", "max,min") as out:
        assert sorted(out) == ["bnds", "lat", "lon", "tas_max", "tas_min", "time", "time_bnds"], sorted(out)
        assert [dim[0].name for dim in out["tas_min"].dims] == ["/time", "/lat", "/lon"] and out["time"].shape == (1,)
        assert out["time"][...] == [1.5] and out["time_bnds"][...].tolist() == [[0, 3]] and "coordinates" not in out["tas_min"].attrs
    with folder.reduce("tas.nc", "-d", "lat", "-k", "--op", "max") as out:
        assert out["lat"].attrs["NAME"].startswith(b"This is a netCDF dimension but not a netCDF variable.")
    with h5py.File(folder.file("some.h5"), "w") as file:
        scale = make_scale(file, "y", np.arange(3.0))
        for name in ("a", "b"):
            file[name] = np.ones((2, 3, 4))
            file[name].dims[1].attach_scale(scale)
        file["c"] = np.ones((2, 3, 4))
    with folder.reduce("some.h5:/a", "some.h5:/b", "-d", "0") as out:
        assert [dim[0].name for dim in out["a"].dims] == ["/y", "/dim2"], sorted(out)
        assert [dim[0].name for dim in out["b"].dims] == ["/y", "/dim2_2"], sorted(out)
    with folder.reduce("some.h5:/c", "-d", "0") as out:
        assert sorted(out) == ["c"] and "DIMENSION_LIST" not in out["c"].attrs


def check_coordinates_of_text(folder):
    """Scales that hold names, of any length or of fixed ones: copied as selected, and shared by those that are equal."""
    for number in (1, 2):
        with h5py.File(folder.file(f"names{number}.h5"), "w") as file:
            model = make_scale(file, "model", np.array(["CESM\u00b2", "", "IPSL"], h5py.string_dtype()))
            kind = make_scale(file, "kind", np.array([b"sea", b"ice"]))
            name = f"v{number}"
            file[name] = np.arange(24.0).reshape(3, 2, 4)
            file[name].dims[0].attach_scale(model)
            file[name].dims[1].attach_scale(kind)
    with folder.reduce("names1.h5", "names2.h5", "-d", "2", "--op", "sum,max") as out:
        assert sorted(out) == ["kind", "model", "v1_max", "v1_sum", "v2_max", "v2_sum"], sorted(out)
        assert out["model"].asstr()[...].tolist() == ["CESM\u00b2", "", "IPSL"] and out["kind"][...].tolist() == [b"sea", b"ice"]
    with folder.reduce("names1.h5:/v1[::2]", "-d", "2") as out:
        assert out["model"].asstr()[...].tolist() == ["CESM\u00b2", "IPSL"]
    with folder.reduce("--concat", "model", "names1.h5:/v1", "names2.h5:/v2", "-d", "2") as out:
        assert out["model"].shape == (6,) and out["model"].dtype == ">f4" and out["kind"].shape == (2,)


def check_what_files_share(folder):
    """Scales and other variables that are the same in two files come once; where one says something else, both do."""
    make_curved(folder)
    shutil.copy(folder.file("grid.nc"), folder.file("second.nc"))
    with h5py.File(folder.file("second.nc"), "r+") as file:
        file.move("run/t", "run/v")
    inputs = ("grid.nc:/run/t", "second.nc:/run/v")
    with folder.reduce(*inputs, "-d", "time") as out:
        assert tied(out) == {"t", "v", "x", "y", "nv", "y_bnds", "lat", "lat_bnds", "level", "label", "model", "crs",
                             "time", "time_bnds"}, tied(out)
        assert out["v"].dims[1][0] == out["x"] and text(out["v"].attrs["coordinates"]) == "lat level label model time"
    with h5py.File(folder.file("second.nc"), "r+") as file:
        file["run/time"].attrs["units"] = "days since 1851-1-1"
        file["crs"].attrs["earth_radius"] = 6371229.0
        file["run/level"][()] = 3
    with folder.reduce(*inputs, "-d", "time,x") as out:
        assert {"crs", "crs_2"} <= tied(out), tied(out)
    with folder.reduce(*inputs, "-d", "y,x") as out:
        assert {"time", "time_2", "time_bnds", "time_bnds_2", "level", "level_2", "nv"} <= tied(out), tied(out)
        assert "nv_2" not in out and text(out["v"].attrs["coordinates"]) == "time_2 level_2"
        assert text(out["time_2"].attrs["units"]) == "days since 1851-1-1" and text(out["time_2"].attrs["bounds"]) == "time_bnds_2"


def check_dims_of_one_name(folder):
    """Of a matrix [x, x], the coordinates stay with the dim that is left, and a dim kept with size 1 is another one."""
    with h5py.File(folder.file("cov.nc"), "w") as file:
        t, x = make_scale(file, "t", np.arange(2.0)), make_scale(file, "x", np.arange(3.0), units="m")
        for name, scales in (("cov", (x, x)), ("series", (t, x, x)), ("cube", (x, x, x))):
            file[name] = np.arange(float(np.prod([len(s) for s in scales]))).reshape([len(s) for s in scales])
            attach(file[name], *scales)
    cases = ((("cov", "0", "-k"), ["x_2", "x"], "x_2: sum"), (("cov", "1", "-k"), ["x", "x_2"], "x_2: sum"),
             (("cov", "all", "-k"), ["x", "x"], "x: sum"), (("cov", "all"), [], "x: sum"), (("cov", "1"), ["x"], None),
             (("series", "t"), ["x", "x"], "t: sum"), (("series", "t", "-k"), ["t", "x", "x"], "t: sum"),
             (("cube", "0,2", "-k"), ["x_2", "x", "x_2"], "x_2: sum"), (("cube", "1", "-k"), ["x", "x_2", "x"], "x_2: sum"))
    for (name, dims, *options), wanted, methods in cases:
        with folder.reduce("cov.nc:/" + name, "-d", dims, *options) as out:
            assert dims_of(out[name]) == wanted, f"{name} over {dims}: {dims_of(out[name])}"
            assert attributes(out[name]).get("cell_methods") == methods, f"{name} over {dims}: {attributes(out[name])}"
            if "x" in wanted and out["x"].shape == (3,):
                assert out["x"][...].tolist() == [0, 1, 2] and attributes(out["x"]) == {"units": "m"}
            if "x_2" in wanted:
                assert out["x_2"].attrs["NAME"].startswith(b"This is a netCDF dimension but not a netCDF variable")
    with folder.reduce("cov.nc:/cube[:,:2]", "-d", "0") as out:
        assert dims_of(out["cube"]) == ["x", "x_2"] and out["x_2"][...].tolist() == [0, 1, 2]
    with folder.reduce("cov.nc:/cov", "--op", "argmax", "--coords") as out:
        assert sorted(out) == ["cov", "cov_argmax_x", "cov_argmax_x_2"], sorted(out)
    table, _ = folder.run("cov.nc:/series", "-d", "t", "--format", "csv")
    assert table.decode().startswith("x,x_2,sum\n0,0,9\n0,1,11\n"), table


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
