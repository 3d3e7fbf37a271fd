#!/usr/bin/python3
"""Ranks on machines with a network between them: namespaces.py TOOL SOURCE_DIR [COMPILER_FLAG]...

Three machines, which are network namespaces with an address and a host name each, joined by a bridge. Open MPI's messages
go by TCP from one to the other; MPICH's UCX sees that all is one machine and takes its memory, so that its launcher alone
has the network. Any ranks give the results of one process, to the last bit; a rank that is killed on one machine ends those
of the others; a machine that has another file is noticed; and when a cable is pulled out, no output comes. Exits 77, which
CTest shows as skipped, where iproute2, an MPI or h5py is missing, and without the rights to make namespaces.
"""
import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import ranks
from problems import skip, tell, wait_for
from shared_jobs import JOBS, contents, h5py, make_files, numpy, run

MACHINES = {f"n{number}": f"10.77.0.{number}" for number in (1, 2, 3)}
RANKS = 2 * len(MACHINES)

# In place of rsh: AGENT MACHINE COMMAND... A machine with a file in the folder `other` has it in place of a.nc.
AGENT = """#!/bin/sh
machine=$1
shift
exec ip netns exec "$machine" unshare --uts sh -c '
  hostname "$1" && cd "$0" || exit
  if [ -e "other/$1" ]; then mount --bind "other/$1" a.nc || exit; fi
  shift
  eval "$*"' "{folder}" "$machine" "$@"
"""


# ---- Machines

def ip(*words):
    subprocess.run(["ip", *words], check=True)


