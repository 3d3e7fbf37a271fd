#!/usr/bin/env python3
"""Other files that a file leads to: links.py TOOL

Below `in` lies what may be read from in/a.h5, below `out` what may not, without --allow-external. What is read must be
what h5py reads; what is refused must name the file.
"""
import os
import subprocess
import sys
import tempfile

from problems import tell

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

UNLIMITED = h5py.h5s.UNLIMITED
VALUES = np.arange(12.0).reshape(3, 4)


def make_neighbours():
    for folder, factor in (("in", 1), ("in/sub", 10), ("out", 100)):
        os.makedirs(folder)
        with h5py.File(f"{folder}/child.h5", "w") as file:
            file["x"] = VALUES * factor
            file["t"] = np.array([1.0, 2, 3])
            file["t"].make_scale("t")
            file["x"].dims[0].attach_scale(file["t"])
            file["g/y"] = np.arange(5) * factor
            file["chain"] = h5py.ExternalLink("../out/child.h5", "/x")
            file.create_dataset("packed", data=np.arange(40000.0), chunks=(20000,), compression="gzip")
        for i in range(3):
            with h5py.File(f"{folder}/part{i}.h5", "w") as file:
                file["x"] = np.full((1, 4), float(i + 1) * factor)
        np.arange(10, dtype="f4").tofile(f"{folder}/raw.bin")
    os.symlink("../out/child.h5", "in/symbolic.h5")
    os.symlink("sub/child.h5", "in/within.h5")
    os.symlink("../out", "in/folder")
    os.symlink("../in/a.h5", "out/input.h5")
    os.mkfifo("in/pipe.h5")


def add_links(file):
    targets = {
        "in": ("child.h5", "/x"), "renamed": ("child.h5", "/t"), "group": ("child.h5", "/g"), "sub": ("sub/child.h5", "x"),
        "itself": ("a.h5", "/local"), "within": ("within.h5", "x"), "back": ("../in/child.h5", "x"),
        "outside": ("../out/child.h5", "/x"), "absolute": (os.path.abspath("out/child.h5"), "/x"),
        "symbolic": ("symbolic.h5", "x"), "folder": ("folder/child.h5", "x"), "chain": ("child.h5", "chain"),
        "missing": ("nowhere.h5", "x"), "device": ("/dev/zero", "x"), "pipe": ("pipe.h5", "x"), "not_hdf": ("raw.bin", "x"),
        "nothing": ("child.h5", "/nothing"), "loop": ("a.h5", "/loop"), "long": ("d/" * 3000 + "x.h5", "x"),
    }
    for name, (target, path) in targets.items():
        file[name] = h5py.ExternalLink(target, path)
    file["soft"] = h5py.SoftLink("/in")
    file["soft_outside"] = h5py.SoftLink("/outside")
    file["dangling"] = h5py.SoftLink("/no/such")
    file["circle"] = h5py.SoftLink("/circle")
    file.create_group("cycle")["again"] = file["/"]
    file["deleted"] = np.arange(3.0)
    file["deleted"].make_scale("deleted")
    file["orphan"] = VALUES
    file["orphan"].dims[0].attach_scale(file["deleted"])
    del file["deleted"]


def add_external(file):
    def add(name, *pieces):
        file.create_dataset(name, (10,), "f4", external=list(pieces))
    add("raw", ("raw.bin", 0, 40))
    add("raw_pieces", ("raw.bin", 20, 20), ("sub/raw.bin", 0, UNLIMITED))
    add("raw_outside", ("../out/raw.bin", 0, 40))
    add("raw_second_outside", ("raw.bin", 0, 20), ("../out/raw.bin", 0, 20))
    add("raw_missing", ("nowhere.bin", 0, 40))
    add("raw_short", ("raw.bin", 4, 40))
    add("raw_device", ("/dev/zero", 0, 40))


def add_virtual(file, name, source, dataset="x", shape=(3, 4)):
    layout = h5py.VirtualLayout(shape, "f8")
    layout[...] = h5py.VirtualSource(source, dataset, shape)
    file.create_virtual_dataset(name, layout, fillvalue=-1)


def add_series(file, name, source):
    """One row from each file of a series, as many as there are."""
    space = h5py.h5s.create_simple((2, 4), (UNLIMITED, 4))
    space.select_hyperslab((0, 0), (UNLIMITED, 1), (1, 4), (1, 4))
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_virtual(space, source.encode(), b"x", h5py.h5s.create_simple((1, 4)))
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_DOUBLE, space, creation)


