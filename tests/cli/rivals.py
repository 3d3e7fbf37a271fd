#!/usr/bin/env python3
"""Where NCO and CDO define the same thing, the numbers are the same: rivals.py TOOL

A grid with missing values, once as floats and once packed, is reduced by h5gpured and by those of ncwa and cdo that are
there. Where they differ by definition, the page of h5gpured says how, and the bound here is what that comes to; so it does of what
each takes for an element.
"""
import os
import shutil
import subprocess
import sys
import tempfile

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

SHAPE = {"time": 24, "lat": 18, "lon": 36}
STEP = 0.01  # of the packed numbers
SINGLE = 2e-6  # f32 rounded in another order

# what is reduced, or a part of it: h5gpured's options, the others' commands, the relative and the absolute difference that is allowed
JOBS = [
    ("t", "-d time --op mean", ["ncwa -a time", "cdo timmean"], SINGLE, 0),
    ("t", "-d time --op sum", ["ncwa -y ttl -a time", "cdo timsum"], SINGLE, 0),
    ("t", "-d time --op min", ["ncwa -y min -a time", "cdo timmin"], 0, 0),
    ("t", "-d time --op max", ["ncwa -y max -a time", "cdo timmax"], 0, 0),
    ("t", "-d time --op var", ["cdo timvar"], 1e-4, 0),
    ("t", "-d time --op std --ddof 1", ["cdo timstd1"], 1e-4, 0),
    ("t", "-d lat,lon --op mean", ["ncwa -a lat,lon"], SINGLE, 0),
    ("t", "-d lon --op mean", ["ncwa -a lon", "cdo zonmean"], SINGLE, 0),
    ("t", "-d lat,lon --op mean --weights /area", ["ncwa -w area -a lat,lon"], SINGLE, 0),
    ("t[2::12]", "-d time --op mean", ["cdo seltimestep,3 -ymonmean"], SINGLE, 0),
    ("t", "--by time:month --op mean", ["cdo ymonmean"], SINGLE, 0),
    ("t", "--by time:season --op mean", ["cdo yseasmean"], SINGLE, 0),
    ("t", "--by time:year --op max", ["cdo yearmax"], 0, 0),
    ("t", "--by time:yearmonth --op mean", ["cdo monmean"], SINGLE, 0),
    ("t", "--by time:yearseason --op sum", ["cdo seassum"], SINGLE, 0),
    ("t", "--by time:yearseason --op ptp", ["cdo seasrange"], SINGLE, 0),
    ("t", "--by time:day --op mean", ["cdo daymean"], SINGLE, 0),
    ("t", "--by time:monthday --op mean", ["cdo ydaymean"], SINGLE, 0),
    ("t", "--by time:hour --op mean", ["cdo dhourmean"], SINGLE, 0),
    ("t", "--coarsen time=5,pad --op mean", ["cdo timselmean,5"], SINGLE, 0),
    ("packed", "--by time:month --op max", ["cdo ymonmax"], 1e-12, 0),
    ("t", "-d time -k --op mean", ["ncwa -b -a time"], SINGLE, 0),
    ("packed", "-d time --op mean", ["ncwa -a time"], 1e-12, 0),
    ("packed", "-d time --op mean", ["cdo timmean"], 0, 0.51 * STEP),  # what it writes is packed again
    ("packed", "-d time --op max", ["ncwa -y max -a time", "cdo timmax"], 1e-12, 0),
]


def make(path, seed=11):
    source = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        axes = {"time": 15 + 30.4 * np.arange(24), "lat": np.linspace(-85, 85, 18), "lon": np.arange(0.0, 360, 10)}
        units = {"time": "days since 2001-01-01", "lat": "degrees_north", "lon": "degrees_east"}
        for name, values in axes.items():
            file[name] = values
            file[name].make_scale(name)
            file[name].attrs["units"] = np.bytes_(units[name])
        values = 280 + 10 * source.standard_normal(tuple(SHAPE.values()))
        gone = source.random(values.shape) < 0.1
        gone[:, 3, 5] = True
        file["t"] = np.where(gone, 1e20, values).astype("f4")
        file["t"].attrs["_FillValue"] = np.float32(1e20)
        file["packed"] = np.where(gone, -32768, np.round((values - 280) / STEP)).astype("i2")
        file["packed"].attrs.update(_FillValue=np.int16(-32768), scale_factor=STEP, add_offset=280.0)
        file["area"] = source.random((18, 36)) + 0.5
        for name, dims in (("t", ("time", "lat", "lon")), ("packed", ("time", "lat", "lon")), ("area", ("lat", "lon"))):
            for d, dim in enumerate(dims):
                file[name].dims[d].attach_scale(file[dim])


