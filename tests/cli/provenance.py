#!/usr/bin/python3
"""What results say of how they were made: operators of one's own, and the arrays beside the dataset: provenance.py TOOL
"""
import json
import shlex
import shutil
import sys

from output import attach, attributes, h5py, make_scale, np, run_checks

FIT = "fit(x, y, lat): s += (x - y) * lat -> s"
HOT = "hot(x; t, c[2]): n += x > t + poly(x, c) -> n"


def make_inputs(folder):
    """a.nc has x, y and z of (time, lat); b.nc and c.nc are like it."""
    with h5py.File(folder.file("a.nc"), "w") as file:
        scales = [make_scale(file, "time", np.arange(4.0)), make_scale(file, "lat", np.array([10.0, 20.0]))]
        for name in ("x", "group/x", "group/y", "z"):
            file[name] = np.arange(8.0).reshape(4, 2)
            attach(file[name], *scales)
        file["x"].attrs["ndreduce_with"] = "q: old.nc:/q"
    for name in ("b.nc", "c.nc"):
        shutil.copy(folder.file("a.nc"), folder.file(name))


def sources(folder, *arguments):
    """By variable what ndreduce_with says."""
    with folder.reduce("-d", "time", *arguments) as out:
        found = {}
        out.visititems(lambda name, item: found.update({name: attributes(item)}))
    return {name: attrs["ndreduce_with"] for name, attrs in found.items() if "ndreduce_with" in attrs}


def check_sources_in_files(folder):
    """Each result names the arrays that its operator or the condition reads, and no others; an input's attribute is not kept."""
    make_inputs(folder)
    assert sources(folder, "a.nc:/x", "--op", "mean") == {}
    assert sources(folder, "a.nc:/x", "--op", FIT, "--with", "y=b.nc:/z[:, :]") == {"x": "y: 'b.nc:/z[:, :]'; lat: coordinate"}
    assert sources(folder, "a.nc:/x", "--op", FIT, "--with", "y=/z") == {"x": "y: /z; lat: coordinate"}
    assert sources(folder, "a.nc:/group/x", "--op", FIT) == {"x": "y: /group/y; lat: coordinate"}
    # FILE alone is the dataset of the same path.
    assert sources(folder, "a.nc", "--op", FIT, "--with", "y=b.nc") == {
        name: f"y: b.nc:/{name}; lat: coordinate" for name in ("x", "group/x", "group/y", "z")}
    # Results that are written block by block.
    assert sources(folder, "a.nc:/x", "--scan", "sum", "--where", "z < 5 && lat > 10") == {"x": "z: /z; lat: coordinate"}


def check_sources_by_result(folder):
    make_inputs(folder)
    arguments = ["a.nc:/x", "--op", "one(x, y): s += x * y -> s", "--op", "two(x, lat): s += x * lat -> s",
                 "--op", "three(x): lat += x -> lat", "--op", "mean,valid"]
    assert sources(folder, *arguments, "--with", "y=b.nc") == {"x_one": "y: b.nc:/x", "x_two": "lat: coordinate"}
    shown = sources(folder, *arguments, "--with", "y=b.nc", "--with", "w=c.nc:/z", "--where", "w > 1e3 || lat < 15")
    assert shown == {"x_one": "y: b.nc:/x; lat: coordinate; w: c.nc:/z", "x_two": "lat: coordinate; w: c.nc:/z",
                     "x_three": "lat: coordinate; w: c.nc:/z", "x_mean": "lat: coordinate; w: c.nc:/z", "x_valid": "lat: coordinate; w: c.nc:/z"}, shown
    # Each operator's text has the arrays that it reads, whatever the others have.
    lines, _ = folder.run(*arguments, "-d", "time", "--with", "y=b.nc", "--json")
    texts = {item["op"]: item.get("operator", "") for item in map(json.loads, lines.splitlines())}
    assert texts["two"] == "two(x, lat): s += x * lat -> s" and texts["one"] == "one(x, y): s += x * y -> s", texts
    with folder.reduce(*arguments, "-d", "time", "--with", "y=b.nc") as out:
        assert {op: attributes(out["x_" + op]).get("ndreduce_operator", "") for op in texts} == texts
    # A mask is no condition, even if a name of an operator's array is in its path.
    assert sources(folder, "a.nc:/x", "--op", "one(x, z): s += x * z -> s", "--op", "mean", "--where", "/z") == {"x_one": "z: /z"}


