#!/usr/bin/python3
"""Compares h5gpured --scan, and results that are written as they come, with NumPy: running.py TOOL [--sanitized]

NDR_TEST_CASES and NDR_TEST_SEED in the environment widen the random part. A sanitizer's own memory would hide how much
the tool takes, so --sanitized leaves that out. Exits 77, which CTest shows as skipped, where h5py is missing.
"""
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

from output import attach, attributes, h5py, make_scale, np, run_checks, text
from problems import case_count

SEED = int(os.environ.get("NDR_TEST_SEED", "1"))
CASES = case_count(120)
OPS = ("sum", "prod", "min", "max", "logsumexp", "any", "all")
DTYPES = ("?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", ">f4", ">i2")
MIB = 1 << 20


# ---- what NumPy makes of it ------------------------------------------------------------------------------------------


def result_dtype(dtype, op):
    dtype = dtype.newbyteorder("=")
    if op in ("sum", "prod"):
        return np.dtype({"b": "u8", "u": "u8", "i": "i8"}.get(dtype.kind, dtype))
    if op in ("any", "all"):
        return np.dtype("?")
    return np.dtype("f8") if op == "logsumexp" and dtype.kind in "biu" else dtype


def nothing(op, dtype):
    if op in ("min", "max"):
        if dtype.kind == "f":
            return np.inf if op == "min" else -np.inf
        if dtype.kind == "b":
            return op == "min"
        return np.iinfo(dtype).max if op == "min" else np.iinfo(dtype).min
    return {"sum": 0, "prod": 1, "logsumexp": -np.inf, "any": False, "all": True}[op]


def combine(op):
    return {"sum": np.add, "prod": np.multiply, "min": np.minimum, "max": np.maximum, "logsumexp": np.logaddexp,
            "any": np.logical_or, "all": np.logical_and}[op]


def running(x, axis, op, exclusive=False, reverse=False, counts=None, marks=False):
    """By the definition. counts: which elements count; marks: places before which none does are NaN."""
    to = result_dtype(x.dtype, op)
    x = np.moveaxis(x, axis, 0)[::-1 if reverse else 1]
    wide = {"f": np.dtype("f8"), "c": np.dtype("c16")}.get(to.kind, to)
    if op in ("any", "all"):
        x = x != 0
    empty = np.asarray(nothing(op, x.dtype if op in ("min", "max") else to)).astype(wide)
    x = x.astype(wide)
    seen = np.zeros(x.shape, bool)
    if counts is not None:
        counts = np.moveaxis(counts, axis, 0)[::-1 if reverse else 1]
        x = np.where(counts, x, empty)
        seen = np.logical_or.accumulate(counts, axis=0)
    with np.errstate(all="ignore"):
        all_of_it = combine(op).accumulate(np.concatenate([np.broadcast_to(empty, (1, *x.shape[1:])), x]), axis=0)
        result = (all_of_it[:-1] if exclusive else all_of_it[1:]).astype(to)
    if marks:
        before = np.concatenate([np.zeros_like(seen[:1]), seen])
        result[~(before[:-1] if exclusive else before[1:])] = np.nan
    return np.moveaxis(result[::-1 if reverse else 1], 0, axis)


def assert_close(found, expected, note):
    """Integers, extremes and small sums are equal; what is rounded on the way may differ in the last bit of the result."""
    assert found.shape == expected.shape, f"{note}: {found.shape}, not {expected.shape}"
    if expected.dtype == "f2":
        assert found.dtype == "f4", f"{note}: {found.dtype}"  # netCDF has no f2
        expected = expected.astype("f4")
    assert found.dtype == expected.dtype or (expected.dtype == "?" and found.dtype == "i1"), f"{note}: {found.dtype}"
    if expected.dtype.kind in "fc":
        rtol = {"f4": 2e-7, "c8": 4e-7, "f8": 1e-13, "c16": 1e-13}[expected.dtype.str[1:]]
        rtol = 2e-3 if note.startswith("f2") else rtol
        np.testing.assert_allclose(found, expected, rtol, rtol, equal_nan=True, err_msg=note)
    else:
        np.testing.assert_array_equal(found, expected, note)


