#!/usr/bin/python3
"""Parts of reductions, and what --merge makes of them: merge.py TOOL [--sanitized]

The results of parts that were reduced with any memory and any threads are those of one run, to the last bit. What is
missing, damaged or of something else is refused in one line. A sanitized program starts slowly, so --sanitized cuts jobs in
fewer parts and damages a file in fewer places. Exits 77, which CTest shows as skipped, without h5py.
"""
import os
import random
import shutil
import struct
import sys

from problems import run_in_folder
from shared_jobs import JOBS, contents, make_files, run

SANITIZED = "--sanitized" in sys.argv[2:]
COUNTS = (2, 5) if SANITIZED else (1, 2, 5, 40)

# What stands in a file may be anybody's. These are as long as the words that they replace.
MORE = "evil: its command line has options that --part does not take"
ONE = "parts must be of one command\n"
EVIL = (
    (b"-ovictim\x1f-kk", 2, MORE),
    (b"-qkovictim\x1f-", 2, MORE),
    (b"--out=victim", 2, MORE),
    (b"--json\x1f-kkkk", 2, MORE),
    (b"--list\x1f-kkkk", 2, MORE),
    (b"--merge\x1f-kkk", 2, MORE),
    (b"--version\x1f-k", 1, "of another job ("),
    (b"--help\x1f-kkkk", 1, "of another job ("),
)


def write_parts(tool, folder, job, count, problems):
    """Their files, in any order. Letters are joined, as a command line may have them; --merge may give its own."""
    files = [f"s{part}" for part in range(1, count + 1)]
    for part, name in enumerate(files, 1):
        end = run(tool, folder, *job, "--part", f"{part}/{count}", "--state", name, "--memory", f"{16 + part % 9}M",
                  f"-qt{1 + part % 3}")
        if end != (0, "", ""):
            problems.append(f"{job}, part {part} of {count}: {end}")
    random.shuffle(files)
    return files


def check_jobs(tool, folder, problems):
    for job in JOBS:
        whole, merged = os.path.join(folder, "whole.nc"), os.path.join(folder, "merged.nc")
        end = run(tool, folder, *job, "-o", "whole.nc", "--overwrite", "-q")
        if end[0]:
            problems.append(f"{job}: {end}")
            continue
        for count in COUNTS:
            files = write_parts(tool, folder, job, count, problems)
            end = run(tool, folder, "--merge", *files, "-o", "merged.nc", "--overwrite", "-q", "-t", "2")
            if end[0] or contents(whole) != contents(merged):
                problems.append(f"{job} in {count} parts: {end}, or other results")
        if run(tool, folder, *job, "--json")[1] != run(tool, folder, "--merge", "--json", *files)[1]:
            problems.append(f"{job}: other text")


