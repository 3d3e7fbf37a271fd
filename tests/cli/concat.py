#!/usr/bin/python3
"""Files of --concat that do not have the same variables: concat.py TOOL"""
import os
import sys

from names import answers
from output import attach, h5py, make_scale, np, run_checks


def make(folder, name, start, *moving, fixed=("orog",), bounds=True):
    """Variables over time and lat, over time alone where their names begin with i, and over lat alone."""
    with h5py.File(folder.file(name), "w") as file:
        time = make_scale(file, "time", start + np.arange(4.0), units="days since 2001-01-01")
        lat = make_scale(file, "lat", np.array([10.0, 20.0]), units="degrees_north")
        if bounds:
            time.attrs["bounds"] = "time_bnds"
            file["time_bnds"] = start + np.stack([np.arange(4.0), np.arange(4.0) + 1], 1)
            attach(file["time_bnds"], time)
        for path in moving:
            along = path.rsplit("/", maxsplit=1)[-1].startswith("i")
            file[path] = np.arange(4.0) if along else np.arange(8.0).reshape(4, 2)
            attach(file[path], time, *([] if along else [lat]))
        for path in fixed:
            file[path] = np.arange(2.0)
            attach(file[path], lat)


def lacks(folder, *arguments, named, lacking, along=" along time"):
    """One line says it, whether results are written or printed, and nothing is written."""
    line = (f"h5gpured: {named}: {lacking} has no such variable{along}; --concat joins only what all files have: name that, as "
            "'FILE:/{NAME,NAME}'\n")
    for output in (["-o", "out.nc"], []):
        out, errors = folder.run(*arguments, *output, status=1)
        assert (out, errors) == (b"", line), (arguments, output, out, errors)
    assert not os.path.exists(folder.file("out.nc")), arguments


def check_variables_that_are_reduced(folder):
    """Whether the first file lacks one, or another; by pattern, too; along the series, and stacked."""
    make(folder, "a.nc", 0, "tas", "pr")
    make(folder, "b.nc", 4, "tas", "hus")
    make(folder, "c.nc", 8, "tas", "pr", "deep/hus")
    series = ("--concat", "time", "-d", "time")
    lacks(folder, *series, "a.nc", "b.nc", named="a.nc:/pr", lacking="b.nc")
    lacks(folder, *series, "a.nc", "a.nc", "c.nc", named="c.nc:/deep/hus", lacking="a.nc")
    lacks(folder, *series, "c.nc", "a.nc", named="c.nc:/deep/hus", lacking="a.nc")
    lacks(folder, *series, "a.nc:/**", "c.nc:/**", named="c.nc:/deep/hus", lacking="a.nc")
    lacks(folder, *series, "a.nc:/{tas,pr}", "b.nc:/{tas,pr}", named="a.nc:/pr", lacking="b.nc")
    stacked = ("--concat", "new:m", "-d", "m,time")
    make(folder, "d.nc", 0, "tas")
    lacks(folder, *stacked, "a.nc", "d.nc", named="a.nc:/pr", lacking="d.nc", along="")
    lacks(folder, *stacked, "d.nc", "a.nc", named="a.nc:/pr", lacking="d.nc", along="")
    for pattern in ("/t*", "/{tas,t?s}", "/*as"):
        assert set(answers(folder, *series, "a.nc:" + pattern, "b.nc:" + pattern)) == {"/tas"}, pattern
    assert set(answers(folder, *series, "a.nc:/*", "c.nc:/*")) == {"/tas", "/pr"}


def check_patterns_that_differ(folder):
    """What is reduced is found by the first one; FILE alone has none, and a part is no part of it."""
    make(folder, "a.nc", 0, "tas", "pr")
    make(folder, "b.nc", 4, "tas", "pr", "hus")
    series = ("--concat", "time", "-d", "time")
    for first, second, said in (
            ("a.nc:/{tas,pr}", "b.nc:/hus*", "b.nc:/hus*: its pattern differs from the first one, /{tas,pr}"),
            ("a.nc:/{tas,pr}[...]", "b.nc:/{tas,pr,hus}[...]", "b.nc:/{tas,pr,hus}: its pattern differs from the first one, /{tas,pr}"),
            ("a.nc", "b.nc:/t*", "b.nc:/t*: has a pattern, and the first input, a.nc, has none")):
        out, errors = folder.run(*series, first, second, status=1)
        assert (out, errors) == (b"", f"h5gpured: --concat: {said}\n"), (out, errors)
    for second in ("b.nc", "b.nc:/{tas,pr}", "b.nc:{tas,pr}", "b.nc:/{tas,pr}[time=2001:]"):
        assert set(answers(folder, *series, "a.nc:/{tas,pr}", second)) == {"/tas", "/pr"}, second


