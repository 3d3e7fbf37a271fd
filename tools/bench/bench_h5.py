#!/usr/bin/env python3
"""Measures h5gpured beside what others use, and records it: bench_h5.py H5GPURED RECORD.json [FOLDER [TEXT]]

The others are h5py + NumPy, CDO, NCO, and xarray + dask. Only cases with TEXT in their titles are run; the record keeps
what earlier runs say of the others. Files are made in FOLDER (default: a temporary one; about 4 GiB) from seeded noise
where they are missing, and read once before they are timed, so that all is about warm page caches. Whole processes are timed, the best of several runs that take turns, those of h5py and xarray by a
Python that has started and imported what it needs. Rivals that are not there are left out. Every answer is compared.
The ceiling of contiguous data is pread of the same file by as many threads, into buffers that stay in cache.
"""
import concurrent.futures
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import zlib

import h5py
import numpy as np

from provenance import provenance

try:
    import dask
    import xarray
except ImportError:
    dask = xarray = None

RUNS, PATIENCE = 7, 30.0  # runs of each, fewer of what takes longer than so many seconds in all
SHAPE = (1024, 512, 512)
GRID = (1461, 180, 360)
YEARS = (2976, 361, 720)  # as a reanalysis comes: packed, a field a chunk or, for time series, in blocks
BLOCK = 96  # steps that NumPy and dask read at a time
STEPS, PERIOD = 24, 192  # steps that are made at a time, and after which they are repeated
STORED = {"_FillValue": np.int16(-32768), "scale_factor": 0.002, "add_offset": 15.0}


