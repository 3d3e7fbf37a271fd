#!/usr/bin/python3
"""Bool as xarray writes it, bytes with the attribute dtype = "bool", and as h5py does, an enumeration: bools.py TOOL

Results are opened with xarray, too, by all of its readers of netCDF-4 that are installed.
"""
import json
import sys

from output import attach, attributes, h5py, make_scale, np, run_checks, text

try:
    import xarray
except ImportError:
    xarray = None

VALUES = np.array([[0, 1, 1], [0, 0, 0]], "i1")


def make_bools(folder):
    with h5py.File(folder.file("in.nc"), "w") as file:
        file.attrs["_NCProperties"] = "version=2"
        x, y = make_scale(file, "x", np.arange(2.0)), make_scale(file, "y", np.arange(3.0))
        for name, values, described in (("wet", VALUES, {"dtype": "bool"}), ("bytes", VALUES * 2, {"dtype": np.bytes_("bool")}),
                                        ("masked", VALUES, {"dtype": "bool", "_FillValue": np.int8(1)}),
                                        ("wide", VALUES.astype("i2") * 2, {"dtype": "bool"}),
                                        ("other", VALUES * 2, {"dtype": "int8"})):
            file[name] = values
            file[name].attrs.update(described, long_name=name)
            attach(file[name], x, y)
    with h5py.File(folder.file("plain.h5"), "w") as file:
        file["enumeration"] = VALUES.astype(bool)
        file["wet"] = VALUES
        file["wet"].attrs["dtype"] = "bool"


def values(folder, *arguments):
    return [json.loads(line) for line in folder.run(*arguments, "--json")[0].splitlines()]


def check_read(folder):
    """Bytes other than 0 are true; what is missing stays so, and other types and words mean nothing."""
    make_bools(folder)
    for name, dtype, total, sums in (("wet", "bool", [2, 0], "u64"), ("bytes", "bool", [2, 0], "u64"),
                                     ("masked", "f64", [0, 0], "f64"), ("wide", "i16", [4, 0], "i64"),
                                     ("other", "i8", [4, 0], "i64")):
        found = {line["op"]: line for line in values(folder, "in.nc:/" + name, "-d", "y", "--op", "sum,any,max")}
        assert found["sum"]["data"] == total and found["sum"]["dtype"] == sums, (name, found)
        assert found["max"]["dtype"] == dtype, (name, found)
    found = values(folder, "in.nc:/bytes", "-d", "y", "--raw", "--op", "sum,max")
    assert [line["dtype"] for line in found] == ["i64", "i8"] and found[0]["data"] == [4, 0], found
    lines = folder.run("in.nc", "--list")[0].decode().splitlines()
    assert any("/wet " in line and " bool " in line and "stored as i8" in line for line in lines), lines


def check_written(folder):
    """As the input has it; a result that is no bool does not say that it is one."""
    make_bools(folder)
    ops = "any,all,max,min,sum,mean,count"
    for file, name in (("in.nc", "wet"), ("plain.h5", "wet")):
        with folder.reduce(f"{file}:/{name}", "-d", "1", "--op", ops) as out:
            for op in ops.split(","):
                item = out["wet_" + op]
                truth = op in ("any", "all", "max", "min")
                assert text(item.attrs.get("dtype")) == ("bool" if truth else None), (file, op, attributes(item))
                assert (item.dtype == "i1") == truth, (file, op, item.dtype)
            assert out["wet_any"][...].tolist() == [1, 0] and out["wet_all"][...].tolist() == [0, 0]
    with folder.reduce("plain.h5:/enumeration", "-d", "1", "--op", "any,sum") as out:
        assert out["enumeration_any"].dtype == bool and out["enumeration_any"][...].tolist() == [True, False]
    with folder.reduce("in.nc:/bytes", "-d", "1", "--raw", "--op", "max,any") as out:
        assert out["bytes_max"][...].tolist() == [2, 0] and out["bytes_any"].dtype == "i1"
    with h5py.File(folder.file("again.nc"), "w") as again, folder.reduce("in.nc:/wet", "-d", "x", "--op", "any") as out:
        out.copy("wet", again)
    assert values(folder, "again.nc:/wet", "-d", "0", "--op", "max")[0]["dtype"] == "bool"


def check_xarray(folder):
    if not xarray:
        print("not compared with xarray, which is not installed")
        return
    make_bools(folder)
    folder.run("in.nc:/wet", "-d", "y", "--op", "any,all,sum", "-q", "-o", "out.nc")
    engines = [engine for engine in ("netcdf4", "h5netcdf") if engine in xarray.backends.list_engines()]
    for engine in engines:
        with xarray.open_dataset(folder.file("out.nc"), engine=engine) as out:
            assert out["wet_any"].dtype == bool and out["wet_any"].values.tolist() == [True, False], (engine, out["wet_any"])
            assert out["wet_all"].dtype == bool and out["wet_sum"].dtype == "u8", (engine, out["wet_all"])
            out.to_netcdf(folder.file("xarray.nc"), engine=engine)
        with h5py.File(folder.file("xarray.nc")) as again:  # some versions leave dtype out of what they have read
            expected = "u64" if "dtype" in again["wet_any"].attrs else "i64"
        assert values(folder, "xarray.nc:/wet_any", "--op", "sum")[0]["dtype"] == expected


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
