#!/usr/bin/python3
"""The jobs that people do with files every day, in one command each, against CDO: jobs.py TOOL

Files are as a reanalysis comes: packed, deflated, a field a chunk, with missing places, two variables and one without time.
"""
import shlex
import shutil
import subprocess
import sys

from output import attach, h5py, make_scale, np, run_checks

SHAPE = (2924, 19, 36)  # 2000-01-01 to 2001-12-31, six-hourly
BEGIN = 876576  # hours from 1900 to 2000
COMPARED = ("t2m", "tp", "z")


def make_grid(file):
    return (make_scale(file, "lat", np.linspace(90, -90, SHAPE[1]), units=np.bytes_("degrees_north"), standard_name=np.bytes_("latitude")),
            make_scale(file, "lon", np.arange(SHAPE[2]) * 10.0, units=np.bytes_("degrees_east"), standard_name=np.bytes_("longitude")))


def make(folder, name, seed, steps, first=0):
    source = np.random.default_rng(seed)
    with h5py.File(folder.file(name), "w") as file:
        grid = make_grid(file)
        time = make_scale(file, "time", np.arange(BEGIN + 6 * first, BEGIN + 6 * (first + steps), 6, dtype="i4"),
                          units=np.bytes_("hours since 1900-01-01 00:00:00.0"), calendar=np.bytes_("gregorian"), standard_name=np.bytes_("time"))
        for variable, units in (("t2m", "K"), ("tp", "m")):
            packed = source.integers(-20000, 20000, (steps, *SHAPE[1:])).astype("i2")
            packed[:, 3:5, 4:9] = packed[::7, 10, 10] = -32767
            made = file.create_dataset(variable, data=packed, chunks=(1, *SHAPE[1:]), compression=1, shuffle=True)
            made.attrs.update({"units": np.bytes_(units), "scale_factor": 0.0015, "add_offset": 280.0, "_FillValue": np.int16(-32767)})
            attach(made, time, *grid)
        file["z"] = np.random.default_rng(5).random(SHAPE[1:], np.float32)
        attach(file["z"], *grid)


def make_all(folder):
    make(folder, "in.nc", 1, SHAPE[0])
    for i in range(3):
        make(folder, f"m{i}.nc", 10 + i, 120)
    make(folder, "y1.nc", 20, 124)
    make(folder, "y2.nc", 21, 116, 124)
    with h5py.File(folder.file("mask.nc"), "w") as file:
        grid = make_grid(file)
        file["lsm"] = (np.add.outer(np.arange(SHAPE[1]), np.arange(SHAPE[2])) % 3 == 0).astype("i1")
        attach(file["lsm"], *grid)


# CDO's words, ours
JOBS = (
    ("monmean in.nc", "--by time:yearmonth --op mean in.nc"),
    ("ymonmean in.nc", "--by time:month --op mean in.nc"),
    ("seasmean in.nc", "--by time:yearseason --op mean in.nc"),
    ("yearmax in.nc", "--by time:year --op max in.nc"),
    ("dayrange in.nc", "--by time:day --op ptp in.nc"),
    ("dhourmean in.nc", "--by time:hour --op mean in.nc"),
    ("timmean in.nc", "-d time --op mean in.nc"),
    ("timmean -sellonlatbox,-30,40,30,60 in.nc", "-d time --op mean 'in.nc[lat=30:60, lon=-30:40]'"),
    ("timmean -seldate,2000-03-01,2001-05-31 in.nc", "-d time --op mean 'in.nc[time=2000-03:2001-05]'"),
    ("ensmean m0.nc m1.nc m2.nc", "--concat new:member -d member --op mean m0.nc m1.nc m2.nc"),
    ("ensstd1 m0.nc m1.nc m2.nc", "--concat new:member -d member --op std --ddof 1 m0.nc m1.nc m2.nc"),
    ("timmean -mergetime y1.nc y2.nc", "--concat time -d time --op mean y1.nc y2.nc"),
    ("timmean -seldate,2000-01-20,2000-02-10 -mergetime y1.nc y2.nc",
     "--concat time -d time --op mean 'y1.nc[time=2000-01-20:2000-02-10]' 'y2.nc[time=2000-01-20:2000-02-10]'"),
    ("zonmean in.nc", "-d lon --op mean in.nc"),
    ("timmean -ifthen mask.nc -selname,t2m in.nc", "-d time --op mean --where mask.nc:/lsm in.nc:/t2m"),
    ("timsum -gtc,300 -selname,t2m in.nc", "-d time --op 'hot(x; t): m += x > t -> n > 0 ? m : nan' --set t=300 in.nc:/t2m"),
    ("gridboxmean,2,1 -selname,t2m m0.nc", "--coarsen lon=2 --op mean m0.nc:/t2m"),
)


def read(file, name):
    values = np.squeeze(file[name][()]).astype("f8")
    missing = file[name].attrs.get("_FillValue")
    return values if missing is None else np.where(values == missing, np.nan, values)


def compare(job, ours, theirs):
    both = [name for name in COMPARED if name in theirs]
    assert both == [name for name in COMPARED if name in ours], (job, both, list(ours))
    for name in both:
        a, b = read(ours, name), read(theirs, name)
        if name == "z" and job.startswith("ensstd1"):  # the same in all files: copied, not a spread of 0
            assert (b == 0).all() and (a != 0).any()
            continue
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-12 if "std" not in job else 1e-7, err_msg=f"{job}: {name}")


def check_jobs(folder):
    if not shutil.which("cdo"):
        print("skipped: cdo is not installed")
        return
    make_all(folder)
    for theirs, ours in JOBS:
        subprocess.run(["cdo", "-s", "-O", "-b", "F64", "-f", "nc4", *theirs.split(), "cdo.nc"], cwd=folder.path, check=True, capture_output=True)
        with folder.reduce(*shlex.split(ours)) as made, h5py.File(folder.file("cdo.nc")) as other:
            compare(theirs, made, other)
        shown = subprocess.run(["cdo", "-s", "sinfon", "out.nc"], cwd=folder.path, capture_output=True, text=True, check=True).stdout
        assert "lonlat" in shown and ("RefTime =  1900-01-01 00:00:00  Units = hours" in shown), (theirs, shown)


CHECKS = [check_jobs]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
