#!/usr/bin/python3
"""Looks at the tables that h5gpured --format writes, to standard output and to files: tables.py TOOL"""
import csv
import io
import os
import sys

from output import attach, h5py, make_climate, make_scale, np, run_checks


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


def check_csv_of_several(folder):
    """One table with the name of the variable first; what has other columns is refused, before anything is printed if names of dims say so."""
    values = np.arange(24.0).reshape(4, 2, 3)
    with h5py.File(folder.file("in.nc"), "w") as file:
        scales = [make_scale(file, name, np.arange(size) * 10.0) for name, size in (("time", 4), ("lat", 2), ("lon", 3))]
        file["tas"], file["ocean/a,b"], file["line"], file["turned"] = values, -values, values[:, 0, 0], values.transpose(0, 2, 1)
        for name, dims in (("tas", (0, 1, 2)), ("ocean/a,b", (0, 1, 2)), ("line", (0,)), ("turned", (0, 2, 1))):
            attach(file[name], *(scales[d] for d in dims))
        file["plain"], file["complex"] = np.ones((2, 3)), np.ones((2, 3), "c8")
    expected = [["variable", "lat", "lon", "max", "argmax", "argmax_time"]]
    for name, most in (("tas", values[3]), ("ocean/a,b", -values[0])):
        expected += [[name, f"{i}0".lstrip("0") or "0", f"{j}0".lstrip("0") or "0", f"{most[i, j]:g}", "3" if name == "tas" else "0",
                      "30" if name == "tas" else "0"] for i in range(2) for j in range(3)]
    arguments = ["in.nc:/{tas,ocean/*}", "-d", "time", "--op", "max,argmax", "--coords"]
    written, _ = folder.run(*arguments, "--format", "csv")
    assert list(csv.reader(io.StringIO(written.decode()))) == expected, written
    said, _ = folder.run(*arguments, "-o", "several.csv")
    with open(folder.file("several.csv"), encoding="utf-8") as file:
        assert list(csv.reader(file)) == expected and said.decode().count("several.csv  ") == 4, said
    # A pattern has the column also if it matches one variable, whose name has none; FILE alone if several have the dims.
    alone = folder.run("in.nc:/tas", "-d", "time", "--format", "csv")[0].decode().splitlines()
    for pattern in ("/t*s", "/{tas}"):
        found = folder.run("in.nc:" + pattern, "-d", "time", "--format", "csv")[0].decode().splitlines()
        assert found == ["variable," + alone[0]] + ["tas," + row for row in alone[1:]], found
    with h5py.File(folder.file("one.nc"), "w") as file:
        file["tas"] = values
        attach(file["tas"], *(make_scale(file, name, np.arange(size) * 10.0) for name, size in (("time", 4), ("lat", 2), ("lon", 3))))
    assert folder.run("one.nc", "-d", "time", "--format", "csv")[0].decode().splitlines() == alone
    with h5py.File(folder.file("one.nc"), "r+") as file:
        file["line"] = values[:, 0, 0]
        file["line"].dims[0].attach_scale(file["time"])
    assert folder.run("one.nc", "-d", "time", "--format", "csv")[0].decode().splitlines()[0] == "variable," + alone[0]
    # Of all variables, or those that wildcards match, the table has those whose results have the dims of most.
    left = "left out, as its results have the dims {}, and those of the table {}; named by itself, as FILE:/NAME, it has a table of its own"
    for inputs in ("in.nc", "in.nc:/**"):
        scanned, errors = folder.run(inputs, "--scan", "sum", "-d", "time", "--format", "csv")
        assert scanned.count(b"\n") == 49, scanned
        lines = [f"h5gpured: in.nc:/{name}: " + left.format(dims, "time, lat, lon") for name, dims in
                 (("line", "time"), ("turned", "time, lon, lat"))]
        assert errors.splitlines() == lines, errors
    assert folder.run("in.nc", "--scan", "sum", "-d", "time", "--format", "csv", "-q")[1] == ""
    # Of as many, those with more dims; and those that are named.
    written, errors = folder.run("in.nc:/{line,tu*}", "-d", "time", "--format", "csv")
    assert written == b"variable,sum\nline,36\n" and left.format("lon, lat", "none") in errors, (written, errors)
    written, errors = folder.run("in.nc:/?*", "-d", "time", "--format", "csv")
    assert written.count(b"\n") == 7 and left.format("none", "lat, lon") in errors, (written, errors)
    scanned = folder.run("in.nc:/{tas,ocean/*}", "--scan", "sum", "-d", "time", "--format", "csv")[0].decode().splitlines()
    assert scanned[0] == "variable,time,lat,lon,sum" and len(scanned) == 49, scanned
    groups = folder.run("in.nc:/{tas,ocean/*}", "--coarsen", "time=2", "--format", "csv")[0].decode().splitlines()
    assert groups[0] == "variable,time,lat,lon,sum" and len(groups) == 25, groups
    for names, dims in (("{tas,turned}", "lon, lat"), ("{tas,line}", "none")):
        written, errors = folder.run(f"in.nc:/{names}", "-d", "time", "--format", "csv", status=1)
        assert written == b"" and f"in.nc: csv is one table, and the results of /tas have the dims lat, lon, those of /{names[5:-1]} {dims}; " in errors
    said, errors = folder.run("in.nc:/{plain,complex}", "-d", "0", "-o", "not.csv", status=1)
    assert "in.nc:/complex: its columns are variable,dim1,sum_re,sum_im, and the table has variable,dim1,sum; " in errors, errors
    assert said == b"" and not os.path.exists(folder.file("not.csv"))


