#!/usr/bin/python3
"""Reductions by the ranks of an MPI launcher: ranks.py TOOL SOURCE_DIR [COMPILER_FLAG]...

Builds libndreduce_mpi for Open MPI and for MPICH, where they are here. Any number of ranks gives the results of one
process, to the last bit; what is wrong on one rank is said once, leaves no file, and nobody hangs. Exits 77, which
CTest shows as skipped, without an MPI or h5py.
"""
import glob
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from problems import run_in_folder
from shared_jobs import JOBS, contents, h5py, make_files, numpy, run

LAUNCHERS = []  # command lines that -n and a number follow, each with the library of its MPI

# A library whose call of malloc number FAULTY_MALLOC fails, and those after it.
FAULTY = """#include <stdlib.h>
void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes) {
  static long calls;
  const char *last = getenv("FAULTY_MALLOC");
  return last && ++calls >= atol(last) ? NULL : __real_malloc(bytes);
}
"""


def build_libraries(folder, source, *flags):
    for kind, launcher in (("openmpi", ["mpirun.openmpi"]), ("mpich", ["mpiexec.mpich"])):
        if not shutil.which(f"mpicc.{kind}") or not shutil.which(launcher[0]):
            continue
        library, faulty = os.path.join(folder, f"lib{kind}.so"), os.path.join(folder, "faulty.c")
        build = [f"mpicc.{kind}", *flags, "-std=c11", "-D_GNU_SOURCE", "-fPIC", "-shared", f"-I{source}/include",
                 *glob.glob(f"{source}/src/mpi/*.c"), "-o"]
        with open(faulty, "w", encoding="ascii") as file:
            file.write(FAULTY)
        subprocess.run([*build, library], check=True)
        subprocess.run([*build, library + ".faulty", faulty, "-Wl,--wrap=malloc"], check=True)
        LAUNCHERS.append((launcher, library))


