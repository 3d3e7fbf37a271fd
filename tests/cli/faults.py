#!/usr/bin/env python3
"""Every call that can fail made to fail: faults.py TOOL LIBRARY [RUN...]

LIBRARY is what tests/faults.c makes; it is preloaded. Each run is made once to count its calls and then, for each class,
with the k-th one failing: for every k where NDREDUCE_FAULTS=all is set, else for about MOST of them. A run must end with
status 0 and give what the undisturbed one gives, or with status 1 and one line of error, the old output untouched. Where
memory ran out, the line says so. Nothing is left in the folder of the output, in memory, or open in HDF5.
"""
import concurrent.futures
import os
import resource
import signal
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

MOST, SECONDS = 12, 30
ALL = os.environ.get("NDREDUCE_FAULTS") == "all"
OLD = b"what was there before"
OUTPUT = ["-o", "out", "--overwrite"]
RUNS = {
    "chunks": ["chunks.h5:/a", "--dims", "0", "--op", "mean,max", *OUTPUT],
    "file": ["file.h5:/a", "--dims", "time"],
    "packed": ["packed.h5:/a", "--dims", "0", "--op", "mean,valid"],
    "missing": ["packed.h5:/floats", "--dims", "1", *OUTPUT],
    "concat": ["file.h5:/a", "more.h5:/a", "--concat", "time", "--dims", "time"],
    "cut": ["file.h5:/a[1:,::2]", "more.h5:/a[:2,::2]", "--concat", "time", "--dims", "2", *OUTPUT],
    "shared": ["file.h5:/a", "like.h5:/b[:2]", "--dims", "2", "--op", "max", *OUTPUT],
    "weights": ["file.h5:/a", "--weights", "lat:cos", "--op", "mean"],
    "beside": ["file.h5:/a", "--weights", "/time", "--op", "mean"],
    "stack": ["file.h5:/a", "like.h5:/b", "--concat", "new:run", "--dims", "time", *OUTPUT],
    "members": ["member.h5", "other.h5", "--concat", "new:m", "--dims", "m", "--op", "mean", *OUTPUT],
    "files": ["?ore.h5:/a", "--dims", "time", "--weights", "lat:cos", "--op", "mean"],
    "part": ["file.h5:/a[1:3, lat=-50:50]", "--weights", "/zones", "--op", "mean", *OUTPUT],
    "zones": ["file.h5:/a[1:3]", "--by", "time,lat:/zones", "--op", "sum", *OUTPUT],
    "boxes": ["file.h5:/a", "--coarsen", "time=2,lat=4,pad", "--weights", "lat:cos,time:days", "--op", "mean", *OUTPUT],
    "scan": ["file.h5:/a", "--scan", "max", "--dims", "time", *OUTPUT],
    "spilled": ["chunks.h5:/a", "--scan", "sum", "--dims", "1", "--memory", "1400K", *OUTPUT],
    "streamed": ["chunks.h5:/a", "--op", "mean", "--coarsen", "0=1", "--memory", "1M", *OUTPUT],
    "csv": ["file.h5:/a", "--dims", "time", "--format", "csv", *OUTPUT],
    "coords": ["file.h5:/a", "--dims", "0", "--op", "argmax", "--coords", *OUTPUT],
    "texts": ["texts.h5:/a", "--dims", "1", *OUTPUT],
    "library": ["elsewhere.h5:/library", "--dims", "0"],
    "virtual": ["elsewhere.h5:/virtual", "--dims", "0"],
    "external": ["elsewhere.h5:/external", "--dims", "0"],
    "list": ["--list", "kinds.h5"],
    "whole": ["file.h5", "--dims", "time", *OUTPUT],
    "joined": ["file.h5:/{a,zones}", "more.h5:/{a,zones}", "--concat", "time", "--dims", "time", "--json"],
    "pattern": ["file.h5:/{a,?}", "--dims", "lat", "--op", "max", *OUTPUT],
}
# A function of HDF5 that crashes in a run, and what is said then: nothing of the input once an output is being made.
READING, WRITING = "crashed on it: the file is malformed", "crashed while results were written to it: there is a bug"
CRASHES = [
    ("list", "H5Fopen", f"kinds.h5: {READING}"),
    ("list", "H5Dget_type", f"kinds.h5: {READING}"),
    ("chunks", "H5Fopen", f"chunks.h5:/a: {READING}"),
    ("library", "H5Dread", f"elsewhere.h5:/library: {READING}"),
    ("chunks", "H5Fcreate", f"out: {WRITING}"),
    ("chunks", "H5Dcreate2", f"out: {WRITING}"),
    ("chunks", "H5Dwrite", f"out: {WRITING}"),
    ("shared", "H5Rcreate", f"out: {WRITING}"),
    ("chunks", "H5Fflush", f"out: {WRITING}"),
    ("chunks", "H5Fget_file_image", f"out: {WRITING}"),
]
KINDS = ("memory", "hdf5", "read", "open", "write", "sync", "name", "thread")
HARMLESS, LISTED = {"thread"}, {"hdf5", "read"}