# ---- random scans ----------------------------------------------------------------------------------------------------


def random_values(random, shape, dtype):
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    if dtype.kind in "iu":
        return random.integers(0 if dtype.kind == "u" else -9, 9, shape).astype(dtype)
    values = random.normal(1, 0.3, shape)
    if dtype.kind == "c":
        values = values + 1j * random.normal(0, 0.2, shape)
    return values.astype(dtype)


def random_case(random):
    ndim = int(random.integers(1, 5))
    shape = tuple(int(random.choice([1, 2, 3, 7, 20, 61])) for _ in range(ndim))
    if ndim < 3 and random.random() < 0.5:
        shape = tuple(int(random.integers(200, 3000)) if d == 0 else n for d, n in enumerate(shape))
    op = str(random.choice(OPS))
    dtypes = [d for d in DTYPES if not (np.dtype(d).kind == "c" and op in ("min", "max", "logsumexp"))]
    dtype = str(random.choice(dtypes))
    how = {}
    if random.random() < 0.6:
        how["chunks"] = tuple(int(random.integers(1, n + 1)) for n in shape)
        if random.random() < 0.6:
            how.update(compression=int(random.integers(1, 7)), shuffle=bool(random.random() < 0.5))
        if random.random() < 0.3:
            how["maxshape"] = (None,) + shape[1:]
    return shape, op, dtype, how


def check_random(folder):
    """All operators and dtypes, however they are stored, whole and in many slabs."""
    random = np.random.default_rng(SEED)
    for case in range(CASES):
        shape, op, dtype, how = random_case(random)
        x = random_values(random, shape, dtype)
        nan = x.dtype.kind in "fc" and random.random() < 0.3
        if nan:
            x[random.random(shape) < 0.1] = np.nan
        axis = int(random.integers(len(shape)))
        exclusive, reverse, skip = (bool(n) for n in random.random(3) < 0.4)
        with h5py.File(folder.file("in.h5"), "w") as file:
            file.create_dataset("x", data=x, **how)
        cut = [slice(None)] * len(shape)
        part = ""
        if random.random() < 0.3:
            cut = [slice(int(random.integers(0, n)), n, int(random.integers(1, 3))) for n in shape]
            part = "[" + ",".join(f"{c.start}:{c.stop}:{c.step}" for c in cut) + "]"
        options = ["in.h5:/x" + part, "--scan", op, "-d", str(axis), "--threads", str(random.integers(1, 4)), "--memory",
                   str(random.choice(["600K", "1M", "100M"]))]
        options += ["--exclusive"] * exclusive + ["--reverse"] * reverse + ["--skipna"] * skip
        options += ["--deflate", "1"] * bool(random.random() < 0.3)
        note = f"{dtype} {shape} {how} {options}, case {case}"
        x = x[tuple(cut)]
        counts = ~np.isnan(x) if skip and x.dtype.kind in "fc" else None
        marks = counts is not None and op in ("min", "max")
        if "would do" in folder.run(*options, "-q", "-o", "out.nc", "--overwrite", status=None)[1]:
            options += ["--memory", "100M"]
        with folder.reduce(*options) as out:
            assert_close(out["x"][...], running(x, axis, op, exclusive, reverse, counts, marks), note)
            assert out["x"].maxshape[0] == (None if how.get("maxshape") else x.shape[0]), note


# ---- missing elements ------------------------------------------------------------------------------------------------


