#!/usr/bin/python3
"""Looks at the tables that h5gpured --format writes, to standard output and to files: tables.py TOOL"""
import csv
import io
import sys

from output import h5py, make_climate, np, run_checks


def check_npy(folder):
    """What numpy.load reads, from stdout and from a file."""
    values = np.arange(12).reshape(3, 4) - 5
    with h5py.File(folder.file("in.h5"), "w") as file:
        for name in ("i1", "u2", "i4", "f2", ">f4", "f8", "c8", "c16", "?"):
            file[name.strip(">").replace("?", "bool")] = values.astype(name)
    for name, dtype in (("i1", "i1"), ("u2", "u2"), ("i4", "i4"), ("f2", "f2"), ("f4", "f4"), ("f8", "f8")):
        written, _ = folder.run("in.h5:/" + name, "-d", "1", "--op", "max", "--format", "npy")
        loaded = np.load(io.BytesIO(written))
        assert loaded.dtype == dtype and (loaded == values.astype(dtype).max(1)).all(), name
        assert (len(written) - loaded.nbytes) % 64 == 0
    for name, op in (("c8", "sum"), ("c16", "sum"), ("bool", "any"), ("i4", "sum")):
        said, _ = folder.run("in.h5:/" + name, "-d", "0", "-k", "--op", op, "--format", "npy", "-o", "out.npy", "--overwrite")
        loaded = np.load(folder.file("out.npy"))
        wanted = getattr(np, op)(values.astype(name.replace("bool", "?")), axis=0, keepdims=True)
        assert loaded.dtype == wanted.dtype and loaded.shape == (1, 4) and (loaded == wanted).all(), name
        assert said.startswith(b"out.npy  "), said
    written, _ = folder.run("in.h5:/i4", "--format", "npy")
    assert np.load(io.BytesIO(written)).shape == () and np.load(io.BytesIO(written)) == values.sum()


def check_csv(folder):
    make_climate(folder)
    written, _ = folder.run("tas.nc", "-d", "time", "--op", "mean,argmax", "--coords", "--format", "csv")
    rows = [line.split(",") for line in written.decode().splitlines()]
    assert rows[0] == ["lat", "lon", "mean", "argmax", "argmax_time"], rows[0]
    assert {row.pop() for row in rows[1:]} == {"1850-01-04"}, rows
    table = np.array(rows[1:], float)
    assert table[:, 0].tolist() == [-45] * 3 + [45] * 3 and table[:, 1].tolist() == [0, 120, 240] * 2
    assert table[:, 2].tolist() == [9, 10, 11, 12, 13, 14] and (table[:, 3:] == 3).all()
    values = np.random.default_rng(2).random((5, 3))
    with h5py.File(folder.file("in.h5"), "w") as file:
        file["x"] = values
        file["z"] = values.astype("c8")
        file["x"].dims[1].label = 'a "b", c'
    folder.run("in.h5:/x", "-d", "0", "--op", "max", "--format", "csv", "-o", "out.csv", "-q")
    with open(folder.file("out.csv"), encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ['a "b", c', "max"] and [float(row[1]) for row in rows[1:]] == values.max(0).tolist(), rows
    written, _ = folder.run("in.h5:/z", "-d", "0", "--format", "csv")
    assert written.decode().splitlines()[0] == "dim1,sum_re,sum_im"


def check_packed(folder):
    """Text leaves the digits out that come from binary fractions; JSON and CSV have them."""
    with h5py.File(folder.file("in.h5"), "w") as file:
        file["t"] = np.array([-103, 5, 40], "i2")
        file["t"].attrs["scale_factor"] = 0.07
    least = repr(-103 * 0.07)
    assert least == "-7.210000000000001"
    text = folder.run("in.h5:/t", "--op", "min,mean,std")[0].decode().splitlines()
    assert [line.split() for line in text[1:]] == [["min", "-7.21"], ["mean", "-1.3533333"], ["std", "4.2603625"]], text
    assert least in folder.run("in.h5:/t", "--op", "min", "--json")[0].decode()
    assert folder.run("in.h5:/t", "--op", "min", "--format", "csv")[0].decode().split() == ["min", least]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check_npy, check_csv, check_packed]))
