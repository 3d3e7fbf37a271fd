#!/usr/bin/python3
"""Every common reader opens what h5gpured -o writes: readers.py TOOL

A file is written with every operator, dtype and option, and of inputs of many kinds, and shown to ncdump, CDO, NCO, and
to netCDF4-python and xarray of the Python that NDR_READERS_PYTHON names (else of this one). A reader that is missing is
skipped with a word; exits 77 where all are.
"""
import os
import shutil
import subprocess
import sys
import tempfile

from belongs import make_mesh
from coordinates import make_curved
from output import Folder, attach, h5py, make_bare, make_climate, make_scale, np

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "bool", ">f8"]
OPS = "sum,prod,min,max,argmin,argmax,mean,var,std,norm1,norm2,norminf,logsumexp,any,all,count,valid,ptp"
COMPLEX_OPS = "sum,prod,mean,var,std,norm1,norm2,norminf,any,all,count,valid"

# What is read of each file, the last one line a file: its name, then what went wrong.
SCRIPTS = {
    "netCDF4": """
import netCDF4
def read(path):
    def walk(group):
        [group.getncattr(name) for name in group.ncattrs()]
        for item in group.variables.values():
            [item.getncattr(name) for name in item.ncattrs()], item[...]
        [walk(inner) for inner in group.groups.values()]
    with netCDF4.Dataset(path) as file:
        walk(file)
""",
    "xarray, netcdf4": """
import netCDF4, xarray
def read(path):
    xarray.open_dataset(path, engine="netcdf4", decode_timedelta=False).load()
""",
    "xarray, h5netcdf": """
import h5netcdf, xarray
def read(path):
    xarray.open_dataset(path, engine="h5netcdf", phony_dims="sort", decode_timedelta=False).load()
""",
}
LOOP = """
import sys, warnings
warnings.simplefilter("ignore")
for path in sys.argv[1:]:
    print(path, end="", flush=True)
    try:
        read(path)
    except Exception as error:
        print(":", type(error).__name__, str(error)[:200].replace(chr(10), " "), end="")
    print(flush=True)
print("done")
"""
COMMANDS = {"ncdump": ["ncdump", "-h"], "CDO": ["cdo", "-s", "sinfon"], "NCO": ["ncks", "-m"]}
# CDO lists fields of numbers, and fails where a file has none: bool of HDF5 and complex are none to it.
NO_FIELDS = {"CDO": {"bool-min,max.nc", "c8.nc", "c16.nc"}}


def make_dtypes(folder):
    with h5py.File(folder.file("dtypes.nc"), "w") as file:
        lat, half = make_scale(file, "lat", np.array([-45.0, 45.0]), units="degrees_north"), make_scale(file, "half", np.arange(3, dtype="f2"))
        for dtype in DTYPES:
            name = dtype.strip(">") + "_big" * (dtype[0] == ">")
            file[name] = np.arange(6).reshape(2, 3).astype(dtype)
            attach(file[name], lat, half)
            file[name].attrs.update({"units": "K", "table": np.ones((2, 2)), "half": np.float16(1), "wide": np.longdouble(1),
                                     "texts": np.array([["a", "b"]], h5py.string_dtype()), "flag": np.bool_(True)})


def make_records(folder):
    """Unlimited, packed, compressed, in a group with bounds."""
    with h5py.File(folder.file("records.nc"), "w") as file:
        group = file.create_group("run")
        group.attrs["institution"] = "none"
        time = group.create_dataset("time", data=np.arange(5.0), maxshape=(None,), chunks=(5,))
        time.make_scale("time")
        time.attrs.update({"units": "hours since 2000-1-1", "bounds": "time_bnds", "axis": "T"})
        x, two = make_scale(group, "x", np.arange(200.0)), make_scale(group, "bnds", np.zeros(2))
        group["time_bnds"] = np.stack([np.arange(5.0) - 1, np.arange(5.0)], 1)
        attach(group["time_bnds"], time, two)
        group.create_dataset("t", data=np.arange(1000, dtype="i2").reshape(5, 200), maxshape=(None, 200), chunks=(1, 200),
                             compression=4, shuffle=True)
        attach(group["t"], time, x)
        group["t"].attrs.update({"scale_factor": 0.1, "add_offset": 1.0, "_FillValue": np.int16(7), "missing_value": np.int16(7)})