def environment_of(library, **more):
    # The last two are for Open MPI from 5 on: ranks on fewer cores, and messages over the loopback.
    return dict(os.environ, NDREDUCE_MPI_LIBRARY=library, OMPI_ALLOW_RUN_AS_ROOT="1",
                OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", OMPI_MCA_btl_tcp_if_include="lo", **more)


def begin(launcher, library, ranks, folder, words, **more):
    return subprocess.Popen([*launcher, "-n", str(ranks), *words], cwd=folder, text=True, env=environment_of(library, **more),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def end_of(process, seconds):
    """Its exit status, or "hangs", and what it has printed."""
    try:
        out, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return "hangs", *process.communicate()
    return process.returncode, out, said


def run_ranks(launcher, library, ranks, folder, *words, **more):
    return end_of(begin(launcher, library, ranks, folder, words, **more), 120)


def ours(said):
    """What the tool has said, without what launchers add."""
    return [line for line in said.splitlines() if "h5gpured: " in line]


def check_jobs(tool, folder, problems):
    for number, job in enumerate(JOBS):
        whole, together = os.path.join(folder, "whole.nc"), os.path.join(folder, "together.nc")
        end = run(tool, folder, *job, "-o", "whole.nc", "--overwrite", "-q")
        text = run(tool, folder, *job, "--json")[1]
        # The MPIs take turns: one writes files, the other prints.
        launcher, library = LAUNCHERS[number % len(LAUNCHERS)]
        for ranks in {1 + number % 3, 16 if number % 7 == 0 else 5}:
            words = [tool, *job, "-o", "together.nc", "--overwrite", "-qt2", "--memory", f"{16 + ranks}M"]
            end = run_ranks(launcher, library, ranks, folder, *words)
            if end[0] or contents(whole) != contents(together):
                problems.append(f"{job} by {ranks} ranks of {launcher}: {end}, or other results")
            if os.path.exists(together):
                os.unlink(together)
        launcher, library = LAUNCHERS[number % len(LAUNCHERS) - 1]
        end = run_ranks(launcher, library, 3, folder, tool, *job, "--json")
        if end[0] or end[1] != text:
            problems.append(f"{job} by ranks of {launcher}: {end}, where one process gives {text}")


# What makes an MPI take 5 ranks of one machine for ranks of several, and how many rank 0 then has on its own. Those of
# different machines send each other messages by the network.
MACHINES = {"mpich": (({"MPIR_CVAR_NUM_CLIQUES": "2"}, 3), ({"MPIR_CVAR_NOLOCAL": "1"}, 1)),
            "openmpi": (({"OMPI_MCA_btl": "tcp,self"}, 5),)}


def check_machines(tool, folder, problems):
    for launcher, library in LAUNCHERS:
        for number, (machines, mine) in enumerate(MACHINES[launcher[0].split(".")[1]]):
            for job in JOBS[number::4]:
                text = run(tool, folder, *job, "--json")[1]
                end = run_ranks(launcher, library, 5, folder, tool, *job, "--json", "--explain", "-t1", **machines)
                if end[:2] != (0, text) or f"ranks    5, of this machine {mine}: " not in end[2]:
                    problems.append(f"{job} by ranks of {launcher} on machines {machines}: {end}, where one gives {text}")


def check_errors(tool, folder, problems):
    job = ["a.nc:/x", "-d", "0", "--op", "sum,var", "-o", "bad.nc"]
    os.makedirs(os.path.join(folder, "other"), exist_ok=True)
    # Rank 1 is in a folder that lacks the file; or one rank has a command line of its own.
    move = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && cd other; exec "$@"'
    # Or it has the file and may not read it; root may, unless it drops two capabilities.
    os.makedirs(os.path.join(folder, "locked"), exist_ok=True)
    shutil.copy(os.path.join(folder, "a.nc"), os.path.join(folder, "locked"))
    os.chmod(os.path.join(folder, "locked", "a.nc"), 0)
    without_them = "setpriv --bounding-set -dac_override,-dac_read_search" if os.geteuid() == 0 else ""
    lock = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = 1 ] && cd locked && exec {without_them} "$@"; exec "$@"'
    lose = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export NDREDUCE_MPI_LIBRARY=/nowhere.so; exec "$@"'

    def other_line(rank, *line):
        choose = f'[ "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" = {rank} ] && set -- "$1" {" ".join(line)}; exec "$@"'
        return ["sh", "-c", choose, "sh", tool, "a.nc:/flat"]

    def refuse(launcher, library, words, said, code):
        start = time.monotonic()
        end = run_ranks(launcher, library, 3, folder, *words)
        if end[0] == 1 and not ours(end[2]):  # both MPIs have been seen to drop what a rank says before they abort
            end = run_ranks(launcher, library, 3, folder, *words)
        found = ours(end[2])
        if end[0] != code or len(found) != 1 or said not in found[0] or time.monotonic() - start > 30:
            problems.append(f"{words} by ranks of {launcher}: {end}, where {said} is to be said once")

    # Launchers that abort wait for a second and more, so a few run at a time.
    attempts = []
    for launcher, library in LAUNCHERS:
        def refused(words, said, code=1, library=library, launcher=launcher):
            attempts.append((launcher, library, words, said, code))

        refused([tool, *job, "--op", "nothing"], "nothing", 2)
        refused([tool, "nowhere.nc", *job[1:]], "nowhere.nc")
        refused(["sh", "-c", move, "sh", tool, *job], "(rank 1 of 3)")
        refused(["sh", "-c", lock, "sh", tool, *job], "a.nc: Permission denied (rank 1 of 3)")
        for rank in (0, 1):
            refused(other_line(rank, "--nonsense"), "nonsense", 2)
            refused(other_line(rank, "a.nc:/flat", "a.nc:/flat"), "is in another call than rank 0")
        refused(other_line(1, "a.nc:/flat", "--op", "max"), "rank 1 has another file or another job")
        refused([tool, *job[:3], "--scan", "sum", "-o", "bad.nc"], "--scan is for one process")
        refused([tool, *job[:-1], "no/folder.nc"], "no/folder.nc")
        refused([tool, *job], "nowhere.so", library="/nowhere.so")
        refused([tool, *job, "--nonsense"], "nonsense", 2, library="/nowhere.so")
        refused(["sh", "-c", lose, "sh", tool, *job], "nowhere.so")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda attempt: refuse(*attempt), attempts))
    if os.path.exists(os.path.join(folder, "bad.nc")):
        problems.append("a job that failed left a file")