def make_missing(folder, dtype="i2", packed=True, chunks=(3, 4, 5)):
    """v(time, lat, lon), of which -99 is missing: one place always, another one at first."""
    random = np.random.default_rng(7)
    v = random.integers(0, 50, (11, 6, 10)).astype(dtype)
    v[random.random(v.shape) < 0.2] = -99
    v[:, 0, 0], v[:4, 1, 1] = -99, -99
    with h5py.File(folder.file("v.nc"), "w") as file:
        data = file.create_dataset("v", data=v, chunks=chunks, compression=1)
        scales = [make_scale(file, "time", np.arange(11.0), units="days since 2001-01-01"),
                  make_scale(file, "lat", np.linspace(-50, 50, 6), units="degrees_north"),
                  make_scale(file, "lon", np.linspace(0, 90, 10), units="degrees_east")]
        attach(data, *scales)
        data.attrs.update({"_FillValue": np.array([-99], dtype), "units": "mm", "long_name": "rain", "cell_methods": "area: mean"})
        if packed:
            data.attrs.update({"scale_factor": 0.5, "add_offset": 10.0})
    counts = v != -99
    return (np.where(counts, v * 0.5 + 10, np.nan) if packed else np.where(counts, v, np.nan).astype("f8")), counts, v


def check_missing(folder):
    """Missing elements change nothing, and where nothing came before results are missing, as those of reductions are."""
    for packed in (True, False):
        x, counts, _ = make_missing(folder, packed=packed)
        for op in ("sum", "min", "prod"):
            for options in ([], ["--exclusive"], ["--reverse"], ["--reverse", "--exclusive"]):
                expected = running(x, 0, op, "--exclusive" in options, "--reverse" in options, counts, True)
                with folder.reduce("v.nc:/v", "--scan", op, "-d", "time", *options) as out:
                    found = out["v"][...]
                    fill = out["v"].attrs["_FillValue"]
                    assert np.isnan(fill) if packed else fill == -99
                    np.testing.assert_allclose(np.where(found == fill, np.nan, found), expected, 1e-13)
        with folder.reduce("v.nc:/v", "--scan", "sum", "-d", "time", "--reverse", "--exclusive") as out:
            assert text(out["v"].attrs["cell_methods"]) == "area: mean time: sum (running from the last, exclusive)"
        with folder.reduce("v.nc:/v", "--op", "sum", "-d", "time") as out:
            total = out["v"][...]
        with folder.reduce("v.nc:/v", "--scan", "sum", "-d", "time") as out:
            np.testing.assert_array_equal(out["v"][-1], total)
            found = attributes(out["v"])
            fill = found.pop("_FillValue")
            assert found == {"units": "mm", "long_name": "rain", "cell_methods": "area: mean time: sum (running)"}, found
            assert [d[0].name for d in out["v"].dims] == ["/time", "/lat", "/lon"] and len(fill) == 1
            assert "--scan sum" in text(out.attrs["history"])
    stored = make_missing(folder)[2]
    with folder.reduce("v.nc:/v", "--scan", "sum", "-d", "time", "--raw") as out:
        np.testing.assert_array_equal(out["v"][...], np.cumsum(stored.astype("i8"), 0))


def check_clash(folder):
    """A result that is equal to the fill value is not taken for missing: NaN is the mark then."""
    x = np.array([[1, 2, -99], [-100, 5, 1], [1, -99, 3]], "f4")
    with h5py.File(folder.file("clash.nc"), "w") as file:
        data = file.create_dataset("v", data=x)
        data.attrs["_FillValue"] = np.array([-99], "f4")
        attach(data, make_scale(file, "t", np.arange(3.0)), make_scale(file, "x", np.arange(3.0)))
    with folder.reduce("clash.nc:/v", "--scan", "sum", "-d", "t") as out:
        assert np.isnan(out["v"].attrs["_FillValue"])
        np.testing.assert_array_equal(out["v"][...], [[1, 2, np.nan], [-99, 7, 1], [-98, 7, 4]])