def make_machines(folder):
    """In a network and a file system of our own, so that all goes when we end."""
    with open(f"{folder}/hosts", "w", encoding="ascii") as file:
        file.write("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in MACHINES.items()))
    subprocess.run(["mount", "--bind", f"{folder}/hosts", "/etc/hosts"], check=True)
    for place in ("/run", "/dev/shm"):  # what killed ranks leave in the latter goes with us
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", place], check=True)
    ip("link", "add", "bridge", "type", "bridge")
    for link in ("lo", "bridge"):
        ip("link", "set", link, "up")
    for name, address in MACHINES.items():
        ip("netns", "add", name)
        ip("link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        ip("link", "set", f"to-{name}", "master", "bridge", "up")
        ip("-n", name, "address", "add", f"{address}/24", "dev", "eth0")
        for link in ("lo", "eth0"):
            ip("-n", name, "link", "set", link, "up")
    agent = f"{folder}/agent"
    with open(os.open(agent, os.O_CREAT | os.O_WRONLY, 0o755), "w", encoding="ascii") as file:
        file.write(AGENT.format(folder=folder))
    os.mkdir(f"{folder}/other")
    return agent


def launchers(agent):
    """Command lines that -n and a number follow, run on the first machine: two ranks on each."""
    hosts = ",".join(f"{name}:2" for name in MACHINES)
    for launcher, library in ranks.LAUNCHERS:
        if "openmpi" in launcher[0]:
            options = ["--host", hosts, "--mca", "plm_rsh_agent", agent, "-x", "NDREDUCE_MPI_LIBRARY"]
        else:
            options = ["-launcher", "rsh", "-launcher-exec", agent, "-hosts", hosts]
        yield [agent, next(iter(MACHINES)), "exec", *launcher, *options], library


# ---- What is run

def check_jobs(tool, folder, agent, problems):
    whole, together = f"{folder}/whole.nc", f"{folder}/together.nc"
    for launcher, library in launchers(agent):
        for job in JOBS[::4]:
            words = [f"'{word}'" for word in job]  # for the shell of the machine
            text = run(tool, folder, *job, "--json")[1]
            end = ranks.run_ranks(launcher, library, RANKS, folder, tool, *words, "--json", "--explain", "-t1")
            if end[:2] != (0, text) or f"ranks    {RANKS}, of this machine 2: " not in end[2]:
                problems.append(f"{job} by {launcher}: {end}, where one process gives {text}")
        job = [tool, "a.nc:/x", "-d", "0", "--op", "sum,var", "--overwrite", "-q", "-o"]
        run(*job[:1], folder, *job[1:], whole)
        end = ranks.run_ranks(launcher, library, RANKS, folder, *job, together)
        if end[0] or contents(whole) != contents(together):
            problems.append(f"{job} by {launcher}: {end}, or other results")


def check_files(tool, folder, agent, problems):
    """One machine has a file of another size, or with other bytes at its end."""
    longer, changed = f"{folder}/longer", f"{folder}/changed"
    shutil.copy(f"{folder}/a.nc", longer)
    shutil.copy(f"{folder}/a.nc", changed)
    with open(longer, "ab") as file:
        file.write(b"more")
    with open(changed, "r+b") as file:
        file.seek(-8, os.SEEK_END)
        file.write(b"otherwise"[:8])
    for launcher, library in launchers(agent):
        for other in (longer, changed):
            shutil.copy(other, f"{folder}/other/n2")
            end = ranks.run_ranks(launcher, library, RANKS, folder, tool, "a.nc:/x", "-d", "0", "-o", "bad.nc")
            os.unlink(f"{folder}/other/n2")
            said = ranks.ours(end[2])
            if end[0] != 1 or len(said) != 1 or "has another file" not in said[0] or os.path.exists(f"{folder}/bad.nc"):
                problems.append(f"{launcher} with {other} on one machine: {end}")


# ---- What is killed, and what is cut

def tasks(tool, machine=None):
    """The processes of the tool, of one machine or of all of ours."""
    networks = {os.stat(f"/run/netns/{name}").st_ino for name in ([machine] if machine else MACHINES)}
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/exe") == tool and os.stat(f"/proc/{pid}/ns/net").st_ino in networks:
                found.append(int(pid))
    return sorted(found)


def make_long(folder):
    """A job of a second and more, so that ranks are at work when something happens to them."""
    values = numpy.random.default_rng(3).standard_normal((20, 250, 100)).astype("f4")
    with h5py.File(f"{folder}/long.nc", "w") as file:
        data = file.create_dataset("x", (4000, 250, 100), "f4", chunks=(20, 250, 100), compression="gzip", compression_opts=1)
        data[:20] = values
        for first in range(20, 4000, 20):
            data.id.write_direct_chunk((first, 0, 0), data.id.read_direct_chunk((0, 0, 0))[1])


LONG = ["long.nc:/x", "-d", "0", "--op", "sum,var,logsumexp", "-t1", "--memory", "16M", "-o", "bad.nc"]


def begin_long(tool, folder, launcher, library):
    process = ranks.begin(launcher, library, RANKS, folder, [tool, *LONG])
    wait_for(lambda: len(tasks(tool)) == RANKS or process.poll() is not None, 30)
    time.sleep(random.uniform(0.1, 0.4))
    return process


def check_end(tool, folder, process, what, problems):
    """No output, no rank: neither did the job succeed."""
    before = tasks(tool)
    end = ranks.end_of(process, 30)
    if end[0] in (0, "hangs") or not wait_for(lambda: not tasks(tool), 10) or os.path.exists(f"{folder}/bad.nc"):
        problems.append(f"{what}: {end}, tasks {tasks(tool)} of {before} go on, of {sorted(os.listdir(folder))}")
    for pid in tasks(tool):
        os.kill(pid, signal.SIGKILL)
    for name in os.listdir(folder):
        if name.startswith("bad.nc"):
            os.unlink(f"{folder}/{name}")


def check_kills(tool, folder, agent, problems):
    """A rank of each machine in turn."""
    for launcher, library in launchers(agent):
        for machine in MACHINES:
            process = begin_long(tool, folder, launcher, library)
            for pid in tasks(tool, machine)[:1]:
                os.kill(pid, signal.SIGKILL)
            check_end(tool, folder, process, f"{launcher}, a rank killed on {machine}", problems)


def check_cut(tool, folder, agent, problems):
    """A cable that is pulled out for a second delays; where it stays out the job does not end well, and can be ended."""
    run(tool, folder, *LONG[:-1], "whole.nc", "--overwrite", "-q")
    for launcher, library in launchers(agent):
        for seconds in (1, 4) if "mpirun.openmpi" in launcher else ():
            process = begin_long(tool, folder, launcher, library)
            ip("-n", "n2", "link", "set", "eth0", "down")
            time.sleep(seconds)
            waits = process.poll() is None
            if seconds > 1:
                process.send_signal(signal.SIGINT)
                time.sleep(0.5)
            ip("-n", "n2", "link", "set", "eth0", "up")
            if not waits:
                problems.append(f"{launcher} does not wait for a machine without a cable")
            if seconds > 1:
                check_end(tool, folder, process, f"{launcher}, a cable cut", problems)
                continue
            end = ranks.end_of(process, 60)
            if end[0] or contents(f"{folder}/whole.nc") != contents(f"{folder}/bad.nc"):
                problems.append(f"{launcher}: {end}, or other results after a second without a cable")
            else:
                os.unlink(f"{folder}/bad.nc")


CHECKS = (check_jobs, check_files, check_kills, check_cut)


def main():
    random.seed(7)
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    apart = ["unshare", "--net", "--mount"]
    if not shutil.which("ip") or subprocess.run([*apart, "true"], capture_output=True, check=False).returncode:
        skip("needs iproute2, and root for networks of its own")
    if os.environ.get("NDR_TEST_APART") != "1":
        os.environ["NDR_TEST_APART"] = "1"
        os.execvp(apart[0], [*apart, sys.executable, "-B", *sys.argv])
    tool, problems = os.path.realpath(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        agent = make_machines(folder)
        ranks.build_libraries(folder, *sys.argv[2:])
        if not ranks.LAUNCHERS:
            skip("no MPI was found (Debian: libopenmpi-dev and openmpi-bin, libmpich-dev and mpich)")
        make_files(tool, folder, problems)
        make_long(folder)
        for check in CHECKS:
            check(tool, folder, agent, problems)
    sys.exit(tell(problems))


if __name__ == "__main__":
    main()
