#!/usr/bin/env python3
"""What must hold when h5gpured is stopped, runs out of disk, or is given little memory: safety.py TOOL [--sanitized]

The output is the old file or the whole new one, and nothing else is left in its folder; the status says which. Peak
memory is the budget, the result and 64 MiB. A sanitizer's own memory would hide that, so --sanitized leaves it out.
"""
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from problems import tell

HERE = os.path.dirname(os.path.abspath(__file__))
VAST = os.path.join(os.path.dirname(os.path.dirname(HERE)), "data", "vast.h5")
OLD = b"what was there before"
ROUNDS, ROUNDS_SANITIZED = 16, 6
MIB = 1 << 20
DISKS = (0, 1, 4096, MIB, 3 * MIB, 4 * MIB)


def command(tool, dims, *options):
    # Compressed, the results would be too small to fill a disk with.
    return [tool, VAST, "--dims", dims, "--output", "out.h5", "--overwrite", "--quiet", "--deflate", "0", *options]


def left_in(folder):
    """(the old file is there, the new one is there, whatever else)"""
    with open(os.path.join(folder, "out.h5"), "rb") as file:
        content = file.read()
    others = [name for name in os.listdir(folder) if name != "out.h5"]
    return content == OLD, content.startswith(b"\x89HDF"), others


def run_once(tool, action):
    """Runs action(folder, process) on a run that would replace an old file; its answer and what is left."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "out.h5"), "wb") as file:
            file.write(OLD)
        return action(folder), left_in(folder)


def interrupted(tool, number, delay):
    def action(folder):
        process = subprocess.Popen(command(tool, "0"), cwd=folder, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(number)
        return process.wait(timeout=120)
    return run_once(tool, action)


def check_signals(tool, rounds, problems):
    begin = time.monotonic()
    status, _ = run_once(tool, lambda folder: subprocess.run(command(tool, "0"), cwd=folder).returncode)
    whole = time.monotonic() - begin
    if status:
        problems.append(f"undisturbed: status {status}")
    source, seen = random.Random(1), set()
    for i in range(rounds):
        number = (signal.SIGINT, signal.SIGTERM)[i % 2]
        delay = source.uniform(0, whole * 1.1)
        status, (old, new, others) = interrupted(tool, number, delay)
        good = (status == 0 and new) or (status == -number and (old or new))
        seen.add(status)
        if not good or others:
            problems.append(f"{number.name} after {delay:.3f} s: status {status}, old {old}, new {new}, left {others}")
    if not any(status < 0 for status in seen):
        problems.append("no signal came in time to stop anything")


def check_full_disk(tool, sizes, problems):
    """Files may not grow past so many bytes, which is reported as a full disk is."""
    for most in sizes:
        def limit(most=most):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

        def action(folder):
            return subprocess.run(command(tool, "0"), cwd=folder, stderr=subprocess.PIPE, preexec_fn=limit)
        result, (old, _, others) = run_once(tool, action)
        errors = result.stderr.decode()
        if result.returncode != 1 or not old or others or "out.h5: cannot be written" not in errors:
            problems.append(f"at most {most} bytes: status {result.returncode}, old {old}, left {others}: {errors}")


def check_full_tmpfs(tool, problems):
    """A disk that is really full, with nameless files and, where /proc is hidden, without."""
    script = """mount -t tmpfs -o size=2m none "$1" && cd "$1" && printf %s "$2" >out.h5 && shift 2 || exit 99
                if [ "$1" = hidden ]; then mount -t tmpfs none /proc || exit 99; fi
                shift; "$@"; echo "status $? left $(ls -A) holds $(cat out.h5)" """
    for proc in ("there", "hidden"):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", folder, OLD.decode(), proc,
                                     *command(tool, "0")], capture_output=True, text=True)
        if not result.stdout:
            print(f"no tmpfs can be mounted here: {result.stderr}")
        elif result.stdout != f"status 1 left out.h5 holds {OLD.decode()}\n" or "No space left" not in result.stderr:
            problems.append(f"full tmpfs, /proc {proc}: {result.stdout}{result.stderr}")


def check_killed(tool, problems):
    """Nothing can be tidied up, and nothing is left, where the file system has nameless files."""
    for delay in (0.05, 0.2, 0.4):
        status, (old, new, others) = interrupted(tool, signal.SIGKILL, delay)
        if not (old or new) or others:
            problems.append(f"killed after {delay} s: status {status}, old {old}, new {new}, left {others}")


def check_memory(tool, problems):
    """ru_maxrss of children is the largest of all so far, so each run is the only child of a process of its own."""
    for dims, outputs in (("0", 1024 * 1024), ("1", 512 * 1024), ("2", 512 * 1024)):
        pid = os.fork()
        if pid == 0:
            status = subprocess.run([tool, VAST, "--dims", dims, "--memory", "64M"], stdout=subprocess.DEVNULL).returncode
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
            print(f"over dim {dims}: {peak / MIB:.0f} MiB", flush=True)
            os._exit(status or peak > 128 * MIB + outputs * 4)
        if os.waitpid(pid, 0)[1]:
            problems.append(f"over dim {dims}: failed, or took more than 64 MiB + result + 64 MiB")


def main():
    tool, problems = os.path.abspath(sys.argv[1]), []
    sanitized = "--sanitized" in sys.argv[2:]
    if not sanitized:
        check_memory(tool, problems)
    check_full_disk(tool, DISKS, problems)
    if shutil.which("unshare") and not sanitized:
        check_full_tmpfs(tool, problems)
    check_killed(tool, problems)
    check_signals(tool, ROUNDS_SANITIZED if sanitized else ROUNDS, problems)
    return tell(problems)


if __name__ == "__main__":
    sys.exit(main())