def check_parameters(folder):
    """Also beside an operator that reads more arrays."""
    make_inputs(folder)
    with folder.reduce("a.nc:/x", "-d", "time", "--op", FIT, "--op", HOT, "--set", "t=1.5", "--set", "c=1,1e-30", "--with", "y=b.nc") as out:
        assert attributes(out["x_hot"])["ndreduce_parameters"] == "t=1.5 c=1,1e-30"
        assert "ndreduce_parameters" not in attributes(out["x_fit"])


def check_sources_of_series(folder):
    make_inputs(folder)
    series = ["--concat", "time", "a.nc:/x", "b.nc:/x", "--op", FIT]
    assert sources(folder, *series, "--with", "y=/z") == {"x": "y: /z; lat: coordinate"}
    assert sources(folder, *series, "--with", "y=c.nc", "--with", "y=b.nc:z") == {
        "x": "y: c.nc:/x b.nc:/z; lat: coordinate"}
    # What --select takes of an array is no part of its own; b.nc lies under --concat alone.
    longer = ["--concat", "time", "--select", "time=0:2", "a.nc:/x", "--op", FIT]
    assert sources(folder, *longer, "--with", "y=b.nc") == {"x": "y: b.nc:/x; lat: coordinate"}
    assert sources(folder, *longer, "--with", "y=b.nc[0:3]") == {"x": "y: b.nc:/x[0:3]; lat: coordinate"}


def check_sources_have_one_form(folder):
    """However a dataset was written, and whatever it is called: words of a shell."""
    make_inputs(folder)
    shutil.copy(folder.file("a.nc"), folder.file("it's; b.nc"))
    for text in ("b.nc/z", "b.nc:z", "b.nc:/z"):
        assert sources(folder, "a.nc:/x", "--op", FIT, "--with", f"y={text}") == {"x": "y: b.nc:/z; lat: coordinate"}, text
    for text in ("b.nc[:,:]", "b.nc:x[:,:]"):
        assert sources(folder, "a.nc:/x", "--op", FIT, "--with", f"y={text}") == {"x": "y: b.nc:/x[:,:]; lat: coordinate"}, text
    named = ["--with", "y=it's; b.nc:z", "--with", "y=b.nc"]
    shown = sources(folder, "--concat", "time", "a.nc:/x", "b.nc:/x", "--op", FIT, *named)["x"]
    assert shown == "y: 'it'\\''s; b.nc:/z' b.nc:/x; lat: coordinate", shown
    source, _ = shown.rsplit("; ", 1)
    assert shlex.split(source) == ["y:", "it's; b.nc:/z", "b.nc:/x"]


def check_series_have_no_file_without_a_dataset(folder):
    """FILE alone is the dataset of the same path in each file of a series, not only in the first."""
    make_inputs(folder)
    with h5py.File(folder.file("other.nc"), "w") as file:
        file["w"] = np.arange(8.0).reshape(4, 2)
    _, errors = folder.run("--concat", "time", "a.nc:/x", "b.nc:/x", "-d", "time", "--op", FIT, "--with", "y=b.nc:/z", "--with", "y=other.nc",
                           status=1)
    assert "a.nc and 1 more:/x: --with y=other.nc: other.nc has no /x; name a dataset" in errors, errors