def check_variables_that_are_copied(folder):
    """Those along the series are joined as results are; others are those of the first file."""
    make(folder, "a.nc", 0, "tas", "index")
    make(folder, "b.nc", 4, "tas", fixed=("land",))
    series = ("--concat", "time", "-d", "lat", "-q", "-o", "out.nc")
    for first, second in (("a.nc", "b.nc"), ("b.nc", "a.nc")):
        _, errors = folder.run(*series, first, second, status=1)
        assert errors.startswith("h5gpured: a.nc:/index: b.nc has no such variable along time; "), errors
    assert set(answers(folder, "--concat", "time", "-d", "lat", "a.nc", "b.nc")) == {"/tas", "/orog"}  # nothing is copied
    make(folder, "c.nc", 0, "tas", fixed=("land", "orog"))
    with folder.reduce("--concat", "time", "b.nc", "c.nc", "-d", "time") as out:
        assert "land" in out and "orog" not in out
    make(folder, "d.nc", 0, "tas")
    _, errors = folder.run("--concat", "new:m", "c.nc", "d.nc", "-d", "m,time", "-o", "stacked.nc")
    assert errors == "h5gpured: c.nc: left out what is not in all files, or not the same in them: /land\n", errors
    with h5py.File(folder.file("stacked.nc")) as out:
        assert "orog" in out and "land" not in out


def check_what_only_describes_data(folder):
    """Bounds are none of the variables that all files must have; texts are left out."""
    make(folder, "a.nc", 0, "tas")
    make(folder, "b.nc", 4, "tas", bounds=False)
    with h5py.File(folder.file("a.nc"), "r+") as file:
        file["label"] = np.array([b"x"] * 4)
        attach(file["label"], file["time"])
    for files, said in ((("a.nc", "b.nc"), "h5gpured: a.nc: left out what is not in all files, or not the same in them: /label\n"), (("b.nc", "a.nc"), "")):
        _, errors = folder.run("--concat", "time", *files, "-d", "lat", "-o", "out.nc", "--overwrite")
        assert errors == said, errors
        with h5py.File(folder.file("out.nc")) as out:
            assert set(out) == {"time", "tas", "orog"}, set(out)


def check_a_variable_along_the_series_in_some_files(folder):
    """It is another one than that of the same name without the dim; names of dims are those of the first file."""
    make(folder, "a.nc", 0, "tas")
    make(folder, "b.nc", 4, "tas", "orog", fixed=())
    lacks(folder, "--concat", "time", "-d", "time", "a.nc", "b.nc", named="b.nc:/orog", lacking="a.nc")
    _, errors = folder.run("--concat", "time", "-d", "time", "b.nc", "a.nc", status=1)
    assert "a.nc:/orog" in errors and errors.count("\n") == 1, errors
    with h5py.File(folder.file("bare.nc"), "w") as file:
        file["tas"], file["more"] = np.ones((4, 2)), np.ones((4, 2))
    assert answers(folder, "--concat", "time", "-d", "time", "a.nc", "bare.nc") == {"/tas": [16, 20]}


def check_a_file_alone(folder):
    """Beside FILE:/DATASET it is the one array with the most dims, whatever that is called."""
    make(folder, "a.nc", 0, "tas", "pr")
    make(folder, "b.nc", 4, "hus", "index")
    series = ("--concat", "time", "-d", "time")
    assert answers(folder, *series, "a.nc:/tas", "b.nc") == {"/tas": [24, 32]}
    _, errors = folder.run(*series, "b.nc:/hus", "a.nc", status=1)
    assert errors.startswith("h5gpured: a.nc: which dataset? 2 have 2 dims: /pr [4,2], /tas [4,2]"), errors
    lacks(folder, *series, "a.nc", "b.nc", named="a.nc:/pr", lacking="b.nc")


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
