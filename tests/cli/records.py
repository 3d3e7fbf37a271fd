#!/usr/bin/python3
"""Dims that may grow in the input may grow in the output: records.py TOOL [--tools]

With --tools, ncdump and ncrcat (NCO) look at the outputs; exits 77, which CTest shows as skipped, where they are missing.
"""
import shutil
import subprocess
import sys

from output import attach, h5py, make_scale, np, run_checks


def make_open_scale(file, name, values, **described):
    scale = file.create_dataset(name, data=values, maxshape=(None,), chunks=(512,))
    scale.make_scale(name)
    scale.attrs.update(described)
    return scale


def make_records(folder, name="tas.nc", count=12, first=0):
    """tas(time, lat, lon) with time unlimited, bounds of time, and a coordinate z(time, lat), as netCDF-4 writes them."""
    with h5py.File(folder.file(name), "w") as file:
        file.attrs["_NCProperties"] = "version=2"
        time = make_open_scale(file, "time", np.arange(first, first + count, dtype="f8"), units="days since 2001-1-1",
                               calendar="noleap", bounds="time_bnds")
        lat = make_scale(file, "lat", np.array([-45.0, 45.0]))
        lon = make_scale(file, "lon", np.array([0.0, 120.0, 240.0]))
        bnds = file.create_dataset("bnds", (2,), ">f4")
        bnds.make_scale(f"This is a netCDF dimension but not a netCDF variable.{2:10}")
        values = np.arange(first * 6, (first + count) * 6, dtype="f4").reshape(count, 2, 3)
        tas = file.create_dataset("tas", data=values, maxshape=(None, 2, 3), chunks=(1, 2, 3))
        attach(tas, time, lat, lon)
        tas.attrs["coordinates"] = "z"
        z = file.create_dataset("z", data=values[:, :, 0], maxshape=(None, 2), chunks=(1, 2))
        attach(z, time, lat)
        both = time[...][:, None] + np.array([-0.5, 0.5])
        attach(file.create_dataset("time_bnds", data=both, maxshape=(None, 2), chunks=(1, 2)), time, bnds)


def limits(out, *names):
    return {name: out[name].maxshape for name in names}


OPEN = {"tas": (None, 2), "time": (None,), "z": (None, 2), "time_bnds": (None, 2), "lat": (2,)}


def check_unlimited(folder):
    make_records(folder)
    with folder.reduce("tas.nc:/tas", "-d", "lon", "--op", "max") as out:
        assert limits(out, *OPEN) == OPEN, limits(out, *OPEN)
        assert out["lat"].chunks is None and out["time"].chunks == (512,), out["time"].chunks
        assert (out["tas"][...] == np.arange(72).reshape(12, 2, 3).max(2)).all() and out["tas"].shape == (12, 2)
        assert out["time"][...].tolist() == list(range(12)) and out["time_bnds"][5].tolist() == [4.5, 5.5]
    with folder.reduce("tas.nc:/tas", "-d", "time", "--op", "max") as out:
        assert limits(out, "tas", "lat", "lon") == {"tas": (2, 3), "lat": (2,), "lon": (3,)}
        assert out["tas"].chunks is None, "a result without a dim that may grow has chunks"


def check_parts_and_series(folder):
    make_records(folder)
    make_records(folder, "more.nc", 3, 12)
    with folder.reduce("tas.nc:/tas[0:6]", "-d", "lon", "--op", "max") as out:
        assert limits(out, *OPEN) == OPEN and out["time"].shape == (6,) and out["z"].shape == (6, 2), limits(out, *OPEN)
    with folder.reduce("tas.nc:/tas", "more.nc:/tas", "--concat", "time", "-d", "lon", "--op", "max") as out:
        assert limits(out, *OPEN) == OPEN and out["time"].shape == (15,), limits(out, *OPEN)
        assert (out["tas"][...] == np.arange(90).reshape(15, 2, 3).max(2)).all()
        assert out["time_bnds"][14].tolist() == [13.5, 14.5] and out["z"][14].tolist() == [84, 87]


def check_kept(folder):
    """A record dim of size 1 is what tools append by."""
    make_records(folder)
    with folder.reduce("tas.nc:/tas", "-d", "time", "-k", "--op", "mean") as out:
        assert out["tas"].maxshape == (None, 2, 3) and out["tas"].shape == (1, 2, 3), out["tas"].maxshape
        assert out["time"].maxshape == (None,) and out["time_bnds"].maxshape == (None, 2), out["time"].maxshape
        assert out["time_bnds"][...].tolist() == [[-0.5, 11.5]]


def check_no_records(folder):
    make_records(folder, count=0)
    with folder.reduce("tas.nc:/tas", "-d", "lon", "--op", "sum") as out:
        assert limits(out, *OPEN) == OPEN and out["tas"].shape == (0, 2) and out["time"].shape == (0,)
    with h5py.File(folder.file("out.nc"), "r+") as out:
        out["tas"].resize((3, 2))
        out["tas"][2] = [1, 2]
        assert out["tas"][2].tolist() == [1, 2]