def check_sources_of_merged_parts(folder):
    make_inputs(folder)
    for part in ("1", "2"):
        folder.run("a.nc:/x", "-d", "time", "--op", FIT, "--with", "y=b.nc:/z", "--part", f"{part}/2", "--state", f"s{part}")
    folder.run("--merge", "s1", "s2", "-q", "-o", "merged.nc")
    with h5py.File(folder.file("merged.nc")) as out:
        assert attributes(out["x"])["ndreduce_with"] == "y: b.nc:/z; lat: coordinate"


def check_sources_by_groups(folder):
    """An array that is paired by groups of times says by which, also one of the input's own file; stacked files have each
    its own."""
    x, normal = np.arange(24.0), np.arange(12.0) + 6
    for name, more in (("a.nc", 0), ("b.nc", 5)):
        with h5py.File(folder.file(name), "w") as file:
            time = make_scale(file, "time", np.arange(24) * 30.5 + 10, units="days since 2001-01-01")
            month = make_scale(file, "month", np.arange(1.0, 13))
            file["x"], file["normal"] = x, normal + more
            attach(file["x"], time)
            attach(file["normal"], month)
    words = ["--pair-by", "time:month", "--op", "over(x, c): n += x > c -> n"]
    for own, said in (("/normal", "/normal"), ("a.nc:/normal", "a.nc:/normal")):
        assert sources(folder, "a.nc:/x", *words, "--with", f"c={own}") == {"x": f"c: {said} by time:month"}
    assert sources(folder, "a.nc:/x", *words, "--with", "c=/normal[2]") == {"x": "c: /normal[2]"}  # one step is repeated
    lines, _ = folder.run("--concat", "new:m", "a.nc:/x", "b.nc:/x", *words, "-d", "time", "--with", "c=/normal", "--json")
    assert json.loads(lines)["data"] == [int((x > np.tile(normal + more, 2)).sum()) for more in (0, 5)], lines
    assert json.loads(lines)["with"] == {"c": "/normal by time:month"}, lines
    with h5py.File(folder.file("a.nc"), "a") as file:
        file["month"][2] = 3.5
    errors = folder.run("a.nc:/x", *words, "--with", "c=/normal", status=1)[1]
    assert errors == "h5gpured: a.nc:/x: --with a.nc:/normal: its month[2] is 3.5, which is no month\n", errors


def check_dims_called_as_groups(folder):
    """An array whose dim is called month is of groups, and not of the dim that lies at its place, as long as that or not."""
    with h5py.File(folder.file("a.nc"), "w") as file:
        time = make_scale(file, "time", np.arange(24) * 30.5 + 10, units="days since 2001-01-01")
        lon, lat = make_scale(file, "lon", np.arange(12) * 30.0, units="degrees_east"), make_scale(file, "lat", np.arange(3.0))
        month = make_scale(file, "month", np.arange(1.0, 13))
        for name, scales in (("x", (time, lon)), ("y", (time, lat)), ("normal", (month,))):
            file[name] = np.ones([len(scale) for scale in scales])
            for d, scale in enumerate(scales):
                file[name].dims[d].attach_scale(scale)
    own = "an operator of one's own pairs groups, such as months: --op 'm(x, w): s += w * f64(x), a += w -> s / a' --with w=/normal"
    for name, along in (("x", "lon"), ("y", "lat")):
        lies = f"a.nc:/normal: its dim 0 (month) would lie along the dataset's dim 1 ({along}); "
        for words, said in ((["--where", "/normal"], f"--where {lies}--where m --with m=/normal"),
                            (["--where", "m > 0", "--with", "m=/normal"], f"--where {lies.rstrip()}"),
                            (["--weights", "/normal"], f"--weights: the dims of /normal are not among its dims, in order; {own}")):
            errors = folder.run(f"a.nc:/{name}", "-d", "time", "--op", "mean", *words, status=1)[1]
            pairs = "" if "--weights" in words else " pairs groups, such as months"
            assert errors == f"h5gpured: a.nc:/{name}: {said} --pair-by DIM:KEY{pairs}\n", errors
    folder.run("a.nc:/x", "-d", "time", "--op", "mean", "--where", "/normal", "--pair-by-number")