def add_virtuals(file):
    file["local"] = VALUES + 1
    add_virtual(file, "virtual", "child.h5")
    add_virtual(file, "virtual_own", ".", "local")
    add_virtual(file, "virtual_twice", ".", "virtual")
    add_virtual(file, "virtual_link", ".", "in")
    add_virtual(file, "virtual_packed", "child.h5", "packed", (40000,))
    add_virtual(file, "virtual_outside", "../out/child.h5")
    add_virtual(file, "virtual_symbolic", "symbolic.h5")
    add_virtual(file, "virtual_link_outside", ".", "outside")
    add_virtual(file, "virtual_twice_outside", ".", "virtual_outside")
    add_virtual(file, "virtual_missing", "nowhere.h5")
    add_virtual(file, "virtual_nothing", "child.h5", "nothing")
    add_virtual(file, "virtual_circle", ".", "virtual_circle")
    add_virtual(file, "virtual_external", ".", "raw", (10,))
    layout = h5py.VirtualLayout((6, 4), "f8")
    layout[:3] = h5py.VirtualSource("child.h5", "x", (3, 4))
    layout[3:] = h5py.VirtualSource("sub/child.h5", "x", (3, 4))
    file.create_virtual_dataset("virtual_pieces", layout)
    layout[3:] = h5py.VirtualSource("../out/child.h5", "x", (3, 4))
    file.create_virtual_dataset("virtual_second_outside", layout)
    add_series(file, "series", "part%b.h5")
    add_series(file, "series_outside", "../out/part%b.h5")
    # A dataset whose coordinates are virtual.
    file["located"] = VALUES
    add_virtual(file, "where", "child.h5", "t", (3,))
    file["where"].make_scale("where")
    file["located"].dims[0].attach_scale(file["where"])


INSIDE = ("in orphan renamed group/y sub itself within back soft cycle/again/in raw raw_pieces virtual virtual_own virtual_twice "
          "virtual_link virtual_packed virtual_pieces series located").split()
OUTSIDE = ("outside absolute symbolic folder chain soft_outside raw_outside raw_second_outside virtual_outside "
           "virtual_symbolic virtual_link_outside virtual_twice_outside virtual_second_outside series_outside").split()
# With and without --allow-external.
REFUSED = {
    "missing": "needs nowhere.h5, which does not exist",
    "pipe": "pipe.h5, which is not a regular file",
    "not_hdf": "needs in/raw.bin: is not an HDF5 file",
    "nothing": "is a link that leads nowhere",
    "loop": "is a link that leads nowhere",
    "long": "a.h5:/long: needs d/d/",
    "dangling": "a.h5:/dangling: ",
    "circle": "a.h5:/circle: ",
    "cycle": "is a group, not a dataset",
    "raw_missing": "needs in/nowhere.bin: No such file or directory",
    "raw_short": "needs 40 bytes from byte 4 of in/raw.bin, which ends before",
    "virtual_missing": "needs x of nowhere.h5, which does not exist",
    "virtual_nothing": "needs nothing of child.h5, which does not exist",
    "virtual_circle": "is virtual, of virtual datasets more than",
    "virtual_external": "whose data are in further files, which are not read",
}
DEVICES = ("device", "raw_device")


class Runs:
    def __init__(self, tool):
        self.tool, self.problems = tool, []

    def run(self, *arguments, **environment):
        return subprocess.run([self.tool, *arguments], capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, **environment), check=False)

    def refused(self, reason, *arguments, **environment):
        result = self.run(*arguments, **environment)
        if result.returncode != 1 or result.stdout or reason not in result.stderr or result.stderr.count("\n") != 1:
            self.problems.append(f"{arguments}: not refused with '{reason}': {result}")

    def answers(self, expected, *arguments, **environment):
        result = self.run(*arguments, **environment)
        sums = [float(line.split()[1]) for line in result.stdout.splitlines() if line.startswith("  sum")]
        if result.returncode or result.stderr or sums != [expected]:
            self.problems.append(f"{arguments}: {expected} expected: {result}")


def expected_sum(path):
    """As h5py reads it, which looks for external files in the current folder."""
    here = os.getcwd()
    os.chdir("in")
    with h5py.File("a.h5", "r") as file:
        total = float(file[path][...].astype("f8").sum())
    os.chdir(here)
    return total


def check_rules(runs):
    for name in INSIDE:
        runs.answers(expected_sum(name), f"in/a.h5:/{name}")
    for name in OUTSIDE:
        runs.refused("outside the folder of the input", f"in/a.h5:/{name}")
        runs.answers(expected_sum(name), "--allow-external", f"in/a.h5:/{name}")
    for name, reason in REFUSED.items():
        runs.refused(reason, f"in/a.h5:/{name}")
        runs.refused(reason, "--allow-external", f"in/a.h5:/{name}")
    for name in DEVICES:
        runs.refused("outside the folder of the input", f"in/a.h5:/{name}")
        runs.refused("not a regular file", "--allow-external", f"in/a.h5:/{name}")


