#!/usr/bin/python3
"""What the ranks of an MPI launcher read of their files, as strace sees it: ranks_reads.py TOOL SOURCE_DIR [COMPILER_FLAG]...

Ranks other than 0 read elements and nothing else, unless their files may be others than those of rank 0; and all ranks
together read each byte once. Exits 77, which CTest shows as skipped, without an MPI, strace or h5py.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from problems import run_in_folder
from ranks import LAUNCHERS, build_libraries, run_ranks
from shared_jobs import JOBS, h5py, make_file, numpy, run

ENDS = 4096  # bytes at each end of a file that ranks compare where times do not tell that it is one file
RANKS = 3
READ = re.compile(r'p?readv?(?:64)?\(\d+<(.*?)>, .*?(?:, (\d+))?\) = (\d+)$')


def make_files(_tool, folder, _problems):
    make_file(os.path.join(folder, "a.nc"), 2200, 1)
    make_file(os.path.join(folder, "b.nc"), 100, 2)
    with h5py.File(os.path.join(folder, "new.nc"), "w", libver="latest") as file:
        values = numpy.random.default_rng(3).standard_normal((3000, 40))
        for name, most in (("fixed", None), ("extensible", (None, 40)), ("tree", (None, None))):
            file.create_dataset(name, data=values, chunks=(2, 20), maxshape=most)


def elements_of(path):
    """Which bytes of the file are elements."""
    found = numpy.zeros(os.path.getsize(path), "i1")
    with h5py.File(path) as file:
        for name, dataset in file.items():
            if name in ("time", "lat") or not dataset.size:
                continue
            if dataset.chunks is None:
                found[dataset.id.get_offset():][:dataset.nbytes] = 1
                continue
            for i in range(dataset.id.get_num_chunks()):
                chunk = dataset.id.get_chunk_info(i)
                found[chunk.byte_offset:chunk.byte_offset + chunk.size] = 1
    return found.astype(bool)


def reads_of(trace, files):
    """For each file how often each of its bytes was read."""
    counts = {path: numpy.zeros(os.path.getsize(path), "i4") for path in files}
    for name in os.listdir(os.path.dirname(trace)):
        if not name.startswith(os.path.basename(trace) + "."):
            continue
        with open(os.path.join(os.path.dirname(trace), name), encoding="utf-8", errors="replace") as lines:
            for line in lines:
                match = READ.search(line.rstrip())
                if match and match[1] in counts:
                    begin = int(match[2]) if line.startswith("pread") else 0
                    counts[match[1]][begin:begin + int(match[3])] += 1
    return counts


TRACE = 'exec strace -ff -y -qq -s0 -e trace=read,readv,pread64,preadv -o "$0.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" "$@"'


def trace_job(tool, folder, number, job, files, before=""):
    """How a reduction by ranks ends, and what each of them has read of each file."""
    launcher, library = LAUNCHERS[number % len(LAUNCHERS)]
    with tempfile.TemporaryDirectory() as traces:
        words = ["sh", "-c", before + TRACE, os.path.join(traces, "rank"), tool, *job, "--json"]
        end = run_ranks(launcher, library, RANKS, folder, *words)
        return end, [reads_of(os.path.join(traces, f"rank.{rank}"), files) for rank in range(RANKS)]


def check_reads(tool, folder, problems):
    files = [os.path.join(folder, name) for name in ("a.nc", "b.nc", "new.nc")]
    elements = {path: elements_of(path) for path in files}
    jobs = [*JOBS[3:6], *JOBS[7:11], JOBS[12], ["a.nc:/**", "-d", "time", "--op", "mean"],
            *(["new.nc:/" + name, "-d", "0", "--op", "sum"] for name in ("fixed", "extensible", "tree"))]
    for number, job in enumerate(jobs):
        end, counts = trace_job(tool, folder, number, job, files)
        if end[:2] != (0, run(tool, folder, *job, "--json")[1]):
            problems.append(f"{job} by {RANKS} ranks: {end}")
        for path in files:
            beside = [int(count[path][~elements[path]].sum()) for count in counts]
            twice = numpy.flatnonzero(sum(count[path] for count in counts) > 1)
            # Rank 0 reads the last bytes of a file in any case, and HDF5 up to 512 with a header, which may be behind it.
            if any(beside[1:]) or len(twice) > ENDS + 512:
                problems.append(f"{job}: ranks read {beside} bytes beside elements of {path}, {len(twice)} twice")
        if not any(count[path].any() for count in counts for path in files):
            problems.append(f"{job}: strace has seen nobody read")


def check_copies(tool, folder, problems):
    """A rank whose file is a copy, with times of its own, reads the ends, to see that it is one."""
    copies, job = os.path.join(folder, "copies"), JOBS[3]
    os.makedirs(copies)
    shutil.copy(os.path.join(folder, "a.nc"), copies)
    move = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && cd copies; '
    path, copy = os.path.join(folder, "a.nc"), os.path.join(copies, "a.nc")
    for number in range(len(LAUNCHERS)):
        end, counts = trace_job(tool, folder, number, job, [path, copy], move)
        beside = [int((count[path] + count[copy])[~elements_of(path)].sum()) for count in counts]
        if end[:2] != (0, run(tool, folder, *job, "--json")[1]) or not 0 < beside[1] <= 2 * ENDS or beside[2]:
            problems.append(f"{job}, where rank 1 has a copy: {end}, ranks read {beside} bytes beside elements")


if __name__ == "__main__":
    if not shutil.which("strace") or subprocess.run(["strace", "-qq", "true"], capture_output=True, check=False).returncode:
        print("skipped: strace is not installed, or may not trace")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as libraries:
        build_libraries(libraries, *sys.argv[2:])
        if not LAUNCHERS:
            print("skipped: no MPI was found (Debian: libopenmpi-dev and openmpi-bin, libmpich-dev and mpich)")
            sys.exit(77)
        sys.exit(run_in_folder(make_files, check_reads, check_copies))