def check_json(folder):
    """It says what the attributes of files say."""
    make_inputs(folder)
    arguments = ["a.nc:/x", "-d", "time", "--op", FIT, "--op", HOT, "--op", "mean", "--set", "t=1.5", "--set", "c=1,1e-30",
                 "--with", "y=b.nc", "--where", "z > t"]
    lines, _ = folder.run(*arguments, "--json")
    for line, name in zip(lines.decode().splitlines(), ("fit", "hot", "mean"), strict=True):
        said = json.loads(line)
        with folder.reduce(*arguments) as out:
            kept = attributes(out["x_" + name])
        parameters = " ".join(f"{key}={','.join(f'{value:g}' for value in values)}" for key, values in said.get("parameters", {}).items())
        with_text = "; ".join(f"{key}: {value}" for key, value in said["with"].items())
        found = {"ndreduce_operator": said.get("operator"), "ndreduce_parameters": parameters or None, "ndreduce_where": said["where"],
                 "ndreduce_with": with_text}
        assert found == {key: kept.get(key) for key in found}, (found, kept)


def check_weights_of_some_operators(folder):
    """They are said of the operators that they count for, by files and by JSON."""
    make_inputs(folder)
    arguments = ["a.nc:/x", "-d", "time,lat", "--op", "mean,max,valid,std,argmin", "--weights", "lat:cos"]
    weighted = {"mean", "std"}
    with folder.reduce(*arguments) as out:
        for name in ("mean", "max", "valid", "std", "argmin"):
            says = "(weighted by the cosine of lat)" in attributes(out["x_" + name]).get("cell_methods", "")
            assert says == (name in weighted), name
    for line in folder.run(*arguments, "--json")[0].decode().splitlines():
        said = json.loads(line)
        assert ("weights" in said) == (said["op"] in weighted), said
    first, *_ = folder.run(*arguments)[0].decode().splitlines()
    assert first.endswith("over all dims, mean and std weighted by the cosine of lat"), first


def check_numbers_of_conditions(folder):
    """Attributes and texts have them in place of their names."""
    make_inputs(folder)
    with folder.reduce("a.nc:/x", "-d", "time", "--op", "mean", "--where", "z > t && lat < u", "--set", "t=1.5", "--set", "u=-2") as out:
        found = attributes(out["x"])
    assert found["ndreduce_where"] == "z > 1.5 && lat < (-2.0)" and found["cell_methods"] == "time: mean (where a condition holds)", found
    with folder.reduce("a.nc:/x", "-d", "time", "--op", "mean", "--where", "z > t && lat < u", "--set", "t=1.5", "--set", "u=2") as out:
        found = attributes(out["x"])
    assert found["ndreduce_where"] == "z > 1.5 && lat < 2.0" and found["cell_methods"] == "time: mean (where z > 1.5 && lat < 2.0)", found


def check_json_has_all_files(folder):
    """Those that are read as one, of results and of copies."""
    make_inputs(folder)
    with h5py.File(folder.file("a.nc"), "r+") as file:
        file["flat"] = np.arange(2.0)
        attach(file["flat"], file["lat"])

    def read(*arguments):
        items = map(json.loads, folder.run(*arguments, "--json", "-q")[0].splitlines())
        return {(item["dataset"], item["op"]): (item["file"], item.get("files")) for item in items}

    assert read("a.nc:/x", "-d", "time") == {("/x", "sum"): ("a.nc", None)}
    series = ("a.nc and 2 more", ["a.nc", "b.nc", "c.nc"])
    assert read("--concat", "time", "a.nc:/x", "b.nc/x", "c.nc:/x[0:2]", "-d", "time") == {("/x", "sum"): series}
    assert read("--concat", "new:member", "a.nc:/x", "b.nc:/x", "c.nc:/x", "-d", "member") == {("/x", "sum"): series}
    found = read("--concat", "time", "a.nc", "b.nc", "c.nc", "-d", "lat", "--op", "mean")
    assert found[("/flat", "mean")] == ("a.nc", None) and found[("/x", "mean")] == series, found
    found = read("--concat", "time", "a.nc", "b.nc", "c.nc", "-d", "time", "--op", "mean", "-o", "out.nc")
    assert found[("/flat", "copy")] == ("a.nc", None) and found[("/z", "mean")] == series, found