def rough(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def weather(shape):
    """Numbers that compress about as measured fields do: smooth in space, noise in the last digits kept."""
    time_, lat, lon = (np.linspace(0, 1, n, dtype=np.float32) for n in shape)
    field = 15 + 20 * np.cos(3 * lat)[None, :, None] + 5 * np.sin(12 * lon)[None, None, :] + 8 * np.sin(25 * time_)[:, None, None]
    return (np.round((field + 0.3 * rough(shape, 2)) * 50) / 50).astype(np.float32)


def scaled(file, names, shape, times="days"):
    for name, size in zip(names, shape):
        file[name] = np.linspace(-89.5, 89.5, size) if name == "lat" else np.arange(size) * (360 / size if name == "lon" else 1.0)
        file[name].make_scale(name)
        file[name].attrs["units"] = np.bytes_({"time": f"{times} since 2000-01-01", "lat": "degrees_north", "lon": "degrees_east"}[name])


def packed_steps(shape, first, seed):
    """STEPS steps of a packed variable."""
    season = 8 * np.sin(np.arange(first, first + STEPS, dtype=np.float32) / 120)[:, None, None]
    field = weather((1, *shape[1:]))[0] + season + 0.3 * rough((STEPS, *shape[1:]), seed + first)
    packed = np.round((field - 15) / 0.002).clip(-32000, 32000).astype("i2")
    packed[:, 40:60, 80:180] = STORED["_FillValue"]
    return packed


def stored_chunk(elements, chunk):
    """The bytes of a chunk of this shape after HDF5's filters shuffle and deflate. Beyond the end of a dim are zeros."""
    whole = np.pad(elements, [(0, size - there) for size, there in zip(chunk, elements.shape)])
    return zlib.compress(np.ascontiguousarray(whole.view("u1").reshape(-1, whole.itemsize).T), 1)


def write_repeated(data, steps, pool):
    """Fills a dataset with these steps, again and again. They are compressed once, as that takes longest."""
    def corners(count):
        return itertools.product(*(range(0, size, chunk) for size, chunk in zip((count, *data.shape[1:]), data.chunks)))

    def stored(corner):
        return stored_chunk(steps[tuple(slice(at, at + size) for at, size in zip(corner, data.chunks))], data.chunks)

    period = list(corners(min(len(steps), data.shape[0])))
    chunks = dict(zip(period, pool.map(stored, period)))
    for first, *corner in corners(data.shape[0]):
        data.id.write_direct_chunk((first, *corner), chunks[first % len(steps), *corner])


def packed_years(path, chunks, shape=YEARS, names=("t",), times="days", seed=0):
    """Made by a thread for each core: NumPy and zlib do not hold the others up."""
    with h5py.File(path, "w") as file, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        scaled(file, ("time", "lat", "lon"), shape, times)
        for variable, name in enumerate(names):
            data = file.create_dataset(name, shape, "i2", chunks=chunks, compression="gzip", compression_opts=1, shuffle=True)
            data.attrs.update(STORED)
            for d, dim in enumerate(("time", "lat", "lon")):
                data.dims[d].attach_scale(file[dim])
            steps = pool.map(packed_steps, itertools.repeat(shape), range(0, PERIOD, STEPS), itertools.repeat(seed + variable))
            write_repeated(data, np.concatenate(list(steps)), pool)


def contiguous(path):
    with h5py.File(path, "w") as file:
        file["x"] = rough(SHAPE, 1)


def deflated(path):
    with h5py.File(path, "w") as file:
        scaled(file, ("time", "lat", "lon"), GRID)
        data = file.create_dataset("t", data=weather(GRID), chunks=(1, *GRID[1:]), compression="gzip", compression_opts=1,
                                   shuffle=True)
        for d, name in enumerate(("time", "lat", "lon")):
            data.dims[d].attach_scale(file[name])


def packed_fields(path):
    with h5py.File(path, "w") as file:
        scaled(file, ("time", "lat", "lon"), GRID)
        packed = np.round((weather(GRID) - 15) / 0.002).clip(-32000, 32000).astype("i2")
        packed[:, 20:30, 40:90] = -32768
        data = file.create_dataset("t", data=packed, chunks=(1, *GRID[1:]), compression="gzip", compression_opts=1,
                                   shuffle=True)
        for name, value in STORED.items():
            data.attrs[name] = value
        for d, name in enumerate(("time", "lat", "lon")):
            data.dims[d].attach_scale(file[name])


def small_chunks(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=rough((256, 256, 256), 3), chunks=(4, 8, 8))


FILES = {"contiguous.h5": contiguous, "deflate.nc": deflated, "packed.nc": packed_fields, "small-chunks.h5": small_chunks,
         "years-fields.nc": lambda path: packed_years(path, (1, *YEARS[1:])),
         "years-blocks.nc": lambda path: packed_years(path, (24, 61, 120))}


# ---- what is timed

def h5py_mean(path, name, axis):
    with h5py.File(path) as file:
        return file[name][()].mean(axis)


def h5py_masked_mean(path, name, axis):
    with h5py.File(path) as file:
        data = file[name]
        packed = data[()]
        masked = np.ma.masked_equal(packed, data.attrs["_FillValue"])
        return (masked * data.attrs["scale_factor"] + data.attrs["add_offset"]).mean(axis).filled(np.nan)


def years_mean(path, over):
    """Block by block, for comparison: NumPy would take 12 GiB at once."""
    weights = 1.0
    with h5py.File(path) as file:
        data = file["t"]
        sums, weight_sums = [], []
        if over != "time":
            weights = np.cos(np.deg2rad(file["lat"][()]))[:, None]
        for first in range(0, data.shape[0], BLOCK):
            packed = data[first:first + BLOCK]
            there = packed != STORED["_FillValue"]
            values = np.where(there, packed * STORED["scale_factor"] + STORED["add_offset"], 0.0)
            axes = 0 if over == "time" else (1, 2)
            sums.append((values * weights).sum(axes))
            weight_sums.append((there * weights).sum(axes))
    joined = (lambda parts: np.sum(parts, 0)) if over == "time" else np.concatenate
    with np.errstate(invalid="ignore"):
        return joined(sums) / joined(weight_sums)


def xarray_mean(path, over):
    """In blocks of about 100 MB, as dask's guide says, of all cores."""
    with xarray.open_dataset(path, chunks={"time": BLOCK, "lat": -1, "lon": -1}) as data:
        field = data["t"]
        if over != "time":
            field = field.weighted(np.cos(np.deg2rad(data["lat"])))
        field.mean(over.split(",")).compute()


def program(*command):
    def run():
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return run


def reader(path, threads, block=1 << 20):
    """pread of a whole file by so many threads."""
    size = os.path.getsize(path)

    def part(number):
        handle, buffer = os.open(path, os.O_RDONLY), bytearray(block)
        for offset in range(number * block, size, threads * block):
            os.preadv(handle, [buffer], offset)
        os.close(handle)

    def run():
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            list(pool.map(part, range(threads)))
    return run


def run_times(jobs):
    """Seconds of each job's runs, which take turns."""
    times = {name: [] for name in jobs}
    for _ in range(RUNS):
        for name, job in jobs.items():
            if times[name] and sum(times[name]) > PATIENCE:
                continue
            begin = time.perf_counter()
            job()
            times[name].append(time.perf_counter() - begin)
    return times


def best_times(jobs):
    """Seconds of each job's best run."""
    return {name: min(samples) for name, samples in run_times(jobs).items()}


def peak_bytes(command):
    """The most memory that a run has held."""
    before = "import resource,subprocess,sys;subprocess.run(sys.argv[1:],check=True,stdout=subprocess.DEVNULL);" \
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    done = subprocess.run([sys.executable, "-c", before, *map(str, command)], check=True, capture_output=True, text=True)
    return int(done.stdout) * 1024


def measure(tool, folder, case):
    path, axis = folder / case["file"], case["axis"]
    out = folder / "out.nc"
    ours = [tool, path, "-d", axis, "--op", "mean", "-o", out, "--overwrite", "-q", *case.get("options", [])]
    numpy_mean = h5py_masked_mean if case.get("masked") else h5py_mean
    jobs = {"h5gpured": program(*ours)}
    if not case.get("years"):
        jobs["h5py"] = lambda: numpy_mean(path, case["name"], axis)
    elif xarray:
        jobs["xarray"] = lambda: xarray_mean(path, axis)
    if shutil.which("cdo") and case.get("cdo"):
        jobs["cdo"] = program("cdo", "-s", "-O", case["cdo"], path, folder / "cdo.nc")
    if shutil.which("ncwa") and case.get("ncwa"):
        jobs["ncwa"] = program("ncwa", "-O", "-a", case["ncwa"], path, folder / "ncwa.nc")
    if case.get("ceiling"):
        jobs["pread"] = reader(path, os.cpu_count())
    jobs["h5gpured"]()
    with h5py.File(out) as file:
        answer = file[case["name"]][()]
    expected = years_mean(path, axis) if case.get("years") else numpy_mean(path, case["name"], axis)
    if not np.allclose(answer, expected, rtol=1e-4, atol=1e-4, equal_nan=True):
        sys.exit(f"bench_h5.py: {case['title']}: the answers differ")
    with h5py.File(path) as file:
        data = file[case["name"]]
        elements, stored = int(data.size) * data.dtype.itemsize, data.id.get_storage_size()
    times = best_times(jobs)
    row = {"name": case["title"], "file": case["file"], "axis": axis, "bytes": elements, "stored_bytes": stored,
           "peak_bytes": peak_bytes(ours), "seconds": times}
    print(f"{case['title']:<44} " + "  ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items()), flush=True)
    return row


CASES = [
    {"title": f"contiguous f32 {list(SHAPE)} over {axis}", "file": "contiguous.h5", "name": "x", "axis": axis, "ceiling": True}
    for axis in range(3)
] + [
    {"title": f"shuffle+deflate f32 {list(GRID)} over time", "file": "deflate.nc", "name": "t", "axis": 0, "cdo": "timmean",
     "ncwa": "time"},
    {"title": f"packed i16 {list(GRID)} over time", "file": "packed.nc", "name": "t", "axis": 0, "masked": True,
     "cdo": "timmean", "ncwa": "time"},
    {"title": "65536 chunks of 4x8x8 f32 over 0", "file": "small-chunks.h5", "name": "x", "axis": 0},
] + [
    {"title": f"packed i16 {list(YEARS)} over {axis}{how}, chunks {chunks}", "file": file, "name": "t", "axis": axis,
     "cdo": cdo, "options": options, "years": True}
    for axis, how, cdo, options in (("time", "", "timmean", []), ("lat,lon", " by area", "fldmean", ["--weights", "lat:cos"]))
    for file, chunks in (("years-fields.nc", "1x361x720"), ("years-blocks.nc", "24x61x120"))
]


def version(*command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return (done.stdout + done.stderr).strip().splitlines()[0]


def versions(tool):
    return {"h5gpured": version(tool, "--version"), "hdf5": h5py.version.hdf5_version, "h5py": h5py.__version__,
            "numpy": np.__version__, "cdo": version("cdo", "--version"), "nco": version("ncwa", "--version"),
            "xarray": xarray and xarray.__version__, "dask": dask and dask.__version__}


def run(tool, folder, cases, files, measured, record, also=None):
    """Measures the cases, and writes the record anew after each, so that an interrupted run keeps those that are done.

    files: a dict from the name of each file to the function that makes it, if it is missing; measured: makes a row of a case; also:
    more versions."""
    new = {**provenance(), "versions": {**versions(tool), **(also or {})}, "rows": []}
    for case in cases:
        for file in case.get("files") or [case["file"]]:
            if not (folder / file).exists():
                files[file](folder / file)
        new["rows"].append(measured(tool, folder, case))
        write(record, new)
    print(f"written: {record}")


def kept(record, new):
    """The runs of a record without the rows that the new one replaces."""
    runs = json.loads(record.read_text())["runs"] if record.exists() else []
    names = {row["name"] for row in new["rows"]}
    left = [{**old, "rows": [row for row in old["rows"] if row["name"] not in names]} for old in runs]
    return [old for old in left if old["rows"]]


def write(record, new):
    record.write_text(json.dumps({"runs": [*kept(record, new), new]}, indent=1) + "\n")


def main():
    if len(sys.argv) not in (3, 4, 5):
        sys.exit(__doc__.strip().splitlines()[0])
    tool, record = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    cases = [case for case in CASES if len(sys.argv) < 5 or sys.argv[4] in case["title"]]
    if not cases:
        sys.exit(f"bench_h5.py: no case has '{sys.argv[4]}' in its title")
    with tempfile.TemporaryDirectory() as temporary:
        run(tool, pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else pathlib.Path(temporary), cases, FILES, measure, record)


if __name__ == "__main__":
    main()
