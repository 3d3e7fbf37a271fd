#!/usr/bin/python3
"""Runs the examples of h5gpured's manual page: examples.py TOOL PAGE

Each is typed as it stands there, among files of the names that it has. Exits 77, which CTest shows as skipped, where h5py is
missing.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

from output import Folder, attach, h5py, make_scale, np, run_checks

PAGE = os.path.abspath(sys.argv[2])
FIXTURES = os.path.join(os.path.dirname(PAGE), "..", "..", "data")
TASKS = 64  # of the job array


def make_tas(folder, name, first_year, years, seed=1):
    """Months of temperatures, in kelvin."""
    source = np.random.default_rng(seed)
    with h5py.File(folder.file(name), "w", track_order=True) as file:
        dims = [make_scale(file, "time", (np.arange(12.0 * years) + 0.5) * 365 / 12 + (first_year - 1900) * 365, calendar=np.bytes_("noleap"),
                           units=np.bytes_("days since 1900-01-01")),
                make_scale(file, "lat", np.linspace(-75, 75, 6), units=np.bytes_("degrees_north")),
                make_scale(file, "lon", np.arange(0.0, 360, 45), units=np.bytes_("degrees_east"))]
        file["tas"] = source.normal(290, 20, (12 * years, 6, 8)).astype("f4")
        attach(file["tas"], *dims)


def make(folder):
    make_tas(folder, "tas.nc", 1991, 20)
    for name, year, seed in (("tas_1901.nc", 1901, 2), ("tas_1902.nc", 1902, 3), ("tas_2000.nc", 2000, 4), ("tas_2001.nc", 2001, 5),
                             ("a.nc", 2000, 6), ("b.nc", 2000, 7), ("in.nc", 2000, 8),
                             ("normals.nc", 1961, 9)):
        make_tas(folder, name, year, 1, seed)
    with h5py.File(folder.file("in.nc"), "r+") as file:
        file["orog"] = np.ones((6, 8))
        attach(file["orog"], file["lat"], file["lon"])
    with h5py.File(folder.file("ocean.nc"), "w") as file:
        file["temp"] = np.arange(24.0).reshape(4, 6)
        attach(file["temp"], make_scale(file, "time", np.arange(4.0)), make_scale(file, "x", np.arange(6.0)))
    with h5py.File(folder.file("scan.h5"), "w") as file:
        file["entry/data"] = np.where(np.arange(60).reshape(3, 4, 5) % 7, np.arange(60.0).reshape(3, 4, 5), np.nan)
    for name, variable in (("mask.nc", "sftlf"), ("areas.nc", "areacella")):
        with h5py.File(folder.file(name), "w") as file:
            file[variable] = np.linspace(0, 1, 48).reshape(6, 8)
            attach(file[variable], make_scale(file, "lat", np.linspace(-75, 75, 6)), make_scale(file, "lon", np.arange(0.0, 360, 45)))


def examples():
    """The commands, in the order of the page."""
    with open(PAGE, encoding="utf-8") as page:
        section = re.search(r"^\.SH EXAMPLES\n(.*?)^\.SH", page.read(), re.S | re.M)[1]
    return [line[3:].replace("\\-", "-") for line in section.splitlines() if line.startswith(".B h5gpured ")]


def tas(folder, *names):
    return np.concatenate([h5py.File(folder.file(name))["tas"][()].astype("f8") for name in names])


def correlation(x, y):
    x, y = x - x.mean(0), y - y.mean(0)
    return (x * y).sum(0) / np.sqrt((x * x).sum(0) * (y * y).sum(0))


def expected(folder, command):
    """What is in the file that a command writes: variable -> values."""
    x = tas(folder, "tas.nc")
    if "in.nc" in command:
        return {"tas": tas(folder, "in.nc").mean(0), "orog": np.ones((6, 8))}
    if "climate.nc" in command:
        temp = np.arange(24.0).reshape(4, 6)
        return {"temp_mean": temp.mean(0), "temp_std": temp.std(0)}
    if "normals.nc" in command:
        anomaly = x[120:] - np.tile(tas(folder, "normals.nc"), (10, 1, 1))
        return {"tas": np.sqrt(np.stack([(anomaly[month::12] ** 2).mean(0) for month in range(12)]))}
    if "time:month" in command:
        return {"tas": np.stack([x[month::12].mean(0) for month in range(12)])}
    if "time:day" in command:
        return {"tas": np.zeros(x.shape)}
    if "region.nc" in command:
        return {"tas": x[120:, 4, [0]].mean(0)[None]}
    if "january.nc" in command:
        return {"tas": x[::12].mean(0)}
    if "time=2000-02" in command:
        return {"tas": tas(folder, "tas_2000.nc", "tas_2001.nc")[1:17, 4:5][..., [7, 0, 1]].mean(0)}
    return {"tas": tas(folder, "tas_1901.nc", "tas_1902.nc").mean(0)}


def type_in(folder, command, **environment):
    path = os.path.dirname(folder.tool) + os.pathsep + os.environ["PATH"]
    done = subprocess.run(["sh", "-c", command], cwd=folder.path, env=dict(os.environ, PATH=path, **environment), capture_output=True,
                          text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert done.returncode == 0 and not done.stderr, f"{command}: status {done.returncode}, {done.stderr}"
    return done.stdout


def run_example(folder, command):
    if "--part" in command:
        for task in range(1, TASKS + 1):
            assert type_in(folder, command, SLURM_ARRAY_TASK_ID=str(task)) == ""
        return
    out = type_in(folder, command)
    words = shlex.split(command)
    written = next((after for word, after in zip(words, words[1:]) if word in ("-o", "--output")), None)
    assert out, f"{command}: prints nothing"
    if not written:
        return
    with h5py.File(folder.file(written)) as file:
        for name, values in expected(folder, command).items():
            found = file[name][()]
            assert found.size == values.size and np.allclose(found.ravel(), values.ravel(), 1e-5), (command, name)
    os.remove(folder.file(written))


def check_the_examples(folder):
    make(folder)
    commands = examples()
    assert len(commands) > 10 and all(command.startswith("h5gpured ") for command in commands), commands
    for command in commands:
        run_example(folder, command)


def check_what_they_print(folder):
    """Of those that write no file: the same as JSON."""
    make(folder)
    x = tas(folder, "tas.nc")
    lat = np.linspace(-75, 75, 6)
    weights = np.cos(np.radians(lat))[:, None] * np.ones(8)
    areas = np.linspace(0, 1, 48).reshape(6, 8)
    land = (areas > 0.5) & (lat > 0)[:, None]
    temp = np.arange(24.0).reshape(4, 6)
    answers = {
        "ocean.nc:/temp": [temp.mean(0), temp.std(0)],
        "scan.h5": [[1, 20, 40], [19, 39, 59]],
        "tas[0:120]": [(x[:120] * weights).sum((1, 2)) / weights.sum()],
        "mask.nc": [(x * weights * land).sum((1, 2)) / (weights * land).sum()],
        "hot(": [(x > 303.15).sum(0)],
        "rmse(": [np.sqrt(((tas(folder, "a.nc") - tas(folder, "b.nc")) ** 2).mean(0))],
        "rmsd(": [np.sqrt(((tas(folder, "a.nc") - tas(folder, "b.nc")) ** 2 * areas).sum((1, 2)) / areas.sum())],
        "d=time:days": [(x.mean(0) * areas).sum() / areas.sum()],  # steps of one length
        "corr(": [correlation(tas(folder, "a.nc"), tas(folder, "b.nc"))],
    }
    for command in examples():
        if any(word in ("-o", "--output", "--part") for word in shlex.split(command)):
            continue
        wanted = answers.pop(next(sign for sign in answers if sign in command))
        found = [json.loads(line)["data"] for line in type_in(folder, command + " --json").splitlines()]
        assert len(found) == len(wanted) and all(np.allclose(np.ravel(f), np.ravel(w), 1e-5) for f, w in zip(found, wanted)), command
    assert not answers, f"no longer in the page: {list(answers)}"


def check_the_table(folder):
    """The one that the page shows, of a file of data/."""
    shutil.copy(os.path.join(FIXTURES, "monthly.nc"), folder.path)
    with open(PAGE, encoding="utf-8") as page:
        command, table = re.search(r"^\$ (h5gpured [^\n]*)\n(.*?)^\.RE", page.read().replace("\\-", "-"), re.S | re.M).groups()
    assert type_in(folder, command) == table, table


CHECKS = [check_the_examples, check_what_they_print, check_the_table]


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