def check_places(runs):
    """Wherever HDF5 would look, it is looked at before."""
    out = os.path.abspath("out")
    outside = "outside the folder of the input"
    runs.answers(expected_sum("in"), os.path.abspath("in/a.h5") + ":/in")
    runs.refused(outside, "in/a.h5:/in", HDF5_EXT_PREFIX=f"/nowhere:{out}")
    runs.refused(outside, "in/a.h5:/virtual", HDF5_VDS_PREFIX=f"/nowhere:{out}")
    runs.refused(outside, "in/a.h5:/virtual", HDF5_VDS_PREFIX="${ORIGIN}/../out")
    runs.refused(outside, "in/a.h5:/raw", HDF5_EXTFILE_PREFIX=out)
    runs.refused(outside, "in/a.h5:/raw", HDF5_EXTFILE_PREFIX="${ORIGIN}/../out")
    runs.answers(100 * VALUES.sum(), "--allow-external", "in/a.h5:/in", HDF5_EXT_PREFIX=out)
    runs.answers(100 * VALUES.sum(), "--allow-external", "in/a.h5:/virtual", HDF5_VDS_PREFIX="${ORIGIN}/../out")
    runs.answers(10 * VALUES.sum(), "in/a.h5:/virtual", HDF5_VDS_PREFIX="${ORIGIN}/sub")
    # By the name of a symbolic link: HDF5 looks beside that first.
    runs.refused(outside, "out/input.h5:/in")
    os.rename("out/child.h5", "out/hidden.h5")
    runs.answers(expected_sum("in"), "out/input.h5:/in")
    os.rename("out/hidden.h5", "out/child.h5")
    # The current folder is looked at, too.
    os.rename("in/child.h5", "child.h5")
    runs.refused(outside, "in/a.h5:/in")
    runs.refused(outside, "in/a.h5:/virtual")
    os.rename("child.h5", "in/child.h5")
    # More sources than a process may have files open are no fill values.
    with h5py.File("in/many.h5", "w") as file:
        layout = h5py.VirtualLayout((100,), "f8")
        for i in range(100):
            with h5py.File(f"in/sub/{i}.h5", "w") as source:
                source["x"] = np.ones(1)
            layout[i] = h5py.VirtualSource(f"sub/{i}.h5", "x", (1,))[0]
        file.create_virtual_dataset("v", layout)
    runs.answers(100.0, "in/many.h5:/v")
    result = subprocess.run(["sh", "-c", f"ulimit -n 64; exec {runs.tool} in/many.h5:/v"], capture_output=True, text=True,
                            check=False)
    if result.returncode != 1 or "needs in/sub/" not in result.stderr:
        runs.problems.append(f"with too few open files: {result}")


def check_listing_and_output(runs):
    listed = runs.run("--list", "in/a.h5").stdout
    for line in ("virtual_pieces       f64 [6, 4]  virtual", "raw                  f32 [10]  contiguous, in other files"):
        if f"  /{line}\n" not in listed:
            runs.problems.append(f"--list lacks '{line}':\n{listed}")
    explained = runs.run("--explain", "in/a.h5:/virtual").stderr
    if "layout   virtual" not in explained:
        runs.problems.append(f"--explain: {explained}")
    # Scales are looked up in the file that holds the dataset, and may be virtual themselves.
    for name, scale in (("in", "t"), ("located", "where"), ("renamed", None)):
        result = runs.run(f"in/a.h5:/{name}", "--dims", "1" if scale else "0", "-o", f"{name}.h5")
        if result.returncode:
            runs.problems.append(f"-o: {result}")
            continue
        with h5py.File(f"{name}.h5", "r") as file:
            if scale and (list(file[scale][...]) != [1.0, 2.0, 3.0] or file[name].dims[0][0] != file[scale]):
                runs.problems.append(f"-o: the scale of {name} is lost")


def main():
    runs = Runs(os.path.abspath(sys.argv[1]))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make_neighbours()
        with h5py.File("in/a.h5", "w") as file:
            add_links(file)
            add_external(file)
            add_virtuals(file)
        check_rules(runs)
        check_places(runs)
        check_listing_and_output(runs)
        os.chdir("/")
    return tell(runs.problems)


if __name__ == "__main__":
    sys.exit(main())