def scaled(file, name, values, **units):
    file[name] = values
    file[name].make_scale(name)
    file[name].attrs.update(units)


def make_gridded(path, first):
    with h5py.File(path, "w") as file:
        data = file.create_dataset("a", data=numpy.arange(4 * 6 * 8, dtype="f4").reshape(4, 6, 8) + first)
        scaled(file, "time", numpy.arange(4.0) + first, units="days since 2001-01-01", climatology="days")
        scaled(file, "lat", numpy.linspace(-75, 75, 6), units="degrees_north")
        data.dims[0].attach_scale(file["time"])
        data.dims[1].attach_scale(file["lat"])
        file["station"] = numpy.array(list("abcdef"), h5py.string_dtype())
        file["station"].dims[0].attach_scale(file["lat"])
        file["crs"] = 0
        file["edges"] = numpy.zeros((6, 2))
        scaled(file, "nv", numpy.zeros(2))
        file["edges"].dims[0].attach_scale(file["lat"])
        file["edges"].dims[1].attach_scale(file["nv"])
        file["lat"].attrs["bounds"] = "edges"
        file["days"] = numpy.arange(8.0).reshape(4, 2) + first
        for dim, scale in enumerate(("time", "nv")):
            file["days"].dims[dim].attach_scale(file[scale])
        file["zones"] = numpy.arange(24, dtype="i2").reshape(4, 6) % 5
        for dim, scale in enumerate(("time", "lat")):
            file["zones"].dims[dim].attach_scale(file[scale])
        file["run"] = numpy.int32(first)
        file["run"].attrs["standard_name"] = "realization"
        file["days"].attrs.update({"units": "days since 2001-01-01", "_FillValue": -1.0})
        data.attrs.update({"units": "K", "coordinates": "station run", "grid_mapping": "crs", "cell_methods": "area: mean"})
        file.attrs.update({"history": "made", "title": "a title"})