def check_text_names_what_is_beside(folder):
    """In the line of each result, or of all where they are single numbers; and in those on what is written."""
    make_inputs(folder)
    with h5py.File(folder.file("a.nc"), "r+") as file:
        file["area"] = np.ones(2)
        attach(file["area"], file["lat"])
    arguments = ["a.nc:/x", "--op", "mean,valid", "--where", "z > t && lat > 0", "--set", "t=1", "--with", "z=b.nc", "--weights"]
    beside = ", where z > 1.0 && lat > 0, with z=b.nc"
    first, *_ = folder.run(*arguments, "/area")[0].decode().splitlines()
    assert first == "a.nc:/x  f64 [time 4, lat 2] over all dims, mean weighted by /area" + beside, first
    lines = folder.run(*arguments, "time,lat", "-d", "time")[0].decode().splitlines()
    assert lines[1] == "  mean over time, weighted by time and lat" + beside + ": f64 [lat 2]", lines
    assert lines[3] == "  valid over time" + beside + ": i64 [lat 2]", lines
    lines = folder.run(*arguments, "/area", "-d", "time", "-o", "out.nc")[0].decode().splitlines()
    assert lines[0] == "out.nc:/x_mean  f64 [lat 2]  mean of a.nc:/x over time, weighted by /area" + beside, lines
    assert lines[1] == "out.nc:/x_valid  i64 [lat 2]  valid of a.nc:/x over time" + beside, lines
    # Of each operator its own, as it was given; of a series the first.
    two = ["--op", "one(x, y): s += x * y -> s", "--op", "two(x, lat, w): s += x * lat * w -> s", "-d", "time"]
    lines = folder.run("a.nc:/x", *two, "--with", "y=b.nc", "--with", "w=/z")[0].decode().splitlines()
    assert lines[1] == "  one over time, with y=b.nc: f64 [lat 2]" and lines[3] == "  two over time, with w=/z: f64 [lat 2]", lines
    lines = folder.run("--concat", "new:m", "a.nc:/x", "b.nc:/x", "--op", "one(x, y): s += x * y -> s", "--with", "y=b.nc", "--with", "y=c.nc",
                       "--where", "/z")[0].decode().splitlines()
    assert lines[0].endswith(" over all dims, where /z, with y=b.nc and 1 more"), lines
    lines = folder.run("a.nc:/x", "--scan", "sum", "-d", "time", "--where", "x > 1")[0].decode().splitlines()
    assert lines[1] == "  running sum along time, where x > 1: f64 [time 4, lat 2]", lines


def check_names_mean_one_array(folder):
    """What an operator calls its own dataset is no other array, and in a condition the element is x: refused before files are opened."""
    none = ["none.nc:/x", "-d", "time"]
    for arguments, expected in (
            (["--op", "d(x, y): s += x - y -> s", "--with", "x=b.nc", "--with", "y=c.nc"],
             "--with x=b.nc: to the operator d, x is the element"),
            (["--op", "d(t, y): s += t - y -> s", "--with", "t=b.nc", "--with", "y=c.nc", "--where", "t > 1"],
             "--with t=b.nc: to the operator d, t is the element"),
            (["--op", "mean", "--op", "d(z): s += z -> s", "--where", "lat > 0 && z > 1"],
             "--where: to the operator d, z is the element, which a condition calls x"),
            (["--op", "d(z, x): s += z - x -> s", "--where", "x > 1"],
             "--where: x is the element in a condition, and another array to the operator d")):
        _, errors = folder.run(*none, *arguments, status=2)
        assert errors == f"h5gpured: {expected} (see h5gpured --help)\n", errors