def check_who_says(folder):
    """The scale does, and the dataset where there is none."""
    with h5py.File(folder.file("in.h5"), "w") as file:
        for name in ("fixed", "none", "bare", "second"):
            file.create_dataset(name, data=np.arange(6.0).reshape(3, 2), maxshape=(None, 2))
        attach(file["fixed"], make_scale(file, "x", np.arange(3.0)), make_scale(file, "y", np.arange(2.0)))
        rows = file.create_dataset("rows", (3,), ">f4", maxshape=(None,), chunks=(1,))
        rows.make_scale(f"This is a netCDF dimension but not a netCDF variable.{3:10}")
        attach(file["bare"], rows)
        file["second"].dims[1].attach_scale(file["y"])
    with folder.reduce("in.h5:/none", "-d", "1", "--op", "sum") as out:
        assert out["none"].maxshape == (None,) and out["none"][...].tolist() == [1, 5, 9]
    with folder.reduce("in.h5:/fixed", "in.h5:/bare", "-d", "1", "--op", "sum") as out:
        assert limits(out, "fixed", "x", "bare", "rows") == {"fixed": (3,), "x": (3,), "bare": (None,), "rows": (None,)}
        assert out["fixed"].chunks is None and out["rows"].id.get_storage_size() == 0
    with folder.reduce("in.h5:/second", "-d", "1", "-k", "--op", "sum") as out:
        assert out["second"].maxshape == (None, 1) and out["second"].dims[0][0].maxshape == (None,)


def check_shared(folder):
    """Variables of files with and without records share coordinates; all of them are as the scale is."""
    make_records(folder)
    with h5py.File(folder.file("fixed.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(12.0), units="days since 2001-1-1", calendar="noleap")
        attach(file.create_dataset("w", data=np.arange(24.0).reshape(12, 2)), time, make_scale(file, "x", np.arange(2.0)))
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        del file["time"].attrs["bounds"]
    for arguments, limit in ((("tas.nc:/tas", "fixed.nc:/w"), None), (("fixed.nc:/w", "tas.nc:/tas"), 12)):
        with folder.reduce(*arguments, "-d", "-1", "--op", "sum") as out:
            assert limits(out, "tas", "w", "time", "z") == {"tas": (limit, 2), "w": (limit,), "time": (limit,), "z": (limit, 2)}
            assert "time_2" not in out and out["w"].dims[0][0] == out["tas"].dims[0][0] == out["time"]


def check_chunks(folder):
    values = np.random.default_rng(1).integers(0, 99, (40, 300, 200, 2)).astype("f4")
    with h5py.File(folder.file("in.h5"), "w") as file:
        file.create_dataset("plain", data=values, maxshape=(None,) + values.shape[1:], chunks=(1, 300, 200, 2))
        file.create_dataset("small", data=values, maxshape=(None,) + values.shape[1:], chunks=(1, 300, 200, 2), compression=3)
        file.create_dataset("wide", data=values.reshape(2, 20, -1)[:, :2], maxshape=(None, 2, None), chunks=(1, 1, 1000))
    with folder.reduce("in.h5:/plain", "in.h5:/small", "-d", "3", "--op", "max") as out:
        plain, small = out["plain"], out["small"]
        assert plain.chunks[1:] == (300, 200) and plain.chunks[0] * 240000 <= 1 << 20, plain.chunks
        assert plain.compression is None and small.compression == "gzip" and small.maxshape == (None, 300, 200)
        for item in (plain, small):
            assert (item[...] == values.max(3)).all()
    with folder.reduce("in.h5:/wide", "-d", "0", "--op", "max") as out:
        assert out["wide"].maxshape == (2, None) and np.prod(out["wide"].chunks) * 4 <= 1 << 20, out["wide"].chunks
        assert (out["wide"][...] == values.reshape(2, 20, -1)[:, :2].max(0)).all()


def check_same_bytes(folder):
    make_records(folder)
    outputs = []
    for _ in range(2):
        folder.reduce("tas.nc:/tas", "-d", "lon", "--op", "mean,valid").close()
        with open(folder.file("out.nc"), "rb") as file:
            outputs.append(file.read())
    assert outputs[0] == outputs[1], "the second run's file is another"


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


def show_to_tools(folder):
    """Two outputs are appended by the record dim that netCDF's own reader finds in them."""
    make_records(folder, "a.nc", 12)
    make_records(folder, "b.nc", 5, 12)
    for name in "ab":
        folder.run(name + ".nc:/tas", "-d", "lon", "--op", "mean", "-q", "-o", f"{name}-out.nc")
        folder.run(name + ".nc:/tas", "-d", "time", "-k", "--op", "mean", "-q", "-o", f"{name}-mean.nc")
    shown = subprocess.run(["ncdump", "-h", folder.file("a-out.nc")], capture_output=True, text=True, check=True).stdout
    assert "time = UNLIMITED ; // (12 currently)" in shown and "lat = 2 ;" in shown, shown
    for kind, wanted in (("out", np.arange(102).reshape(17, 2, 3).mean(2)),
                         ("mean", np.arange(102).reshape(17, 2, 3))):
        joined = folder.file(kind + ".nc")
        done = subprocess.run(["ncrcat", "-O", folder.file(f"a-{kind}.nc"), folder.file(f"b-{kind}.nc"), joined],
                              capture_output=True, text=True)
        assert done.returncode == 0, f"ncrcat: {done.stderr}"
        with h5py.File(joined, "r") as out:
            rows = wanted if kind == "out" else np.array([wanted[:12].mean(0), wanted[12:].mean(0)])
            assert np.allclose(out["tas"][...], rows), out["tas"][...]
            assert out["time"].shape[0] == len(rows)


def main():
    checks = CHECKS
    if "--tools" in sys.argv:
        for program, package in (("ncdump", "netcdf-bin"), ("ncrcat", "nco")):
            if not shutil.which(program):
                print(f"skipped: {package} is not installed")
                sys.exit(77)
        checks = [show_to_tools]
    return run_checks(sys.argv[1], checks)


if __name__ == "__main__":
    sys.exit(main())