def make_inputs(folder):
    make_gridded(os.path.join(folder, "file.h5"), 0)
    make_gridded(os.path.join(folder, "more.h5"), 4)
    make_gridded(os.path.join(folder, "like.h5"), 0)
    with h5py.File(os.path.join(folder, "like.h5"), "r+") as file:
        file.move("a", "b")
    for first, name in enumerate(("member.h5", "other.h5")):
        with h5py.File(os.path.join(folder, name), "w") as file:
            scaled(file, "time", numpy.arange(4.0), units="days since 2001-01-01")
            scaled(file, "lat", numpy.arange(3.0), units="degrees_north")
            for made, values, scales in (("a", numpy.ones((4, 3)) * first, ("time", "lat")), ("days", numpy.arange(4.0), ("time",)),
                                         ("area", numpy.arange(3.0), ("lat",))):
                file[made] = values
                for dim, scale in enumerate(scales):
                    file[made].dims[dim].attach_scale(file[scale])
    with h5py.File(os.path.join(folder, "chunks.h5"), "w") as file:
        file.create_dataset("a", data=numpy.arange(12 * 40 * 50, dtype="i2").reshape(12, 40, 50), chunks=(5, 16, 50),
                            compression="gzip", shuffle=True)
    with h5py.File(os.path.join(folder, "packed.h5"), "w") as file:
        data = file.create_dataset("a", data=numpy.arange(-60, 60, dtype=">i2").reshape(6, 20), chunks=(4, 20))
        data.attrs.update(_FillValue=numpy.int16(-3), missing_value=numpy.int16(5), valid_range=numpy.int16([-50, 50]),
                          scale_factor=0.5, add_offset=10.0)
        file["floats"] = numpy.array([[1, 1e20], [1e20, 1e20]], "f4")
        file["floats"].attrs["_FillValue"] = numpy.float32(1e20)
    with h5py.File(os.path.join(folder, "texts.h5"), "w") as file:
        scaled(file, "who", numpy.array(["a", "bc"], h5py.string_dtype()))
        file["a"] = numpy.ones((2, 3))
        file["a"].dims[0].attach_scale(file["who"])
    with h5py.File(os.path.join(folder, "elsewhere.h5"), "w") as file:
        values = numpy.arange(48.0).reshape(6, 8)
        file.create_dataset("library", data=values.astype("i4"), chunks=(4, 8), scaleoffset=0)
        layout = h5py.VirtualLayout((4, 6, 8), "f4")
        layout[...] = h5py.VirtualSource("file.h5", "a", (4, 6, 8))
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("external", values.shape, values.dtype, external=[("raw", 0, values.nbytes)])
        values.tofile(os.path.join(folder, "raw"))
    with h5py.File(os.path.join(folder, "kinds.h5"), "w") as file:
        file["truth"] = numpy.array([True, False])
        file["complex"] = numpy.zeros((2, 3), "c8")
        file.create_dataset("group/half", (5,), "f2", chunks=(2,), compression="gzip")
        file["text"] = "a text"
        file["pairs"] = numpy.zeros(3, "i4,f8")


class Runner:
    def __init__(self, tool, library, inputs):
        self.tool, self.library, self.inputs = tool, library, inputs

    def run(self, arguments, before=None, **faults):
        """(status, stdout, stderr, content of the output, other names beside it, report)"""
        with tempfile.TemporaryDirectory() as folder:
            for name in os.listdir(self.inputs):
                os.symlink(os.path.join(self.inputs, name), os.path.join(folder, name))
            known = {"out", *os.listdir(folder)}
            with open(os.path.join(folder, "out"), "wb") as file:
                file.write(OLD)
            with tempfile.NamedTemporaryFile("r") as report:
                environment = dict(os.environ, LD_PRELOAD=self.library, FAULTS_REPORT=report.name, SOURCE_DATE_EPOCH="0",
                                   OMP_NUM_THREADS="2", **faults)
                try:
                    result = subprocess.run([self.tool, *arguments], cwd=folder, env=environment, capture_output=True,
                                            timeout=SECONDS, preexec_fn=before)
                except subprocess.TimeoutExpired:
                    return None, b"", b"", b"", [], {}
                counts = dict(line.split() for line in report)
            with open(os.path.join(folder, "out"), "rb") as file:
                content = file.read()
            others = [name for name in os.listdir(folder) if name not in known]
            return result.returncode, result.stdout, result.stderr.decode(), content, others, counts


def says_so(out, good):
    """Whether a listing gives the reason where it is not what it should be."""
    said, meant = out.splitlines(), good.splitlines()
    failed = [line.split()[0] for line in said if b" cannot be " in line]
    return (good.startswith(b"kinds.h5\n") and all(line in meant or b" cannot be " in line for line in said) and
            all(line in said or line.split()[0].split(b".")[0] in failed or line.split()[0] in failed for line in meant))


