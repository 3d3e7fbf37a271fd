#!/usr/bin/python3
"""Ranks and parts under Slurm: slurm.py TOOL SOURCE_DIR [COMPILER_FLAG]...

Starts a Slurm of two machines of two cores, which are this machine with two host names, and ends it again. Reductions
by srun, by the job script of many-machines.md, by mpirun within a job and by an array of jobs give the results of one
process, to the last bit; tasks that are killed and jobs that are cancelled leave no output and no process. Exits 77,
which CTest shows as skipped, where Slurm, an MPI or h5py is missing, and without the rights to give host names.
"""
import contextlib
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import ranks
from problems import skip, tell, wait_for
from shared_jobs import JOBS, contents, make_files, run

NODES = ("n1", "n2")
NEEDS = ("munged", "slurmctld", "slurmd", "srun", "salloc", "sbatch", "scancel", "unshare")
MPI_TYPES = {"openmpi": "pmix", "mpich": "pmi2"}
CONFIGURATION = """ClusterName=ndreduce
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
TmpFS={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
KillWait=2
FirstJobId={first}
SchedulerParameters=sched_interval=1,sched_min_interval=100000,bf_interval=1
{nodes}
PartitionName=all Nodes=ALL Default=YES
"""


# A machine: launchers look its name up.
MACHINE = 'mount --bind "$3" /etc/hosts && hostname "$1" && exec slurmd -D -N "$1" -f "$2"'


# ---- A Slurm of one's own