def outputs(folder):
    """Writes them all; their names, each with its inputs and options."""
    for make in (make_climate, make_curved, make_mesh, make_bare, make_dtypes, make_records):
        make(folder)
    shutil.copy(folder.file("tas.nc"), folder.file("next.nc"))
    with h5py.File(folder.file("next.nc"), "r+") as file:
        file["time"][...] += 4
    jobs = {"every.nc": ["tas.nc", "-d", "time", "--op", OPS], "scalar.nc": ["tas.nc", "--op", OPS],
            "kept.nc": ["tas.nc", "-d", "time,lon", "-k", "--op", "mean,max"], "kept-all.nc": ["tas.nc", "-k"],
            "places.nc": ["tas.nc", "-d", "time,lon", "--op", "argmin,argmax", "--coords"],
            "weighted.nc": ["tas.nc", "-d", "lat,lon", "--op", "mean", "--weights", "lat:cos"],
            "part.nc": ["tas.nc:/tas[1:3,:,::2]", "-d", "lat", "--op", "mean,valid"],
            "many.nc": ["tas.nc", "records.nc:/run/t", "grid.nc:/run/u", "-d", "0", "--op", "mean,max"],
            "series.nc": ["--concat", "time", "tas.nc", "next.nc:/tas", "-d", "lon"],
            "series-mean.nc": ["--concat", "time", "tas.nc", "next.nc:/tas", "-d", "time", "--op", "mean"],
            "compressed.nc": ["records.nc:/run/t", "-d", "x", "--deflate", "1", "--op", "mean"],
            "records.out.nc": ["records.nc:/run/t", "-d", "x", "--op", "min,mean,count"],
            "records-mean.nc": ["records.nc:/run/t", "-d", "time", "--op", "min,mean"],
            "raw.nc": ["records.nc:/run/t", "-d", "time", "--raw", "--op", "min,mean"],
            "curved.nc": ["grid.nc:/run/t", "grid.nc:/run/u", "-d", "time", "--op", "mean"],
            "curved-time.nc": ["grid.nc:/run/t", "-d", "y,x"], "mesh-mean.nc": ["mesh.nc:/t", "-d", "time"],
            "mesh-face.nc": ["mesh.nc:/t", "-d", "face"], "bare-out.nc": ["bare.nc:/x", "-d", "time", "--op", "mean"],
            "bare-kept.nc": ["bare.nc:/x", "-d", "time", "-k"]}
    for dtype in DTYPES:
        name = dtype.strip(">") + "_big" * (dtype[0] == ">")
        jobs[name + ".nc"] = [f"dtypes.nc:/{name}", "-d", "lat", "--op", COMPLEX_OPS if dtype[0] == "c" else OPS]
        if dtype[0] != "c":
            jobs[name + "-kept.nc"] = [f"dtypes.nc:/{name}", "-d", "half", "-k", "--op", "min,max"]
    for name, arguments in jobs.items():
        folder.run(*arguments, "-q", "-o", name)
    return list(jobs)


def read_with_python(folder, code, names):
    """Problems, or None where the packages are missing."""
    python = os.environ.get("NDR_READERS_PYTHON", sys.executable)
    imports = code.strip().splitlines()[0]
    if subprocess.run([python, "-c", imports], capture_output=True).returncode:
        return None
    done = subprocess.run([python, "-c", code + LOOP, *names], cwd=folder.path, capture_output=True, text=True, timeout=600)
    lines = done.stdout.splitlines()
    problems = [line for line in lines if ": " in line]
    return problems if lines and lines[-1] == "done" else problems + [f"{lines[-1:]} ends the reader: status {done.returncode}"]


def read_with_command(folder, reader, names):
    command, problems = COMMANDS[reader], []
    if not shutil.which(command[0]):
        return None
    for name in names:
        done = subprocess.run([*command, name], cwd=folder.path, capture_output=True, text=True, timeout=120)
        if done.returncode and name not in NO_FIELDS.get(reader, ()):
            problems.append(f"{name}: status {done.returncode}: {done.stderr.strip()[:200]!r}")
    return problems


def main():
    opened = failures = 0
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(os.path.abspath(sys.argv[1]), path)
        names = outputs(folder)
        readers = {name: lambda code=code: read_with_python(folder, code, names) for name, code in SCRIPTS.items()}
        readers.update({name: lambda name=name: read_with_command(folder, name, names) for name in COMMANDS})
        for reader, read in readers.items():
            problems = read()
            if problems is None:
                print(f"{reader}: skipped, it is not installed")
                continue
            opened += 1
            failures += len(problems)
            print(f"{reader}: {len(names)} files, {len(problems)} problems", *problems, sep="\n  ")
    if not opened:
        print("skipped: no reader is installed")
        sys.exit(77)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
