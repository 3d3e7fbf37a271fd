#!/usr/bin/python3
"""Files of results list variables as their inputs do, whatever is reduced and however it is written: order.py TOOL

The order is that of creation, which h5py and netCDF keep, or without it that of the names. cdo, which pairs the variables
of two files by it, and ncdump look at the files where they are installed. Exits 77, which CTest shows as skipped, where
h5py is missing.
"""
import os
import shutil
import subprocess
import sys

from names import make_bare
from output import attach, h5py, make_scale, np, run_checks

# Neither the order of names nor one in which data come before what describes them. A moved link is for a moment called
# "tas~".
NAMES = ["time_bnds", "zeta", "lat", "orog", "time", "tas~", "tas", "lon", "mask", "bnds", "pr", "code", "height", "area"]
REDUCED = ["zeta", "tas~", "tas", "pr"]
STEPS, LATS, LONS = 24, 4, 6


def make_variable(file, name, shift):
    source = np.random.default_rng(NAMES.index(name))
    times = np.arange(STEPS) * 30.5 + 15 + shift
    if name in ("lat", "lon"):
        degrees = {"lat": np.linspace(-60, 60, LATS), "lon": np.arange(0.0, 360, 60)}[name]
        make_scale(file, name, degrees, units=np.bytes_({"lat": "degrees_north", "lon": "degrees_east"}[name]))
    elif name == "time":
        make_scale(file, name, times, units=np.bytes_("days since 2001-01-01"), calendar=np.bytes_("noleap"), bounds=np.bytes_("time_bnds"))
    elif name == "time_bnds":
        file[name] = np.stack([times - 15, times + 15], 1)
    elif name == "bnds":
        make_bare(file, name, 2)
    elif name == "height":
        file[name] = 2.0
    elif name == "code":
        file[name] = np.arange(STEPS) % 3
    elif name in REDUCED:
        made = file.create_dataset(name, data=source.random((STEPS, LATS, LONS)).astype("f4"))
        made.attrs.update(coordinates=np.bytes_("height"), cell_measures=np.bytes_("area: area"))
    else:
        file[name] = source.random((LATS, LONS)).astype("f4")


def fill(place, shift=0, names=NAMES):
    for name in names:
        make_variable(place, name, shift)
    for name in REDUCED:
        attach(place[name], place["time"], place["lat"], place["lon"])
    for name in ("orog", "mask", "area"):
        attach(place[name], place["lat"], place["lon"])
    attach(place["time_bnds"], place["time"], place["bnds"])
    attach(place["code"], place["time"])


def make(folder, name="in.nc", shift=0, tracked=True):
    with h5py.File(folder.file(name), "w", track_order=tracked) as file:
        fill(file, shift)


def listed(group):
    """The names of a group of a file of results, whose order of creation is kept: as netCDF lists them."""
    names = []
    opened = h5py.h5g.open(group.id, b".")
    opened.links.iterate(lambda name: names.append(name.decode()), idx_type=h5py.h5.INDEX_CRT_ORDER)
    return names


def origin(name, known):
    """The variable of the input that one of the output stands for."""
    name = {"climatology_bounds": "time_bnds"}.get(name, name)
    while name not in known and "_" in name:
        name = name[:name.rindex("_")]
    return name


def assert_ordered(group, names, note, at_least=REDUCED):
    found = [origin(name, names) for name in listed(group)]
    assert set(at_least) <= set(found), f"{note}: lacks some of {at_least}: {found}"
    places = [names.index(name) for name in found if name in names and name != "bnds"]  # which is no variable
    assert places == sorted(places), f"{note}: {listed(group)}"


# ---- What is reduced, and how ----------------------------------------------------------------------------------------


JOBS = (
    ("-d time --op mean", REDUCED + ["orog", "mask", "area", "height", "time_bnds"]),
    ("-d time --op mean,std,argmax --coords", REDUCED + ["orog"]),
    ("-d lat,lon --op mean", REDUCED + ["code", "time"]),
    ("-d time -k --op max", REDUCED + ["orog"]),
    ("--by time:month --op mean", REDUCED + ["orog", "time_bnds"]),
    ("--by time:year --op ptp,mean -d lat", REDUCED),
    ("--by time:/code --op mean", REDUCED + ["orog", "code"]),
    ("--coarsen time=5,pad --op mean", REDUCED + ["orog"]),
    ("--coarsen lat=2,lon=3 --op mean", REDUCED + ["orog", "code"]),
    ("--scan sum -d time", REDUCED + ["orog"]),
    ("--scan max -d lon --memory 1M", REDUCED + ["orog", "code"]),
)