def check_memory(tool, folder, problems):
    """A rank that has no memory for a message ends all of them, and says so."""
    fail = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = $0 ] && export FAULTY_MALLOC=$1; shift; exec "$@"'
    for launcher, library in LAUNCHERS:
        for rank, call in ((0, 1), (1, 1), (1, 2), (2, 3), (0, 4)):
            words = ["sh", "-c", fail, str(rank), str(call), tool, "a.nc:/x", "-d", "0", "-o", "bad.nc"]
            end = run_ranks(launcher, library + ".faulty", 3, folder, *words)
            if end[:2] == (1, "") and not end[2]:  # MPICH has been seen to drop what a rank says before it aborts
                end = run_ranks(launcher, library + ".faulty", 3, folder, *words)
            said = f"h5gpured: out of memory for messages (rank {rank} of 3)"
            if end[0] in (0, "hangs") or said not in end[2] or os.path.exists(os.path.join(folder, "bad.nc")):
                problems.append(f"{launcher}: no memory on rank {rank} for call {call}: {end}")


def make_clash(path):
    """One of many sums is equal to the fill value, which others have as nothing is in them."""
    values = numpy.random.default_rng(2).integers(0, 100, (20, 300, 400)).astype("f4")
    values[:, 299, 399] = numpy.where(numpy.arange(20) % 10 == 3, -4.5, 0)
    values[:, 1, 1] = -9
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=values, chunks=(5, 100, 400)).attrs["_FillValue"] = numpy.float32(-9)


