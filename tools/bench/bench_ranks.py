#!/usr/bin/env python3
"""Measures ranks, and records it.

  bench_ranks.py cores H5GPURED RECORD.json [--folder F] [--steps N] [--cores N,N] [--runs N]
  bench_ranks.py gpus H5GPURED BENCH_PARTS RECORD.json [--folder F] [--gpus N,N] [--mib N,N]
  bench_ranks.py files FOLDER [--steps N]   makes the files of both, which they make themselves where these are missing
  bench_ranks.py dask FILE OUTPUT WORKERS THREADS   what cores times of dask

cores: the mean over time of a packed, deflated file as reanalyses come (bench_h5.py), from the page cache: by one process with as
many threads as cores, by ranks with as many threads in all, and by CDO, NCO and xarray + dask, where these are there. dask has a
cluster of its own on this machine, with the workers that it would choose itself and with one for each core. Whole processes are
timed, with the launcher or the start of the cluster; of ours the work by --explain's line "time", of dask what compute() takes
when the workers have imported what they need. Medians of several runs that take turns, fewer of what takes long.

gpus: ndreduce_parts with a thread for each GPU (tests/cuda/bench_parts.c), and whether files reduced by several numbers of GPUs
and ranks are the same to the last bit.

Both need mpirun (MPIRUN names another one), and libndreduce_mpi where the loader or NDREDUCE_MPI_LIBRARY finds it. Results of all
are compared.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import h5py
import numpy as np

import bench_h5
from bench_h5 import packed_years, xarray
from provenance import provenance

try:
    import distributed
except ImportError:
    distributed = None

PATIENCE = 20.0  # seconds: what has taken longer in all is not run again
MPIRUN = shlex.split(os.environ.get("MPIRUN", "mpirun --bind-to none --oversubscribe"))
RANKS = (1, 2, 3, 5)
GPU_JOBS = ("-d time --op mean,std", "-d lat,lon --op mean,var,argmax")
AT_ONCE = 4  # runs whose results are compared


def launched(ranks, command):
    return [*MPIRUN, "-n", str(ranks), *command] if ranks else list(command)


def run(command, environment=None):
    """What a command says on stderr; it must succeed."""
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, env={**os.environ, **(environment or {})})
    if done.returncode:
        sys.exit(f"bench_ranks.py: {shlex.join(map(str, command))}: exit status {done.returncode}\n{done.stderr[:2000]}")
    return done.stderr


def digest(path):
    """Of the elements of all datasets."""
    found = hashlib.sha256()
    with h5py.File(path) as file:
        for name in sorted(file):
            found.update(np.ascontiguousarray(file[name][()]).tobytes())
    return found.hexdigest()


def make_years(folder, steps):
    path = folder / "years.nc"
    if not path.exists():
        packed_years(path, (1, 361, 720), (steps, 361, 720))
    return path


def make_days(folder):
    path = folder / "days.nc"
    if not path.exists():
        bench_h5.deflated(path)
    return path


# ---- cores

def layouts(cores):
    """Ranks and threads of each; 0 ranks are a process without a launcher."""
    return [(0, cores)] + [(ranks, cores // ranks) for ranks in sorted({2, 4, 8, 16, cores}) if cores % ranks == 0]


def workers_and_threads(cores):
    """dask's clusters: its own choice, and a worker for each core, as HDF5 has one lock a process."""
    return dict.fromkeys((distributed.deploy.utils.nprocesses_nthreads(cores), (cores, 1)))


def our_jobs(tool, path, folder, cores):
    """By name: the command, and where it writes."""
    jobs = {}
    for ranks, threads in layouts(cores):
        out = folder / f"out-{ranks}.nc"
        ours = [tool, path, "-d", "time", "--op", "mean", "-o", out, "--overwrite", "--threads", threads, "--explain"]
        jobs[f"{ranks} x {threads}" if ranks else "one process"] = (launched(ranks, ours), out)
    return jobs