def check_where(folder):
    """A condition, and a mask: elements that they leave out change nothing."""
    x, counts, _ = make_missing(folder)
    with h5py.File(folder.file("v.nc"), "a") as file:
        land = (np.arange(60).reshape(6, 10) % 3 > 0).astype("i1")
        attach(file.create_dataset("land", data=land), file["lat"], file["lon"])
    for where, kept in (("x > 20", x > 20), ("/land", np.broadcast_to(land > 0, x.shape))):
        expected = running(x, 0, "sum", counts=counts & kept, marks=True)
        with folder.reduce("v.nc:/v", "--scan", "sum", "-d", "time", "--where", where, "--memory", "1M") as out:
            np.testing.assert_allclose(out["v"][...], expected, 1e-13)
            methods = text(out["v"].attrs["cell_methods"])
            assert methods == f"area: mean time: sum (running, where {where})", methods
    with h5py.File(folder.file("i.h5"), "w") as file:
        file["x"] = np.arange(-5, 5, dtype="i2")
    with folder.reduce("i.h5:/x", "--scan", "max", "-d", "0", "--where", "x < 2 && x != 0") as out:
        assert out["x"].dtype == "i2" and out["x"][...].tolist() == [-5, -4, -3, -2, -1, -1, 1, 1, 1, 1]


# ---- other inputs ----------------------------------------------------------------------------------------------------


def check_series(folder):
    """Files that follow each other along the scanned dim, forwards and backwards, or along another, or stacked."""
    random = np.random.default_rng(3)
    parts = [random.integers(0, 99, (n, 5, 40)).astype("f4") for n in (7, 1, 12)]
    names = []
    for i, part in enumerate(parts):
        names.append(f"p{i}.nc:/x")
        with h5py.File(folder.file(f"p{i}.nc"), "w") as file:
            data = file.create_dataset("x", data=part, chunks=(min(1 + i, len(part)), 5, 8))
            start = sum(len(p) for p in parts[:i])
            attach(data, make_scale(file, "t", start + np.arange(float(len(part))), units="days since 2001-01-01"),
                   make_scale(file, "y", np.arange(5.0)), make_scale(file, "x_", np.arange(40.0)))
    x = np.concatenate(parts)
    for options in ([], ["--reverse"], ["--reverse", "--exclusive"]):
        for dim, axis in (("t", 0), ("x_", 2)):
            for memory in ("300K", "100M"):
                with folder.reduce("--concat", "t", *names, "--scan", "sum", "-d", dim, "--memory", memory, *options) as out:
                    expected = running(x, axis, "sum", "--exclusive" in options, "--reverse" in options)
                    np.testing.assert_array_equal(out["x"][...], expected, f"{options} {dim} {memory}")
                    assert len(out["t"]) == 20
    with folder.reduce("--concat", "new:member", names[0], names[0], "--scan", "sum", "-d", "member") as out:
        np.testing.assert_array_equal(out["x"][...], np.cumsum([parts[0], parts[0]], 0))
    with folder.reduce("p0.nc:/x[2:6, 1:4, 3::7]", "--scan", "sum", "-d", "t") as out:
        np.testing.assert_array_equal(out["x"][...], np.cumsum(parts[0][2:6, 1:4, 3::7], 0))
    with folder.reduce("p0.nc:/x", "--select", "t=2001-01-03:2001-01-06", "--scan", "sum", "-d", "t") as out:
        np.testing.assert_array_equal(out["x"][...], np.cumsum(parts[0][2:6], 0))


def check_whole_file(folder):
    """All variables that have the dim; those that have not are copied."""
    x, counts, _ = make_missing(folder)
    with h5py.File(folder.file("v.nc"), "a") as file:
        attach(file.create_dataset("w", data=np.arange(66, dtype="f8").reshape(11, 6)), file["time"], file["lat"])
        attach(file.create_dataset("orog", data=np.ones((6, 10))), file["lat"], file["lon"])
    with folder.reduce("v.nc", "--scan", "sum", "-d", "time") as out:
        np.testing.assert_allclose(out["v"][...], running(x, 0, "sum", counts=counts, marks=True), 1e-13)
        np.testing.assert_array_equal(out["w"][...], np.cumsum(np.arange(66.0).reshape(11, 6), 0))
        assert out["orog"][...].all() and out["orog"].shape == (6, 10)


