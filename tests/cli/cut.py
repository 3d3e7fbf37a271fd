#!/usr/bin/python3
"""Arrays of the whole beside a part of a dataset, which are cut as it is, and products of weights: cut.py TOOL
"""
import json
import sys

from output import attach, h5py, make_scale, np, run_checks, text

LAT = np.linspace(-75, 75, 6)
LON = np.arange(0, 360, 30.0)
PARTS = [("[2:9, :, 1:4, ::3]", np.s_[2:9, :, 1:4, ::3]), ("[time=2001-01-03:2001-01-08, lat=0:90]", np.s_[2:8, :, 3:]),
         ("[lat=15]", np.s_[:, :, 3:4]), ("[lon=270:60]", np.s_[..., [9, 10, 11, 0, 1, 2]]),
         ("[1:, :, lat=-90:0, lon=-180:150]", np.s_[1:, :, :3, [6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]])]


def make(folder, name="in.nc", seed=1, first=0, steps=12):
    """x and y of (time, lev, lat, lon); land of (lat, lon), area of (lon, lat), w of (time, lat)."""
    rng = np.random.default_rng(seed)
    whole = {}
    with h5py.File(folder.file(name), "w") as file:
        scales = {"time": make_scale(file, "time", first + np.arange(float(steps)), units="days since 2001-01-01"),
                  "lev": make_scale(file, "lev", np.array([1000.0, 500.0]), units="hPa"),
                  "lat": make_scale(file, "lat", LAT, units="degrees_north"),
                  "lon": make_scale(file, "lon", LON, units="degrees_east")}
        full = ("time", "lev", "lat", "lon")
        for variable, dims in (("x", full), ("y", full), ("land", full[2:]), ("area", ("lon", "lat")), ("w", ("time", "lat"))):
            shape = [len(scales[d]) for d in dims]
            numbers = rng.integers(0, 2 if variable == "land" else 50, shape).astype("f4")
            file.create_dataset(variable, data=numbers, chunks=tuple(-(-n // 2) for n in shape), compression=1)
            attach(file[variable], *[scales[d] for d in dims])
            order = [d for d in full if d in dims]
            numbers = np.transpose(numbers, [dims.index(d) for d in order])
            whole[variable] = np.broadcast_to(
                numbers.reshape([len(scales[d]) if d in dims else 1 for d in full]), [len(scales[d]) for d in full])
        file["bare"] = whole["land"][0, 0]
    return whole


def answers(folder, *arguments):
    lines = folder.run("--json", *arguments)[0].decode().splitlines()
    return {item["op"]: np.array([np.nan if v is None else v for v in item["data"]], "f8").reshape(item["shape"])
            for item in map(json.loads, lines)}


def check_parts(folder):
    """Masks, conditions, weights and second arrays, over dims that are cut and over those that are not."""
    whole = make(folder)
    for part, index in PARTS:
        x, y, land, area, w = (whole[name][index].astype("f8") for name in ("x", "y", "land", "area", "w"))
        for dims, axes in (("all", (0, 1, 2, 3)), ("time,lev", (0, 1)), ("lat,lon", (2, 3))):
            for memory in ("100M", "250K"):
                job = (f"in.nc:/x{part}", "-d", dims, "--memory", memory)
                found = answers(folder, *job, "--where", "/land", "--op", "valid")["valid"]
                np.testing.assert_array_equal(found, (land > 0).sum(axes))
                found = answers(folder, *job, "--where", "area > 20 && y < x && lat > -40", "--op", "valid")["valid"]
                lat = np.broadcast_to(LAT[:, None], whole["x"].shape)[index]
                np.testing.assert_array_equal(found, ((area > 20) & (y < x) & (lat > -40)).sum(axes))
                for weights, numbers in (("/area", area), ("/w", w), ("in.nc:/w", w)):
                    found = answers(folder, *job, "--weights", weights, "--op", "sum")["sum"]
                    np.testing.assert_allclose(found, (x * numbers).sum(axes), rtol=1e-12)
                found = answers(folder, *job, "--op", "dot(x, y): s += x * y -> s", "--with", "y=/y")["dot"]
                np.testing.assert_allclose(found, (x * y).sum(axes), rtol=1e-5)
    found = answers(folder, "in.nc:/x[lon=270:60]", "--where", "/land[lon=270:60]", "--op", "valid")["valid"]
    assert found == (whole["land"][..., [9, 10, 11, 0, 1, 2]] > 0).sum()


def check_rotated(folder):
    """What has been written of a part that goes all around lies as the part does, and is not turned again."""
    whole = make(folder)
    part = "in.nc:/x[lon=-180:150]"
    x = np.roll(whole["x"], 6, -1).astype("f8")
    folder.run(part, "--op", "mean", "-d", "time", "-q", "-o", "mean.nc", "--overwrite")
    found = answers(folder, part, "--op", "far(x, y): s += (x - y)**2 -> s", "--with", "y=mean.nc:/x")["far"]
    np.testing.assert_allclose(found, ((x - x.mean(0)) ** 2).sum(), rtol=1e-5)
    found = answers(folder, part, "--op", "far(x, y): s += (x - y)**2 -> s", "--with", "y=mean.nc:/x", "--pair-by-number")["far"]
    np.testing.assert_allclose(found, ((x - x.mean(0)) ** 2).sum(), rtol=1e-5)
    folder.run("in.nc:/area[lon=-180:150]", "--op", "max", "--coarsen", "lat=1", "-q", "-o", "area.nc", "--overwrite")
    found = answers(folder, part, "--weights", "area.nc:/area", "--op", "sum")["sum"]
    np.testing.assert_allclose(found, (x * np.roll(whole["area"], 6, -1)).sum(), rtol=1e-12)
    with h5py.File(folder.file("zones.nc"), "w") as file:
        lon = make_scale(file, "lon", np.roll((LON + 180) % 360 - 180, 6), units="degrees_east")
        file["zone"] = zone = np.arange(12) // 4
        attach(file["zone"], lon)
    for more in ((), ("--pair-by-number",)):
        found = answers(folder, part, "--by", "lon:zones.nc:/zone", *more)["sum"]
        np.testing.assert_allclose(found, np.stack([x[..., zone == z].sum(-1) for z in range(3)], -1))


def check_series(folder):
    """The same of several files: of the first one what lacks their dim, and series beside them."""
    one, two = make(folder, "one.nc", 1), make(folder, "two.nc", 2, 12, 7)
    both = {name: np.concatenate([one[name], two[name]]) for name in one}
    series = ("--concat", "time", "one.nc:/x[:, :, 1:5, 2:9:2]", "two.nc:/x[:, :, 1:5, 2:9:2]")
    cut = np.s_[:, :, 1:5, 2:9:2]
    land = np.concatenate([one["land"], one["land"][:7]])[cut]
    found = answers(folder, *series, "--where", "/land", "--op", "sum")["sum"]
    assert found == (both["x"][cut] * land).sum(), found
    pair = ("--with", "y=one.nc:/y", "--with", "y=two.nc:/y")
    found = answers(folder, *series, "--op", "dot(x, y): s += x * y -> s", *pair)["dot"]
    np.testing.assert_allclose(found, (both["x"][cut].astype("f8") * both["y"][cut]).sum(), rtol=1e-5)


def check_refusals(folder):
    """Without names of dims nothing says that an array is of the whole; and a part of another size fits nothing."""
    make(folder)
    for arguments, reason in (
            (("in.nc:/x[:, :, 1:4]", "--where", "/bare"), "--where in.nc:/bare: has size 6 along dim 2 (lat) of size 3; /PATH[START:STOP] is a part of it"),
            (("in.nc:/x[:, :, 1:4]", "--where", "/land[0:5]"), "--where in.nc:/land: has size 5 along dim 2 (lat) of size 3; [lat=-45:15] of it is the part that both have")):
        errors = folder.run(*arguments, status=1)[1]
        assert errors == f"h5gpured: in.nc:/x: {reason}\n", errors


def check_products(folder):
    """Weights of several dims are multiplied."""
    whole = make(folder)
    x = whole["x"].astype("f8")
    cosine = np.cos(np.radians(LAT))[:, None]
    with h5py.File(folder.file("in.nc"), "a") as file:
        file["time"][...] = np.cumsum(np.arange(12.0) ** 2) / 4
        edges = make_scale(file, "nv", np.arange(2))
        file["time_bnds"] = np.stack([file["time"][...] - np.arange(12), file["time"][...] + 1], 1)
        attach(file["time_bnds"], file["time"], edges)
        file["time"].attrs["bounds"] = "time_bnds"
    days = np.arange(1, 13.0)[:, None, None, None]
    for by, weights in (("time:days,lat:cos", days * cosine), ("lat:cos,time:days", days * cosine),
                        ("lev,lat:cos,time:days", days * cosine * np.array([1000, 500.0])[:, None, None])):
        for dims, axes in (("time,lat", (0, 2)), ("all", (0, 1, 2, 3)), ("lon", (3,))):
            full = np.broadcast_to(weights, x.shape)
            found = answers(folder, "in.nc:/x", "--weights", by, "--op", "mean,sum", "-d", dims)
            np.testing.assert_allclose(found["sum"], (x * full).sum(axes), rtol=1e-12)
            np.testing.assert_allclose(found["mean"], np.average(x, axis=axes, weights=full), rtol=1e-12)
    cut = np.s_[3:8, :, 2:]
    found = answers(folder, "in.nc:/x[3:8, :, 2:]", "--weights", "time:days,lat:cos", "--op", "sum")["sum"]
    np.testing.assert_allclose(found, (x * days * cosine)[cut].sum(), rtol=1e-12)
    with folder.reduce("in.nc:/x", "--weights", "time:days,lat:cos", "--op", "mean", "-d", "time,lat") as out:
        methods = text(out["x"].attrs["cell_methods"])
        assert methods == "time: lat: mean (weighted by the days of time and the cosine of lat)", methods
    errors = folder.run("in.nc:/x", "--weights", "lat:cos,time:sin", "--op", "mean", status=1)[1]
    assert errors == "h5gpured: in.nc:/x: --weights 'time:sin': there is no weighting by 'sin', only by cos and days, as DIM:cos\n", errors


CHECKS = [check_parts, check_rotated, check_series, check_refusals, check_products]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
