#!/usr/bin/python3
"""What -o and --overwrite may replace: overwrite.py TOOL

No file that the input is made of, whatever its name; nothing but regular files that may be written to. What is replaced
keeps its permissions, and a symbolic link stays one. Exits 77, which CTest shows as skipped, where h5py is missing.
"""
import os
import stat
import subprocess
import sys
import tempfile

from problems import tell

try:
    import h5py
    import numpy as np
except ImportError:
    print("skipped: python3-h5py is not installed")
    sys.exit(77)

NOBODY = 65534
AS_NOBODY = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
SEARCH = 2  # CAP_DAC_READ_SEARCH: starts the tool from a folder that only root may enter, and grants no writing
with open("/proc/self/status", encoding="ascii") as status:
    held = int(next(line.split()[1] for line in status if line.startswith("CapEff")), 16)
if held >> SEARCH & 1:
    AS_NOBODY += ["--inh-caps", "+dac_read_search", "--ambient-caps", "+dac_read_search"]


class Folder:
    """A folder with inputs that are made of several files, and the tool in it."""

    def __init__(self, tool, path):
        self.tool, self.path, self.problems = tool, path, []
        values = np.arange(12.0).reshape(3, 4)
        for name in ("a.h5", "b.h5", "other.h5"):
            with h5py.File(self.file(name), "w") as file:
                file["x"] = values
                file["w"] = np.ones(3)
        values.tofile(self.file("x.raw"))
        layout = h5py.VirtualLayout((3, 4), "f8")
        layout[...] = h5py.VirtualSource("other.h5", "x", (3, 4))
        with h5py.File(self.file("parts.h5"), "w") as file:
            file.create_dataset("raw", (3, 4), "f8", external=[("x.raw", 0, values.nbytes)])
            file.create_virtual_dataset("virtual", layout)
            file["linked"] = h5py.ExternalLink("other.h5", "x")
            file["x"] = values
            file["w"] = h5py.ExternalLink("other.h5", "w")
        with h5py.File(self.file("chain.h5"), "w") as file:
            file["virtual"] = h5py.ExternalLink("parts.h5", "virtual")
        os.link(self.file("other.h5"), self.file("twin"))
        os.symlink("other.h5", self.file("pointer"))
        os.link(self.file("x.raw"), self.file("raw.twin"))

    def file(self, name):
        return os.path.join(self.path, name)

    def content(self, name):
        with open(self.file(name), "rb") as file:
            return file.read()

    def put(self, name, mode=0o644):
        with open(self.file(name), "w", encoding="ascii") as file:
            file.write("what was there before")
        os.chmod(self.file(name), mode)

    def expect(self, good, what):
        if not good:
            self.problems.append(what)

    def run(self, *arguments, as_nobody=False):
        return subprocess.run([*(AS_NOBODY if as_nobody else []), self.tool, *arguments, "-q"], cwd=self.path,
                              capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)

    def refuses(self, output, reason, *arguments, **how):
        """In one line, and everything is there as before."""
        before = {name: os.lstat(self.file(name)) for name in sorted(os.listdir(self.path))}
        result = self.run(*arguments, "-o", output, **how)
        after = {name: os.lstat(self.file(name)) for name in sorted(os.listdir(self.path))}
        same = before.keys() == after.keys() and all(
            (a.st_ino, a.st_size, a.st_mode, a.st_mtime_ns) == (b.st_ino, b.st_size, b.st_mode, b.st_mtime_ns)
            for a, b in zip(before.values(), after.values()))
        self.expect(result.returncode == 1 and result.stdout == "" and result.stderr.count("\n") == 1 and
                    f"{output}: {reason}" in result.stderr and same,
                    f"{arguments} -o {output}: status {result.returncode}, all as before: {same}: {result.stderr}")

    def replaces(self, output, *arguments, **how):
        result = self.run(*arguments, "--overwrite", "-o", output, **how)
        self.expect(result.returncode == 0 and self.content(output)[1:4] == b"HDF",
                    f"{arguments} -o {output}: status {result.returncode}: {result.stderr}")
        return os.stat(self.file(output))