def check_printed(folder):
    """Without -o, and in other formats, results are held in memory."""
    with h5py.File(folder.file("a.h5"), "w") as file:
        file["x"] = np.arange(6, dtype="i4").reshape(2, 3)
    found = json.loads(folder.run("a.h5:/x", "--scan", "sum", "-d", "1", "--json")[0])
    assert found["data"] == [0, 1, 3, 3, 7, 12] and found["running"] and found["dims"] == [1] and found["shape"] == [2, 3]
    assert folder.run("a.h5:/x", "--scan", "sum", "-d", "-1", "--format", "csv")[0].decode().splitlines()[-1] == "1,2,12"
    folder.run("a.h5:/x", "--scan", "max", "-d", "0", "--reverse", "-q", "-o", "a.npy")
    assert np.load(folder.file("a.npy")).tolist() == [[3, 4, 5], [3, 4, 5]]
    said = folder.run("a.h5:/x", "--scan", "sum", "-d", "1", "-o", "b.nc", "--explain")
    assert b"running sum of a.h5:/x along dim 1" in said[0] and "files are scanned by the CPU" in said[1], said
    found = json.loads(folder.run("a.h5:/x", "--scan", "sum", "-d", "1", "--reverse", "--json")[0])
    assert found["reverse"] is True and found["exclusive"] is False, found
    said = folder.run("a.h5:/x", "--scan", "sum", "-d", "1", "-o", "c.nc", "--reverse", "--exclusive")
    assert said[0].endswith(b"running sum of a.h5:/x along dim 1 from the last, exclusive\n"), said


def check_times(folder):
    """--explain tells how long writing took from how long scanning took; the two are no more than all of it."""
    with h5py.File(folder.file("long.h5"), "w") as file:
        file["x"] = np.arange(6 * MIB, dtype="f4").reshape(6, 1024, 1024)
    said = folder.run("long.h5:/x", "--scan", "sum", "-d", "0", "-o", "long.nc", "--threads", "1", "--explain")[1]
    whole, scanning, writing = (float(re.search(stage + r" +([0-9.]+) s \(", said)[1]) for stage in ("time", "scanning", "writing"))
    assert writing > 0 and scanning > 0 and scanning + writing <= whole + 0.0015, said


def check_empty(folder):
    with h5py.File(folder.file("e.h5"), "w") as file:
        file["x"] = np.zeros((3, 0, 2), "f4")
        file["s"] = np.float32(1)
    for dim in "01":
        with folder.reduce("e.h5:/x", "--scan", "min", "-d", dim) as out:
            assert out["x"].shape == (3, 0, 2)
    errors = folder.run("e.h5:/s", "--scan", "sum", "-d", "0", status=1)[1]
    assert errors == "h5gpured: e.h5:/s: has no dim 0: it is a single element, without dims\n", errors


def check_mistakes(folder):
    with h5py.File(folder.file("a.h5"), "w") as file:
        file["x"] = np.arange(6, dtype="i4").reshape(2, 3)
        file["c"] = np.zeros((2, 3), "c8")
    for arguments, status, reason in (
            (("--scan", "mean", "-d", "0"), 2, "--scan takes sum, prod, min, max, logsumexp, any or all, not 'mean'"),
            (("--scan", "m(x): s += x -> s", "-d", "0"), 2, "--scan 'm(x): s += x -> s': files are scanned by built-in operators only"),
            (("--scan", "sum"), 2, "--scan goes along one dim: --dims DIM names it"),
            (("--scan", "sum", "-d", "0,1"), 2, "--scan goes along one dim: --dims DIM names it"),
            (("--scan", "sum", "-d", "0", "--op", "max"), 2, "--scan and --op do not go together"),
            (("--scan", "sum", "-d", "0", "--weights", "0"), 2, "--scan and --weights do not go together"),
            (("--scan", "sum", "--by", "0:/x", "-d", "0"), 2, "--scan and --by do not go together"),
            (("--reverse",), 2, "--reverse needs --scan"), (("--exclusive",), 2, "--exclusive needs --scan"),
            (("--scan", "sum", "-d", "0", "--json", "-o", "o.nc"), 2, "--scan writes its results as they come, without --json beside --output")):
        errors = folder.run("a.h5:/x", *arguments, status=status)[1]
        assert errors == f"h5gpured: {reason} (see h5gpured --help)\n", errors
    errors = folder.run("a.h5:/c", "--scan", "min", "-d", "0", status=1)[1]
    assert errors.startswith("h5gpured: a.h5:/c: ") and errors.count("\n") == 1, errors
    errors = folder.run("a.h5:/x", "--scan", "min", "-d", "2", status=1)[1]
    assert errors.startswith("h5gpured: a.h5:/x: ") and errors.count("\n") == 1, errors