def command_of(rival, name):
    words = rival.split()
    if words[0] == "ncwa":
        return ["ncwa", "-O", "-4", *words[1:], "-v", name, "in.nc", "out.nc"]
    return ["cdo", "-s", "-O", "-f", "nc4", *words[1:], f"-selname,{name}", "in.nc", "out.nc"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def read(path, name):
    """The numbers that a result means, missing ones as NaN."""
    with h5py.File(path) as file:
        values, attributes = file[name][()].astype("f8"), file[name].attrs
        values = np.where(values == attributes.get("_FillValue", np.nan), np.nan, values)
        return values * attributes.get("scale_factor", 1) + attributes.get("add_offset", 0)


def compare(tool, part, options, rival, relative, absolute):
    name = part.split("[")[0]
    run([tool, f"in.nc:/{part}", *options.split(), "-o", "own.nc", "--overwrite", "-q"])
    run(command_of(rival, name))
    own, other = read("own.nc", name), read("out.nc", name)
    if own.size == other.size and np.allclose(own.ravel(), other.ravel(), relative, absolute, equal_nan=True):
        return None
    apart = np.nanmax(abs(own.ravel() - other.ravel())) if own.size == other.size else "in shape"
    return f"{part} {options} differs from {rival} by {apart}, NaN {np.isnan(own).sum()} and {np.isnan(other).sum()}"


def make_zones(path, rows, width):
    """A field that varies with the latitude alone, in cells so many degrees wide."""
    edges = np.radians(np.linspace(-90, 90, rows + 1))
    lat, lon = np.degrees((edges[1:] + edges[:-1]) / 2), np.arange(0.0, 360, width)
    with h5py.File(path, "w") as file:
        for name, values, units in (("lat", lat, "degrees_north"), ("lon", lon, "degrees_east")):
            file[name] = values
            file[name].make_scale(name)
            file[name].attrs["units"] = np.bytes_(units)
        file["t"] = np.broadcast_to(30 * np.cos(np.radians(lat))[:, None], (rows, len(lon)))
        file["t"].dims[0].attach_scale(file["lat"])
        file["t"].dims[1].attach_scale(file["lon"])
    return edges, 30 * np.cos(np.radians(lat))


def compare_areas(tool, rows, width, gap):
    """Between the equator and a great circle that leaves a latitude and comes back to it after `width` degrees lies
    2 atan(tan(width / 2) sin(lat)) of the sphere; CDO's cells are differences of these, and ours of sin(lat)."""
    edges, zones = make_zones("in.nc", rows, width)
    run([tool, "in.nc:/t", *"-d lat,lon --op mean --weights lat:cos -o own.nc --overwrite -q".split()])
    run(command_of("cdo fldmean", "t"))
    own, other = read("own.nc", "t").item(), read("out.nc", "t").item()
    circles = np.diff(2 * np.arctan(np.tan(np.radians(width) / 2) * np.sin(edges)))
    wanted = np.average(zones, weights=np.diff(np.sin(edges))), np.average(zones, weights=circles)
    if np.allclose((own, other), wanted, 1e-9, 0) and round(other / own - 1, 6) == gap:
        return None
    return f"cells {width} degrees wide: {own} and cdo's {other} are not {wanted}, a gap of {other / own - 1}"


# What is an element, and what is missing: elements, attributes, and the means of ncwa, cdo and h5gpured, as its page says
ELEMENTS = {
    "unsigned": (np.array([250, 3, 4], "u1").view("i1"), {"_Unsigned": np.bytes_("true")}, 0, 85.666667, 85.666667),
    "missing_value": ([1.0, 2, 99], {"missing_value": 99.0}, 34, 1.5, 1.5),
    "two_marks": ([1.0, 2, 99], {"missing_value": 99.0, "_FillValue": -1.0}, 34, 34, 1.5),
    "nan_beside_fill": ([1.0, 2, np.nan], {"_FillValue": -1.0}, np.nan, np.nan, 1.5),
    "nan": ([1.0, 2, np.nan], {}, np.nan, np.nan, np.nan),
}


def make_elements():
    with h5py.File("in.nc", "w") as file:
        file["x"] = np.arange(3.0)
        file["x"].make_scale("x")
        for name, (elements, attributes, *_) in ELEMENTS.items():
            file[name] = elements
            file[name].attrs.update(attributes)
            file[name].dims[0].attach_scale(file["x"])


def compare_elements(tool, there, name):
    ncwa, cdo, own = ELEMENTS[name][2:]
    run([tool, f"in.nc:/{name}", *"--op mean -o own.nc --overwrite -q".split()])
    found, wanted = [read("own.nc", name).item()], [own]
    if "ncwa" in there:
        run(command_of("ncwa -a x", name))
        found, wanted = found + [read("out.nc", name).item()], wanted + [ncwa]
    if "cdo" in there:
        found, wanted = found + [float(run(["cdo", "-s", "outputf,%.9g,1", "-fldmean", f"-selname,{name}", "in.nc"]))], wanted + [cdo]
    same = np.allclose(found, wanted, 1e-6, 0, equal_nan=True)
    return None if same else f"{name}: h5gpured and {' and '.join(there)} say {found}, not {wanted}"


# Of members of an ensemble: h5gpured's operator, and CDO's
ENSEMBLES = [("mean", "ensmean", SINGLE), ("std --ddof 1", "ensstd1", 1e-4), ("std", "ensstd", 1e-4), ("min", "ensmin", 0),
             ("ptp", "ensrange", SINGLE), ("sum", "enssum", SINGLE)]
MEMBERS = ["in.nc", "in2.nc", "in3.nc"]


def compare_ensemble(tool, op, rival, relative):
    run([tool, "--concat", "new:member", *[f"{m}:/t" for m in MEMBERS], "-d", "member", *f"--op {op} -o own.nc --overwrite -q".split()])
    run(["cdo", "-s", "-O", "-f", "nc4", rival, *[word for m in MEMBERS for word in ("-selname,t", m)], "out.nc"])
    own, other = read("own.nc", "t"), read("out.nc", "t")
    if own.shape == other.shape and np.allclose(own, other, relative, 1e-6, equal_nan=True):
        return None
    return f"--concat new:member --op {op} differs from {rival} by {np.nanmax(abs(own - other))}"


def compare_leap_years(tool):
    """ydaymean and monthday take the same date of each year together, dayofyear the same number: those of 2000 and 2001 differ."""
    days = np.arange(731.0)
    with h5py.File("in.nc", "w") as file:
        for name, values in (("time", days), ("lat", [10.0, 20]), ("lon", [0.0, 10])):
            file[name] = values
            file[name].make_scale(name)
        for name, units in (("time", "days since 2000-01-01"), ("lat", "degrees_north"), ("lon", "degrees_east")):
            file[name].attrs["units"] = np.bytes_(units)
        file["t"] = np.broadcast_to(days[:, None, None], (731, 2, 2))
        for d, dim in enumerate(("time", "lat", "lon")):
            file["t"].dims[d].attach_scale(file[dim])
    for key in ("dayofyear", "monthday"):
        run([tool, "in.nc:/t", *f"--by time:{key} --op mean -o {key}.nc --overwrite -q".split()])
    run(command_of("cdo ydaymean", "t"))
    found = [read(path, "t")[57:62, 0, 0].tolist() for path in ("dayofyear.nc", "monthday.nc", "out.nc")]
    wanted = [[240, 241, 242, 243, 244], [240, 241, 59, 242.5, 243.5], [240, 241, 59, 242.5, 243.5]]
    return None if found == wanted else f"days of the year: {found}, not {wanted}"


# How far the means of such a field are apart, as its page says: rows, degrees, other / own - 1
GAPS = [(6, 45, 0.013052), (18, 10, 0.000635), (36, 5, 0.000159), (180, 1, 0.000006)]


def main():
    tool = os.path.abspath(sys.argv[1])
    there = [name for name in ("ncwa", "cdo") if shutil.which(name)]
    if not there:
        print("skipped: neither ncwa nor cdo is installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        make("in.nc")
        jobs = [(name, options, rival, relative, absolute) for name, options, rivals, relative, absolute in JOBS
                for rival in rivals if rival.split()[0] in there]
        found = [compare(tool, *job) for job in jobs]
        if "cdo" in there:
            for i, member in enumerate(MEMBERS):
                make(member, 11 + i)
            jobs += ENSEMBLES
            found += [compare_ensemble(tool, *job) for job in ENSEMBLES]
        make_elements()
        jobs += ELEMENTS
        found += [compare_elements(tool, there, name) for name in ELEMENTS]
        if "cdo" in there:
            jobs += [*GAPS, "leap years"]
            found += [compare_areas(tool, *gap) for gap in GAPS]
            found.append(compare_leap_years(tool))
        problems = [problem for problem in found if problem]
    print(*problems, sep="\n")
    print(f"{len(jobs)} jobs of {' and '.join(there)}, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
