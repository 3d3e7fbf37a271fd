#!/usr/bin/python3
"""Arrays that have one step for each group of a dataset's times, against NumPy: climatologies.py TOOL

Over random shapes, keys, layouts and budgets of memory, with missing values, in files and series of them.
"""
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import warnings

from problems import case_count, skip, tell

try:
    import h5py
    import numpy as np
except ImportError:
    skip("python3-h5py is not installed")

FIRST = datetime.datetime(2001, 11, 20)
FILL = -9999.0
KEYS = {"month": lambda d: d.month, "season": lambda d: d.month % 12 // 3, "year": lambda d: d.year,
        "yearmonth": lambda d: d.year * 12 + d.month, "day": lambda d: d.toordinal(),
        "dayofyear": lambda d: d.timetuple().tm_yday, "monthday": lambda d: d.month * 100 + d.day, "hour": lambda d: d.hour}
NAMED = ("month", "year", "dayofyear", "hour")
ANOMALY = "rms(x, c): s += (f64(x) - c)**2 -> n > 0 ? sqrt(s / n) : nan"
warnings.simplefilter("ignore")


def write(path, name, values, scales, choose, packed=False):
    """A dataset over the scales, {name: (values, attributes)}, in a layout by chance; NaN are missing."""
    with h5py.File(path, "w") as file:
        options = {}
        if choose.random() < 0.7 and values.size:
            options["chunks"] = tuple(choose.randint(1, size) for size in values.shape)
            options["compression"] = choose.choice((None, "gzip"))
        stored = np.where(np.isnan(values), FILL, values * 4 if packed else values)
        dataset = file.create_dataset(name, data=stored.astype("i4" if packed else "f8"), **options)
        if packed:
            dataset.attrs["scale_factor"] = 0.25
        if np.isnan(values).any():
            dataset.attrs["_FillValue"] = dataset.dtype.type(FILL)
        for i, (scale, (numbers, attributes)) in enumerate(scales.items()):
            file[scale] = np.asarray(numbers, "f8")
            file[scale].attrs.update(attributes)
            file[scale].make_scale(scale)
            dataset.dims[i].attach_scale(file[scale])


class Problem:
    """A dataset x(time, lat, lon), a file with one step for each of its groups, and what is paired."""

    def __init__(self, folder, seed):
        self.choose = choose = random.Random(seed)
        rng = np.random.default_rng(seed)
        self.key = choose.choice(list(KEYS))
        step = choose.choice((1, 6, 24, 24 * 7, 24 * 30))
        shape = (choose.randint(1, 300), choose.randint(1, 7), choose.randint(1, 9))
        self.dates = [FIRST + datetime.timedelta(hours=step * i) for i in range(shape[0])]
        of = np.array([KEYS[self.key](date) for date in self.dates])
        numbers = np.unique(of)
        self.x = np.round(rng.normal(size=shape) * 20) / 4
        self.x[rng.random(shape) < 0.05] = np.nan
        clim = np.round(rng.normal(size=(len(numbers), *shape[1:])) * 20) / 4
        clim[rng.random(clim.shape) < choose.choice((0, 0.05))] = np.nan
        self.paired = clim[np.searchsorted(numbers, of)]
        self.file, self.clim = os.path.join(folder, f"x{seed}.nc"), os.path.join(folder, f"c{seed}.nc")
        lat, lon = (np.arange(shape[1]) * 10.0, {}), (np.arange(shape[2]) * 10.0, {})
        hours = np.arange(shape[0]) * step
        times = (hours, {"units": f"hours since {FIRST:%Y-%m-%d}", "calendar": "proleptic_gregorian"})
        write(self.file, "x", self.x, {"time": times, "lat": lat, "lon": lon}, choose, choose.random() < 0.5)
        firsts = [self.dates[list(of).index(number)] for number in numbers]
        self.write_clim(clim, numbers, firsts, lat, lon)

    def write_clim(self, clim, numbers, firsts, lat, lon):
        """In any order of groups, by other units, maybe with a dim called as the key, latitudes in reverse, or as two files."""
        choose = self.choose
        order = list(range(len(numbers)))
        if choose.random() < 0.5:
            choose.shuffle(order)
        days = [(firsts[i] - datetime.datetime(1990, 1, 1)) / datetime.timedelta(days=1) for i in order]
        times = (days, {"units": "days since 1990-01-01", "calendar": "standard"})
        name = "time"
        if self.key in NAMED and choose.random() < 0.3:
            name, times = self.key, (numbers[order], {})
        if choose.random() < 0.3:
            clim, lat = clim[:, ::-1], (lat[0][::-1], {})
        clim, self.series = clim[order], False
        packed = choose.random() < 0.5
        if name == "time" and len(order) > 1 and choose.random() < 0.3:
            self.series, half = True, len(order) // 2
            for part, begin, end in ((0, 0, half), (1, half, len(order))):
                write(f"{self.clim[:-3]}_{part}.nc", "c", clim[begin:end],
                      {"time": (days[begin:end], times[1]), "lat": lat, "lon": lon}, choose, packed)
        elif choose.random() < 0.3:
            write(self.clim, "c", np.moveaxis(clim, 0, 1), {"lat": lat, name: times, "lon": lon}, choose, packed)
        else:
            write(self.clim, "c", clim, {name: times, "lat": lat, "lon": lon}, choose, packed)

    def withs(self):
        if self.series:
            return ["--concat", "time", *(w for p in "01" for w in ("--with", f"c={self.clim[:-3]}_{p}.nc:/c"))]
        return ["--with", f"c={self.clim}:/c"]