def free_ports(count):
    with contextlib.ExitStack() as open_ones:
        sockets = [open_ones.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def configure(folder):
    ports = free_ports(1 + len(NODES))
    for name in ("state", *NODES):
        os.mkdir(os.path.join(folder, name))
    # Each machine has 2 sockets of a core, as the job script wants a rank for each socket.
    nodes = "\n".join(f"NodeName={name} NodeAddr=127.0.0.1 Port={port} Sockets=2 CoresPerSocket=1 RealMemory=1000"
                      for name, port in zip(NODES, ports[1:]))
    path = os.path.join(folder, "slurm.conf")
    with open(path, "w", encoding="ascii") as file:
        # Open MPI's shared memory has a name made of the job's number, and that of a job that was killed stays.
        first = 1 + int.from_bytes(os.urandom(3), "little")
        file.write(CONFIGURATION.format(host=socket.gethostname(), ports=ports, folder=folder, nodes=nodes, first=first))
    os.environ["SLURM_CONF"] = path
    with open(os.path.join(folder, "hosts"), "w", encoding="ascii") as file:
        file.write(f"127.0.0.1 localhost {socket.gethostname()} {' '.join(NODES)}\n")
    with open(os.open(os.path.join(folder, "key"), os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(os.urandom(64))
    return path


def daemons(folder, path):
    """Their command lines. MPIs take processes with one host name for those of one machine."""
    yield ["munged", "-F", "--force", "--num-threads=2", f"--key-file={folder}/key", f"--socket={folder}/munge.sock",
           f"--pid-file={folder}/munge.pid", f"--log-file={folder}/munge.log", f"--seed-file={folder}/seed"]
    yield ["slurmctld", "-D", "-f", path]
    for name in NODES:
        yield ["unshare", "--uts", "--mount", "sh", "-c", MACHINE, "sh", name, path, f"{folder}/hosts"]


def log_of(folder, number):
    return os.path.join(folder, f"daemon-{number}.log")


def ready(folder, processes):
    """Waits until all machines are idle."""
    end = time.monotonic() + 30
    states = []
    while sorted(states) != ["idle"] * len(NODES):
        if time.monotonic() > end or any(process.poll() is not None for process in processes):
            for number in range(len(processes)):
                with open(log_of(folder, number), encoding="utf-8", errors="replace") as file:
                    print(*file.readlines()[-5:], sep="")
            sys.exit(f"Slurm does not start: {states}")
        time.sleep(0.1)
        states = subprocess.run(["sinfo", "-hNo", "%t"], text=True, capture_output=True, check=False).stdout.split()


def tasks(program):
    """The processes of a program on this machine that our Slurm has started."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/environ", "rb") as file:
                of_ours = b"SLURM_CONF=" + os.environ["SLURM_CONF"].encode() in file.read().split(b"\0")
            if of_ours and os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program):
                found.append(int(pid))
    return found


@contextlib.contextmanager
def slurm():
    with tempfile.TemporaryDirectory() as folder:
        processes = []
        try:
            for number, words in enumerate(daemons(folder, configure(folder))):
                with open(log_of(folder, number), "wb") as log:
                    processes.append(subprocess.Popen(words, stdout=log, stderr=log))
                while number == 0 and not os.path.exists(f"{folder}/munge.sock") and processes[0].poll() is None:
                    time.sleep(0.02)
            ready(folder, processes)
            yield
            subprocess.run(["scancel", "--user=root"], check=False, capture_output=True)
            ready(folder, processes)
        finally:
            for process in reversed(processes):
                process.terminate()
                process.wait()
            for pid in tasks("/usr/sbin/slurmstepd"):  # those of jobs that were killed are slow to go
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


# ---- What is run

def started(folder, *words, library="none", **more):
    environment = dict(os.environ, NDREDUCE_MPI_LIBRARY=library, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", **more)
    return subprocess.Popen(words, cwd=folder, text=True, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def srun(kind, *options):
    return ["srun", f"--mpi={MPI_TYPES[kind]}", "-N2", "--ntasks-per-node=2", "--kill-on-bad-exit", *options]


def libraries():
    for launcher, library in ranks.LAUNCHERS:
        yield launcher[0].split(".")[1], library


@contextlib.contextmanager
def allocation():
    """What srun finds in the environment within a job, whose steps do not wait for machines."""
    said = subprocess.run(["salloc", "--no-shell", "-N2", "--ntasks-per-node=2"], text=True, capture_output=True, check=True).stderr
    number = re.search(r"Granted job allocation (\d+)", said)[1]
    yield {"SLURM_JOB_ID": number}
    subprocess.run(["scancel", number], check=True)


def check_srun(tool, folder, problems):
    with allocation() as granted:
        for number, job in enumerate(JOBS[::2]):  # the MPIs take turns
            kind, library = list(libraries())[number % len(ranks.LAUNCHERS)]
            text = run(tool, folder, *job, "--json")[1]
            words = [*srun(kind), tool, *job, "--json", "--explain"]
            end = ranks.end_of(started(folder, *words, library=library, **granted), 60)
            if end[:2] != (0, text) or "ranks    4, of this machine 2: " not in end[2]:
                problems.append(f"{job} by srun and {kind}: {end}, where one process gives {text}")


def job_script(source):
    """The one that many-machines.md shows, for our machines and files."""
    with open(f"{source}/tools/h5gpured/many-machines.md", encoding="utf-8") as file:
        script = re.search(r"```sh\n(#!/bin/sh\n#SBATCH.*?)```", file.read(), re.DOTALL)[1]
    changes = {"--nodes=4": "--nodes=2", " h5gpured ": ' "$TOOL" ', "tas_19*.nc": "a.nc:/x b.nc:/x", "mean.nc": "together.nc"}
    for old, new in changes.items():
        if old not in script:
            sys.exit(f"many-machines.md: no '{old}' in the job script")
        script = script.replace(old, new)
    return script


def batch(folder, script, *options, **more):
    """Runs a job script to its end; what it has printed is in the file out."""
    with open(os.path.join(folder, "job.sh"), "w", encoding="utf-8") as file:
        file.write(script)
    end = ranks.end_of(started(folder, "sbatch", "--wait", "--output=out", *options, "job.sh", **more), 60)
    with open(os.path.join(folder, "out"), encoding="utf-8") as file:
        return end[0], file.read()


def check_script(tool, folder, problems):
    job = ["--concat", "time", "a.nc:/x", "b.nc:/x", "-d", "time", "--op", "mean"]
    run(tool, folder, *job, "-o", "whole.nc", "--overwrite", "-q")
    for kind, library in libraries():
        script = job_script(sys.argv[2]).replace("--mpi=pmix", f"--mpi={MPI_TYPES[kind]}")
        end = batch(folder, script, TOOL=tool, library=library)
        same = end[0] == 0 and contents(f"{folder}/whole.nc") == contents(f"{folder}/together.nc")
        if not same or "ranks    4, of this machine 2: " not in end[1]:
            problems.append(f"the job script with {kind}: {end}, or other results")


def check_in_a_job(tool, folder, problems):
    """mpirun and mpiexec within a job find its machines; a program that nothing has launched is no rank."""
    job = ["a.nc:/x", "-d", "0", "--op", "mean", "--json"]
    text = run(tool, folder, *job)[1]
    for launcher, library in [([], "/nowhere.so"), *ranks.LAUNCHERS]:
        script = f"#!/bin/sh\n#SBATCH --nodes=2 --ntasks-per-node=2\n{' '.join(launcher)} {tool} {' '.join(job)}\n"
        end = batch(folder, script, library=library)
        if end != (0, text):
            problems.append(f"{launcher} in a job: {end}, where one process gives {text}")


def check_array(tool, folder, problems):
    job = "a.nc:/x -d 0 --op mean,var"
    run(tool, folder, *job.split(), "-o", "whole.nc", "--overwrite", "-q")
    part = f"#!/bin/sh\n{tool} {job} --part $SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT --state state.$SLURM_ARRAY_TASK_ID\n"
    with open(os.path.join(folder, "part.sh"), "w", encoding="utf-8") as file:
        file.write(part)
    begun = started(folder, "sbatch", "--parsable", "--array=1-3", "--output=part-%a", "part.sh")
    number = ranks.end_of(begun, 60)[1].strip()
    script = f"#!/bin/sh\n{tool} --merge state.1 state.2 state.3 -o together.nc --overwrite\n"
    end = batch(folder, script, f"--dependency=afterok:{number}")
    if end[0] or contents(f"{folder}/whole.nc") != contents(f"{folder}/together.nc"):
        problems.append(f"an array of parts: {end}, or other results")


def check_refusals(tool, folder, problems):
    """A step that MPI cannot start ends with an exit status and without an output."""
    words = [tool, "a.nc:/x", "-d", "0", "-o", "bad.nc"]
    cases = [(["srun", "-n2", "--mpi=none"], "/nowhere.so", "nowhere.so")]
    for kind, library in libraries():
        # Open MPI says it with many lines of its own.
        said = "MPI knows of this one only" if kind == "mpich" else "MPI_Init"
        other = "pmix" if kind == "mpich" else "pmi2"
        cases += [(["srun", "-n2", "--kill-on-bad-exit", f"--mpi={mpi}"], library, said) for mpi in ("none", other)]
    for launcher, library, said in cases:
        end = ranks.end_of(started(folder, *launcher, *words, library=library), 60)
        if end[0] in (0, "hangs") or said not in end[2] or os.path.exists(f"{folder}/bad.nc"):
            problems.append(f"{launcher} with {library}: {end}, where {said} is to be said")


# ---- What is killed

def check_kills(tool, folder, problems):
    """A task that is killed, and a job that is cancelled, at any time."""
    words = [tool, "a.nc:/x", "-d", "0", "--op", "sum,var,logsumexp", "-t1", "--memory", "16M", "-o", "bad.nc"]
    run(tool, folder, *words[1:-1], "whole.nc", "--overwrite", "-q")
    for kind, library in libraries():
        for turn in range(4):
            process = started(folder, *srun(kind, "--job-name=killed"), *words, library=library)
            wait_for(lambda: len(tasks(tool)) == 4 or process.poll() is not None, 30)
            time.sleep(random.uniform(0, 0.3))
            with contextlib.suppress(ProcessLookupError, IndexError):
                if turn % 2:
                    os.kill(random.choice(tasks(tool)), signal.SIGKILL)
                else:
                    subprocess.run(["scancel", "--name=killed"], check=True)
            end = ranks.end_of(process, 30)
            if end[0] == "hangs" or not wait_for(lambda: not tasks(tool), 10):
                problems.append(f"{kind}: {end}, and tasks {tasks(tool)} go on")
            # All may have been done before.
            if os.path.exists(f"{folder}/bad.nc") and contents(f"{folder}/bad.nc") != contents(f"{folder}/whole.nc"):
                problems.append(f"{kind}: {end}, and an output")
            for name in os.listdir(folder):
                if name.startswith("bad.nc"):
                    os.unlink(os.path.join(folder, name))


CHECKS = (check_srun, check_script, check_in_a_job, check_array, check_refusals, check_kills)


def main():
    random.seed(7)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    missing = [name for name in NEEDS if not shutil.which(name)]
    if missing:
        skip(f"{', '.join(missing)} not found (Debian: slurm-wlm)")
    if os.cpu_count() < 2 or subprocess.run(["unshare", "--uts", "--mount", "true"], capture_output=True, check=False).returncode:
        skip("needs two cores, and root for machines with names of their own")
    tool, problems = os.path.abspath(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        ranks.build_libraries(folder, *sys.argv[2:])
        if not ranks.LAUNCHERS:
            skip("no MPI was found (Debian: libopenmpi-dev and openmpi-bin, libmpich-dev and mpich)")
        make_files(tool, folder, problems)
        with slurm():
            for check in CHECKS:
                check(tool, folder, problems)
    sys.exit(tell(problems))


if __name__ == "__main__":
    main()
