#!/usr/bin/python3
"""Arrays without elements, under every option of h5gpured: empty.py TOOL

Files without records yet, dims of size 0 and parts without elements, in every layout: what has a value without elements
is what NumPy says, all else is refused in one line, and no memory is touched that is not there (the sanitized build
says so by ending the tool with another status).
"""
import io
import itertools
import json
import sys
import warnings

from output import attach, h5py, make_scale, np, run_checks
from problems import share_of

FULL = (4, 3, 5)
DIMS = ("time", "lat", "lon")
LAYOUTS = {
    "contiguous": {},
    "chunked": {"chunks": (2, 3, 2), "maxshape": (None, None, None)},
    "deflate": {"chunks": (2, 2, 5), "maxshape": (None, None, None), "compression": "gzip", "shuffle": True},
    "library": {"chunks": (3, 2, 5), "maxshape": (None, None, None), "scaleoffset": 0},
}
OPTIONS = ([], ["-k"], ["--skipna"], ["-t", "1"], ["-t", "3"], ["--memory", "1M"], ["--explain"], ["--raw"], ["--progress"],
           ["--no-plugins"], ["--allow-external"], ["--device", "cpu"], ["-q"])
WITHOUT = {"sum": np.sum, "mean": np.mean, "valid": lambda x, axis, keepdims: np.ones(x.shape).sum(axis, keepdims=keepdims)}


def make(path, shape):
    """One dataset of a shape for each layout, in f4 and as packed i2; coordinates and an area."""
    with h5py.File(path, "w") as file:
        scales = [make_scale(file, name, np.linspace(10, 70, size), units=units) for name, size, units in
                  zip(DIMS, shape, ("days since 2001-01-01", "degrees_north", "degrees_east"))]
        for layout, options in LAYOUTS.items():
            for dtype in ("f4", "i2"):
                item = file.create_dataset(f"{layout}_{dtype}", data=np.ones(shape, dtype), **options)
                attach(item, *scales)
                if dtype == "i2":
                    item.attrs.update(scale_factor=0.5, _FillValue=np.int16(-9))
        attach(file.create_dataset("never", shape, "f4"), *scales)
        file["area"] = np.ones(shape[1:])
        attach(file["area"], *scales[1:])


def names():
    return [f"{layout}_{dtype}" for layout in LAYOUTS for dtype in ("f4", "i2")] + ["never"]


def zero_shapes():
    """FULL with some of its sizes 0, one at least."""
    return [tuple(0 if gone else size for size, gone in zip(FULL, which))
            for which in itertools.product((True, False), repeat=3) if any(which)]


def reductions():
    return [axes for count in range(1, 4) for axes in itertools.combinations(range(3), count)]


def values_of(folder, arguments):
    """The results as NumPy arrays, in the order of the operators."""
    written, _ = folder.run(*arguments, "--json")
    lines = [json.loads(line) for line in written.decode().splitlines()]
    return [np.array([np.nan if value is None else value for value in line["data"]], float).reshape(line["shape"])
            for line in lines]


def check_values(folder, source, shape, axes, *options):
    arguments = (source, "-d", ",".join(map(str, axes)), "--op", ",".join(WITHOUT), *options)
    found = values_of(folder, arguments)
    with np.errstate(all="ignore"):
        wanted = [WITHOUT[op](np.ones(shape), axis=axes, keepdims="-k" in options) for op in WITHOUT]
    for op, one, other in zip(WITHOUT, found, wanted):
        assert one.shape == other.shape and np.array_equal(one, other, equal_nan=True), f"{arguments} {op}: {one}, not {other}"


def run_quietly(folder, *arguments):
    """Done or refused in one line."""
    for status in (0, 1):
        try:
            written, errors = folder.run(*arguments, status=status)
            break
        except AssertionError:
            if status:
                raise
    assert status == 0 or errors.count("\n") == 1, f"{arguments}: {errors}"
    assert "malformed" not in errors, f"{arguments}: {errors}"
    return status, written


