#!/usr/bin/env python3
"""Measures ranks, and records it.

  bench_ranks.py cores H5GPURED RECORD.json [--folder F] [--steps N] [--cores N,N] [--runs N]
  bench_ranks.py gpus H5GPURED BENCH_PARTS RECORD.json [--folder F] [--gpus N,N] [--mib N,N]
  bench_ranks.py files FOLDER [--steps N]   makes the files of both, which they make themselves where these are missing

cores: the mean over time of a packed, deflated file as reanalyses come (bench_h5.py), from the page cache: by one process with as
many threads as cores, by ranks with as many threads in all, and by xarray + dask, if this Python has them. Whole processes are
timed, with the launcher, and the work by --explain's line "time"; the best of several runs that take turns.

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
import subprocess
import sys
import tempfile

import h5py
import numpy as np

import bench_h5
from bench_h5 import best_times, packed_years, xarray, xarray_mean
from provenance import provenance

bench_h5.RUNS, bench_h5.PATIENCE = 5, 8.0
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
    return [(0, cores)] + [(ranks, cores // ranks) for ranks in (1, 2, 4, cores) if cores % ranks == 0]


def row_of(tool, path, folder, cores):
    outputs, jobs, work = {}, {}, {}
    for ranks, threads in layouts(cores):
        name = f"{ranks} x {threads}" if ranks else "one process"
        outputs[name] = folder / f"out-{ranks}.nc"
        ours = [tool, path, "-d", "time", "--op", "mean", "-o", outputs[name], "--overwrite", "--threads", threads, "--explain"]
        command = ["taskset", "-c", f"0-{cores - 1}", *launched(ranks, ours)]

        def job(name=name, command=command):
            seconds = float(re.search(r"^time +([0-9.]+) s", run(command), re.M)[1])
            work[name] = min(seconds, work.get(name, seconds))
        jobs[name] = job
    if xarray:
        jobs["xarray"] = lambda: xarray_mean(path, "time")
    seconds = best_times(jobs)
    if len({digest(output) for output in outputs.values()}) != 1:
        sys.exit("bench_ranks.py: results of ranks are not those of one process")
    with h5py.File(path) as file:
        data = file["t"]
        return {"cores": cores, "shape": list(data.shape), "bytes": int(data.size) * data.dtype.itemsize,
                "stored_bytes": data.id.get_storage_size(), "seconds": seconds, "work_seconds": work}


def measure_cores(options, folder):
    path = make_years(folder, options.steps)
    bench_h5.RUNS = options.runs
    with open(path, "rb") as file:
        while file.read(1 << 24):
            pass
    counts = options.cores or sorted({min(16, os.cpu_count()), os.cpu_count()})
    said = subprocess.run([MPIRUN[0], "--version"], capture_output=True, text=True, check=True).stdout
    versions = {"mpi": said.splitlines()[0], "xarray": xarray and xarray.__version__}
    return {**provenance(), "versions": versions, "rows": [row_of(options.tool, path, folder, cores) for cores in counts]}


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
    cores, gpus, files = (kinds.add_parser(name) for name in ("cores", "gpus", "files"))
    for kind in (cores, gpus):
        kind.add_argument("tool", type=os.path.abspath)
    gpus.add_argument("parts", type=os.path.abspath)
    for kind, measure in ((cores, measure_cores), (gpus, measure_gpus)):
        kind.set_defaults(measure=measure)
        kind.add_argument("record", type=pathlib.Path)
        kind.add_argument("--folder", type=pathlib.Path)
    files.set_defaults(measure=None)
    files.add_argument("folder", type=pathlib.Path)
    for kind in (cores, files):
        kind.add_argument("--steps", type=int, default=5856)
    cores.add_argument("--cores", type=numbers)
    cores.add_argument("--runs", type=int, default=5)
    gpus.add_argument("--gpus", type=numbers, default=[1, 2, 4])
    gpus.add_argument("--mib", type=numbers, default=[1024, 8192])
    options = parser.parse_args()
    if not options.measure:
        return make_files(options.folder, options.steps)
    with tempfile.TemporaryDirectory() as temporary:
        record = options.measure(options, options.folder or pathlib.Path(temporary))
    options.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"written: {options.record}")


if __name__ == "__main__":
    main()
