#!/usr/bin/env python3
"""Files that lie and files that are damaged: hostile.py TOOL [--sanitized] [--rounds N] [--seed N] [--keep FOLDER]
                                                        [FILE_OR_FOLDER...]

First the files of hostile_files.make_lies, then N copies (or $NDREDUCE_HOSTILE, or 4) of each sound file, of those made
here and of those named, each with bits flipped, bytes overwritten or its end cut off. Listed and reduced under a limit of
time and memory, every one must end with status 0 or 1, and with one line of error in the second case. What does not is
said, and kept in FOLDER. Half of the results are written to a file, which is then listed. A sanitizer reserves more memory
than the limit, so --sanitized leaves that out.

HDF5 1.10 itself does not survive every file, so two ends are counted but are no problems: a crash that the tool tells of
(under a sanitizer: one inside libhdf5), and time that runs out where SIGTERM still ends the program.
"""
import argparse
import concurrent.futures
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

try:
    import hostile_files
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SECONDS = 20
BUDGET = "16M"
# Beyond the budget: the program, its libraries and its threads' stacks.
ADDRESS_SPACE = 1 << 30
OPERATORS = ("sum", "min,max,mean", "std", "argmax", "all,count")
SIGNATURES = (b"TREE", b"HEAP", b"SNOD", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"BTHD", b"BTLF", b"GCOL", b"FADB", b"FAHD",
              b"EAHD", b"EAIB", b"\x89HDF")
INTERESTING = (0, 1, 0x7F, 0x80, 0xFE, 0xFF)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


def is_crash_of_hdf5(lines):
    """The tool's own words; or a sanitizer's, where the first frames that are no memcpy or malloc are HDF5's. The C
    library's check of copies is compiled into HDF5 alone: under a sanitizer, which has its own, nothing else says so."""
    if any(": crashed on it: " in line or "*** buffer overflow detected ***" in line for line in lines):
        return True
    frames = [line for line in lines if line.lstrip().startswith("#")]
    frames = [line for line in frames if "libsanitizer" not in line and "__interceptor" not in line]
    own = [line for line in frames[:6] if "libhdf5" in line or "ndr_" in line or "src/" in line]
    return any("AddressSanitizer" in line for line in lines) and bool(own) and "libhdf5" in own[0]


# What is lost of a damaged file's attributes costs a line each, whatever else comes of it; so do a file joined with itself,
# and the choice among datasets of which damage has left one the most dims.
REMARK = re.compile(r"h5gpured: .*: (its attributes?.* (cannot be read|is ignored$)|the attribute .* is left out: |the bounds of .* are not used: |"
                    r"its .* overlaps that of |took .*, which has the most dims)")