def rms(x, paired, axes):
    return np.sqrt(np.nanmean((x - paired) ** 2, axes))


def run(tool, *arguments):
    result = subprocess.run([tool, "--json", *arguments], capture_output=True, stdin=subprocess.DEVNULL, timeout=300)
    if result.returncode:
        return result.stderr.decode(errors="backslashreplace").strip()
    answer = json.loads(result.stdout)
    return np.array(answer["data"], "f8").reshape(answer["shape"])


def differs(got, wanted):
    if isinstance(got, str):
        return None if "one chunk at a time takes" in got else got
    return None if np.allclose(got, wanted, equal_nan=True) else f"{got.ravel()[:5]} are not {wanted.ravel()[:5]}"


def in_parts(tool, folder, arguments):
    """The same as run, of three parts."""
    states = [os.path.join(folder, f"state{part}") for part in (1, 2, 3)]
    for part, state in enumerate(states, 1):
        result = subprocess.run([tool, *arguments, "--part", f"{part}/3", "--state", state], capture_output=True)
        if result.returncode:
            return result.stderr.decode(errors="backslashreplace").strip()
    return run(tool, "--merge", *states)


def try_one(tool, folder, seed):
    p = Problem(folder, seed)
    dims = p.choose.choice((["time"], ["lat", "lon"], ["time", "lat", "lon"], ["lon"]))
    axes = tuple(("time", "lat", "lon").index(dim) for dim in dims)
    begin, end, where = 0, len(p.x), p.file + ":/x"
    if p.choose.random() < 0.3 and not p.series:
        begin = p.choose.randrange(len(p.x))
        end = p.choose.randint(begin + 1, len(p.x))
        where += f"[{begin}:{end}]"
    memory = p.choose.choice((["--memory", "40K"], ["--memory", "200K"], []))
    words = [*p.withs(), "--pair-by", f"time:{p.key}", *memory, "--threads", p.choose.choice("12"), "--dims", ",".join(dims),
             where]
    x, paired = p.x[begin:end], p.paired[begin:end]
    wrong = {f"{' '.join(words)}": differs(run(tool, "--op", ANOMALY, *words), rms(x, paired, axes)),
             f"{' '.join(words)} where": differs(run(tool, "--op", "valid", "--where", "x > c", *words), (x > paired).sum(axes))}
    if seed % 5 == 0:
        wrong[f"parts of {' '.join(words)}"] = differs(in_parts(tool, folder, ["--op", ANOMALY, *words]), rms(x, paired, axes))
    return [f"{what}: {why}" for what, why in wrong.items() if why]


def try_by(tool, folder, seed):
    """With --by the groups of the array need no option."""
    p = Problem(folder, seed)
    keys = [KEYS[p.key](date) for date in p.dates]
    of = {key: [i for i, other in enumerate(keys) if other == key] for key in keys}
    wanted = np.stack([rms(p.x[of[key]], p.paired[of[key]], 0) for key in sorted(of)])
    words = [*p.withs(), "--by", f"time:{p.key}", p.file + ":/x"]
    why = differs(run(tool, "--op", ANOMALY, *words), wanted)
    return [f"{' '.join(words)}: {why}"] if why else []


def try_random_years(tool, folder):
    """Times that span millions of years, as CDO 2.1.1's yseasmean writes them now and then, are refused; thousands are not."""
    lat, lon, problems = (np.arange(2.0), {}), (np.arange(3.0), {}), []
    path, clim = os.path.join(folder, "own.nc"), os.path.join(folder, "seasons.nc")
    write(path, "x", np.ones((365, 2, 3)), {"time": (np.arange(365.0), {"units": "days since 2001-01-01"}), "lat": lat, "lon": lon}, random.Random(1))
    for years, said in ((0, None), (5000, None), (-1857508, "--with {}:/c: its times span 1857509 years, as no climatology does: yseasmean of CDO")):
        days = np.array([45 + 365.2425 * years, 135, 225, 315])
        write(clim, "c", np.zeros((4, 2, 3)), {"time": (days, {"units": "days since 2001-01-01"}), "lat": lat, "lon": lon}, random.Random(1))
        got = run(tool, "--op", "s(x, c): s += x - c -> s", "--with", f"c={clim}:/c", "--pair-by", "time:season", path + ":/x")
        if said.format(clim) not in got if said else isinstance(got, str) or got != 365 * 6:
            problems.append(f"a climatology with times {years} years apart: {got}")
    return problems


def main():
    tool, problems = sys.argv[1], []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(case_count(60)):
            problems += try_one(tool, folder, seed)
            if seed % 3 == 0:
                problems += try_by(tool, folder, 10000 + seed)
        problems += try_random_years(tool, folder)
    sys.exit(tell(problems))


main()