def rival_jobs(path, folder, cores):
    """Likewise; CDO and NCO are told to write floats, as they would pack the means anew."""
    jobs = {}
    if xarray and distributed:
        for workers, threads in workers_and_threads(cores):
            out = folder / f"dask-{workers}.h5"
            jobs[f"xarray + dask, {workers} x {threads}"] = ([sys.executable, "-B", __file__, "dask", path, out, workers, threads], out)
    if shutil.which("cdo"):
        jobs["CDO"] = (["cdo", "-s", "-O", "-f", "nc4", "-b", "F32", "-P", cores, "timmean", path, folder / "cdo.nc"], folder / "cdo.nc")
    if shutil.which("ncwa"):
        jobs["NCO"] = (["ncwa", "-O", "-t", cores, "-a", "time", path, folder / "nco.nc"], folder / "nco.nc")
    return jobs


def dask_mean(options):
    """A process of its own: prints what compute() takes, and writes the mean."""
    with h5py.File(options.file) as file:
        count = file["time"].size
    # Blocks of whole chunks of the file, of 100 MB at most, as dask's guide says, but two for each core.
    steps = max(1, min(bench_h5.BLOCK, count // (2 * options.workers * options.threads)))
    blocks = {"time": steps, "lat": -1, "lon": -1}
    with distributed.LocalCluster(n_workers=options.workers, threads_per_worker=options.threads, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client, xarray.open_dataset(options.file, chunks=blocks, engine="h5netcdf") as data:
        client.wait_for_workers(options.workers)
        client.run(lambda: __import__("h5netcdf") and None)
        begin = time.perf_counter()
        values = data["t"].mean("time").compute().values
        print(f"time     {time.perf_counter() - begin:.3f} s", file=sys.stderr)
    with h5py.File(options.output, "w") as file:
        file["t"] = values


def median_times(jobs):
    """Seconds of each command, of its work where it says that, and the number of runs; runs take turns."""
    times, work = ({name: [] for name in jobs} for _ in range(2))
    for _ in range(bench_h5.RUNS):
        for name, (command, _) in jobs.items():
            if sum(times[name]) > PATIENCE:
                continue
            begin = time.perf_counter()
            said = re.search(r"^time +([0-9.]+) s", run(command), re.M)
            times[name].append(time.perf_counter() - begin)
            work[name] += [float(said[1])] if said else []
            print(f"{name}: {times[name][-1]:.2f} s", flush=True)
    middle = [{name: float(np.median(samples)) for name, samples in of.items() if samples} for of in (times, work)]
    return (*middle, {name: len(samples) for name, samples in times.items()})


def values_of(path):
    """The mean that a program has written, with NaN where nothing is."""
    with h5py.File(path) as file:
        data = file["t"]
        values = np.squeeze(data[()]).astype("f8")
        fill = data.attrs.get("_FillValue")
    return values if fill is None else np.where(values == fill, np.nan, values)


def compare(ours, rivals):
    if len({digest(output) for _, output in ours.values()}) != 1:
        sys.exit("bench_ranks.py: results of ranks are not those of one process")
    expected = values_of(ours["one process"][1])
    for name, (_, output) in rivals.items():
        if not np.allclose(values_of(output), expected, rtol=1e-4, atol=1e-4, equal_nan=True):
            sys.exit(f"bench_ranks.py: {name}: the answers differ")


def row_of(tool, path, folder, cores):
    ours, rivals = our_jobs(tool, path, folder, cores), rival_jobs(path, folder, cores)
    bound = {name: (["taskset", "-c", f"0-{cores - 1}", *command], output) for name, (command, output) in {**ours, **rivals}.items()}
    seconds, work, runs = median_times(bound)
    compare(ours, rivals)
    with h5py.File(path) as file:
        data = file["t"]
        return {"cores": cores, "shape": list(data.shape), "bytes": int(data.size) * data.dtype.itemsize,
                "stored_bytes": data.id.get_storage_size(), "seconds": seconds, "work_seconds": work, "runs": runs}


def measure_cores(options, folder):
    path = make_years(folder, options.steps)
    bench_h5.RUNS = options.runs
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    counts = options.cores or sorted({min(16, os.cpu_count()), os.cpu_count()})
    versions = {**bench_h5.versions(options.tool), "mpi": bench_h5.version(MPIRUN[0], "--version"),
                "distributed": distributed and distributed.__version__}
    return {**provenance(), "versions": versions, "statistic": "median",
            "rows": [row_of(options.tool, path, folder, cores) for cores in counts]}


# ---- gpus

def parts(options, mib):
    command = [options.parts, str(max(options.gpus)), str(mib)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench_ranks.py: {shlex.join(command)}: exit status {done.returncode}: {done.stderr[:1000]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def compared(options, path, folder, job):
    """The digest of a job's output, which all numbers of GPUs and ranks must have; the first is one process with one GPU."""
    cases = [(gpus, ranks, "cuda") for gpus in options.gpus for ranks in RANKS]
    cases += [(max(options.gpus), ranks, "all") for ranks in RANKS if ranks < max(options.gpus)]

    def of(case):
        gpus, ranks, device = case
        out = folder / f"out-{gpus}-{ranks}-{device}.nc"
        ours = [options.tool, path, *job.split(), "-o", out, "--overwrite", "-q", "--threads", "2", "--device", device]
        run(launched(ranks if ranks > 1 else 0, ours), {"CUDA_VISIBLE_DEVICES": ",".join(map(str, range(gpus)))})
        return f"{gpus} GPUs, {ranks} ranks, {device}", digest(out)

    found = dict([of(cases[0])])
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        found.update(pool.map(of, cases[1:]))
    if len(set(found.values())) != 1:
        sys.exit(f"bench_ranks.py: {job}: other bits: {json.dumps(found, indent=1)}")
    return {"job": job, "runs": len(found), "sha256": next(iter(found.values()))}


def measure_gpus(options, folder):
    path = make_days(folder)
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    names = subprocess.run(query, capture_output=True, text=True, check=False).stdout.splitlines()
    gpu, driver = names[0].split(", ")
    return {**provenance(gpu=gpu, driver=driver, gpus=len(names)), "rows": [row for mib in options.mib for row in parts(options, mib)],
            "files": [compared(options, path, folder, job) for job in GPU_JOBS]}


def numbers(text):
    return [int(number) for number in text.split(",")]


def make_files(folder, steps):
    folder.mkdir(parents=True, exist_ok=True)
    make_days(folder)
    make_years(folder, steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_subparsers(required=True)
    cores, gpus, files, by_dask = (kinds.add_parser(name) for name in ("cores", "gpus", "files", "dask"))
    for name, kind in {"file": pathlib.Path, "output": pathlib.Path, "workers": int, "threads": int}.items():
        by_dask.add_argument(name, type=kind)
    by_dask.set_defaults(measure=None, act=dask_mean)
    for kind in (cores, gpus):
        kind.add_argument("tool", type=os.path.abspath)
    gpus.add_argument("parts", type=os.path.abspath)
    for kind, measure in ((cores, measure_cores), (gpus, measure_gpus)):
        kind.set_defaults(measure=measure)
        kind.add_argument("record", type=pathlib.Path)
        kind.add_argument("--folder", type=pathlib.Path)
    files.set_defaults(measure=None, act=lambda options: make_files(options.folder, options.steps))
    files.add_argument("folder", type=pathlib.Path)
    for kind in (cores, files):
        kind.add_argument("--steps", type=int, default=5856)
    cores.add_argument("--cores", type=numbers)
    cores.add_argument("--runs", type=int, default=5)
    gpus.add_argument("--gpus", type=numbers, default=[1, 2, 4])
    gpus.add_argument("--mib", type=numbers, default=[1024, 8192])
    options = parser.parse_args()
    if not options.measure:
        return options.act(options)
    with tempfile.TemporaryDirectory() as temporary:
        record = options.measure(options, options.folder or pathlib.Path(temporary))
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written: {options.record}")


if __name__ == "__main__":
    main()