def check_dates_of_a_column(folder):
    """They are as precise as the one that needs most, of whichever variable or window."""
    axes = {"a": ([0.0, 1, 2], "days since 2001-01-01"), "b": ([0.5, 1.5, 2], "days since 2001-01-01"),
            "c": ([0.25, 1000.5, 2000], "seconds since 2001-01-01")}
    with h5py.File(folder.file("in.nc"), "w", track_order=True) as file:
        for name, (times, units) in axes.items():
            group = file.create_group(name)
            scale = make_scale(group, "time", np.array(times), units=np.bytes_(units))
            group["x"] = np.arange(6.0).reshape(3, 2)
            group["x"].dims[0].attach_scale(scale)
            group["x"].dims[1].label = "lat"

    def dates(column, *arguments):
        written = folder.run(*arguments, "--format", "csv")[0].decode()
        return [row[column] for row in csv.DictReader(io.StringIO(written))]

    assert dates("time", "in.nc:/a/x", "-d", "lat") == ["2001-01-01", "2001-01-02", "2001-01-03"]
    assert dates("time", "in.nc:/{a,b}/x", "-d", "lat")[:4] == [f"2001-01-{day}" for day in
                                                                ("01T00:00:00", "02T00:00:00", "03T00:00:00", "01T12:00:00")]
    found = dates("time", "in.nc", "-d", "lat")
    assert found[2:7] == [f"2001-01-{day}" for day in ("03T00:00:00.000", "01T12:00:00.000", "02T12:00:00.000", "03T00:00:00.000",
                                                       "01T00:00:00.250")], found
    found = dates("argmax_time", "in.nc:/{a,b}/x", "-d", "time", "--op", "argmax", "--coords")
    assert found == 4 * ["2001-01-03T00:00:00"], found
    assert dates("time", "in.nc:/a/x", "-d", "lat", "--coarsen", "time=2,pad") == ["2001-01-01T12:00:00", "2001-01-03T00:00:00"]
    assert dates("time", "in.nc:/a/x", "-d", "lat", "--by", "time:day") == ["2001-01-01", "2001-01-02", "2001-01-03"]


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
    sys.exit(run_checks(sys.argv[1], [check_npy, check_csv, check_csv_of_several, check_dates_of_a_column, check_packed]))