def check_units_of_weights(folder):
    """Weighted sums are of another quantity, unless weights are numbers; means are of the same."""
    make_inputs(folder)
    with h5py.File(folder.file("a.nc"), "r+") as file:
        file["x"].attrs.update({"units": "K", "standard_name": "air_temperature"})
        file["time"].attrs["units"] = "days since 2001-01-01"
        for name, units in (("area", "m2"), ("part", "1"), ("blank", " ")):
            file[name] = np.ones(2)
            file[name].attrs["units"] = units
            attach(file[name], file["lat"])
    for weights, units in (("/area", "K m2"), ("/part", "K"), ("/blank", "K"), ("lat:cos", "K"), ("lat", None), ("time:days", "K days"),
                           ("lat:cos,time:days", "K days"), ("time:days,lat", None)):
        with folder.reduce("a.nc:/x", "-d", "time,lat", "--op", "sum,norm2,mean", "--weights", weights) as out:
            found = {op: attributes(out["x_" + op]) for op in ("sum", "norm2", "mean")}
        same = units == "K"
        assert found["sum"].get("units") == units and ("standard_name" in found["sum"]) == same, (weights, found)
        assert found["norm2"].get("units") == ("K" if same else None) and ("standard_name" in found["norm2"]) == same, (weights, found)
        assert found["mean"]["units"] == "K" and "standard_name" in found["mean"], (weights, found)


def check_operators_leave_each_other_alone(folder):
    """One leaves out the places where an array of its own is missing, not those where another's is."""
    make_inputs(folder)
    with h5py.File(folder.file("b.nc"), "r+") as file:
        file["x"].attrs["_FillValue"] = -1.0
        file["x"][1:3] = -1
    one, two = ("--op", "one(x, lat): s += x * lat, n += 1 -> s + n"), ("--op", "two(x, y): s += x * y, n += 1 -> s + n")
    found = {}
    for name, ops, withs in (("one", one, ()), ("two", two, ("--with", "y=b.nc")), ("both", one + two, ("--with", "y=b.nc"))):
        with folder.reduce("a.nc:/x", "-d", "time", *ops, "--op", "mean", *withs) as out:
            found[name] = {key: out[key][()].tolist() for key in out if key.startswith("x_")}
    assert found["one"]["x_one"] == [124, 324] and found["two"]["x_two"] == [38, 52], found
    assert found["both"] == {**found["one"], **found["two"]}, found


def check_naming_is_not_reading(folder):
    """A NaN without a mark counts, unless an array with missing elements is read."""
    make_inputs(folder)
    for name, fill in (("a.nc", None), ("b.nc", -1.0)):
        with h5py.File(folder.file(name), "r+") as file:
            file["x"][1] = np.nan
            if fill:
                file["x"].attrs["_FillValue"] = fill
    for text, whole in (("f(x, y): s += x -> s", True), ("f(x, y): s += x * y -> s", False)):
        with folder.reduce("a.nc:/x", "-d", "time", "--op", text, "--op", "sum", "--with", "y=b.nc") as out:
            assert np.isnan(out["x_sum"][()]).all() == whole, text


def check_explain(folder):
    make_inputs(folder)
    _, said = folder.run("a.nc:/x", "-d", "time", "--op", "mean", "--where", "y > lat", "--with", "y=b.nc:/z", "--weights", "lat",
                         "--explain")
    lines = [line for line in said.splitlines() if line.startswith("beside ")]
    assert lines == ["beside   an array f64 [2], in memory", "beside   y: b.nc:/z f64 [4,2], read with each slab",
                     "beside   lat f64 [2], in memory"], lines


CHECKS = [check for name, check in list(globals().items()) if name.startswith("check_")]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
