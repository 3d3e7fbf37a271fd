"""What merge.py and ranks.py share: reductions, their input files, and how results are read."""
import os
import subprocess
import sys

try:
    import h5py
    import numpy
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

JOBS = (
    ["a.nc:/x", "-d", "0", "--op", "sum,var,argmax"],
    ["a.nc:/x", "-kd1,2", "--op", "mean,norm2"],
    ["a.nc:/x", "-d", "all", "--op", "mean,logsumexp,ptp", "--skipna"],
    ["a.nc:/x", "-d", "time", "--where", "x > 0", "--op", "mean"],
    ["a.nc:/x", "-d", "time,lat", "--weights", "lat:cos", "--op", "mean,std"],
    ["a.nc:/x", "--by", "time:month", "--op", "mean"],
    ["a.nc:/x", "--coarsen", "time=7,pad", "--op", "max"],
    ["a.nc:/x[10:2000:3]", "-d", "time", "--op", "f(x): s += x*x, n += 1 -> sqrt(s / n)"],
    ["a.nc:/packed", "-d", "time", "--op", "sum"],
    ["--concat", "time", "a.nc:/x", "b.nc:/x", "-d", "time", "--op", "mean"],
    ["--concat", "time", "a.nc:/x", "b.nc:/x", "-d", "lat", "--op", "mean"],
    ["--concat", "time", "a.nc:/x[lon=-70:60]", "b.nc:/x[lon=-70:60]", "-d", "time", "--op", "mean,std"],
    ["--concat", "time", "--select", "time=2003:, lon=-70:60", "a.nc:/x", "b.nc:/x", "-d", "lat,lon", "--weights", "lat:cos", "--op", "mean"],
    ["a.nc:/x[lon=-90:100]", "--with", "y=west.nc:/x", "-d", "time", "--op", "dot(x, y): s += x * y -> s"],
    ["a.nc:/never", "-d", "0", "--op", "sum"],
    ["a.nc:/flat", "--op", "sum,std"],
    ["a.nc:/none", "-d", "0", "--op", "sum"],
)


def make_file(path, days, seed, west=0):
    values = numpy.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        time = file.create_dataset("time", data=numpy.arange(days, dtype="i4") + (0 if seed == 1 else 3000))
        time.attrs["units"] = "days since 2001-01-01"
        lat = file.create_dataset("lat", data=numpy.linspace(-80, 80, 37))
        lon = file.create_dataset("lon", data=(numpy.arange(41) - west) * 360 / 41)
        lon.attrs["units"] = "degrees_east"
        for name, scale in (("time", time), ("lat", lat), ("lon", lon)):
            scale.make_scale(name)
        x = file.create_dataset("x", data=values.standard_normal((days, 37, 41)).astype("f4"), chunks=(24, 20, 41),
                                compression="gzip", compression_opts=1)
        packed = file.create_dataset("packed", data=values.integers(-9000, 9000, (days, 37), "i2"), chunks=(50, 10))
        packed.attrs.update(scale_factor=0.01, add_offset=20.0, _FillValue=numpy.int16(77))
        for dataset in (x, packed):
            dataset.dims[0].attach_scale(time)
            dataset.dims[1].attach_scale(lat)
        x.dims[2].attach_scale(lon)
        file.create_dataset("never", (300, 5), "f8", chunks=(10, 5))
        file.create_dataset("flat", data=values.standard_normal(3000000))
        file.create_dataset("none", (0, 4), "f4", chunks=(1, 4), maxshape=(None, 4))


def make_files(_tool, folder, _problems):
    make_file(os.path.join(folder, "a.nc"), 2200, 1)
    make_file(os.path.join(folder, "b.nc"), 100, 2)
    make_file(os.path.join(folder, "west.nc"), 2200, 1, 20)


def run(tool, folder, *words):
    result = subprocess.run([tool, *words], cwd=folder, text=True, capture_output=True, timeout=120)
    return result.returncode, result.stdout, result.stderr


def contents(path):
    """The bytes of all datasets, by name."""
    found = {}
    with h5py.File(path) as file:
        file.visititems(lambda name, node: found.update({name: node[()].tobytes()})
                        if isinstance(node, h5py.Dataset) else None)
    return found