# ---- results larger than memory ---------------------------------------------------------------------------------------


def make_large(folder, chunks, mib=300, **how):
    steps = mib * MIB // (256 * 400 * 4)
    with h5py.File(folder.file("large.h5"), "w") as file:
        x = file.create_dataset("x", (steps, 256, 400), "f4", chunks=chunks, **how)
        for t in range(steps):
            x[t] = np.arange(256 * 400, dtype="f4").reshape(256, 400) % 97 + t
    return steps


def peak(folder, *arguments):
    """The most memory that a run takes."""
    folder.run(*arguments, "-q", "-o", "out.nc", "--overwrite")
    code = "import os, resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    found = subprocess.run([sys.executable, "-c", code, folder.tool, *arguments, "-q", "-o", "out.nc", "--overwrite"],
                           cwd=folder.path, check=True, capture_output=True, text=True)
    return int(found.stdout) * 1024


def check_peak_memory(folder):
    """300 MiB of results in 32 MiB, and what the libraries take; of scans, and of reductions with as many results."""
    for chunks, how in ((None, {}), ((1, 256, 400), {}), ((8, 64, 100), {"compression": 1, "shuffle": True})):
        steps = make_large(folder, chunks, **how)
        base = np.arange(256 * 400, dtype="f8").reshape(256, 400) % 97
        used = peak(folder, "large.h5:/x", "--scan", "sum", "-d", "0", "--memory", "32M")
        assert used < 72 * MIB, f"{chunks}: {used / MIB:.0f} MiB"
        with h5py.File(folder.file("out.nc")) as out:
            for t in (0, 1, steps // 2, steps - 1):
                np.testing.assert_array_equal(out["x"][t], ((t + 1) * base + t * (t + 1) / 2).astype("f4"))
        used = peak(folder, "--concat", "new:member", "large.h5:/x", "large.h5:/x", "--op", "mean,max", "-d", "member", "--memory", "32M")
        assert used < 72 * MIB, f"{chunks}: {used / MIB:.0f} MiB"
        with h5py.File(folder.file("out.nc")) as out:
            for t in (0, steps // 2, steps - 1):
                np.testing.assert_array_equal(out["x_mean"][t], base.astype("f4") + t)
                np.testing.assert_array_equal(out["x_max"][t], base.astype("f4") + t)
    # A part that begins within chunks: those of the output are completed by several slabs.
    used = peak(folder, "large.h5:/x[3:120,10:,30:]", "--scan", "sum", "-d", "0", "--memory", "32M")
    assert used < 72 * MIB, f"{used / MIB:.0f} MiB"
    with h5py.File(folder.file("out.nc")) as out, h5py.File(folder.file("large.h5")) as file:
        np.testing.assert_array_equal(out["x"][-1], file["x"][3:120, 10:, 30:].sum(0, "f8").astype("f4"))


def check_same_when_streamed(folder):
    """A reduction writes the same numbers and attributes, in memory or as they come: kept dims, groups, and fill."""
    random = np.random.default_rng(5)
    x = random.integers(0, 99, (12, 60, 200)).astype("f4")
    x[random.random(x.shape) < 0.3] = -99
    x[:, 3] = -99
    with h5py.File(folder.file("r.nc"), "w") as file:
        data = file.create_dataset("x", data=x, chunks=(4, 7, 50), compression=1, maxshape=(None, 60, 200))
        data.attrs.update({"_FillValue": np.array([-99], "f4"), "units": "m"})
        attach(data, make_scale(file, "t", np.arange(12) * 31.0, units="days since 2001-01-01"), make_scale(file, "y", np.arange(60.0)),
               make_scale(file, "z", np.arange(200.0)))
    for options in (["-d", "t"], ["-d", "t", "--keepdims"], ["--by", "t:season"], ["--coarsen", "t=5,pad"], ["-d", "y"],
                    ["--coarsen", "y=2,z=4,trim"]):
        arguments = ("r.nc:/x", "--op", "mean,sum,argmax", *options)
        with folder.reduce(*arguments) as out:
            whole = {name: (out[name][...], attributes(out[name]), out[name].maxshape) for name in out}
        with folder.reduce(*arguments, "--memory", "700K") as out:
            assert set(out) == set(whole), f"{options}: {set(out) ^ set(whole)}"
            for name, (values, described, most) in whole.items():
                np.testing.assert_array_equal(out[name][...], values, f"{options} {name}")
                assert attributes(out[name]) == described and out[name].maxshape == most, f"{options} {name}"


# ---- all or nothing ---------------------------------------------------------------------------------------------------


def assert_nothing(folder, note):
    """The older output is there, and no temporary file."""
    with open(folder.file("old.nc"), "rb") as file:
        assert file.read() == b"what was there", note
    assert not [name for name in os.listdir(folder.path) if name.startswith(".ndreduce")], note


def check_all_or_nothing(folder):
    """Signals, and disks that are full, at any time."""
    make_large(folder, None, 100)
    command = [folder.tool, "large.h5:/x", "--scan", "sum", "-d", "0", "--memory", "16M", "-q", "-o", "old.nc", "--overwrite"]
    with open(folder.file("old.nc"), "wb") as file:
        file.write(b"what was there")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for delay in (0.02, 0.06, 0.1):
            process = subprocess.Popen(command, cwd=folder.path, stderr=subprocess.DEVNULL)
            time.sleep(delay)
            process.send_signal(number)
            if process.wait(timeout=60) == 0:
                os.unlink(folder.file("old.nc"))
                with open(folder.file("old.nc"), "wb") as file:
                    file.write(b"what was there")
            else:
                assert process.returncode == -number, process.returncode
            assert_nothing(folder, f"signal {number} after {delay} s")
    for limit in (0, 4096, MIB, 50 * MIB, 99 * MIB, 100 * MIB):
        def full(limit=limit):
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        found = subprocess.run(command, cwd=folder.path, capture_output=True, text=True, preexec_fn=full)
        assert found.returncode == 1 and found.stderr.count("\n") == 1 and "File too large" in found.stderr, f"{limit}: {found}"
        assert_nothing(folder, f"limit {limit}")


def check_space(folder):
    """What no disk takes is refused at once, unless it is compressed, which may make it fit; nothing is left behind."""
    with h5py.File(folder.file("vast.h5"), "w") as file:
        file.create_dataset("x", (1 << 40, 1 << 12), "f8", chunks=(1 << 5, 1 << 12))
    with open(folder.file("old.nc"), "wb") as file:
        file.write(b"what was there")
    arguments = ("vast.h5:/x", "--scan", "sum", "-d", "1", "--memory", "16M", "-o", "old.nc", "--overwrite")
    for more in ((), ("--deflate", "0")):
        errors = folder.run(*arguments, *more, status=1)[1]
        assert re.fullmatch("h5gpured: (.*/)?old.nc: the results need 36028797018963968 bytes on disk, of which [0-9]+ are left; "
                            "compressed they may fit\n", errors), errors
        assert_nothing(folder, more)
    process = subprocess.Popen([folder.tool, *arguments, "--deflate", "1", "-q"], cwd=folder.path, stderr=subprocess.PIPE)
    time.sleep(1)
    process.terminate()
    assert process.wait(timeout=60) == -signal.SIGTERM, process.stderr.read()
    assert_nothing(folder, "compressed")


CHECKS = [check_random, check_missing, check_clash, check_where, check_series, check_whole_file, check_printed, check_times, check_empty, check_mistakes,
          check_same_when_streamed, check_all_or_nothing, check_space]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS + [check_peak_memory] * ("--sanitized" not in sys.argv)))