def damaged(content):
    """A file cut at some places, and with single bits turned over."""
    for length in (0, 7, 39, 100, len(content) // 2, len(content) - 1):
        yield content[:length]
    step = 3 if SANITIZED else 1
    for place in {*range(0, 200, 3 * step), *range(200, len(content), 1 + step * len(content) // 100), len(content) - 1}:
        yield content[:place] + bytes([content[place] ^ 1 << place % 8]) + content[place + 1:]
    yield content + b"\0"


def sealed(content):
    """A file of states with the checksum of what it has: of all but the bytes of the states."""
    words = struct.unpack("<5Q", content[:40])
    begin, end, check, ranges = 0, 40 + words[3] + words[4], 0xcbf29ce484222325, []
    while True:
        ranges.append(content[begin:end + 32])
        stage, _, _, count = struct.unpack("<4q", content[end:end + 32])
        begin = end + 32 + count
        if stage == -1:
            break
        end = begin
    for byte in b"".join(ranges):
        check = (check ^ byte) * 0x100000001b3 % 2**64
    return content[:-8] + struct.pack("<Q", check)


def check_refusals(tool, folder, problems):
    def refused(words, status, *said):
        end = run(tool, folder, *words)
        if words[0] == "--merge" and status == 1:
            said = ("h5gpured: --merge",) + said
        if end[0] != status or end[1] or end[2].count("\n") != 1 or any(text not in end[2] for text in said):
            problems.append(f"{words}: {end}, where {said} are to be said")

    job = ["a.nc:/x", "-d", "0", "--op", "sum,var"]
    write_parts(tool, folder, job, 3, problems)
    run(tool, folder, *job[:-1], "max", "--part", "2/3", "--state", "other")
    run(tool, folder, *job, "--part", "2/4", "--state", "fourth")
    refused(["--merge", "s1", "s3"], 1, "part 2 of 3 is missing")
    refused(["--merge", "s2"], 1, "parts 1,3 of 3 are missing")
    refused(["--merge", "fourth"], 1, "parts 1,3-4 of 4 are missing")
    refused(["--merge", "s1", "s2", "s3", "s2"], 1, "s2: is part 2 of 3, as s2 is")
    refused(["--merge", "s1", "other", "s3"], 1, "--merge: other: was made with --op max, s1 with --op sum,var; " + ONE)
    for more, said in ((["--skipna"], "other: was made with --skipna, s1 without; " + ONE),
                       (["--where", "x > 1", "-k"], "other: was made with --keepdims --where 'x > 1', s1 without; " + ONE)):
        run(tool, folder, *job, *more, "--part", "2/3", "--state", "other", "-t", "1")
        refused(["--merge", "s1", "other", "s3"], 1, f"--merge: {said}")
    run(tool, folder, *job[:3], "--part", "2/3", "--state", "other")
    refused(["--merge", "s1", "other", "s3"], 1, "--merge: other: was made without --op sum,var, unlike s1; " + ONE)
    for option in (["--op", "max"], ["-d", "0"], ["--raw"], ["--where", "x > 1"], ["--scan", "sum"], ["--list"], ["--part", "1/2", "--state", "s"]):
        refused(["--merge", *option, "s1", "s2", "s3"], 2, "--merge", "--list" if option == ["--list"] else
                "--dims" if option[0] == "-d" else option[0])
    refused(["--merge", "s1", "fourth", "s3"], 1, "fourth: is part 2 of 4, and s1 one of 3")
    refused(["--merge", "a.nc"], 1, "a.nc: is no whole file of partial states")
    refused(["--merge", "nowhere"], 1, "nowhere: cannot be read: No such file")
    refused(["--merge"], 2, "no file of partial states")
    with open(os.path.join(folder, "s1"), "rb") as file:
        good = file.read()
    for words, status, said in EVIL:
        with open(os.path.join(folder, "evil"), "wb") as file:
            file.write(sealed(good.replace(b"--op\x1fsum,var", words)))
        refused(["--merge", "evil", "s2", "s3"], status, said)
        refused(["--merge", "evil", "s2", "s3", "-o", "bad.nc"], status, said)
    run(tool, folder, *job, "-k", "--part", "2/3", "--state", "other")
    with open(os.path.join(folder, "other"), "rb") as file:
        good = file.read()
    for words, said in ((b"--op\x1f-k\x1f--st", "has partial states of another job (keepdims "),
                        (b"--unknown=1", "has partial states of another job (keepdims "),
                        (b"a.nc\x1fb.nc\x1f--", "was made with a.nc b.nc -k --part 2/3 --state other, s1 with --op sum,var; " + ONE)):
        with open(os.path.join(folder, "evil"), "wb") as file:
            file.write(sealed(good.replace(b"--op\x1fsum,var", words.ljust(12, b"k"))))
        refused(["--merge", "s1", "evil", "s3", "-o", "bad.nc"], 1, f"--merge: evil: {said}")
    left = [name for name in os.listdir(folder) if "bad.nc" in name]
    if left:
        problems.append(f"a refused merge left {left}")
    for name in ("victim", "bad.nc"):
        if os.path.exists(os.path.join(folder, name)):
            problems.append(f"words in a file of states wrote {name}")
    refused([*job, "--part", "1/3"], 2, "--part needs --state FILE")
    refused([*job, "--state", "s"], 2, "--state needs --part K/N")
    for part in ("0/3", "4/3", "1", "1/", "/3", "1/0", "a/b", "99999999999999999999999/3"):
        refused([*job, "--part", part, "--state", "s"], 2, f"'{part}'")
    for option in (["-o", "x.nc"], ["--json"], ["--format", "csv"], ["--overwrite"], ["--deflate", "1"], ["--coords"]):
        refused([*job[:3], *option, "--part", "1/3", "--state", "s"], 2, "--part gives no results")
    refused([*job[:3], "--scan", "sum", "--part", "1/3", "--state", "s"], 2, "--scan and --part")
    for name in ("a.nc", "words"):
        with open(os.path.join(folder, "words"), "w", encoding="ascii") as file:
            file.write("some words")
        refused([*job, "--part", "1/3", "--state", name], 1, f"{name}: exists already, and has no partial states")
    refused([*job, "--part", "1/3", "--state", "no/folder"], 1, "no/folder")
    refused([*job, "--part", "1/3", "--state", "s", "--memory", "1M"], 1, "--memory ")
    refused(["--merge", "s1", "s2", "s3", "--device", "cuda"], 1, "s1: the CPU has reduced this part")
    with open(os.path.join(folder, "s2"), "rb") as file:
        good = file.read()
    for bad in damaged(good):
        with open(os.path.join(folder, "s2"), "wb") as file:
            file.write(bad)
        refused(["--merge", "s1", "s2", "s3", "-o", "bad.nc"], 1, "s2: ")
    if os.path.exists(os.path.join(folder, "bad.nc")):
        problems.append("damaged states left a file")
    os.utime(os.path.join(folder, "a.nc"))
    with open(os.path.join(folder, "a.nc"), "ab") as file:
        file.write(b"\0" * 8)
    with open(os.path.join(folder, "s2"), "wb") as file:
        file.write(good)
    size = os.path.getsize(os.path.join(folder, "a.nc"))
    refused(["--merge", "s1", "s2", "s3"], 1, f"--merge: s1: has partial states of another version of a.nc, which had {size - 8} bytes and has {size} now\n")
    check_changed_series(tool, folder, refused, problems)


def check_changed_series(tool, folder, refused, problems):
    """Of several files, and those beside them, the one that has changed is named."""
    job = ["--concat", "time", "a.nc:/x", "b.nc:/x", "-d", "time", "--op", "f(x, y): s += x * y -> s", "--with", "y=c.nc:/lat"]
    for name in ("b.nc", "c.nc"):
        path = os.path.join(folder, name)
        if name == "c.nc":
            shutil.copy(os.path.join(folder, "a.nc"), path)
        with open(path, "ab") as file:
            file.write(b"\0" * 8)
    write_parts(tool, folder, job, 2, problems)
    for name in ("c.nc", "b.nc"):  # of two that have changed the first is named
        with open(os.path.join(folder, name), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            file.write(b"1")
        refused(["--merge", "s1", "s2"], 1, f"--merge: s1: has partial states of another version of {name}, which has other contents now\n")


if __name__ == "__main__":
    random.seed(5)
    sys.exit(run_in_folder(make_files, check_jobs, check_refusals))
