#!/usr/bin/env python3
"""Runs the h5gpured cases: run.py TOOL [--update] [FILE.case...]

A case file is a shell session. Each command runs in a folder of its own with copies of the fixtures of data/:

    # a comment
    $ h5gpured ocean.nc --op max            a command, for sh
    ocean.nc:/temp  f32 ...                 its standard output, line by line
    ! h5gpured: no such thing               its standard error, line by line
    ~ a regular expression                  instead of a line of either, where an exact one would promise too much
    !~ a regular expression
    ? 1                                     its exit status, where it is not 0

A line that begins with one of the marks, or is blank, is written with a backslash before it. --update rewrites the
expectations with what the tool does (those written as expressions stay, while they still match).
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(os.path.dirname(HERE)), "data")
MARKS = ("$ ", "! ", "!~ ", "~ ", "? ", "#", "\\")


class Case:
    def __init__(self, line, command):
        self.line, self.command, self.status = line, command, 0
        self.output, self.errors = [], []


def read_cases(path):
    """The lines of a file: comments as they are, and cases."""
    entries = []
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file.read().splitlines(), 1):
            if text.startswith("$ "):
                entries.append(Case(number, text[2:]))
            elif text.startswith("#") or not text:
                entries.append(text)
            else:
                read_expectation(next(entry for entry in reversed(entries) if isinstance(entry, Case)), text)
    return entries


def read_expectation(case, text):
    if text.startswith("? "):
        case.status = int(text[2:])
    elif text.startswith("!~ "):
        case.errors.append(re.compile(text[3:]))
    elif text.startswith("! "):
        case.errors.append(text[2:])
    elif text.startswith("~ "):
        case.output.append(re.compile(text[2:]))
    else:
        case.output.append(text[1:] if text.startswith("\\") else text)


def matches(expected, actual):
    return len(expected) == len(actual) and all(map(line_matches, expected, actual))


def line_matches(expected, actual):
    return expected.fullmatch(actual) is not None if isinstance(expected, re.Pattern) else expected == actual


def run(case, tool):
    """(status, output, errors) of the command, in a fresh folder."""
    with tempfile.TemporaryDirectory() as folder:
        for name in os.listdir(DATA):
            if name.endswith((".nc", ".h5")):
                shutil.copy(os.path.join(DATA, name), folder)
        environment = dict(os.environ, PATH=os.path.dirname(tool) + os.pathsep + os.environ["PATH"], LC_ALL="C",
                           OMP_NUM_THREADS="2", HDF5_PLUGIN_PATH=folder)
        result = subprocess.run(["sh", "-c", case.command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                capture_output=True, timeout=300)
        output, errors = (text.decode("utf-8", "backslashreplace").splitlines() for text in (result.stdout, result.stderr))
        left = [name for name in os.listdir(folder) if name.startswith(".ndreduce")]
        return result.returncode, output, errors + [f"left behind: {name}" for name in left]


def show(title, expected, actual):
    lines = [f"  {title}:"]
    for number in range(max(len(expected), len(actual))):
        want = expected[number] if number < len(expected) else None
        have = actual[number] if number < len(actual) else None
        if want is not None and have is not None and line_matches(want, have):
            lines.append(f"      {have}")
            continue
        if want is not None:
            lines.append(f"    - {want.pattern if isinstance(want, re.Pattern) else want}")
        if have is not None:
            lines.append(f"    + {have}")
    return lines


def check(path, case, tool):
    status, output, errors = run(case, tool)
    if status == case.status and matches(case.output, output) and matches(case.errors, errors):
        return True
    lines = [f"{os.path.basename(path)}:{case.line}: $ {case.command}"]
    if status != case.status:
        lines.append(f"  exit status {status}, expected {case.status}")
    if not matches(case.output, output):
        lines += show("output", case.output, output)
    if not matches(case.errors, errors):
        lines += show("errors", case.errors, errors)
    print("\n".join(lines))
    return False


def merge(expected, actual, mark, expression_mark):
    """The new expectation of each line: the old one's expression where it still matches."""
    for number, text in enumerate(actual):
        old = expected[number] if number < len(expected) else None
        if isinstance(old, re.Pattern) and old.fullmatch(text):
            yield expression_mark + old.pattern
        elif not mark and (not text or text.startswith(MARKS)):
            yield "\\" + text
        else:
            yield mark + text


def update(path, entries, tool):
    lines = []
    for entry in entries:
        if not isinstance(entry, Case):
            lines.append(entry)
            continue
        status, output, errors = run(entry, tool)
        lines.append("$ " + entry.command)
        lines += merge(entry.output, output, "", "~ ")
        lines += merge(entry.errors, errors, "! ", "!~ ")
        if status:
            lines.append(f"? {status}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="*")
    asked = parser.parse_args()
    tool = os.path.abspath(asked.tool)
    cases = os.path.join(HERE, "cases")
    files = asked.files or sorted(os.path.join(cases, name) for name in os.listdir(cases) if name.endswith(".case"))
    count = failures = 0
    for path in files:
        entries = read_cases(path)
        if asked.update:
            update(path, entries, tool)
            continue
        for case in (entry for entry in entries if isinstance(entry, Case)):
            count += 1
            failures += not check(path, case, tool)
    if not asked.update:
        print(f"{count} cases, {failures} failed")
    return 1 if failures or (not asked.update and not count) else 0


if __name__ == "__main__":
    sys.exit(main())
