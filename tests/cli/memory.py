#!/usr/bin/python3
"""Results and coordinates that are held in memory and larger than that: memory.py TOOL

They are refused before the work begins, in one line that names their bytes: what the machine has counts, and less where
a control group allows less. Exits 77, which CTest shows as skipped, where h5py is missing.
"""
import os
import re
import subprocess
import sys

from problems import run_in_folder

try:
    import h5py
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

SMALL, LIMIT = 4 << 20, 96 << 20
# What a program under the address sanitizer has freed is kept by it, and counts.
KEPT = "quarantine_size_mb=4"
GROUPS = (("/sys/fs/cgroup", "memory.max"), ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"))


def available():
    with open("/proc/meminfo", encoding="ascii") as file:
        facts = dict(line.split(":") for line in file)
    return sum(int(facts[name].split()[0]) for name in ("MemAvailable", "SwapFree")) * 1024


def make(path, elements):
    """A file of a few bytes that claims so many; never written, they are their fill value."""
    with h5py.File(path, "w") as file:
        file.create_dataset("x", (2, elements), "f8", chunks=(1, 1 << 16))


def check(tool, folder, elements, options, copies, problems, before=None):
    make(os.path.join(folder, "x.h5"), elements)
    result = subprocess.run([tool, "x.h5:/x", "-d", "0", "-q", "--memory", "32M", *options], cwd=folder, text=True,
                            capture_output=True, timeout=60, preexec_fn=before,
                            env={**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":" + KEPT})
    times = f", {copies} times while they are written" if copies > 1 else ""
    words = rf"h5gpured: x.h5:/x: the results need {8 * elements} bytes of memory{times}, of which \d+ are available\n"
    good = result.returncode == 0 if copies == 0 else result.returncode == 1 and re.fullmatch(words, result.stderr)
    if not good or (copies and sorted(os.listdir(folder)) != ["x.h5"]):
        problems.append(f"{elements} elements, {options}: status {result.returncode}: {result.stderr}")
    if os.path.exists(os.path.join(folder, "out")):
        os.unlink(os.path.join(folder, "out"))


def check_machine(tool, folder, problems):
    """A half and more of what there is fits once, but not twice."""
    elements = available() // 8
    check(tool, folder, 2 * elements, [], 1, problems)
    check(tool, folder, elements * 6 // 10, ["-o", "out", "--json"], 2, problems)
    check(tool, folder, elements * 4 // 10, ["-o", "out", "--format", "npy"], 3, problems)
    check(tool, folder, elements * 2 // 10, ["-o", "out", "--format", "csv"], 8, problems)
    check(tool, folder, SMALL // 8, ["-o", "out"], 0, problems)


def check_group(tool, folder, problems):
    """Only root can make one, where the controller is there."""
    for root, limit in GROUPS:
        group = os.path.join(root, f"ndreduce-test-{os.getpid()}")
        try:
            os.mkdir(group)
            if not os.path.exists(os.path.join(group, limit)):
                os.rmdir(group)
                raise FileNotFoundError(f"{root} has no {limit}")
            with open(os.path.join(group, limit), "w", encoding="ascii") as file:
                file.write(str(LIMIT))
        except OSError as reason:
            print(f"no control group of memory: {reason}")
            continue

        def enter(group=group):
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        check(tool, folder, 2 * LIMIT // 8, [], 1, problems, enter)
        check(tool, folder, LIMIT * 7 // 10 // 8, ["-o", "out", "--json"], 2, problems, enter)
        check(tool, folder, LIMIT * 14 // 10 // 8, ["-o", "out"], 0, problems, enter)
        check(tool, folder, SMALL // 8, ["-o", "out"], 0, problems, enter)
        os.rmdir(group)


def check_coordinates(tool, folder, problems):
    """2^61 of them: eight bytes each are 2^64, which is 0 to whoever does not look."""
    for calendar in ("noleap", "360_day"):
        with h5py.File(os.path.join(folder, calendar + ".h5"), "w") as file:
            for name in ("time", "x"):
                file.create_dataset(name, (1 << 61,), "i1", chunks=(1 << 16,))[:2] = 1, 2
            file["time"].attrs.update(units="days since 2001-01-01", calendar=calendar)
            file["time"].make_scale("time")
            file["x"].dims[0].attach_scale(file["time"])
    for options in (["noleap.h5:/x", "--weights", "time"], ["--concat", "time", "noleap.h5:/x", "360_day.h5:/x"]):
        try:
            result = subprocess.run([tool, *options], cwd=folder, text=True, capture_output=True, timeout=20)
        except subprocess.TimeoutExpired:
            problems.append(f"{options}: does not end")
            continue
        if result.returncode != 1 or "out of memory" not in result.stderr or result.stderr.count("\n") != 1:
            problems.append(f"{options}: status {result.returncode}: {result.stderr}")


if __name__ == "__main__":
    sys.exit(run_in_folder(check_machine, check_group, check_coordinates))
