#!/usr/bin/env python3
"""Times everyday jobs with files, and records them: bench_files.py H5GPURED RECORD.json [--folder F] [--only TEXT]... [--steps N] [--grid LATxLON] [--runs N] [--patience S]

Monthly means, yearly maxima, ten variables at once, days, zones, boxes, periods, ensembles, masks: h5gpured beside CDO, NCO where
it has the job in one command, and xarray + flox + dask, if the Python that runs this has them; and beside h5gpured's own mean
over time of the same file. Files are as reanalyses come: hourly, packed i16, deflated, in chunks of one field or of 24 x 61 x 120.
ERA5's own are --steps 8760 --grid 361x720. They are made in F (default: a temporary folder) where they are missing. --only takes
the jobs with TEXT in their titles; given several times, those of the first TEXT come first. Each program runs a job --runs times
(5), but not again once it has taken --patience seconds (30) in all.

CDO runs with one thread, and with one for each core, and the better time is recorded: threads make it a little faster on idle
cores, and several times slower where other processes need the cores, too. What takes twice as long as one thread is stopped. xarray
first has a few steps that are not timed, so that what it imports on the way does not count.

How things are timed is said in bench_h5.py. Every answer of the others is compared with h5gpured's; what differs by more than
rounding ends the run. The record keeps what earlier runs say of cases that are not run.
"""
import argparse
import collections
import functools
import importlib.metadata
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import bench_h5
from bench_h5 import packed_years, peak_bytes, program, run, run_times, xarray

TEN = tuple(f"v{i}" for i in range(10))
MEMBERS = 4
KINDS = {"fields": "a field", "blocks": "24x61x120"}
ROUNDING = 1e-4  # of fields of about 30, which CDO adds up, and writes, in f32

# file: what names of files begin with; the others: the words of each program, or None
Job = collections.namedtuple("Job", "title file cdo h5gpured nco xarray", defaults=(None, None))
MONTHS = Job("monthly means", "hourly", "monmean", "--by time:yearmonth --op mean", xarray=lambda data: data.resample(time="MS").mean())
MAXIMA = Job("yearly maxima", "years", "yearmax", "--by time:year --op max", xarray=lambda data: data.resample(time="YS").max())
TEN_MONTHS = MONTHS._replace(title="monthly means of ten variables", file="ten")
OF_FIELDS = (
    Job("monthly climatology", "years", "ymonmean", "--by time:month --op mean"),
    Job("daily means", "hourly", "daymean", "--by time:day --op mean"),
    Job("daily range", "hourly", "dayrange", "--by time:day --op ptp"),
    Job("mean of a period", "hourly", "timmean -seldate,2000-02-01,2000-02-29", "-d time --op mean 'FILE[time=2000-02]'",
        "ncwa -a time -d time,'2000-02-01 00:00:00','2000-02-29 23:30:00'"),
    Job("mean of a box", "hourly", "timmean -sellonlatbox,0,90,30,60", "-d time --op mean 'FILE[lat=30:60, lon=0:90]'",
        "ncwa -a time -d lat,30.,60. -d lon,0.,90."),
    Job("mean of ten variables", "ten", "timmean", "-d time --op mean", "ncwa -a time"),
    Job("ensemble mean", "member", "ensmean", "--concat new:member -d member --op mean", "nces"),
    Job("zonal mean", "hourly", "zonmean", "-d lon --op mean", "ncwa -a lon"),
    Job("mean by area", "hourly", "fldmean", "-d lat,lon --weights lat:cos --op mean"),
    Job("mean where a mask is 1", "hourly", "timmean -ifthen,mask.nc", "-d time --op mean --where mask.nc:/mask"),
)
# CDO's weights are the areas of cells between great circles: tools/h5gpured/README.md
TOLERANCES = {"fldmean": 2e-2}


def file_name(kind, size):
    return f"{kind}-{'x'.join(map(str, size))}.nc"


