#!/usr/bin/python3
"""Groups over several dims, zones of a map and windows, against NumPy: maps.py TOOL
"""
import itertools
import sys

from groups import LOOPS, answer, same
from output import attach, attributes, h5py, make_scale, np, run_checks, text


def make_map(folder, name="map.nc", steps=40, seed=3, first=0):
    """x(time, lev, lat, lon) on a globe, and zones of its lat and lon, also the other way round and elsewhere."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-50, 50, (steps, 2, 6, 12)).astype("f4")
    zones = np.random.default_rng(9).integers(-1, 6, (6, 12)).astype("i2") * 10
    with h5py.File(folder.file(name), "w") as file:
        scales = [make_scale(file, "time", first + np.arange(float(steps)), units="days since 2001-01-01"),
                  make_scale(file, "lev", np.array([1000.0, 500.0]), units="hPa"),
                  make_scale(file, "lat", np.linspace(-75, 75, 6), units="degrees_north"),
                  make_scale(file, "lon", np.arange(0, 360, 30.0), units="degrees_east")]
        file.create_dataset("x", data=x, chunks=(7, 1, 4, 5), compression=1)
        attach(file["x"], *scales)
        file["zones"], file["turned"] = zones, zones.T
        attach(file["zones"], *scales[2:])
        attach(file["turned"], scales[3], scales[2])
        file["zones"].attrs["flag_meanings"] = "sea land"
        file["plain"] = zones
        file["moving"] = moving = rng.integers(0, 4, (steps, 2))
        attach(file["moving"], *scales[:2])
    with h5py.File(folder.file("zones.h5"), "w") as file:
        file["basin"] = zones
    return x, zones, moving


def zoned(x, labels, op, first):
    """Each zone of dims first, first + 1 reduced; zones lie there in their order."""
    flat = x.astype("f8").reshape(x.shape[:first] + (-1,) + x.shape[first + 2:])
    known = sorted(set(labels.ravel()) - {-10, -1})
    return [str(k) for k in known], np.stack(
        [LOOPS[op](np.compress(labels.ravel() == k, flat, first), axis=first) for k in known], first)


def check_zones(folder):
    """Labels of two dims, in any order of theirs, of this file or another, with parts and other reduced dims."""
    x, zones, moving = make_map(folder)
    for labels in ("/zones", "/turned", "/plain", "zones.h5:/basin", folder.file("zones.h5") + ":/basin"):
        for memory in ("100M", "100K"):
            found = answer(folder, "map.nc:/x", "--by", "lat,lon:" + labels, "--op", "sum,mean,std,max,valid", "--memory", memory)
            for op, item in found.items():
                known, expected = zoned(x, zones, op, 2)
                assert item["groups"] == known and item["by"].startswith("lat,lon:/") and item["shape"] == [40, 2, len(known)], item
                same(item, expected)
    found = answer(folder, "map.nc:/x", "--by", "lon,lat:/zones", "-d", "time,lat", "--op", "sum,argmax", "--coords")
    known, expected = zoned(x, zones, "sum", 2)
    same(found["sum"], expected.sum(0))
    for lev in (0, 1):
        for i, zone in enumerate(known):
            masked = np.where(zones == int(zone), x[:, lev], -99)
            at = found["argmax"]["data"][lev * len(known) + i]
            assert masked.ravel()[at] == masked.max() == masked.ravel()[:at + 1].max()
    same(answer(folder, "map.nc:/x", "--by", "time,lev:/moving")["sum"], zoned(x, moving, "sum", 0)[1])
    same(answer(folder, "map.nc:/x", "--by", "0,1:/moving", "-k", "-d", "lat")["sum"], zoned(x, moving, "sum", 0)[1].sum(1, keepdims=True))
    for part, cut in (("[:, :, 1:5, ::2]", np.s_[1:5, ::2]), ("[lat=0:90]", np.s_[3:, :]), ("[lon=270:60]", np.s_[:, [9, 10, 11, 0, 1, 2]]),
                      ("[lon=-180:150]", np.s_[:, [6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5]])):
        for labels in ("/zones", "/turned", "zones.h5:/basin"):
            found = answer(folder, "map.nc:/x" + part, "--by", "lat,lon:" + labels)["sum"]
            known, expected = zoned(x[(...,) + cut], zones[cut], "sum", 2)
            assert found["groups"] == known, (part, labels, found["groups"])
            same(found, expected)
    found = answer(folder, "map.nc:/x[lon=270:60]", "--by", "lat,lon:/zones[lon=270:60]")["sum"]
    same(found, zoned(x[..., [9, 10, 11, 0, 1, 2]], zones[:, [9, 10, 11, 0, 1, 2]], "sum", 2)[1])
    with folder.reduce("map.nc:/x", "--by", "lat,lon:/zones", "-d", "time,lat,lon", "--op", "mean") as out:
        known, expected = zoned(x, zones, "mean", 2)
        np.testing.assert_allclose(out["x"], expected.mean(0), rtol=1e-5, atol=1e-5)
        assert [dim[0].name for dim in out["x"].dims] == ["/lev", "/zones"] and out["zones"][...].tolist() == [int(k) for k in known]
        assert "flag_meanings" in out["zones"].attrs and out["zones"].dtype == np.dtype("i2")
        assert text(out["x"].attrs["cell_methods"]) == "time: lat: lon: mean", attributes(out["x"])
    with folder.reduce("map.nc:/x", "--by", "time,lev:/moving", "-d", "lon", "-k") as out:
        assert [dim[0].name for dim in out["x"].dims] == ["/moving", "/lat", "/lon"], out["x"]
        np.testing.assert_array_equal(out["x"], zoned(x, moving, "sum", 0)[1].sum(2, keepdims=True))
    table = folder.run("map.nc:/x", "--by", "lat,lon:zones.h5:/basin", "-d", "time", "--format", "csv")[0].decode().splitlines()
    assert table[0] == "lev,basin,sum" and table[1].startswith("1000,0,"), table[:2]
    y, _, later = make_map(folder, "later.nc", 17, 4, 40)
    both = np.concatenate([x, y])
    series = ("--concat", "time", "map.nc:/x", "later.nc:/x")
    same(answer(folder, *series, "--by", "lat,lon:/zones")["sum"], zoned(both, zones, "sum", 2)[1])
    same(answer(folder, *series, "--by", "time,lev:/moving")["sum"], zoned(both, np.concatenate([moving, later]), "sum", 0)[1])


def check_seam(folder):
    """Labels of a whole dim for a part on both sides of its seam."""
    x, _, _ = make_map(folder)
    with h5py.File(folder.file("map.nc"), "a") as file:
        file["sector"] = np.arange(12) // 3
    order = [9, 10, 11, 0, 1, 2, 3]
    found = answer(folder, "map.nc:/x[lon=270:90]", "--by", "lon:/sector")["sum"]
    assert found["groups"] == ["0", "1", "3"], found
    same(found, np.stack([x[..., [i for i in order if i // 3 == k]].sum(-1) for k in (0, 1, 3)], -1))


def boxed(x, first, windows, rests, op):
    """Windows over dims first, first + 1 ..., a dim of the result each; a rest is trimmed or padded."""
    def cuts(size, window, rest):
        return [slice(i, i + window) for i in range(0, size, window) if rest == "pad" or i + window <= size]
    along = [cuts(x.shape[first + i], *pair) for i, pair in enumerate(zip(windows, rests))]
    dims = tuple(range(first, first + len(windows)))
    parts = [LOOPS[op](x[(slice(None),) * first + box].astype("f8"), axis=dims) for box in itertools.product(*along)]
    return np.moveaxis(np.stack(parts).reshape([len(a) for a in along] + list(parts[0].shape)), range(len(along)), dims)


def check_boxes(folder):
    """Windows over several dims at once."""
    x, zones, _ = make_map(folder)
    for text_of, first, windows, rests in (
            ("lat=2,lon=3", 2, (2, 3), ("trim", "trim")), ("lon=5,trim,lat=4,pad", 2, (4, 5), ("pad", "trim")),
            ("lat=4,lon=5,pad", 2, (4, 5), ("pad", "pad")), ("lev=2,lat=1,lon=12", 1, (2, 1, 12), ("pad",) * 3),
            ("time=6,lev=1,trim", 0, (6, 1), ("trim", "trim")), ("0=40,1=2,2=6,3=1", 0, (40, 2, 6, 1), ("pad",) * 4)):
        for memory in ("100M", "100K"):
            found = answer(folder, "map.nc:/x", "--coarsen", text_of, "--op", "sum,mean,std,max,valid", "--memory", memory)
            for op, item in found.items():
                expected = boxed(x, first, windows, rests, op)
                assert item["shape"] == list(expected.shape), (item["shape"], expected.shape)
                assert [len(names) for names in item["groups"]] == item["shape"][first:first + len(windows)], item["groups"]
                same(item, expected)
    found = answer(folder, "map.nc:/x", "--coarsen", "lat=3,lon=4", "-k", "-d", "time", "--op", "sum,argmin")
    same(found["sum"], boxed(x, 2, (3, 4), ("pad", "pad"), "sum").sum(0, keepdims=True))
    assert found["argmin"]["shape"] == [1, 2, 2, 3], found["argmin"]
    found = answer(folder, "map.nc:/x[lon=270:60]", "--coarsen", "lat=3,lon=4,trim", "--where", "x > 0", "--op", "sum")["sum"]
    same(found, boxed(np.where(x > 0, x, 0)[..., [9, 10, 11, 0, 1, 2]], 2, (3, 4), ("pad", "trim"), "sum"))
    cosine = np.broadcast_to(np.cos(np.radians(np.linspace(-75, 75, 6)))[:, None], x.shape)
    found = answer(folder, "map.nc:/x", "--coarsen", "lat=3,lon=4", "--weights", "lat:cos", "--op", "mean")["mean"]
    same(found, boxed(x * cosine, 2, (3, 4), ("pad", "pad"), "sum") / boxed(cosine, 2, (3, 4), ("pad", "pad"), "sum"))
    make_map(folder, "later.nc", 17, 4, 40)
    found = answer(folder, "--concat", "time", "map.nc:/x", "later.nc:/x", "--coarsen", "lat=2,lon=6", "-d", "time")["sum"]
    with h5py.File(folder.file("later.nc")) as file:
        same(found, boxed(np.concatenate([x, file["x"][...]]), 2, (2, 6), ("pad", "pad"), "sum").sum(0))
    with folder.reduce("map.nc:/x", "--coarsen", "lat=4,lon=5,pad", "-d", "time", "--op", "mean") as out:
        assert [dim[0].name for dim in out["x"].dims] == ["/lev", "/lat", "/lon"], out["x"]
        np.testing.assert_allclose(out["x"], boxed(x, 2, (4, 5), ("pad", "pad"), "mean").mean(0), rtol=1e-5, atol=1e-5)
        assert out["lat"][...].tolist() == [-30, 60] and out["lat_bnds"][...].tolist() == [[-90, 30], [30, 90]]
        assert out["lon"][...].tolist() == [60, 210, 315] and out["lon_bnds"][...].tolist() == [[-15, 135], [135, 285], [285, 345]]
        assert text(out["x"].attrs["cell_methods"]) == "time: lat: lon: mean", attributes(out["x"])
    with h5py.File(folder.file("large.h5"), "w") as file:  # more places than can be labelled
        large = file.create_dataset("x", (1101, 512, 513), "i1", chunks=(24, 128, 128), fillvalue=0)
        large[23:26, 100:130] = 1
    found = answer(folder, "large.h5:/x", "--coarsen", "0=24,1=2,2=2,pad", "--op", "sum,argmax")
    sums = np.zeros((46, 256, 257), "i8")
    sums[0, 50:65], sums[1, 50:65] = 4, 8
    sums[:, :, 256] //= 2
    assert np.array_equal(found["sum"]["data"], sums.ravel())
    assert np.array_equal(np.array(found["argmax"]["data"]).reshape(sums.shape)[:2, 50, 0], [(23 * 512 + 100) * 513, (24 * 512 + 100) * 513])
    explained = folder.run("map.nc:/x", "--coarsen", "lat=3,lon=4", "--explain")[1]
    assert "groups   6 by lat:3,lon:4, of 12 steps, " in explained, explained
    table = folder.run("map.nc:/x", "--coarsen", "lat=3,lon=6", "-d", "time", "--format", "csv")[0].decode().splitlines()
    assert table[0] == "lev,lat,lon,sum" and table[2].startswith("1000,-45,255,") and len(table) == 9, table
    plain = folder.run("map.nc:/x", "--coarsen", "lat=3,lon=6", "-d", "time")[0].decode()
    assert "  groups by lat:3: -45 45\n  groups by lon:6: 75 255\n  sum by lat:3,lon:6 over time: f32 [lev 2, lat 2, lon 2]\n" in plain, plain


def check_edges(folder):
    """Bounds of windows leave no gaps, whatever the axis is like: halfway between steps, and not beyond a pole."""
    def bounds_of(values, window, name="lat", units="degrees_north", **more):
        with h5py.File(folder.file("axis.nc"), "w") as file:
            scale = make_scale(file, name, np.array(values, "f8"), units=units, **more)
            file["x"] = np.arange(float(len(values)))
            attach(file["x"], scale)
            file["edges"] = np.array([[v - 1, v + 3] for v in values], "f8")
            attach(file["edges"], scale, make_scale(file, "nv", np.arange(2)))
        with folder.reduce("axis.nc:/x", "--coarsen", f"{name}={window},pad") as out:
            bounds = out.get(f"{name}_bnds", out.get("edges"))
            return None if bounds is None else bounds[...].tolist()
    assert bounds_of([-90, -60, -30, 0, 30], 2) == [[-90, -45], [-45, 15], [15, 45]]
    assert bounds_of([90, 60, 30, 0], 1) == [[90, 75], [75, 45], [45, 15], [15, -15]]
    assert bounds_of([1.5, 1, 0.5], 3, "lat", "radians") == [[np.arccos(0), 0.25]]
    assert bounds_of([0, 1, 3, 7], 1, "height", "m") == [[-0.5, 0.5], [0.5, 2], [2, 5], [5, 9]]
    assert bounds_of([0, 1, 3, 7], 2, "height", "m", bounds="edges") == [[-1, 4], [2, 10]]
    assert bounds_of([0, 3, 1, 7], 2, "height", "m") is None and bounds_of([5], 1, "height", "m") is None
    assert bounds_of([0, np.nan, 1, 7], 2, "height", "m") is None


CHECKS = [check_zones, check_seam, check_boxes, check_edges]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