def quietly(compute):
    """Without NumPy's warnings on means of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compute()


def check_files_of_every_shape(folder):
    """Every shape with a 0, in every layout, over all dims in turn, plain and weighted."""
    for turn, shape in enumerate(zero_shapes()):
        make(folder.file("in.nc"), shape)
        for i, (name, axes) in share_of(enumerate(itertools.product(names()[shape[2] == 0::2], reductions())), turn):
            extra = ([], ["--weights", "lat:cos"], ["--weights", "lon"], ["--weights", "/area"])[i % 4]
            quietly(lambda: check_values(folder, f"in.nc:/{name}", shape, axes, *extra))


def check_parts_of_every_dim(folder):
    """Parts without elements of a file that has some."""
    make(folder.file("in.nc"), FULL)
    for i, shape in enumerate(zero_shapes()):
        part = "[" + ",".join("1:1" if size == 0 else ":" for size in shape) + "]"
        area = "/area[" + ",".join("1:1" if size == 0 else ":" for size in shape[1:]) + "]"
        for j, (name, axes) in share_of(enumerate(itertools.product(names()[i % 3::3], reductions())), i):
            extra = ([], ["--weights", "lat:cos"], ["--weights", area], ["--weights", "lat"])[j % 4]
            quietly(lambda: check_values(folder, f"in.nc:/{name}{part}", shape, axes, *extra))


def check_options(folder):
    """Every option, where nothing is reduced and where nothing is left."""
    for shape in ((0, 3, 5), (4, 3, 0)):
        make(folder.file("in.nc"), shape)
        for options, axes in itertools.product(OPTIONS, ((0,), (2,))):
            quietly(lambda: check_values(folder, "in.nc:/contiguous_i2", shape, axes, "--weights", "lat:cos", *options))
        for options in OPTIONS:
            quietly(lambda: check_values(folder, "in.nc:/deflate_f4", shape, (0, 2), *options))


def check_operators_and_coordinates(folder):
    """What has no value without elements is refused, unless there are no results."""
    for shape in ((0, 3, 5), (4, 0, 5), (0, 0, 0)):
        make(folder.file("in.nc"), shape)
        for op, axes in itertools.product(("argmax", "argmin", "min", "max"), reductions()):
            extra = ["--coords"] if op.startswith("arg") else []
            reduced = int(np.prod([shape[d] for d in axes]))
            status, _ = run_quietly(folder, "in.nc:/chunked_f4", "-d", ",".join(map(str, axes)), "--op", op, *extra)
            assert reduced or status == 1 or 0 in [shape[d] for d in range(3) if d not in axes], (shape, op, axes)
            assert status == 0 or not reduced, (shape, op, axes)


def check_formats(folder):
    """Text, JSON, CSV and npy, to standard output and to files, and HDF5."""
    for shape in ((0, 3, 5), (4, 0, 5), (4, 3, 0)):
        make(folder.file("in.nc"), shape)
        for i, axes in enumerate(reductions()):
            extra = ([], ["-k"], ["--weights", "lat:cos"])[i % 3]
            common = ("in.nc:/deflate_i2", "-d", ",".join(map(str, axes)), "--op", "mean", *extra)
            left = quietly(lambda: np.ones(shape).mean(axis=axes, keepdims="-k" in extra))
            folder.run(*common)
            written, _ = folder.run(*common, "--format", "npy")
            assert np.load(io.BytesIO(written)).shape == left.shape, common
            folder.run(*common, "--format", "npy", "-o", "out.npy", "--overwrite", "-q")
            assert np.load(folder.file("out.npy")).shape == left.shape, common
            written, _ = folder.run(*common, "--format", "csv")
            assert len(written.splitlines()) == 1 + left.size, common
            folder.run(*common, "--format", "csv", "-o", "out.csv", "--overwrite", "-q")
            with folder.reduce(*common, "--deflate", "1") as out:
                assert out["deflate_i2"].shape == left.shape, common


def check_series(folder):
    """Files without records before, between and after others."""
    make(folder.file("none.nc"), (0, 3, 5))
    make(folder.file("some.nc"), FULL)
    for files in itertools.product(("none.nc", "some.nc"), repeat=3):
        count = sum(FULL[0] for file in files if file == "some.nc")
        for i, name in enumerate(("deflate_f4", "contiguous_i2", "never")):
            sources = [f"{file}:/{name}" for file in files]
            for extra in (["--weights", "lat:cos"], [[], ["--weights", "/area"], ["-t", "1"]][i]):
                found = values_of(folder, ["--concat", "time", *sources, "-d", "lat,lon", "--op", "valid,mean", *extra])
                assert found[0].tolist() == [15] * count and found[1].shape == (count,), (files, name, extra, found)
                found = values_of(folder, ["--concat", "time", *sources, "-d", "time", "--op", "valid", *extra])
                assert found[0].shape == (3, 5) and (found[0] == count).all(), (files, name, extra, found)
            with folder.reduce("--concat", "time", *sources, "-d", "lon", "--op", "mean") as out:
                assert out[name].shape == (count, 3), (files, name)
            status, _ = run_quietly(folder, "--concat", "time", *sources, "-d", "time", "--op", "argmax", "--coords", "--format", "csv")
            assert status == (0 if count else 1), (files, name)


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check_files_of_every_shape, check_parts_of_every_dim, check_options,
                                      check_operators_and_coordinates, check_formats, check_series]))