class Runner:
    def __init__(self, asked):
        self.tool, self.sanitized = os.path.abspath(asked.tool), asked.sanitized
        self.crashes, self.unfinished = [], []
        self.environment = dict(os.environ, HDF5_PLUGIN_PATH="/nowhere", OMP_NUM_THREADS="1")
        if self.sanitized:
            # What HDF5 forgets on its way out of a malformed file is not ours.
            options = self.environment.get("ASAN_OPTIONS", "")
            self.environment["ASAN_OPTIONS"] = f"{options}:detect_leaks=0".lstrip(":")

    def run(self, *arguments):
        """(status, what is wrong with how it ended or "")"""
        with subprocess.Popen([self.tool, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment,
                              preexec_fn=None if self.sanitized else limit_memory) as process:
            try:
                _, printed = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return None, self.stop(process, arguments)
        lines = printed.decode("utf-8", "replace").splitlines()
        if is_crash_of_hdf5(lines):
            self.crashes.append(" ".join(arguments))
            return process.returncode, ""
        if process.returncode < 0:
            return process.returncode, signal.Signals(-process.returncode).name
        errors = [line for line in lines if not REMARK.match(line)]
        if process.returncode not in (0, 1) or len(errors) != process.returncode:
            return process.returncode, f"status {process.returncode}, errors {lines[:12]}"
        return process.returncode, ""

    def stop(self, process, arguments):
        process.terminate()
        try:
            process.communicate(timeout=10)
            self.unfinished.append(" ".join(arguments))
            return ""
        except subprocess.TimeoutExpired:
            process.kill()
        process.communicate()
        return f"not done after {SECONDS} s, and not to be stopped"

    def noted(self, path):
        return any(path in arguments for arguments in self.crashes + self.unfinished)

    def datasets(self, path):
        """The paths of what can be reduced in a sound file, and the names of its dims."""
        result = subprocess.run([self.tool, "--list", "--json", path], capture_output=True, env=self.environment, check=False)
        entries = [entry for entry in map(json.loads, result.stdout.decode("utf-8", "replace").splitlines()) if "dtype" in entry]
        names = {name for entry in entries for name in entry["dim_names"] if name and name.isprintable()}
        return [entry["dataset"] for entry in entries if entry["dataset"].isprintable()], sorted(names)


# ---- Files that lie -------------------------------------------------------------------------------------------------

def check_lies(runner, folder):
    problems = []
    for name, may_succeed in hostile_files.make_lies(folder).items():
        path = os.path.join(folder, name)
        _, wrong = runner.run("--list", path)
        if wrong:
            problems.append(f"--list {name}: {wrong}")
        status, wrong = runner.run("--memory", BUDGET, f"{path}:/d")
        if wrong:
            problems.append(f"{name}: {wrong}")
        elif status is None:
            problems.append(f"{name}: not done after {SECONDS} s")
        elif may_succeed is not None and (status == 0) != may_succeed:
            problems.append(f"{name}: {'refused' if may_succeed else 'reduced'}")
    return problems


def check_wide_coordinate(runner, folder):
    """A coordinate whose type claims 3.9 GB for each number, for which HDF5 would take that memory."""
    path = hostile_files.make_wide_coordinate(folder)
    with subprocess.Popen([runner.tool, "-d", "1", "--format", "csv", f"{path}:/d"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, env=runner.environment) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 1:
        return [f"wide.h5: status {process.returncode}"]
    return [f"wide.h5: took {usage.ru_maxrss >> 10} MiB"] if usage.ru_maxrss > 1 << 20 else []


# ---- Damage ---------------------------------------------------------------------------------------------------------

def structures(data):
    """Where something other than elements begins, to be hit more often than by its share of the bytes."""
    found = [0]
    for signature in SIGNATURES:
        at = data.find(signature)
        while at >= 0 and len(found) < 4096:
            found.append(at)
            at = data.find(signature, at + 1)
    return found


def damage(data, source):
    """A damaged copy, and in words what was done."""
    copy = bytearray(data)
    if source.random() < 0.15:
        length = source.choice((source.randrange(len(data)), max(0, len(data) - source.randrange(1, 64))))
        return copy[:length], f"cut to {length}"
    places = structures(data)
    words = []
    for _ in range(source.choice((1, 1, 1, 2, 4, 16))):
        near = source.random() < 0.8
        at = source.choice(places) + source.randrange(320) if near else source.randrange(len(data))
        if at >= len(data):
            continue
        if source.random() < 0.6:
            copy[at] ^= 1 << source.randrange(8)
        else:
            width = source.choice((1, 2, 4, 8))
            copy[at:at + width] = bytes([source.choice(INTERESTING)]) * len(copy[at:at + width])
        words.append(f"{at}={copy[at]:#x}")
    return copy, " ".join(words)


def try_one(runner, folder, data, name, found, seed):
    datasets, dims = found
    source = random.Random(f"{name} {seed}")
    damaged, words = damage(data, source)
    path = os.path.join(folder, f"{seed}-{name}")
    with open(path, "wb") as file:
        file.write(damaged)
    chosen = path + ":" + source.choice(datasets) if datasets and source.random() < 0.7 else path
    options = ["--memory", BUDGET, "--op", source.choice(OPERATORS), "--dims", source.choice(("all", "all", "0", "-1"))]
    out = path + ".out.h5"
    written = ["--quiet", "--output", out] if source.random() < 0.5 else []
    if written:
        options += source.choice(([], [], ["--keepdims"], ["--concat", "0"]))
    if written and source.random() < 0.4:  # several datasets, and with named dims all others are copied
        by_name = bool(dims) and source.random() < 0.6
        chosen = path if by_name else path + ":" + source.choice(("/**", "/*", "/*/{*,?*}"))
        options[options.index("--dims") + 1] = source.choice(dims) if by_name else "0"
    inputs = [chosen] if "--concat" not in options else [chosen, chosen]
    if written and chosen[len(path):len(path) + 1] == ":" and source.random() < 0.4:
        inputs[0] += source.choice(("[1:]", "[::2]", "[..., ::3]"))
    problems = []
    for arguments in (["--list", path], [*options, *written, *inputs]):
        status, wrong = runner.run(*arguments)
        if wrong:
            problems.append(f"{' '.join(arguments)}: {wrong} ({words})")
    if os.path.exists(out):
        _, wrong = runner.run("--list", out)
        if wrong or status != 0:
            problems.append(f"{' '.join(arguments)}: status {status} and an output; {wrong} ({words})")
        os.unlink(out)
    if not problems and not runner.noted(path):
        os.unlink(path)
    return problems


def check_damage(runner, folder, paths, asked):
    jobs, problems = [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path in paths:
            with open(path, "rb") as file:
                data = file.read()
            name, found = os.path.basename(path), runner.datasets(path)
            jobs += [pool.submit(try_one, runner, folder, data, name, found, seed)
                     for seed in range(asked.seed, asked.seed + asked.rounds)]
        for job in jobs:
            problems += job.result()
    if asked.keep:
        shutil.copytree(folder, asked.keep, dirs_exist_ok=True)
    return problems


def files_of(arguments):
    for argument in arguments:
        if os.path.isdir(argument):
            yield from (os.path.join(argument, name) for name in sorted(os.listdir(argument)) if not name.endswith(".md"))
        elif os.path.exists(argument):
            yield argument


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("NDREDUCE_HOSTILE", "4")))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("files", nargs="*")
    asked = parser.parse_intermixed_args()
    runner = Runner(asked)
    with tempfile.TemporaryDirectory() as folder:
        sound = [os.path.join(folder, name) for name in hostile_files.make_sound(folder)]
        paths = sound + list(files_of(asked.files))
        problems = [f"{path}: sound, but not read" for path in sound if not runner.datasets(path)[0]]
        problems += check_lies(runner, folder) + check_wide_coordinate(runner, folder)
        problems += check_damage(runner, folder, paths, asked)
    for kind, runs in (("crash inside HDF5", runner.crashes), ("not done in time", runner.unfinished)):
        print(*(f"{kind}: {arguments}" for arguments in runs), sep="\n")
    print(*problems, sep="\n")
    print(f"{len(paths)} files, {asked.rounds} rounds, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
