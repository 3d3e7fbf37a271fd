#!/usr/bin/env python3
"""Descriptors 0, 1 and 2 closed in every combination, stdout full, files too large: streams.py H5GPURED NDBENCH

What is printed ends up in no file, and a run that cannot print its answer, or what --explain says on stderr, ends with
status 1 and without a file. Lines about what -o has written are no answer: they may be lost.
"""
import itertools
import os
import resource
import subprocess
import sys
import tempfile

from problems import tell

HERE = os.path.dirname(os.path.abspath(__file__))
OCEAN = os.path.join(os.path.dirname(os.path.dirname(HERE)), "data", "ocean.nc")
TEMP = OCEAN + ":/temp"
# (arguments, whether it prints to stdout)
RUNS = {
    "text": ([TEMP, "-d", "time"], True),
    "json": ([TEMP, "--json"], True),
    "explain": ([TEMP, "--explain"], True),
    "list": (["--list", OCEAN], True),
    "npy": ([TEMP, "-d", "time", "--format", "npy"], True),
    "csv": ([TEMP, "-d", "time", "--format", "csv"], True),
    "help": (["--help"], True),
    "version": (["--version"], True),
    "output": ([TEMP, "-d", "time", "-o", "out"], False),
    "quiet": ([TEMP, "-d", "time", "-o", "out", "-q"], False),
    "explained": ([TEMP, "-d", "time", "-o", "out", "-q", "--explain", "--progress"], False),
    "csv file": ([TEMP, "-d", "time", "-o", "out", "--format", "csv", "--explain", "-q"], False),
    "json beside": ([TEMP, "-d", "time", "-o", "out", "--json"], True),
    "fails": ([OCEAN + ":/nothing", "-o", "out"], False),
}
BENCH = {
    "run": (["--repeat", "1", "--no-verify", "sum f32 [64,64] /0"], True),
    "help": (["--help"], True),
    "version": (["--version"], True),
    "record": (["--repeat", "1", "--json", "out", "sum f32 [64,64] /0"], True),
    "printed record": (["--repeat", "1", "--json", "-", "sum f32 [64,64] /0"], True),
    "explain": (["--explain", "sum f32 [64,64] /0"], True),
    "list": (["--list"], True),
    "ladder help": (["ladder", "--help"], True),
    "rungs": (["ladder", "--explain", "all"], True),
    "kernels": (["ladder", "--source", "all"], True),
}


def run(tool, arguments, closed=(), full=False):
    """(status, stderr, the bytes of the file "out", or None)"""
    with tempfile.TemporaryDirectory() as folder:
        def close():
            for fd in closed:
                os.close(fd)
        with open("/dev/full" if full else "/dev/null", "wb") as out:
            environment = dict(os.environ, SOURCE_DATE_EPOCH="0")
            result = subprocess.run([tool, *arguments], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, timeout=60,
                                    stderr=subprocess.PIPE, preexec_fn=close, env=environment)
        path, content = os.path.join(folder, "out"), None
        if os.path.exists(path):
            with open(path, "rb") as file:
                content = file.read()
        return result.returncode, result.stderr.decode(), content


def check(name, tool, arguments, prints, same, problems, explains=False):
    status, errors, content = run(tool, arguments)
    cases = [(closed, False) for n in (1, 2, 3) for closed in itertools.combinations(range(3), n)] + [((), True)]
    for closed, full in cases:
        found = run(tool, arguments, closed, full)
        lost = (prints and (full or 1 in closed)) or ("--explain" in arguments and explains and 2 in closed)
        said = errors if 2 not in closed else ""
        if same:
            complete = found[2] == (None if lost else content)
        else:
            complete = (found[2] is None) == (content is None)
        if found[0] != (1 if lost else status) or not complete:
            problems.append(f"{name}, closed {closed}, full {full}: status {found[0]}, file as it should be: {complete}")
        why = "No space left on device" if full else "Bad file descriptor"
        if lost and 2 not in closed and not found[1].endswith(f": the answer cannot be printed: {why}\n"):
            problems.append(f"{name}, closed {closed}, full {full}: does not say so: {found[1]}")
        if not lost and len(found[1].splitlines()) != len(said.splitlines()):
            problems.append(f"{name}, closed {closed}: stderr has {found[1]!r}, not {said!r}")


def check_largest_file(tool, problems):
    """A file that may not grow is an error, and no other is left in its place. LLVM's OpenMP makes a file of 1 KiB in shared
    memory, which must fit: left empty there, it ends the next process of the same number with SIGBUS."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
    several = BENCH["record"][0] + BENCH["record"][0][-1:] * 7
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([tool, *several], cwd=folder, stdout=subprocess.DEVNULL, timeout=60,
                                stderr=subprocess.PIPE, preexec_fn=limit)
        left, errors = os.listdir(folder), result.stderr.decode()
    if result.returncode != 1 or left or not errors.startswith("ndbench: ") or "File too large" not in errors:
        problems.append(f"a file of 1 KiB at most: status {result.returncode}, left {left}: {errors}")


def main():
    h5gpured, ndbench = (os.path.abspath(path) for path in sys.argv[1:3])
    problems = []
    for name, (arguments, prints) in RUNS.items():
        check(name, h5gpured, arguments, prints, True, problems, explains=True)
    for name, (arguments, prints) in BENCH.items():
        check("ndbench " + name, ndbench, arguments, prints, False, problems)
    check_largest_file(ndbench, problems)
    with open("/dev/full", "wb") as full:
        explained = subprocess.run([h5gpured, TEMP, "--explain", "-q"], stdout=subprocess.DEVNULL, stderr=full, timeout=60)
    if explained.returncode != 1:
        problems.append(f"an explanation is lost: status {explained.returncode}")
    return tell(problems)


if __name__ == "__main__":
    sys.exit(main())