def check_a_file_as_a_whole(folder):
    for tracked, names in ((True, NAMES), (False, sorted(NAMES))):
        make(folder, tracked=tracked)
        for job, at_least in JOBS:
            with folder.reduce("in.nc", *job.split()) as out:
                assert_ordered(out, names, job, at_least)


def check_several_operators_stand_side_by_side(folder):
    make(folder)
    with folder.reduce("in.nc", "-d", "time", "--op", "std,mean,argmin", "--coords") as out:
        found = [name for name in listed(out) if name.startswith(("zeta", "pr", "tas_"))]
        results = ("std", "mean", "argmin", "argmin_time")
        assert found == [f"{name}_{result}" for name in ("zeta", "tas", "pr") for result in results], found


def check_named_datasets_and_patterns(folder):
    make(folder)
    for inputs in (["in.nc:/pr", "in.nc:/zeta", "in.nc:/tas"], ["in.nc:/{pr,tas,zeta}"], ["in.nc:/tas", "in.nc:/{pr,z*}"]):
        with folder.reduce(*inputs, "-d", "time", "--op", "mean") as out:
            assert_ordered(out, NAMES, inputs, ["pr", "zeta", "tas", "lat", "lon", "time"])


def check_several_files(folder):
    make(folder)
    make(folder, "next.nc", STEPS * 30.5)
    for job in ("--concat time -d time --op mean", "--concat time --by time:month --op mean", "--concat new:member -d member --op mean,std",
                "--concat new:member -d time --op mean", "--concat time --scan sum -d time --memory 1M"):
        inputs = ["in.nc", "in.nc"] if "new:" in job else ["in.nc", "next.nc"]
        with folder.reduce(*inputs, *job.split()) as out:
            assert_ordered(out, NAMES, job)
    with h5py.File(folder.file("b.nc"), "w", track_order=True) as file:
        for name in ("second", "first"):
            file[name] = np.arange(4.0)
    with folder.reduce("b.nc:/first", "in.nc:/tas", "./b.nc:/second", "-d", "0", "--op", "mean") as out:
        found = [name for name in listed(out) if name in ("first", "second", "tas")]
        assert found == ["second", "first", "tas"], found


def check_results_larger_than_memory(folder):
    """The file goes on on disk."""
    with h5py.File(folder.file("in.nc"), "w", track_order=True) as file:
        time, x = make_scale(file, "time", np.arange(64.0)), make_scale(file, "x", np.arange(30000.0))
        for name in ("v", "orog", "u"):
            file[name] = np.ones((64, 30000), "f4") if name != "orog" else np.ones(30000, "f4")
            attach(file[name], *((time, x) if name != "orog" else (x,)))
    for job in ("--scan sum -d time", "--coarsen time=2 --op mean"):
        with folder.reduce("in.nc", *job.split(), "--memory", "1M") as out:
            found = listed(out)
            assert [name for name in found if name in ("v", "orog", "u")] == ["v", "orog", "u"], found
            assert out["v"][0, -1] == 1 and out["u"].shape == out["v"].shape


def check_parts(folder):
    make(folder)
    for part in (1, 2):
        folder.run("in.nc:/tas", "-d", "time", "--op", "mean,max", "--part", f"{part}/2", "--state", f"s{part}")
    folder.run("--merge", "s1", "s2", "-o", "merged.nc")
    with folder.reduce("in.nc:/tas", "-d", "time", "--op", "mean,max") as out, h5py.File(folder.file("merged.nc")) as merged:
        assert listed(merged) == listed(out)
        assert_ordered(merged, NAMES, "--merge", ["tas", "lat", "height", "time"])


# ---- Groups ----------------------------------------------------------------------------------------------------------


def check_groups(folder):
    """The variables of a group come before its groups, which are in the order of the input, too."""
    with h5py.File(folder.file("in.nc"), "w", track_order=True) as file:
        for name in ("sea", "land", "ice"):
            fill(file.create_group(name, track_order=True))
        fill(file["sea"].create_group("deep"), names=sorted(NAMES, key=lambda name: name[::-1]))  # keeps no order
        fill(file, names=NAMES[::-1])
    for job in ("-d time --op mean", "--scan sum -d time --memory 1M"):
        with folder.reduce("in.nc:/**", *job.split()) as out:
            assert_ordered(out, NAMES[::-1], job)
            assert [name for name in listed(out) if isinstance(out[name], h5py.Group)] == ["sea", "land", "ice"], listed(out)
            for name in ("sea", "land", "ice"):
                assert_ordered(out[name], NAMES, f"{job}, {name}")
            assert_ordered(out["sea/deep"], sorted(NAMES), job)
    with folder.reduce("in.nc:/ice/pr", "in.nc:/sea/deep/zeta", "in.nc:/sea/tas", "in.nc:/mask", "-d", "lat", "--op", "mean") as out:
        found = [name for name in listed(out) if name in ("mask", "tas", "zeta", "pr")]
        assert found == ["mask", "tas", "zeta", "pr"], found


