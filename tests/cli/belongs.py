#!/usr/bin/python3
"""What belongs to a result in the file that h5gpured -o writes, beyond its dims: belongs.py TOOL

The period of a time axis, grid mappings, cell measures of other files, meshes, attributes of groups, marks of missing
elements, and what is left out because netCDF's readers cannot hold it.
"""
import shutil
import sys

from coordinates import dims_of
from output import attach, attributes, h5py, make_climate, make_scale, np, run_checks, text


def check_the_period_of_a_mean(folder):
    """A scalar time in the middle of its bounds, which are those of the axis or, without them, its ends."""
    make_climate(folder)
    with folder.reduce("tas.nc", "-d", "time,lat", "--op", "mean,max") as out:
        assert out["time"][()] == 1.5 and out["time_bnds"][...].tolist() == [0, 3] and dims_of(out["time_bnds"]) == ["bnds"]
        assert attributes(out["time"]) == {"units": "days since 1850-1-1", "calendar": "noleap", "bounds": "time_bnds"}
        assert {text(out["tas_" + op].attrs["coordinates"]) for op in ("mean", "max")} == {"time"}
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        file["edges"] = np.array([[-1.0, 0], [0, 1], [1, 2], [2, 30]])
        attach(file["edges"], file["time"], make_scale(file, "two", np.zeros(2)))
        file["time"].attrs.update({"bounds": "edges", "axis": "T", "actual_range": [0.0, 3.0]})
        file["tas"].attrs["coordinates"] = "height"
        file["height"] = 2.0
    with folder.reduce("tas.nc", "-d", "time") as out:
        assert out["edges"][...].tolist() == [-1, 30] and dims_of(out["edges"]) == ["two"] and out["time"][()] == 14.5
        assert text(out["tas"].attrs["coordinates"]) == "height time" and text(out["time"].attrs["axis"]) == "T"
        assert "actual_range" not in out["time"].attrs
    with folder.reduce("tas.nc:/tas[1:3]", "-d", "time", "-k") as out:
        assert out["edges"][...].tolist() == [[0, 2]] and dims_of(out["edges"]) == ["time", "two"]
        assert out["time"][...].tolist() == [1] and dims_of(out["tas"]) == ["time", "lat", "lon"]
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        file["edges"][2] = 9.97e36  # never written
    with folder.reduce("tas.nc", "-d", "time") as out:
        assert out["time"][()] == 1.5 and out["edges"][...].tolist() == [0, 3]
    with folder.reduce("tas.nc", "-d", "lat,lon") as out:
        assert "coordinates" not in out["tas"].attrs or text(out["tas"].attrs["coordinates"]) == "height"
        assert out["time"].shape == (4,)


def make_period(folder, times, bounds=None, attribute="bounds", **packing):
    with h5py.File(folder.file("in.nc"), "w") as file:
        time = make_scale(file, "time", times, units="days since 2001-01-01", **packing)
        attach(file.create_dataset("f", data=np.arange(2.0 * len(times)).reshape(-1, 2)), time, make_scale(file, "x", np.arange(2.0)))
        if bounds is not None:
            time.attrs[attribute] = "edges"
            file["edges"] = bounds
            file["edges"].attrs.update(packing)
            attach(file["edges"], time, make_scale(file, "two", np.zeros(2)))


