#!/usr/bin/env python3
"""Makes the tables and figures of the pages from data/bench/*.json; tools/bench/report.sh calls it.

  report.py            draws data/bench/plots with gnuplot, rewrites the blocks of README.md and data/bench/README.md, says what is missing
  report.py --check    exit status 1 if that would change anything; needs no gnuplot
  report.py --print NAME   prints one block: gpu, wide-tall, cpu, h5, h5-gpu, files, files-16, files-words, files-few, ranks or gpu-parts
  report.py --data DIR ... takes the records from there, draws into DIR/plots, and leaves the pages alone

A block of a page lies between the lines <!-- bench: NAME --> and <!-- /bench -->.
"""
import hashlib
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True
from report_gpu import details, gauge, gpu_block, gpu_pays, gpu_short, groups, missing_records, operators, table, versions
from report_plots import FIGURES, done

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "data" / "bench"


def fail(text):
    sys.exit(f"report.py: {text}")


def load(name):
    """A record, or None where there is none."""
    try:
        return json.loads((DATA / name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        fail(f"{DATA / name}: {error}")


# ---- blocks

def cpu_provenance(record):
    machine = record["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores; commit {record['commit']}, {record['date'][:10]}."


def busy(record):
    load = record["machine"].get("load", 0)
    return f" Other work kept {load:.0f} threads busy; what is compared took turns." if load > 1 else ""


SCAN_PEERS = {"numpy": "NumPy", "torch": "PyTorch"}


def times_as_fast(row, peer):
    """None where the peer was not measured."""
    return row["seconds"][peer] / row["seconds"]["ndreduce"] if peer in row["seconds"] else None


def cpu_scans_table(rows):
    several = len({row["threads"] for row in rows}) > 1

    def line(row):
        named = row["name"].split(",")[0] in row["problem"]
        times = [times_as_fast(row, peer) for peer in SCAN_PEERS]
        return [row["problem"] if named else f"{row['name']}: {row['problem']}", *([str(row["threads"])] if several else []),
                f"{row['gbps']:.1f}", f"{row['of_ceiling']:.0%}", *("" if time is None else f"{time:.1f}" for time in times)]

    head = ["problem", *(["threads"] if several else []), "GB/s", "of a copy", *(f"times {who}" for who in SCAN_PEERS.values())]
    return table(head, [line(row) for row in rows])


def cpu_scans(record):
    """Scans and selections: the share of a copy in the same turns, and how many times as fast as NumPy and PyTorch."""
    rows = record["rows"]
    beside = []
    for peer, who in SCAN_PEERS.items():
        times = [time for row in rows if (time := times_as_fast(row, peer)) is not None]
        if times:
            beside.append(f"{who} {record[peer]} {statistics.median(times):.1f} ({min(times):.1f} to {max(times):.1f})")
    scans = [row["of_ceiling"] for row in rows if not row["problem"].startswith(("select", "nonzero"))]
    return (f"**Scans and selections**: {len(scans)} scans at {statistics.median(scans):.0%} of a copy's rate in the "
            f"median. Times as fast as others, the median and from least to most: {', '.join(beside)}. "
            f"{cpu_provenance(record)}{busy(record)}\n\n" + details("the numbers", cpu_scans_table(rows)))


def cpu_block():
    """256 MiB of each dtype in each layout: GB/s, share of the ceiling, and how many times as fast as NumPy."""
    record = load("cpu.json")
    if not record:
        return "No record of a CPU is kept: `tools/bench/bench_cpu.sh` makes one."
    cells = {}
    for row in done(record):
        dtype, _, layout = row["name"].partition("-")
        if row["set"] == "cpu":
            ratio = f", {row['over_numpy']:.1f}x" if row.get("over_numpy") else ""
            cells.setdefault(layout, {})[dtype] = f"{row['gbps']:.1f} ({row['of_ceiling']:.0%}{ratio})"
    dtypes = list(next(iter(cells.values())))
    rows = [[layout] + [of.get(dtype, "") for dtype in dtypes] for layout, of in cells.items()]
    text = (table(["layout"] + dtypes, rows) + "\n\nGB/s, in brackets the share of the ceiling measured beside it and the "
            f"multiple of NumPy {record['numpy']}. {cpu_provenance(record)}")
    for name, tell in (("groups", groups), ("operators", operators), ("operators-16", operators)):
        if of_kind := load(f"cpu-{name}.json"):
            text += f"\n\n{tell(of_kind)}\n\n{cpu_provenance(of_kind)}{versions({name: of_kind})}"
    for name in ("cpu-scans.json", "cpu-scans-16.json"):
        if record := load(name):
            text += "\n\n" + cpu_scans(record)
    gauges = [record for name in ("cpu-gauge.json", "cpu-gauge-16.json") if (record := load(name))]
    return "\n\n".join([text] + [f"{gauge(record)}\n\n{cpu_provenance(record)}" for record in gauges])


H5_RIVALS = {"h5gpured": "h5gpured", "h5py": "h5py + NumPy", "cdo": "CDO", "ncwa": "NCO", "xarray": "xarray + dask",
             "pread": "just reading"}


def h5_provenance(run, several):
    """What was compared where; of one of several runs, which rows are its own, too."""
    versions = run["versions"]
    what = f"h5py {versions['h5py']} with HDF5 {versions['hdf5']}, NumPy {versions['numpy']}, {versions['cdo']}"
    if versions.get("xarray"):
        what += f", xarray {versions['xarray']} with dask {versions['dask']}"
    whose = f"{len(run['rows'])} rows, from \"{run['rows'][0]['name']}\" on: " if several else ""
    return f"{whose}{what}. {cpu_provenance(run)}{busy(run)}"


def h5_block():
    record = load("h5.json")
    if not record:
        return "No record of `h5gpured` is kept: `tools/bench/bench_h5.py` makes one."
    taken, rows = [row for run in record["runs"] for row in run["rows"]], []
    rivals = [rival for rival in H5_RIVALS if any(rival in row["seconds"] for row in taken)]
    for row in taken:
        seconds = row["seconds"]
        rows.append([row["name"], f"{row['bytes'] / 2**20:.0f}"] +
                    [f"{seconds[rival]:.3f}" if rival in seconds else "" for rival in rivals] +
                    [f"{row['peak_bytes'] / 2**20:.0f}"])
    return (table(["mean of", "MiB", *(H5_RIVALS[rival] for rival in rivals), "peak MiB"], rows) +
            "\n\nSeconds, the best of several runs from a warm page cache; peak memory of h5gpured. " +
            " ".join(h5_provenance(run, len(record["runs"]) > 1) for run in record["runs"]))


NO_FILES = "No record of everyday jobs is kept: `tools/bench/bench_files.py` makes one."
FILES_COLUMNS = {"h5gpured": "h5gpured", "plain mean": "its mean over time", "cdo": "CDO", "nco": "NCO", "xarray": "xarray + flox + dask"}


def files_rows(record):
    return [row for run in record["runs"] for row in run["rows"]]


def files_provenance(run):
    known = run["versions"]
    said = [name.upper() + re.search(r"version( \S+)", known[name])[1] for name in ("cdo", "nco") if known.get(name)]
    said += [f"{name} {known[name]}" for name in ("xarray", "flox", "dask", "numbagg") if known.get(name)]
    return f"{', '.join(said)}. {cpu_provenance(run)}"


def span(ratios):
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return least if least == most else f"{least} to {most}"


def files_ratios(rows):
    """How many times as long as another one takes, in the jobs that have a mean over time beside them."""
    held = [row["seconds"] for row in rows if "plain mean" in row["seconds"]]
    said = [f"{who} {span([s[name] / s['h5gpured'] for s in held])} times as long as h5gpured" for name, who in FILES_COLUMNS.items()
            if name in ("cdo", "xarray") and held and all(name in s for s in held)]
    if held:
        said.insert(0, f"h5gpured takes {span([s['h5gpured'] / s['plain mean'] for s in held])} times as long as its mean over time of the same file")
    return ", ".join(said)


def files_machines(record):
    """On what the runs of a record were, each machine once."""
    return " ".join(dict.fromkeys(map(files_provenance, record["runs"])))


def files_block(name):
    """Everyday jobs with files: the seconds of each program, and their ratios."""
    record = load(name)
    if not record:
        return NO_FILES
    taken = files_rows(record)
    shown = [name for name in FILES_COLUMNS if any(name in row["seconds"] for row in taken)]
    rows = [[row["name"], f"{row['bytes'] / 2**20:.0f}"] + [f"{row['seconds'][name]:.2f}" if name in row["seconds"] else "" for name in shown] +
            [f"{row['peak_bytes'] / 2**20:.0f}"] for row in taken]
    return (table(["job", "MiB", *(FILES_COLUMNS[name] for name in shown), "peak MiB"], rows) +
            "\n\nSeconds from a warm page cache, h5gpured's the best of several runs, of the others fewer where they take long"
            f"{'; CDO with one thread or all cores, whichever is faster' if any('cdo_threads' in row for row in taken) else ''}; MiB of the "
            "packed elements; peak memory of h5gpured. "
            f"{files_ratios(taken)}. {files_machines(record)}")


def files_words(record):
    """The same jobs in words: those of CDO and of h5gpured, and the times of both."""
    rows = [[row["name"].split(", chunks")[0], f"`cdo {row['words']['cdo']}`", f"`h5gpured {row['words']['h5gpured']}`"] +
            [f"{row['seconds'][name]:.2f}" for name in ("cdo", "h5gpured")]
            for row in files_rows(record) if row["name"].endswith("a field") and "cdo" in row["seconds"]]
    return rows


WORDS_COLUMNS = ["job", "CDO", "h5gpured", "CDO, s", "h5gpured, s"]
FEW_JOBS = ("monthly means", "daily range", "mean of a box", "ensemble mean")


def files_words_block():
    record = load("files.json")
    return table(WORDS_COLUMNS, files_words(record), 3) + "\n\n" + files_machines(record) if record else NO_FILES


def files_few_block():
    """Some of these, for who reads no further."""
    record = load("files.json")
    if not record:
        return NO_FILES
    machine = record["runs"][0]["machine"]
    return (table(WORDS_COLUMNS, [row for row in files_words(record) if row[0] in FEW_JOBS], 3) +
            "\n\nFiles are hourly, packed and deflated, as those of reanalyses are; [more jobs, and the times of NCO and xarray]"
            f"(data/bench/README.md#everyday-jobs). {machine['cpu']}, {machine['cores']} cores.")


def h5_gpu_block():
    record = load("h5-gpu.json")
    if not record:
        return "No record of datasets on a GPU is kept: `tools/bench/bench_h5_gpu.py` makes one."
    rivals = list(dict.fromkeys(name for row in record["rows"] for name in row["seconds"]))
    rows = [[row["name"], f"{row['bytes'] / 2**30:.3g}"] +
            [f"{row['bytes'] / row['seconds'][name] / 1e9:.1f}" if name in row["seconds"] else "" for name in rivals] +
            [f"{row['decode_gbs']:.1f}" if "decode_gbs" in row else ""] for row in record["rows"]]
    machine, versions = record["machine"], record["versions"]
    ceilings = ", ".join(f"{name} {rate:.1f}" for name, rate in record["ceilings"].items())
    return (table(["mean of", "GiB", *rivals, "decoding alone"], rows) +
            f"\n\nGB/s of elements, the best of several runs in one process from a warm page cache; ceilings of the same run: "
            f"{ceilings}. A process with little to do takes {record['start_seconds']['cuda']:.2f} s on the GPU, "
            f"{record['start_seconds']['cpu']:.3f} s on the CPU, which a GPU saves from {gpu_pays(record, False):.1f} GiB of "
            f"contiguous and {gpu_pays(record, True):.1f} GiB of deflated elements on. {machine['gpu']}, "
            f"{record['rows'][0]['threads']} threads on {machine['cores']} cores; HDF5 "
            f"{versions['hdf5']}, PyTorch {versions['torch']}; {record['date'][:10]}, commit {record['commit'][:7]}.")


def version_number(said):
    return re.search(r"[0-9][0-9.]*", said)[0].rstrip(".")


def ranks_block():
    """Seconds of whole processes, and in brackets of their work without the start of the launcher and the program."""
    record = load("ranks.json")
    if not record:
        return "No record of ranks on many cores is kept: `tools/bench/bench_ranks.py cores` makes one."
    names = list(dict.fromkeys(name for row in record["rows"] for name in row["seconds"]))

    def cell(row, name):
        if name not in row["seconds"]:
            return ""
        work = row["work_seconds"].get(name)
        return f"{row['seconds'][name]:.2f}" + (f" ({work:.2f})" if work else "")
    rows = [[str(row["cores"]), *(cell(row, name) for name in names)] for row in record["rows"]]
    row, versions = record["rows"][0], record["versions"]
    rivals = {"xarray": "xarray", "dask": "dask", "cdo": "CDO", "nco": "NCO"}
    there = [f"{title} {version_number(versions[name])}" for name, title in rivals.items() if versions.get(name)]
    others = f", {', '.join(there)}" if there else "; xarray was not there"
    runs = [count for row in record["rows"] for count in row.get("runs", {}).values()]
    of_runs = f"{record.get('statistic', 'best')} of {f'{min(runs)} to {max(runs)}' if runs else 'several'} runs from a warm page cache"
    dask = "; dask has a cluster of workers x threads, and CDO and NCO inflate on one core" if "cdo" in versions else ""
    return (table(["cores", *(name if " x " not in name or "dask" in name else f"ranks x threads {name}" for name in names)], rows) +
            f"\n\nSeconds of whole processes with the launcher, the {of_runs}, and in brackets of the "
            f"work alone: mean over time of packed i16 {row['shape']}, {row['bytes'] / 2**20:.0f} MiB, {row['stored_bytes'] / 2**20:.0f} MiB "
            f"deflated. All ranks give the same bits{dask}. {versions['mpi']}{others}. {cpu_provenance(record)}")


def ranks_reading(record):
    rows = [[row["file"], f"{row['ranks']} x {row['threads']}", f"{row['work_seconds']:.3f}", f"{row['read_seconds']:.3f}",
             f"{row['read_seconds'] / row['work_seconds']:.2f}"] for row in record["rows"]]
    return (table(["contiguous", "ranks x threads", "the mean", "only reading", "share"], rows) +
            f"\n\nSeconds, medians of {record['runs']} runs from a warm page cache, without the start of launcher and program: the mean "
            f"over the first dim, and processes of as many threads that only read the same bytes. {cpu_provenance(record)}")


def ranks_reading_block():
    records = [record for name in ("ranks-reading.json", "ranks-reading-16.json") if (record := load(name))]
    if not records:
        return "No record of how fast ranks read is kept: `tools/bench/bench_ranks_reading.py` makes one."
    return "\n\n".join(map(ranks_reading, records))


def gpu_parts_block():
    record = load("gpu-parts.json")
    if not record:
        return "No record of parts on several GPUs is kept: `tools/bench/bench_ranks.py gpus` makes one."
    rows = [[row["case"], str(row["gpus"]), f"{row['part_mib']}", f"{row['plain_us']:.0f}", f"{row['whole_us']:.0f}", f"{row['parts_us']:.0f}",
             f"{row['plain_us'] / row['parts_us']:.2f}", f"{row['whole_us'] / row['parts_us']:.2f}"] for row in record["rows"]]
    machine = record["machine"]
    same = sum(job["runs"] for job in record["files"])
    return (table(["all parts", "GPUs", "MiB of a part", "a part, plain", "all on one GPU", "`ndreduce_parts`", "of plain", "times as fast as one GPU"], rows) +
            f"\n\nMicroseconds, medians, with the wait for the stream; each GPU has a part, and a thread that polls for messages. "
            f"{same} runs of h5gpured, with 1 to 4 GPUs and 1 to 5 ranks, gave the same bits as one process "
            f"with one GPU, for each of {len(record['files'])} jobs. {machine['gpus']} {machine['gpu']}, {cpu_provenance(record)}")


BLOCKS = {"gpu": lambda: gpu_block(load, lambda name: f"plots/{name}.svg"), "cpu": cpu_block, "h5": h5_block, "files": lambda: files_block("files.json"), "files-16": lambda: files_block("files-16.json"), "files-words": files_words_block, "files-few": files_few_block,
          "h5-gpu": h5_gpu_block, "ranks": ranks_block, "ranks-reading": ranks_reading_block, "gpu-parts": gpu_parts_block, "wide-tall": lambda: gpu_short(load, lambda name: f"data/bench/plots/{name}.svg")}
PAGES = ("README.md", "data/bench/README.md")


# ---- figures

def programs():
    """name -> (gnuplot's program without terminal and output, width, height), of the figures whose records are there."""
    made = {}
    for name, (file, function, width, height) in FIGURES.items():
        record = load(file)
        text = record and function(record)
        if text:
            made[name] = (text, width, height)
    return made


def mark_of(text):
    """What a figure says about the program that drew it, so that a figure of old data is found out without gnuplot."""
    return f"<!-- drawn from {hashlib.sha256(text.encode()).hexdigest()[:16]} -->"


def draw(folder, made):
    if made and not shutil.which("gnuplot"):
        fail("the figures need gnuplot (Debian: gnuplot-nox)")
    for name, (text, width, height) in made.items():
        for kind, terminal in (("svg", "svg"), ("png", "pngcairo")):
            path = folder / f"{name}.{kind}"
            folder.mkdir(parents=True, exist_ok=True)
            head = f"set terminal {terminal} size {width},{height} font 'sans,11' background rgb 'white'\nset output '{path}'\n"
            ran = subprocess.run(["gnuplot"], input=head + text, text=True, capture_output=True)
            if ran.returncode or ran.stderr:
                fail(f"gnuplot: {name}: {ran.stderr.strip()[:300]}")
        svg = folder / f"{name}.svg"
        svg.write_text(svg.read_text(encoding="utf-8") + mark_of(text) + "\n", encoding="utf-8")


def stale_figures(folder, made):
    stale = []
    for name, (text, *_) in made.items():
        svg = folder / f"{name}.svg"
        if not svg.exists() or mark_of(text) not in svg.read_text(encoding="utf-8"):
            stale.append(svg)
        if not svg.with_suffix(".png").exists():
            stale.append(svg.with_suffix(".png"))
    return stale


# ---- pages

def rewritten(text):
    def block(match):
        name = match[2]
        if name not in BLOCKS:
            fail(f"there is no block '{name}'")
        return f"{match[1]}\n{BLOCKS[name]()}\n{match[3]}"
    return re.sub(r"(<!-- bench: ([a-z0-9-]+) -->)\n.*?(<!-- /bench -->)", block, text, flags=re.S)


def main(arguments):
    global DATA
    if len(arguments) > 1 and arguments[0] == "--data":
        DATA, arguments = pathlib.Path(arguments[1]), arguments[2:]
    folder = DATA / "plots"
    pages = [ROOT / page for page in PAGES] if DATA == ROOT / "data" / "bench" else []
    texts = {page: page.read_text(encoding="utf-8") for page in pages}
    new = {page: rewritten(text) for page, text in texts.items()}
    if len(arguments) == 2 and arguments[0] == "--print" and arguments[1] in BLOCKS:
        print(BLOCKS[arguments[1]]())
    elif arguments == ["--check"]:
        stale = stale_figures(folder, programs()) + [page for page in pages if new[page] != texts[page]]
        if stale:
            fail("not what the records say: " + ", ".join(map(str, stale)) + "; run tools/bench/report.sh")
    elif arguments == []:
        made = programs()
        draw(folder, made)
        for page in pages:
            if new[page] != texts[page]:
                page.write_text(new[page], encoding="utf-8")
        print(f"report.py: {len(made)} figures; {missing_records(load) or 'no record is missing'}")
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