def check_external_links(folder):
    """A variable stands where the link to it does, whatever the other file has at that path."""
    with h5py.File(folder.file("part.nc"), "w", track_order=True) as file:
        for name in ("first", "second", "zeta", "mid", "alpha"):
            file[name] = np.ones((3, 2))
    with h5py.File(folder.file("in.nc"), "w", track_order=True) as file:
        for name in ("zeta", "mid", "alpha"):
            if name == "mid":
                file[name] = h5py.ExternalLink("part.nc", "/second")
            else:
                file[name] = np.ones((3, 2))
        file["group"] = h5py.ExternalLink("part.nc", "/")
    for inputs in (["in.nc:/*"], ["in.nc:/{alpha,mid,zeta}"], ["in.nc:/alpha", "in.nc:/mid", "in.nc:/zeta"]):
        with folder.reduce(*inputs, "-d", "0", "--op", "mean") as out:
            assert listed(out) == ["zeta", "mid", "alpha"], (inputs, listed(out))
    with folder.reduce("in.nc:/{alpha,group/zeta,group/first,zeta}", "-d", "0", "--op", "mean") as out:
        assert listed(out) == ["zeta", "alpha", "group"] and set(out["group"]) == {"zeta", "first"}, listed(out)


def check_hidden_names(folder):
    """A variable that is called as a dim, which has its own place."""
    with h5py.File(folder.file("in.nc"), "w", track_order=True) as file:
        for name in ("tas", "y", "_nc4_non_coord_x", "orog", "x"):
            if name in ("x", "y"):
                make_bare(file, name, 5)
            else:
                file[name] = np.arange(25.0).reshape(5, 5)
        time = make_scale(file, "time", np.arange(5.0))
        for name in ("_nc4_non_coord_x", "tas"):
            attach(file[name], time, file["x"])
        attach(file["orog"], file["y"], file["x"])
    with folder.reduce("in.nc", "-d", "time", "--op", "mean") as out:
        assert listed(out) == ["tas", "y", "_nc4_non_coord_x", "orog", "x"], listed(out)


# ---- Other programs --------------------------------------------------------------------------------------------------


def run(folder, *words):
    return subprocess.run(words, cwd=folder.path, check=True, capture_output=True, text=True).stdout


def check_ncdump(folder):
    """Lists the same, and the dims in the same order, of a file that netCDF itself has written, too."""
    if not shutil.which("ncdump") or not shutil.which("nccopy"):
        print("skipped: ncdump is not installed")
        return
    for tracked, names in ((True, NAMES), (False, sorted(NAMES))):
        make(folder, "made.nc", tracked=tracked)
        run(folder, "nccopy", "-k", "nc4", "made.nc", "in.nc")
        folder.reduce("in.nc", "--by", "time:yearmonth", "--op", "mean").close()
        own, theirs = ([line.split()[1].partition("(")[0] for line in run(folder, "ncdump", "-h", file).splitlines() if line.endswith(" ;") and
                        line.startswith(("\tfloat", "\tdouble", "\tint"))] for file in ("out.nc", "in.nc"))
        assert own == theirs and [name.replace("\\", "") for name in own] == [name for name in names if name != "bnds"], (own, theirs)


def check_cdo(folder):
    """Takes a climatology from its input: the variables pair, copied ones with themselves."""
    if not shutil.which("cdo"):
        print("skipped: cdo is not installed")
        return
    make(folder)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        del file["code"]
    for by, rival in (("month", "ymonsub"), ("season", "yseassub")):
        folder.run("in.nc", "--by", f"time:{by}", "--op", "mean", "-o", "clim.nc", "--overwrite")
        assert run(folder, "cdo", "-s", "showname", "clim.nc") == run(folder, "cdo", "-s", "showname", "in.nc")
        result = subprocess.run(["cdo", "-O", rival, "in.nc", "clim.nc", "less.nc"], cwd=folder.path, check=True, capture_output=True, text=True)
        assert "parameter names" not in result.stderr, result.stderr
        with h5py.File(folder.file("in.nc")) as source, h5py.File(folder.file("less.nc")) as less:
            month = (source["time"][()] % 365 * 12 // 365).astype(int)
            group = month if by == "month" else (month + 1) // 3 % 4
            for name in REDUCED:
                x = source[name][()].astype("f8")
                means = np.stack([x[group == one].mean(0) for one in group])
                assert np.allclose(less[name][()], x - means, atol=2e-6), (rival, name)
            for name in ("orog", "mask"):
                assert np.abs(less[name][()]).max() == 0, (rival, name)


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