def check_periods_of_strange_times(folder):
    """Unsorted and missing times, one alone, bounds that are NaN, backwards, packed or texts."""
    pairs, nan = np.array([[4.0, 6], [1, 3], [6, 9]]), np.nan
    cases = (([5.0, 2, 8], None, [2, 8], "bounds"), ([5.0, 2, 8], pairs, [1, 9], "edges"), ([5.0, 2, 8], pairs[:, ::-1], [1, 9], "edges"),
             ([5.0, nan, 8], None, [5, 8], "bounds"), ([5.0, nan, 8], pairs, [5, 8], "edges"),
             ([5.0, 3, 8], np.array([[4.0, 6], [nan, 3], [6, 9]]), [3, 8], "edges"),
             ([5.0], None, [5, 5], "bounds"), ([5.0], pairs[:1], [4, 6], "edges"), ([nan], None, None, None),
             ([5.0, 2], np.array([[b"a", b"b"], [b"c", b"d"]]), [2, 5], "bounds"))
    for times, own, wanted, called in cases:
        make_period(folder, np.array(times), own)
        for kept in ([], ["-k"]):
            with folder.reduce("in.nc:/f", "-d", "time", "--op", "mean", *kept) as out:
                found = None if "bounds" not in (out["time"].attrs if "time" in out else {}) else attributes(out["time"])["bounds"]
                assert (found is not None) == (wanted is not None), (times, own, kept, sorted(out))
                if wanted:
                    assert np.ravel(out[found][...]).tolist() == wanted and np.ravel(out["time"][...]) == [sum(wanted) / 2], (times, own)
                    assert called == "edges" or found == "time_bnds", (times, own, found)
    make_period(folder, np.int16([10, 4, 16]), np.int16([[8, 12], [2, 6], [12, 18]]), scale_factor=0.5)
    for raw in ([], ["--raw"]):
        with folder.reduce("in.nc:/f", "-d", "time", "--op", "mean", *raw) as out:
            assert out["edges"][...].tolist() == [1, 9] and out["time"][()] == 5 and "scale_factor" not in out["time"].attrs


def check_climatologies(folder):
    """The bounds of a climatology are one as far as they are there, else the axis has ends."""
    make_period(folder, np.array([15.0, 45]), np.array([[0.0, 3650], [31, 3680]]), "climatology")
    with folder.reduce("in.nc:/f", "-d", "time", "--op", "mean") as out:
        assert attributes(out["time"])["climatology"] == "edges" and "bounds" not in out["time"].attrs
        assert out["edges"][...].tolist() == [0, 3680]
    for spoil in (lambda file: file.__delitem__("edges"), lambda file: file["edges"].__setitem__(0, np.nan)):
        make_period(folder, np.array([15.0, 45]), np.array([[0.0, 3650], [31, 3680]]), "climatology")
        with h5py.File(folder.file("in.nc"), "r+") as file:
            spoil(file)
        for kept in ([], ["-k"]):
            with folder.reduce("in.nc:/f", "-d", "time", "--op", "mean", *kept) as out:
                found = attributes(out["time"])
                assert "climatology" not in found and np.ravel(out[found["bounds"]][...]).tolist() == [15, 45], found


def check_periods_that_results_share(folder):
    """One time for equal periods, two where they differ; of several files as one, the whole period."""
    make_climate(folder)
    shutil.copy(folder.file("tas.nc"), folder.file("pr.nc"))
    with h5py.File(folder.file("pr.nc"), "r+") as file:
        file.move("tas", "pr")
    for kept in ((), ("-k",)):
        with folder.reduce("tas.nc", "pr.nc:/pr", "-d", "time", *kept) as out:
            assert sorted(out) == ["bnds", "lat", "lon", "pr", "tas", "time", "time_bnds"], sorted(out)
    with folder.reduce("tas.nc", "pr.nc:/pr[1:]", "-d", "time") as out:
        assert text(out["pr"].attrs["coordinates"]) == "time_2" and out["time_2"][()] == 2
    with h5py.File(folder.file("pr.nc"), "r+") as file:
        file.move("pr", "tas")
        file["time"][...] += 4
    with folder.reduce("--concat", "time", "tas.nc", "pr.nc", "-d", "time") as out:
        assert out["time"][()] == 3.5 and out["time_bnds"][...].tolist() == [0, 7]


def check_grid_mapping_and_measures(folder):
    """A mapping goes with the last horizontal dim; areas in another file stay while the grid is whole."""
    make_climate(folder)
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        file.attrs["external_variables"] = "areacella"
        file["crs"] = np.int32(0)
        file["tas"].attrs["grid_mapping"] = "crs"
    cases = (("time", "", "crs", "area: areacella"), ("lat", "", "crs", None), ("lat,lon", "", None, None),
             ("time", "[:,:,1:]", "crs", None), ("time", "[1:]", "crs", "area: areacella"))
    for dims, part, mapping, measures in cases:
        with folder.reduce("tas.nc:/tas" + part, "-d", dims) as out:
            found = attributes(out["tas"])
            assert (found.get("grid_mapping"), found.get("cell_measures")) == (mapping, measures), f"{dims} {part}: {found}"
            assert ("crs" in out) == bool(mapping) and text(out.attrs["external_variables"]) == "areacella"