def check_inputs(folder):
    """Each file that the numbers come from, and its role."""
    link, source, raw = "the file that an external link leads to from", "the file of a source of", "the external storage of"
    for output, role, *arguments in (
            ("x.raw", f"{raw} parts.h5:/raw", "parts.h5:/raw"),
            ("raw.twin", f"{raw} parts.h5:/raw", "parts.h5:/raw"),
            ("x.raw", f"{raw} parts.h5:/raw", "a.h5:/x", "parts.h5:/raw", "--concat", "0"),
            ("other.h5", f"{source} parts.h5:/virtual", "parts.h5:/virtual"),
            ("twin", f"{source} parts.h5:/virtual", "parts.h5:/virtual"),
            ("other.h5", f"{link} parts.h5:/linked", "parts.h5:/linked"),
            ("parts.h5", f"{link} chain.h5:/virtual", "chain.h5:/virtual"),
            ("other.h5", f"{source} chain.h5:/virtual", "chain.h5:/virtual"),
            ("other.h5", f"{link} parts.h5:/w", "parts.h5:/x", "-d", "0", "--weights", "/w", "--op", "mean")):
        folder.refuses(output, f"the output is also an input: {role}", *arguments, "--overwrite", "--format", "hdf5")
        if "--concat" not in arguments:
            folder.refuses(output, f"the output is also an input: {role}", *arguments, "--overwrite", "--format", "csv")
    for output in ("a.h5", "b.h5"):
        folder.refuses(output, "the output is also an input", "a.h5:/x", "b.h5:/x", "--concat", "0", "--overwrite")
    # The line names the file that the link leads to.
    result = folder.run("parts.h5:/linked", "--overwrite", "-o", "pointer")
    folder.expect(result.returncode == 1 and "other.h5: the output is also an input" in result.stderr, result.stderr)
    # Files that this input has nothing to do with.
    folder.replaces("b.h5", "parts.h5:/raw")
    folder.replaces("x.raw", "parts.h5:/linked", "--format", "hdf5")


def check_kinds(folder):
    """What is at the path: links, folders, pipes; nothing is replaced without being asked for."""
    folder.put("old.h5")
    folder.refuses("old.h5", "exists already", "a.h5:/x")
    os.mkdir(folder.file("folder"))
    os.mkfifo(folder.file("pipe"))
    for name in ("folder", "pipe", "/dev/null"):
        for overwrite in ([], ["--overwrite"]):
            reason = "is a folder, not a file" if name == "folder" else "is not a regular file"
            folder.refuses(name, reason, "a.h5:/x", *overwrite)
    os.symlink("nothing", folder.file("dangling"))
    folder.refuses("dangling", "is a symbolic link that leads nowhere", "a.h5:/x", "--overwrite")
    os.symlink("old.h5", folder.file("to-old"))
    folder.refuses("to-old", "exists already", "a.h5:/x")
    folder.replaces("to-old", "a.h5:/x")
    folder.expect(os.path.islink(folder.file("to-old")) and folder.content("old.h5")[1:4] == b"HDF", "the link is gone")


def check_permissions(folder):
    """They outlive the replacement, as do owner and group; they are asked as if the file was written to."""
    modes = (0o644, 0o640, 0o606, 0o4755)
    for mode in modes:
        folder.put("old.h5", mode)
        found = stat.S_IMODE(folder.replaces("old.h5", "a.h5:/x").st_mode)
        folder.expect(found == mode & 0o777, f"{mode:o} has become {found:o}")
    if os.geteuid() == 0:
        folder.put("old.h5", 0)
        found = stat.S_IMODE(folder.replaces("old.h5", "a.h5:/x").st_mode)
        folder.expect(found == 0, f"0 has become {found:o}")
        os.chown(folder.file("old.h5"), NOBODY, NOBODY)
        found = folder.replaces("old.h5", "a.h5:/x")
        folder.expect((found.st_uid, found.st_gid) == (NOBODY, NOBODY), f"owned by {found.st_uid}:{found.st_gid}")
    user = {"as_nobody": True} if os.geteuid() == 0 else {}
    os.chmod(folder.path, 0o777)
    for mode in (0, 0o444):
        folder.put("old.h5", mode)
        if user:
            os.chown(folder.file("old.h5"), NOBODY, NOBODY)
        folder.refuses("old.h5", "cannot be written: Permission denied", "a.h5:/x", "--overwrite", **user)
        folder.refuses("old.h5", "exists already", "a.h5:/x", **user)
    # A file that is nobody's now, of a group that nobody is not in, so that another group would get its rights.
    for mode, kept in ((0o666, 0o666), (0o662, 0o622)):
        if user:
            folder.put("old.h5", mode)
            os.chown(folder.file("old.h5"), 0, 0)
            found = stat.S_IMODE(folder.replaces("old.h5", "a.h5:/x", **user).st_mode)
            folder.expect(found == kept, f"{mode:o} has become {found:o}")


def main():
    problems = []
    for check in (check_inputs, check_kinds, check_permissions):
        with tempfile.TemporaryDirectory() as path:
            folder = Folder(os.path.abspath(sys.argv[1]), path)
            check(folder)
            problems += [f"{check.__name__}: {problem}" for problem in folder.problems]
    return tell(problems)


if __name__ == "__main__":
    sys.exit(main())