def what_is_wrong(end, good, kind):
    """In words; "" if nothing."""
    status, out, errors, content, others, counts = end
    lines = errors.splitlines()
    if status is None:
        return f"not done after {SECONDS} s"
    if status < 0:
        return signal.Signals(-status).name
    if status not in (0, 1) or len(lines) != status:
        return f"status {status}, errors {lines}"
    if "crashed" in errors:
        return errors
    if others:
        return f"left {others}"
    if counts["blocks"] != "0" or counts["handles"] != "0":
        return f"status {status}, not freed: {counts['blocks']} blocks, {counts['handles']} handles: {errors}"
    if status and kind in HARMLESS:
        return f"not harmless: {errors}"
    if status and kind == "memory" and "memory" not in errors:
        return f"does not say that memory ran out: {errors}"
    if status and content not in (OLD, good[3]):
        return "failed, and the old output is gone"
    if status == 0 and kind in LISTED and says_so(out, good[1]):
        return ""
    if status == 0 and (out, content) != (good[1], good[3]):
        return f"succeeded, but gave something else: {out if out != good[1] else 'the output'}"
    return ""


def check_crashes(runner, problems):
    """One line each. The second time files without names cannot be made, and none with a name is left."""
    for name, function, words in CRASHES:
        for faults in ({}, {"FAULTS_CLASS": "open", "FAULTS_CALL": "1"} if name != "list" and "out" in words else {}):
            status, out, errors, content, others, _ = runner.run(RUNS[name], FAULTS_CRASH=function, **faults)
            if status != 1 or out or errors.count("\n") != 1 or not errors.startswith(f"h5gpured: {words}"):
                problems.append(f"{name}, {function} crashes: status {status}: {errors}")
            if others or content != OLD:
                problems.append(f"{name}, {function} crashes: left {others}, old output kept: {content == OLD}")


def check_crashes_under_a_limit(runner, problems):
    """Where little memory may be had, that may be why."""
    def limited(bytes, kind):
        return lambda: resource.setrlimit(kind, (bytes, resource.RLIM_INFINITY))
    for kind, option in ((resource.RLIMIT_AS, "-v"), (resource.RLIMIT_DATA, "-d")):
        for size, said in ((512 << 20, f"memory may have run out, which ulimit {option} keeps to 524288 KiB; else "), (64 << 30, "")):
            errors = runner.run(RUNS["library"], limited(size, kind), FAULTS_CRASH="H5Dread")[2]
            if not errors.startswith(f"h5gpured: elsewhere.h5:/library: crashed on it: {said}the file is malformed"):
                problems.append(f"a crash under ulimit {option} {size >> 10}: {errors}")


def chosen(count):
    if ALL or count <= MOST:
        return range(1, count + 1)
    return sorted({1 + i * (count - 1) // (MOST - 1) for i in range(MOST)})


def main():
    runner_paths, problems, refused, jobs = [os.path.abspath(path) for path in sys.argv[1:3]], [], set(), []
    with tempfile.TemporaryDirectory() as inputs, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        make_inputs(inputs)
        runner = Runner(*runner_paths, inputs)
        check_crashes(runner, problems)
        check_crashes_under_a_limit(runner, problems)
        for name in sys.argv[3:] or RUNS:
            good = runner.run(RUNS[name])
            if good[0] or good[2]:
                problems.append(f"{name}, undisturbed: status {good[0]}: {good[2]}")
                continue
            counts = {kind: int(good[5][kind]) for kind in KINDS}
            print(name, *(f"{kind} {count}" for kind, count in counts.items()))
            jobs += [(name, kind, k, good, pool.submit(runner.run, RUNS[name], FAULTS_CLASS=kind, FAULTS_CALL=str(k)))
                     for kind, count in counts.items() for k in chosen(count)]
        for name, kind, k, good, job in jobs:
            end = job.result()
            wrong = what_is_wrong(end, good, kind)
            if wrong:
                problems.append(f"{name}, {kind} {k}, {end[5].get('failed')}: {wrong.strip()}")
            if end[0] == 1:
                refused.add(kind)
    if not sys.argv[3:] and refused != set(KINDS) - HARMLESS:
        problems.append(f"only these made a run fail: {sorted(refused)}")
    print(*problems, sep="\n")
    print(f"{len(jobs)} runs, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