def make_mask(path, grid):
    with h5py.File(path, "w") as file:
        bench_h5.scaled(file, ("lat", "lon"), grid)
        file["mask"] = (np.add.outer(np.arange(grid[0]) // 20, np.arange(grid[1]) // 30) % 2).astype("i1")
        for d, name in enumerate(("lat", "lon")):
            file["mask"].dims[d].attach_scale(file[name])


def make_hourly(path, chunks, shape, names, seed=0):
    packed_years(path, chunks, shape, names, "hours", seed)


def make_years(path, chunks, shape, names):
    """Twelve hours between steps, so that there are years."""
    make_hourly(path, chunks, shape, names)
    with h5py.File(path, "r+") as file:
        file["time"][...] *= 12


def makers(steps, grid):
    """A dict from the name of each file to the function that makes it at a path."""
    full, short, made = (steps, *grid), (steps // 4, *grid), {}
    for kind, chunks in (("fields", (1, *grid)), ("blocks", (24, 61, 120))):
        for name, size, names in (("hourly", full, ("t",)), ("years", full, ("t",)), ("ten", short, TEN)):
            made[file_name(f"{name}-{kind}", size)] = functools.partial(make_years if name == "years" else make_hourly, chunks=chunks, shape=size, names=names)
    for member in range(MEMBERS):
        made[file_name(f"member{member}", short)] = functools.partial(make_hourly, chunks=(1, *grid), shape=short, names=("t",), seed=1000 * member)
    made[file_name("mask", grid)] = functools.partial(make_mask, grid=grid)
    return made


def make_cases(steps, grid):
    full, short, cases = (steps, *grid), (steps // 4, *grid), []
    jobs = [(job, kind) for job in (MONTHS, MAXIMA, TEN_MONTHS) for kind in KINDS] + [(job, "fields") for job in OF_FIELDS]
    for job, kind in jobs:
        size = full if job.file in ("hourly", "years") else short
        names = [f"member{i}" for i in range(MEMBERS)] if job.file == "member" else [f"{job.file}-{kind}"]
        inputs = [file_name(name, size) for name in names]
        mask = [file_name("mask", grid)] if "mask" in job.cdo else []
        cases.append({"title": f"{job.title}, chunks of {KINDS[kind]}", "files": inputs + mask, "inputs": inputs, "cdo": job.cdo, "ours": job.h5gpured,
                      "nco": job.nco, "xarray": job.xarray, "names": TEN if job.file == "ten" else ("t",)})
    return cases


# ---- What is timed ---------------------------------------------------------------------------------------------------

def our_words(case, folder):
    """The arguments of h5gpured. FILE stands for the input where a part of it is taken."""
    words = [word.replace("mask.nc", str(folder / case["files"][-1])) for word in shlex.split(case["ours"])]
    paths = [str(folder / file) for file in case["inputs"]]
    return [word.replace("FILE", paths[0]) for word in words] + (paths if "FILE" not in case["ours"] else [])


def cdo_words(case, folder, out, threads):
    words = case["cdo"].split()
    inputs = [str(folder / file) for file in case["inputs"]]
    if "-ifthen,mask.nc" in words:
        words = ["timmean", "-ifthen", str(folder / case["files"][-1])]
    return ["cdo", "-s", "-O", "-P", str(threads), "-b", "F32", *words, *inputs, str(out)]


def cdo_result(folder, threads):
    return folder / f"cdo-{threads}.nc"


def cdo_jobs(case, folder):
    """CDO with one thread, and with one for each core, which is stopped where it takes more than twice as long."""
    alone, cores, unfinished = [], len(os.sched_getaffinity(0)), folder / "cdo-unfinished.nc"

    def with_one():
        begin = time.perf_counter()
        program(*cdo_words(case, folder, cdo_result(folder, 1), 1))()
        alone.append(time.perf_counter() - begin)

    def with_all():
        try:
            subprocess.run(cdo_words(case, folder, unfinished, cores), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=1 + 2 * min(alone))
            unfinished.replace(cdo_result(folder, cores))
        except subprocess.TimeoutExpired:
            pass
    return {"cdo -P 1": with_one, **({f"cdo -P {cores}": with_all} if cores > 1 else {})}


def nco_words(case, folder, out):
    words = shlex.split(case["nco"])
    inputs = [str(folder / file) for file in case["inputs"]]
    return [words[0], "-O", *words[1:], *inputs, str(out)]


def with_xarray(case, path, steps=None):
    """On all cores, in blocks of about 100 MB, as dask's guide says; of all steps, or of the first ones."""
    with xarray.open_dataset(path, chunks={"time": 240, "lat": -1, "lon": -1}) as data:
        return case["xarray"](data[list(case["names"])].isel(time=slice(steps))).compute()


# ---- Whether all say the same ---------------------------------------------------------------------------------------

def values(path, name):
    with h5py.File(path) as file:
        found = file[name][()].astype("f8")
        missing = file[name].attrs.get("_FillValue")
        packed = file[name].attrs.get("scale_factor") is not None
        found[found == (np.nan if missing is None else missing)] = np.nan
        return found * file[name].attrs["scale_factor"] + file[name].attrs.get("add_offset", 0) if packed else found


def difference(case, who, ours, theirs):
    """The largest between two results, which have dims of size 1 or none."""
    most = 0.0
    for name in case["names"]:
        a, b = ours[name], np.squeeze(theirs[name])
        if a.shape != b.shape or not np.array_equal(np.isnan(a), np.isnan(b)):
            sys.exit(f"bench_files.py: {case['title']}: {who} has other elements: {b.shape}, {a.shape}")
        most = max(most, float(np.nanmax(np.abs(a - b))))
    if most > TOLERANCES.get(case["cdo"], ROUNDING):
        sys.exit(f"bench_files.py: {case['title']}: {who} differs by {most}")
    return most


def measure(tool, folder, case):
    out = folder / "out.nc"
    path = folder / case["inputs"][0]
    ours = [tool, *our_words(case, folder), "-o", out, "--overwrite", "-q"]
    plain = [tool, path, "-d", "time", "--op", "mean", "-o", folder / "plain.nc", "--overwrite", "-q"]
    jobs = {"h5gpured": program(*ours)}
    if case["xarray"]:
        jobs["plain mean"] = program(*plain)
    if shutil.which("cdo"):
        jobs.update(cdo_jobs(case, folder))
    if shutil.which("ncwa") and case["nco"]:
        jobs["nco"] = program(*nco_words(case, folder, folder / "nco.nc"))
    answers = {}
    if xarray and case["xarray"]:
        with_xarray(case, path, 48)
        jobs["xarray"] = lambda: answers.update(xarray=with_xarray(case, path))
    times, how = best_of_each(run_times(jobs))
    found = {name: np.squeeze(values(out, name)) for name in case["names"]}
    theirs = {"cdo": cdo_result(folder, how.get("cdo_threads")), "nco": folder / "nco.nc"}
    differences = {who: difference(case, who, found, {name: values(result, name) for name in case["names"]})
                   for who, result in theirs.items() if who in times}
    if "xarray" in jobs:
        differences["xarray"] = difference(case, "xarray", found, {name: answers["xarray"][name].values for name in case["names"]})
    row = {"name": case["title"], "words": {"cdo": case["cdo"], "h5gpured": case["ours"], **({"nco": case["nco"]} if case["nco"] else {})},
           **sizes(folder, case), "peak_bytes": peak_bytes(ours), "seconds": times, **how, "differences": differences}
    print(f"{case['title']:<52} " + "  ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items()), flush=True)
    return row


def best_of_each(samples):
    """Seconds of each program's best run; its number of runs, and with how many threads CDO had its best."""
    seconds, how = {}, {"runs": {}}
    for name, runs in samples.items():
        who, _, threads = name.partition(" -P ")
        if who in seconds and min(runs) >= seconds[who]:
            continue
        seconds[who], how["runs"][who] = min(runs), len(runs)
        if threads:
            how[f"{who}_threads"] = int(threads)
    return seconds, how


def sizes(folder, case):
    """The shape of a variable, and the bytes of all that is read: of its elements, and as stored."""
    elements = stored = 0
    for path in case["inputs"]:
        with h5py.File(folder / path) as file:
            elements += sum(int(file[name].size) * file[name].dtype.itemsize for name in case["names"])
            stored += sum(file[name].id.get_storage_size() for name in case["names"])
            shape = list(file[case["names"][0]].shape)
    return {"shape": shape, "bytes": elements, "stored_bytes": stored}


def installed(name):
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def chosen(cases, texts):
    """The cases with one of the texts in their titles, in the order of the texts."""
    found = {}
    for text in texts:
        there = {case["title"]: case for case in cases if text in case["title"]}
        if not there:
            sys.exit(f"bench_files.py: no case has '{text}' in its title")
        found.update(there)  # those that are there keep their place
    return list(found.values())


def main():
    parser = argparse.ArgumentParser(usage=__doc__.strip().splitlines()[0].split(": ", 1)[1])
    parser.add_argument("tool", type=os.path.abspath)
    parser.add_argument("record", type=pathlib.Path)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--only", action="append")
    parser.add_argument("--steps", type=int, default=2928)
    parser.add_argument("--grid", type=lambda text: tuple(map(int, text.split("x"))), default=(181, 360))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--patience", type=float, default=30)
    given = parser.parse_args()
    bench_h5.RUNS, bench_h5.PATIENCE = given.runs, given.patience
    cases = chosen(make_cases(given.steps, given.grid), given.only or [""])
    also = {name: installed(name) for name in ("flox", "numbagg", "netCDF4")}
    with tempfile.TemporaryDirectory() as temporary:
        run(given.tool, given.folder or pathlib.Path(temporary), cases, makers(given.steps, given.grid), measure, given.record, also)


if __name__ == "__main__":
    main()
