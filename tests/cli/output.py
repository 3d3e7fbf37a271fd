#!/usr/bin/python3
"""Looks at files that h5gpured -o writes: output.py TOOL [--ncdump]

The inputs are made here, as netCDF-4 tools make them. With --ncdump the files are shown to netCDF's own reader instead
of h5py. Exits 77, which CTest shows as skipped, where h5py or ncdump is missing.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)


class Folder:
    """The folder of one test, and the tool in it."""

    def __init__(self, tool, path):
        self.tool, self.path = tool, path

    def file(self, name):
        return os.path.join(self.path, name)

    def run(self, *arguments, status=0):
        environment = dict(os.environ, SOURCE_DATE_EPOCH="86400", LC_ALL="C")
        result = subprocess.run([self.tool, *arguments], cwd=self.path, env=environment, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=120)
        errors = result.stderr.decode(errors="backslashreplace")
        assert status in (result.returncode, None), f"{arguments}: status {result.returncode}, {errors}"
        return result.stdout, errors

    def reduce(self, *arguments):
        """The file that the tool writes."""
        self.run(*arguments, "-q", "-o", "out.nc", "--overwrite")
        return h5py.File(self.file("out.nc"), "r")


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def attributes(item):
    """Those that are not HDF5's own."""
    hidden = ("CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "_Netcdf4Dimid")
    return {key: text(value) if isinstance(value, (str, bytes)) else np.ravel(value).tolist()
            for key, value in item.attrs.items() if key not in hidden}


def make_scale(file, name, values, **described):
    scale = file.create_dataset(name, data=values)
    scale.make_scale(name)
    scale.attrs.update(described)
    return scale


def attach(variable, *scales):
    for dim, scale in enumerate(scales):
        variable.dims[dim].attach_scale(scale)


def make_climate(folder):
    """tas(time, lat, lon), as a model writes it."""
    with h5py.File(folder.file("tas.nc"), "w") as file:
        file.attrs.update({"Conventions": "CF-1.7", "title": "t\u00e4st", "_NCProperties": "version=2",
                           "history": "Mon Jan  1 00:00:00 1962: made"})
        scales = [make_scale(file, "time", np.arange(4.0), units="days since 1850-1-1", calendar="noleap",
                             _Netcdf4Dimid=np.int32(0)),
                  make_scale(file, "lat", np.array([-45.0, 45.0]), units="degrees_north"),
                  make_scale(file, "lon", np.array([0.0, 120.0, 240.0]), units="degrees_east")]
        tas = file.create_dataset("tas", data=np.arange(24, dtype="f4").reshape(4, 2, 3))
        attach(tas, *scales)
        tas.attrs.update({"_FillValue": np.array([128], "f4"), "units": "K", "standard_name": "air_temperature", "long_name": "Temperature",
                          "cell_methods": "area: mean", "cell_measures": "area: areacella",
                          "valid_range": np.array([0, 100], "f4"), "actual_range": np.array([0, 23], "f4"),
                          "_Netcdf4Coordinates": np.array([0, 1, 2], "i4")})


def check_attributes_of_the_variable(folder):
    make_climate(folder)
    kept = {"long_name": "Temperature"}
    quantity = dict(kept, standard_name="air_temperature", _FillValue=[128])
    expected = {
        "mean": dict(quantity, units="K", cell_methods="area: mean time: lon: mean"),
        "min": dict(quantity, units="K", cell_methods="area: mean time: lon: minimum", valid_range=[0, 100]),
        "max": dict(quantity, units="K", cell_methods="area: mean time: lon: maximum", valid_range=[0, 100]),
        "sum": dict(quantity, units="K", cell_methods="area: mean time: lon: sum"),
        "std": dict(quantity, units="K", cell_methods="area: mean time: lon: standard_deviation"),
        "ptp": dict(quantity, units="K", cell_methods="area: mean time: lon: range"),
        "var": dict(quantity, units="K2", cell_methods="area: mean time: lon: variance"),
        "norminf": dict(quantity, units="K", cell_methods="area: mean time: lon: maximum_absolute_value"),
        "argmax": dict(kept, _FillValue=[-1], cell_methods="area: mean time: lon: index_of_maximum"),
        "count": dict(kept, units="1", cell_methods="area: mean time: lon: number_of_nonzero_values"),
        "valid": dict(kept, units="1", cell_methods="area: mean time: lon: number_of_valid_values"),
        "prod": dict(kept, _FillValue=[128], cell_methods="area: mean time: lon: product"),
        "any": dict(kept, cell_methods="area: mean time: lon: any_nonzero", dtype="bool"),
    }
    with folder.reduce("tas.nc", "-d", "lon,time", "--op", ",".join(expected)) as out:
        for op, wanted in expected.items():
            found = attributes(out["tas_" + op])
            assert found.pop("coordinates") == "time"
            assert found == wanted, f"{op}: {found}"
        assert out["tas_any"].dtype == "i1"
        assert out["lat"].attrs["units"] == "degrees_north"
    with folder.reduce("tas.nc", "-d", "lat,lon", "--op", "mean,valid", "--weights", "lat:cos") as out:
        methods = [attributes(out["tas_" + op])["cell_methods"] for op in ("mean", "valid")]
        assert methods == ["area: mean lat: lon: mean (weighted by the cosine of lat)",
                           "area: mean lat: lon: number_of_valid_values"], methods
    # An operator of one's own: what it is called in words is not known.
    with folder.reduce("tas.nc", "-d", "lon,time", "--op", "hot(x; t): n += x > t -> n", "--set", "t=9") as out:
        found = attributes(out["tas"])
        assert found == {"coordinates": "time", "cell_methods": "area: mean time: lon: hot", "ndreduce_parameters": "t=9",
                         "ndreduce_operator": "hot(x; t): n += x > t -> n"}, found


def check_attributes_of_the_file(folder):
    make_climate(folder)
    line = "Fri Jan  2 00:00:00 1970: h5gpured tas.nc -d time -q -o out.nc --overwrite"
    with folder.reduce("tas.nc", "-d", "time") as out:
        assert attributes(out) == {"Conventions": "CF-1.7", "title": "t\u00e4st",
                                   "history": line + "\nMon Jan  1 00:00:00 1962: made"}, attributes(out)
    shutil.copy(folder.file("tas.nc"), folder.file("it's.nc"))
    with folder.reduce("it's.nc", "-d", "time") as out:
        assert attributes(out)["history"].startswith("Fri Jan  2 00:00:00 1970: h5gpured 'it'\\''s.nc' -d time")


def check_attributes_of_nexus(folder):
    """They name axes and groups that a result does not have."""
    with h5py.File(folder.file("scan.nxs"), "w") as file:
        file.attrs.update({"default": "entry", "creator": "a beamline"})
        data = file.create_dataset("entry/data/frames", data=np.ones((2, 3)))
        data.attrs.update({"axes": "time:angle", "signal": 1, "units": "counts"})
        file["entry/data/angle"] = np.arange(3.0)
    with folder.reduce("scan.nxs:/entry/data/frames", "-d", "0") as out:
        assert attributes(out["frames"]) == {"units": "counts"} and sorted(out.attrs) == ["creator", "history"]


def check_units(folder):
    units = {"m": "m2", "K m-1": "(K m-1)^2", "1": "1", "%": "(%)^2", "days since 1850-1-1": "days2", 2000 * "m": 2000 * "m" + "2"}
    with h5py.File(folder.file("in.h5"), "w") as file:
        for number, unit in enumerate(units):
            file["x%d" % number] = np.arange(3.0)
            file["x%d" % number].attrs.update({"units": unit, "calendar": "noleap"})
    names = ["in.h5:/x%d" % number for number in range(len(units))]
    with folder.reduce(*names, "--op", "var,std,sum,mean") as out:
        for number, (unit, squared) in enumerate(units.items()):
            found = [text(out["x%d_%s" % (number, op)].attrs.get("units")) for op in ("var", "std", "sum", "mean")]
            wanted = [squared, unit.split(" since")[0], None if "since" in unit else unit, unit]
            assert found == wanted, f"{unit}: {found}"


def check_compression(folder):
    values = np.arange(100 * 80 * 60, dtype="f4").reshape(1, 100, 80, 60)
    with h5py.File(folder.file("in.h5"), "w") as file:
        file.create_dataset("packed", data=values, chunks=(1, 10, 8, 60), compression=7, shuffle=True, fletcher32=True)
        file.create_dataset("thin", data=values.astype("i4"), chunks=(1, 100, 1, 1), scaleoffset=0)
        file.create_dataset("plain", data=values)
    with folder.reduce("in.h5:/packed", "-d", "3") as out:
        assert out["packed"].compression is None and out["packed"].chunks is None, "a small result is compressed"
    with folder.reduce("in.h5:/packed", "in.h5:/thin", "in.h5:/plain", "-d", "0", "--op", "max") as out:
        packed, thin, plain = out["packed"], out["thin"], out["plain"]
        assert (packed.compression, packed.compression_opts, packed.shuffle, packed.fletcher32) == ("gzip", 7, True, True)
        assert packed.chunks[2] == 60 and np.prod(packed.chunks) * 4 >= 65536 > np.prod(packed.chunks) * 2, packed.chunks
        assert thin.compression == "gzip" and np.prod(thin.chunks) * 4 >= 65536, thin.chunks
        assert plain.compression is None and plain.chunks is None
        for item in (packed, thin, plain):
            assert (item[...] == values[0]).all()
    with folder.reduce("in.h5:/packed", "-d", "0", "--op", "max", "--deflate", "0") as out:
        assert out["packed"].compression is None and (out["packed"][...] == values[0]).all()
    with folder.reduce("in.h5:/plain", "-d", "0,1,2", "--op", "max", "--deflate", "9") as out:
        assert (out["plain"].compression_opts, out["plain"].chunks) == (9, (60,))
        assert (out["plain"][...] == values[0, -1, -1]).all()
    with folder.reduce("in.h5:/plain", "--op", "max", "--deflate", "9") as out:
        assert out["plain"].chunks is None and out["plain"][()] == values.max()


def check_missing_elements(folder):
    """Float data keep their mark, unless a result is equal to it; packed ones cannot."""
    with h5py.File(folder.file("in.h5"), "w") as file:
        values = np.array([[1, 2, 3], [1, 9, 5]], "f4")
        for name, mark in (("f4", 9), ("f8", 1e300)):
            file[name] = np.where(values == 9, mark, values).astype("f8" if name == "f8" else "f4")
            file[name].attrs["_FillValue"] = np.array([mark], file[name].dtype)
            file[name].attrs["missing_value"] = np.array([mark], file[name].dtype)
        file["equal"] = values
        file["equal"].attrs["_FillValue"] = np.float32(11)
        file["packed"] = values.astype("i2")
        file["packed"].attrs.update({"_FillValue": np.int16(9), "scale_factor": 0.5, "add_offset": 10.0, "units": "K",
                                     "valid_range": np.array([0, 5], "i2")})
    with folder.reduce("in.h5:/f4", "-d", "1", "--op", "max,argmax,count") as out:
        assert "_FillValue" in out["f4_max"].attrs and "_FillValue" not in out["f4_count"].attrs
        assert out["f4_max"].attrs["missing_value"] == 9 and out["f4_argmax"].attrs["missing_value"] == -1
        assert out["f4_argmax"].attrs["_FillValue"] == [-1] and out["f4_argmax"].attrs["_FillValue"].dtype == "i8"
    with h5py.File(folder.file("in.h5"), "r+") as file:
        for name in ("f4", "f8", "packed"):
            file[name][:, 1] = file[name].attrs["_FillValue"]
    with folder.reduce("in.h5:/f4", "in.h5:/f8", "in.h5:/packed", "-d", "0", "--op", "min") as out:
        assert attributes(out["f4"]) == {"_FillValue": [9], "missing_value": [9]} and out["f4"][...].tolist() == [1, 9, 3]
        assert attributes(out["f8"]) == {"_FillValue": [1e300], "missing_value": [1e300]} and out["f8"][...].tolist() == [1, 1e300, 3]
        assert out["f8"].fillvalue == 1e300 and out["f4"].attrs["_FillValue"].dtype == "f4"
        assert out["packed"].dtype == "f8" and np.isnan(out["packed"].attrs["_FillValue"])
        assert {**attributes(out["packed"]), "_FillValue": 0} == {"_FillValue": 0, "units": "K"}
        assert np.isnan(out["packed"][1]) and out["packed"][...][[0, 2]].tolist() == [10.5, 11.5]
    with folder.reduce("in.h5:/equal", "-d", "0", "--op", "sum") as out:
        assert np.isnan(out["equal"].attrs["_FillValue"]) and out["equal"].attrs["_FillValue"].dtype == "f4"
        assert out["equal"][...].tolist() == [2, 11, 8]


def make_large_attributes(folder):
    """Those of 64 KiB and more, which HDF5 keeps away from the object."""
    with h5py.File(folder.file("large.nc"), "w", libver="latest") as file:
        file["x"] = np.arange(24.0).reshape(4, 6)
        attach(file["x"], make_scale(file, "time", np.arange(4.0)), make_scale(file, "station", np.arange(6.0)))
        file["x"].attrs.update({"levels": np.arange(20000.0), "note": "n" * 80000, "cell_methods": "area: mean " * 9000,
                                "names": np.array([f"name {i}" for i in range(6000)], h5py.string_dtype())})
        file["station"].attrs["numbers"] = np.arange(30000)
        file.attrs.update({"history": "an old line\n" * 9000, "coefficients": np.arange(9000.0)})


def check_large_attributes(folder):
    make_large_attributes(folder)
    with folder.reduce("large.nc:/x", "-d", "time", "--op", "mean") as out:
        found, of_file = attributes(out["x"]), attributes(out)
        assert found["levels"] == list(range(20000)) and text(found["names"][5999]) == "name 5999", found.keys()
        assert found["note"] == "n" * 80000 and len(found["cell_methods"]) > 90000, found.keys()
        assert attributes(out["station"])["numbers"] == list(range(30000))
        assert of_file["coefficients"] == list(range(9000)) and of_file["history"].count("an old line") == 9000


def check_same_bytes(folder):
    """Runs at other times, with scales, what belongs to them, and chunks, make the same file."""
    make_climate(folder)
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        file["lat_bnds"] = np.zeros((2, 2))
        attach(file["lat_bnds"], file["lat"])
        file["lat"].attrs["bounds"] = "lat_bnds"
    outputs = []
    for _ in range(2):
        folder.reduce("tas.nc", "-d", "time", "--op", "mean,valid", "--deflate", "1").close()
        with open(folder.file("out.nc"), "rb") as file:
            outputs.append(file.read())
        time.sleep(1.1)
    assert outputs[0] == outputs[1], "the second run's file is another"


def check_packed_elements(folder):
    """Under --raw the numbers are packed still, those that are elements or their mean."""
    packing = {"scale_factor": [0.5], "add_offset": [10.0], "units": "K"}
    with h5py.File(folder.file("in.h5"), "w") as file:
        file["x"] = np.array([1, 2, 4], "i2")
        file["x"].attrs.update({"_FillValue": np.int16(9), "scale_factor": 0.5, "add_offset": 10.0, "units": "K"})
    with folder.reduce("in.h5:/x", "--raw", "--op", "min,mean,sum,var") as out:
        assert attributes(out["x_min"]) == dict(packing, _FillValue=[9]), attributes(out["x_min"])
        assert attributes(out["x_mean"]) == packing, attributes(out["x_mean"])
        assert attributes(out["x_sum"]) == {} and attributes(out["x_var"]) == {}


def check_places(folder):
    """argmin and argmax as coordinates; those of two dims come from one index."""
    make_climate(folder)
    values = np.random.default_rng(1).permutation(24).reshape(4, 2, 3)
    with h5py.File(folder.file("tas.nc"), "r+") as file:
        file["tas"][...] = values
        file["tas"][:, 1, 1] = 128
    with folder.reduce("tas.nc", "-d", "lon,time", "--op", "argmax", "--coords") as out:
        time, lon = np.divmod(values.transpose(1, 0, 2).reshape(2, 12)[0].argmax(), 3)
        assert out["tas_argmax_time"][0] == time and out["tas_argmax_lon"][0] == 120 * lon
        assert attributes(out["tas_argmax_lon"])["units"] == "degrees_east"
        found = attributes(out["tas_argmax_time"])
        assert np.isnan(found.pop("_FillValue")) and found == {"units": "days since 1850-1-1", "calendar": "noleap"}
        assert out["tas_argmax_time"].dims[0][0] == out["lat"]
    with folder.reduce("tas.nc", "-d", "time", "--op", "argmin,max", "--coords") as out:
        assert np.isnan(out["tas_argmin_time"][1, 1]) and out["tas_argmin"][1, 1] == -1
        assert (out["tas_argmin_time"][0] == values[:, 0].argmin(0)).all()


def check_large_results_are_compressed_by_all_threads(folder):
    """Chunks that reach beyond the end, numbers of several sizes, and the same bytes from any number of threads."""
    values = np.random.default_rng(6).integers(-99, 99, (3, 61, 97, 190)).astype("f4")
    with h5py.File(folder.file("in.h5"), "w") as file:
        file.create_dataset("x", data=values, chunks=(1, 7, 20, 33), compression=2, shuffle=True)
        file.create_dataset("c", data=values, chunks=(1, 61, 97, 190), compression=2, shuffle=True, fletcher32=True)
    cases = (("x", "sum", (), values.sum(0)), ("c", "sum", (), values.sum(0)), ("x", "argmax", (), values.argmax(0)),
             ("x", "any", ("--deflate", "9"), values.any(0)), ("x", "max", ("--by", "0:/labels"), None), ("x", "min", ("--deflate", "1", "-k"), values.min(0, keepdims=True)))
    with h5py.File(folder.file("in.h5"), "r+") as file:
        file["labels"] = np.array([0, 1, 0])
    for name, op, options, wanted in cases:
        stored = []
        dims = () if "--by" in options else ("-d", "0")
        for threads in ("1", "3"):
            with folder.reduce("in.h5:/" + name, *dims, "--op", op, *options, "--threads", threads) as out:
                made = out[name]
                assert made.compression == "gzip" and made.fletcher32 == (name == "c"), (name, op)
                assert np.array_equal(made[()], np.stack([values[::2].max(0), values[1]]) if wanted is None else wanted), (name, op)
                stored.append([made.id.read_direct_chunk(made.id.get_chunk_info(i).chunk_offset) for i in range(made.id.get_num_chunks())])
        assert len(stored[0]) > 1 and stored[0] == stored[1], (name, op)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


def make_bare(folder):
    """Dimensions that are no variables, as the netCDF library writes them, and h5repack writes them out."""
    with h5py.File(folder.file("bare.nc"), "w") as file:
        file["x"] = np.arange(12.0).reshape(4, 3)
        for d, (name, size) in enumerate((("time", 4), ("member", 3))):
            scale = file.create_dataset(name, (size,), ">f4")
            if name == "member":
                scale[...] = 0
            scale.make_scale(f"This is a netCDF dimension but not a netCDF variable.{size:10}")
            file["x"].dims[d].attach_scale(scale)


def show_to_ncdump(folder):
    make_climate(folder)
    folder.run("tas.nc", "-d", "time", "--op", "mean,any", "-q", "-o", "out.nc")
    shown = subprocess.run(["ncdump", folder.file("out.nc")], capture_output=True, text=True, check=True).stdout
    for line in ("float tas_mean(lat, lon) ;", "byte tas_any(lat, lon) ;", 'tas_mean:cell_methods = "area: mean time: mean" ;',
                 "double lat(lat) ;", " tas_mean =", "  9, 10, 11,"):
        assert line in shown, f"{line!r} is not in\n{shown}"
    make_bare(folder)
    folder.run("bare.nc", "-d", "time", "--op", "mean", "-q", "-o", "bare-out.nc")
    shown = subprocess.run(["ncdump", "-h", folder.file("bare-out.nc")], capture_output=True, text=True, check=True).stdout
    assert "member = 3 ;" in shown and "member(member)" not in shown, f"member is not only a dimension in\n{shown}"
    make_large_attributes(folder)
    folder.run("large.nc:/x", "-d", "time", "-q", "-o", "large-out.nc")
    shown = subprocess.run(["ncdump", "-h", folder.file("large-out.nc")], capture_output=True, text=True, check=True).stdout
    assert " 19998., 19999. ;" in shown, "ncdump does not show the large attribute"


def run_checks(tool, checks):
    """Each in a folder of its own; the exit status."""
    failures = 0
    for check in checks:
        with tempfile.TemporaryDirectory() as path:
            try:
                check(Folder(os.path.abspath(tool), path))
            except AssertionError as error:
                failures += 1
                print(f"{check.__name__}, line {error.__traceback__.tb_next.tb_lineno}: {error}")
    print(f"{len(checks)} checks, {failures} failed")
    return 1 if failures else 0


def main():
    checks = CHECKS
    if "--ncdump" in sys.argv:
        if not shutil.which("ncdump"):
            print("skipped: netcdf-bin is not installed")
            sys.exit(77)
        checks = [show_to_ncdump]
    return run_checks(sys.argv[1], checks)


if __name__ == "__main__":
    sys.exit(main())