def check_faults(tool, folder, problems):
    """A call that fails on one rank, while results are written as they come, and written anew."""
    faults, report = os.environ.get("NDR_TEST_FAULTS"), os.path.join(folder, "report")
    if not faults:
        return
    make_clash(os.path.join(folder, "clash.nc"))
    job = ["clash.nc:/x", "-d", "0", "--op", "sum,norm1", "--memory", "5M", "-qt1"]
    whole, bad = os.path.join(folder, "whole.nc"), os.path.join(folder, "bad.nc")
    run(tool, folder, *job, "-o", "whole.nc", "--overwrite")
    preload = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = $0 ] && export LD_PRELOAD=$FAULTS; exec "$@"'
    for launcher, library in LAUNCHERS:
        def run_faulty(rank, library=library, launcher=launcher, **which):
            words = ["sh", "-c", preload, str(rank), tool, *job, "-o", "bad.nc"]
            end = run_ranks(launcher, library, 3, folder, *words, FAULTS=faults, FAULTS_REPORT=report, **which)
            good = end[0] == 0 and contents(bad) == contents(whole)
            if not good and (end[0] in (0, "hangs") or len(ours(end[2])) != 1 or os.path.exists(bad)):
                problems.append(f"{launcher}, {which} on rank {rank}: {end}")
            if os.path.exists(bad):
                os.unlink(bad)

        run_faulty(0)
        with open(report, encoding="ascii") as file:
            calls = int(dict(line.split() for line in file)["hdf5"])
        for _ in range(4):  # about where the variables are removed and made again
            run_faulty(0, FAULTS_CLASS="hdf5", FAULTS_CALL=str(random.randint(calls * 43 // 100, calls * 51 // 100)))
        for kind, call in (("memory", random.randint(1, 90)), ("read", random.randint(20, 35))):
            run_faulty(random.randint(0, 2), FAULTS_CLASS=kind, FAULTS_CALL=str(call))


def ranks_of(process):
    """The processes of the tool that a launcher has started."""
    found = subprocess.run(["ps", "-eo", "pid,ppid,comm"], text=True, capture_output=True, check=True).stdout
    rows = [line.split() for line in found.splitlines()[1:]]
    family, ranks = {process.pid}, []
    for pid, parent, *name in rows * 3:
        if int(parent) in family:
            family.add(int(pid))
            if name[0].startswith("h5gpured") and int(pid) not in ranks:
                ranks.append(int(pid))
    return ranks


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().split(") ")[1][0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def waits_for_alarm(pid):
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            caught = next(line for line in file if line.startswith("SigCgt"))
    except (FileNotFoundError, ProcessLookupError):
        return False
    return int(caught.split()[1], 16) >> (signal.SIGALRM - 1) & 1 == 1


def check_start(tool, folder, problems):
    """MPI waits for a rank that does something else, but no longer than ten minutes, whose alarm comes early here."""
    lists = '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = $0 ] && set -- "$1" --list a.nc; exec "$@"'
    for launcher, library in LAUNCHERS:
        for rank in (0, 1):
            process = begin(launcher, library, 2, folder, ["sh", "-c", lists, str(rank), tool, "a.nc:/flat"])
            begun, waiting = time.monotonic(), []
            while not waiting and process.poll() is None and time.monotonic() - begun < 60:
                time.sleep(0.2)
                waiting = [pid for pid in ranks_of(process) if waits_for_alarm(pid)]
            time.sleep(1)  # until it has told the launcher that it waits
            for pid in filter(waits_for_alarm, waiting):
                os.kill(pid, signal.SIGALRM)
            end = end_of(process, 30)
            said = [line for line in ours(end[2]) if "MPI has not started" in line]
            # Open MPI's launcher knows by itself if a rank ends while others wait.
            if end[0] != 1 or (len(said) != 1 and "improperly" not in end[2]):
                problems.append(f"{launcher}, rank {rank} lists files: {end}, {waiting} waits")


def check_twice(tool, folder, problems):
    """Two programs one after the other in one process of a launcher: MPI serves the first; Open MPI from 5 on both."""
    first, second = (run(tool, folder, "a.nc:/flat", "--op", op)[1] for op in ("max", "min"))
    for launcher, library in LAUNCHERS:
        words = ["sh", "-c", '"$@" --op max && exec "$@" --op min', "sh", tool, "a.nc:/flat"]
        end = run_ranks(launcher, library, 2, folder, *words)
        said = [line for line in ours(end[2]) if "the launcher has hung up" in line]
        if end != (0, first + second, "") and (end[:2] != (1, first) or (not said and "MPI_Init" not in end[2])):
            problems.append(f"{launcher}: two programs: {end}")


def have_ended(process, ranks, seconds):
    end = time.monotonic() + seconds
    while any(is_running(pid) for pid in (*ranks, *ranks_of(process))):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def check_kills(tool, folder, problems):
    """A rank that is killed, at any time, ends all of them."""
    job = ["a.nc:/x", "-d", "0", "--op", "sum,var,logsumexp", "-t1", "--memory", "16M"]
    words, whole, bad = [tool, *job, "-o", "bad.nc"], os.path.join(folder, "whole.nc"), os.path.join(folder, "bad.nc")
    run(tool, folder, *job, "-o", "whole.nc", "--overwrite")
    for launcher, library in LAUNCHERS:
        for i in range(int(os.environ.get("NDR_TEST_KILLS", "6"))):
            process = begin(launcher, library, 4, folder, words)
            time.sleep(random.uniform(0.05, 0.8))
            ranks = ranks_of(process)
            stop = signal.SIGKILL if i % 3 else signal.SIGTERM
            if ranks:
                try:
                    os.kill(random.choice(ranks), stop)
                except ProcessLookupError:
                    ranks = []
            if not have_ended(process, ranks, 30):
                problems.append(f"{launcher}: ranks go on when one of them is killed")
            # Open MPI's launcher has been seen to wait for a lock of its own when a rank is killed in MPI_Init.
            if end_of(process, 30)[0] == "hangs" and "openmpi" not in launcher[0]:
                problems.append(f"{launcher}: hangs when a rank is killed")
            # It may have been killed when all was done.
            if os.path.exists(bad) and contents(bad) != contents(whole):
                problems.append(f"{launcher}: a killed job left a file")
            for name in os.listdir(folder):
                if name.startswith("bad.nc"):
                    os.unlink(os.path.join(folder, name))


def are_twice(lines, once):
    """Lines of two processes may be mixed."""
    return sorted(lines.splitlines()) == sorted(2 * once.splitlines())


def check_alone(tool, folder, problems):
    """Each process does the whole where it is told to, and what is no reduction by ranks."""
    launcher = LAUNCHERS[0][0]
    end = run_ranks(launcher, "none", 2, folder, tool, "a.nc:/flat", "--op", "max")
    if end[0] or not are_twice(end[1], run(tool, folder, "a.nc:/flat", "--op", "max")[1]):
        problems.append(f"by two processes alone: {end}")
    for words in (["--list", "a.nc"], ["a.nc:/flat", "--op", "max", "--part", "1/2", "--state", "s"]):
        end = run_ranks(launcher, "/nowhere.so", 2, folder, tool, *words)
        if end[0] or not are_twice(end[1], run(tool, folder, *words)[1]):
            problems.append(f"{words} by two processes alone: {end}")


def check_page(tool, folder, problems):
    """What many-machines.md tells a reader without data to type: checksums of what ranks and one process print."""
    with open(os.path.join(sys.argv[2], "tools", "h5gpured", "many-machines.md"), encoding="utf-8") as page:
        text = page.read()
    program = re.search(r"^```python\n(.*?)^```", text, re.S | re.M)[1]
    commands = re.search(r"^```sh\n(python3 make_tas.*?)^```", text, re.S | re.M)[1]
    for number, (launcher, library) in enumerate(LAUNCHERS):
        place = os.path.join(folder, f"page{number}")
        os.mkdir(place)
        with open(os.path.join(place, "make_tas.py"), "w", encoding="utf-8") as file:
            file.write(program)
        for name, words in (("mpirun", launcher), ("h5gpured", [tool]), ("python3", [sys.executable, "-B"])):
            with open(os.path.join(place, name), "w", encoding="utf-8") as file:
                file.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            os.chmod(os.path.join(place, name), 0o755)
        environment = environment_of(library, PATH=place + os.pathsep + os.environ["PATH"])
        end = subprocess.run(["sh", "-e"], input=commands, cwd=place, text=True, env=environment, capture_output=True,
                             timeout=120, check=False)
        sums = end.stdout.splitlines()[-2:]
        if end.returncode or len(set(sums)) != 1 or len(sums) != 2 or "ranks    4, of this machine 4: " not in end.stderr:
            problems.append(f"the page under {launcher}: {end.returncode}, {end.stdout}{end.stderr}")
        shutil.rmtree(place)


if __name__ == "__main__":
    random.seed(7)
    with tempfile.TemporaryDirectory() as libraries:
        build_libraries(libraries, *sys.argv[2:])
        if not LAUNCHERS:
            print("skipped: no MPI was found (Debian: libopenmpi-dev and openmpi-bin, libmpich-dev and mpich)")
            sys.exit(77)
        sys.exit(run_in_folder(make_files, check_jobs, check_machines, check_errors, check_memory, check_faults, check_kills,
                               check_start, check_twice, check_alone, check_page))