def make_mesh(folder):
    with h5py.File(folder.file("mesh.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(2.0), units="days since 2000-1-1")
        face, node, three = (make_scale(file, name, np.arange(float(size)))
                             for name, size in (("face", 2), ("node", 4), ("three", 3)))
        for name, scales, values in (("lon", (node,), np.array([0.0, 1, 0, 1])), ("lat", (node,), np.array([0.0, 0, 1, 1])),
                                     ("corners", (face, three), np.array([[0, 1, 2], [1, 3, 2]])),
                                     ("t", (time, face), np.ones((2, 2)))):
            file[name] = values
            attach(file[name], *scales)
        file["topology"] = np.int32(0)
        file["topology"].attrs.update({"cf_role": "mesh_topology", "topology_dimension": 2, "node_coordinates": "lon lat",
                                       "face_node_connectivity": "corners"})
        file["t"].attrs.update({"mesh": "topology", "location": "face"})


def check_meshes(folder):
    make_mesh(folder)
    with folder.reduce("mesh.nc:/t", "-d", "time") as out:
        found = attributes(out["t"])
        assert (found["mesh"], found["location"]) == ("topology", "face") and {"lon", "lat", "corners"} <= set(out), found
        found = attributes(out["topology"])
        assert (found["node_coordinates"], found["face_node_connectivity"]) == ("lon lat", "corners"), found
        assert dims_of(out["corners"]) == ["face", "three"] and out["corners"][...].tolist() == [[0, 1, 2], [1, 3, 2]]
    for part, dims in (("", "face"), ("[:,1:]", "time")):
        with folder.reduce("mesh.nc:/t" + part, "-d", dims) as out:
            assert "topology" not in out and not {"mesh", "location"} & set(out["t"].attrs), attributes(out["t"])


def check_attributes_of_groups(folder):
    with h5py.File(folder.file("groups.nc"), "w") as file:
        file.attrs["title"] = "root"
        inner = file.create_group("model/run")
        file["model"].attrs.update({"title": "model", "institution": "one", "NX_class": "NXentry"})
        inner.attrs.update({"institution": "two", "realization": 3})
        inner["x"] = np.arange(3.0)
    with folder.reduce("groups.nc:/model/run/x") as out:
        found = attributes(out)
        del found["history"]
        assert found == {"title": "root", "institution": "one", "realization": [3]}, found


def check_what_netcdf_cannot_hold(folder):
    """f16 becomes f32 wherever it is, and attributes of several dims are left out with one line each."""
    with h5py.File(folder.file("in.nc"), "w") as file:
        half = make_scale(file, "y", np.arange(3, dtype="f2"), matrix=np.eye(2), half=np.float16(0.5))
        file["x"] = np.arange(12, dtype="f2").reshape(3, 4)
        attach(file["x"], half, make_scale(file, "wide", np.arange(4, dtype="longdouble")))
        file["x"].attrs.update({"table": np.ones((2, 3)), "names": np.array([[b"a", b"b"]]), "valid_min": np.float16(0)})
    _, errors = folder.run("in.nc:/x", "-d", "wide", "--op", "min,sum", "-q", "-o", "out.nc")
    assert errors.splitlines() == [
        f"h5gpured: in.nc:/{name} is left out: it has several dims, which netCDF cannot read"
        for name in ("x: the attribute table", "y: the attribute matrix")], errors
    with h5py.File(folder.file("out.nc"), "r") as out:
        assert {out[name].dtype for name in ("x_min", "x_sum", "y")} == {np.dtype("f4")}
        assert out["y"].attrs["half"].dtype == "f4" and out["x_min"].attrs["valid_min"].dtype == "f4"
        assert out["x_sum"][...].tolist() == [6, 22, 38] and out["x_sum"].attrs["names"].shape == (1, 2)
    with folder.reduce("in.nc:/x", "-d", "y") as out:
        assert out["wide"].dtype == "f8"
    shutil.copy(folder.file("in.nc"), folder.file("two.nc"))
    with h5py.File(folder.file("two.nc"), "r+") as file:
        file.move("x", "z")
    with folder.reduce("in.nc:/x", "two.nc:/z", "-d", "wide") as out:
        assert sorted(out) == ["x", "y", "z"], sorted(out)


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
