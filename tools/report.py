#!/usr/bin/env python3
"""Makes README's tables and the wide-against-tall plot from data/bench/*.json.

  report.py                      rewrites the blocks of README.md and data/bench/wide-tall.svg
  report.py --check              exit status 1 if that would change anything
  report.py --print NAME         prints one block: wide-tall, gpu, small, peers, cpu or h5
  report.py --import CASES RAW...  turns the results of the peers harness, with the cases.py in the folder CASES, into
                                 data/bench/gpu-peers.json

A block of README.md lies between the lines <!-- bench: NAME --> and <!-- /bench -->.
"""
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "bench"
PLOT = DATA / "wide-tall.svg"


def fail(text):
    sys.exit(f"report.py: {text}")


def load(name):
    try:
        return json.loads((DATA / name).read_text())
    except OSError:
        fail(f"{DATA / name} is not there: tools/bench_gpu.sh or report.py --import writes it")


def table(head, rows):
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def provenance(record):
    machine = record["machine"]
    return (f"{machine['gpu']}, driver {machine['driver']}, CUDA {machine['cuda']}; commit {record['commit']}, "
            f"{record['date'][:10]}.")


def done(record):
    """The rows that were timed."""
    return [row for row in record["rows"] if row.get("median_seconds")]


def best_peer(row):
    """(name, GB/s) of the best peer of an ndbench row, or None."""
    peers = row.get("peers", {})
    return max(((name, peer["gbps"]) for name, peer in peers.items()), key=lambda pair: pair[1], default=None)


# ---- blocks

def wide_tall_lines(record):
    """Rows' exponent -> row, for each axis."""
    lines = {0: {}, 1: {}}
    for row in done(record):
        match = re.fullmatch(r"2\^(\d+)x2\^\d+-axis([01])", row["name"])
        if match:
            lines[int(match[2])][int(match[1])] = row
    return lines


def wide_tall_block():
    record = load("gpu-wide-tall.json")
    lines = wide_tall_lines(record)
    rows = []
    for k in sorted(lines[1]):
        wide, tall = lines[1][k], lines[0].get(k)
        cells = [f"2^{k} x 2^{26 - k}"]
        for row in (wide, tall):
            cells += [f"{row['gbps']:.0f}", f"{row['of_ceiling']:.0%}", row["family"]] if row else ["", "", ""]
        rows.append(cells)
    text = table(["f32 array", "rows summed, GB/s", "of ceiling", "family", "columns summed, GB/s", "of ceiling",
                  "family"], rows)
    return f"![GB/s over the shape]({PLOT.relative_to(ROOT)})\n\n{text}\n\n{provenance(record)}"


def gpu_block():
    record = load("gpu-gpu.json")
    rows, ratios, shares = [], [], []
    for row in done(record):
        peer = best_peer(row)
        if peer:
            ratios.append(row["gbps"] / peer[1])
        shares.append(row["of_ceiling"])
        rows.append([f"`{row['problem']}`", row["family"], f"{row['gbps']:.0f}", f"{row['of_ceiling']:.1%}",
                     f"{peer[1]:.0f} {peer[0]}" if peer else ""])
    text = table(["problem", "family", "GB/s", "of ceiling", "best peer, GB/s"], rows)
    note = f"Geometric mean {geometric_mean(shares):.1%} of the ceiling, least {min(shares):.1%}"
    if ratios:
        note += f"; {geometric_mean(ratios):.2f}x CUB and cuBLAS where they have the operation"
    return f"{text}\n\n{note}. {provenance(record)}"


def cpu_provenance(record):
    machine = record["machine"]
    return f"{machine['cpu']}, {machine['cores']} cores; commit {record['commit']}, {record['date'][:10]}."


def cpu_block():
    """256 MiB of each dtype in each layout: GB/s, share of the ceiling, and how many times as fast as NumPy."""
    record = load("cpu.json")
    cells = {}
    for row in done(record):
        dtype, _, layout = row["name"].partition("-")
        if row["set"] == "cpu":
            ratio = f", {row['over_numpy']:.1f}x" if row.get("over_numpy") else ""
            cells.setdefault(layout, {})[dtype] = f"{row['gbps']:.1f} ({row['of_ceiling']:.0%}{ratio})"
    dtypes = list(next(iter(cells.values())))
    rows = [[layout] + [of.get(dtype, "") for dtype in dtypes] for layout, of in cells.items()]
    return (table(["layout"] + dtypes, rows) + "\n\nGB/s, in brackets the share of the ceiling measured beside it and the "
            f"multiple of NumPy {record['numpy']}. {cpu_provenance(record)}")


H5_RIVALS = {"h5gpured": "h5gpured", "h5py": "h5py + NumPy", "cdo": "CDO", "ncwa": "NCO", "pread": "just reading"}


def h5_block():
    record = load("h5.json")
    rows = []
    for row in record["rows"]:
        seconds = row["seconds"]
        rows.append([row["name"], f"{row['bytes'] / 2**20:.0f}"] +
                    [f"{seconds[rival]:.3f}" if rival in seconds else "" for rival in H5_RIVALS] +
                    [f"{row['peak_bytes'] / 2**20:.0f}"])
    versions = record["versions"]
    what = f"h5py {versions['h5py']} with HDF5 {versions['hdf5']}, NumPy {versions['numpy']}, {versions['cdo']}"
    return (table(["mean of", "MiB", *H5_RIVALS.values(), "peak MiB"], rows) +
            f"\n\nSeconds, the best of several runs from a warm page cache; peak memory of h5gpured. {what}. "
            f"{cpu_provenance(record)}")


def microseconds(seconds):
    return f"{seconds * 1e6:.1f}" if seconds else ""


def small_block():
    record = load("gpu-small.json")
    rows = []
    for row in done(record):
        peers = "; ".join(f"{microseconds(p['median_seconds'])} / {microseconds(p.get('back_to_back_seconds'))} {name}"
                          for name, p in row.get("peers", {}).items())
        rows.append([f"`{row['problem']}`", microseconds(row["median_seconds"]),
                     microseconds(row.get("back_to_back_seconds")), peers])
    return (table(["problem", "on the device, us", "a call, back to back, us", "peers"], rows) +
            f"\n\n{provenance(record)}")


def ceiling_at(record, moved):
    """The read ceiling measured nearest to so many bytes."""
    sizes = record["ceiling_gbps"]
    return sizes[min(sizes, key=lambda size: abs(math.log(int(size) / moved)))] if sizes else None


def peers_block():
    record = load("gpu-peers.json")
    rows, ratios, shares = [], [], []
    for case in record["cases"]:
        seconds = dict(case["seconds"])
        ours = seconds.pop("ours", None)
        if not seconds or not ours:
            continue
        best = min(seconds, key=seconds.get)
        ratio, gbps = seconds[best] / ours, case["bytes"] / ours / 1e9
        ratios.append(ratio)
        if case["back_to_back"]:
            calls = dict(case["back_to_back"])
            call = calls.pop("ours", None)
            rival = min(calls, key=calls.get, default=None)
            cells = [f"{microseconds(seconds[best])} us {best}", f"{microseconds(ours)} us", f"{ratio:.2f}x",
                     f"back to back {microseconds(call)} us" + (f", {microseconds(calls[rival])} {rival}" if rival else "")]
        else:
            ceiling = ceiling_at(record, case["bytes"])
            if ceiling:
                shares.append(gbps / ceiling)
            cells = [f"{case['bytes'] / seconds[best] / 1e9:.0f} {best}", f"{gbps:.0f}", f"{ratio:.2f}x",
                     f"{gbps / ceiling:.1%}" if ceiling else ""]
        rows.append([case["name"]] + cells)
    if not rows:
        fail("gpu-peers.json has no case with both ours and a peer")
    note = f"Geometric mean {geometric_mean(ratios):.3f}x the best peer, least {min(ratios):.2f}x"
    if shares:
        note += f"; {geometric_mean(shares):.1%} of the ceiling, least {min(shares):.1%}"
    return table(["case", "best peer, GB/s", "ndreduce, GB/s", "ratio", "of ceiling"], rows) + f"\n\n{note}."


BLOCKS = {"wide-tall": wide_tall_block, "gpu": gpu_block, "small": small_block, "peers": peers_block, "cpu": cpu_block,
          "h5": h5_block}


# ---- the plot

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 400, 60, 190, 20, 50


def power_of_two(k):
    return "2" + "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(k))


def plot():
    lines = wide_tall_lines(load("gpu-wide-tall.json"))
    ks = sorted(set(lines[0]) | set(lines[1]))
    if len(ks) < 2:
        fail("gpu-wide-tall.json holds too few shapes for a plot")
    series = [("rows summed (axis 1)", "#1f77b4", "", {k: r["gbps"] for k, r in lines[1].items()}),
              ("columns summed (axis 0)", "#d62728", "", {k: r["gbps"] for k, r in lines[0].items()}),
              ("best peer, axis 1", "#1f77b4", "3 4", {k: best_peer(r)[1] for k, r in lines[1].items() if best_peer(r)}),
              ("best peer, axis 0", "#d62728", "3 4", {k: best_peer(r)[1] for k, r in lines[0].items() if best_peer(r)}),
              ("only reading", "#777777", "8 4",
               {k: max(lines[a][k]["ceiling_gbps"] for a in (0, 1) if k in lines[a]) for k in ks})]
    top = max(max(points.values(), default=0) for *_, points in series)
    step = 10 ** math.floor(math.log10(top))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if top / s <= 6)
    most = step * math.ceil(top / step)

    def x(k):
        return LEFT + (WIDTH - LEFT - RIGHT) * (k - ks[0]) / (ks[-1] - ks[0])

    def y(value):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / most

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>']
    for i in range(round(most / step) + 1):
        at = y(i * step)
        out.append(f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - RIGHT}" y2="{at:.1f}" stroke="#dddddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{i * step:g}</text>')
    for k in ks:
        out.append(f'<text x="{x(k):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{power_of_two(k)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">'
               f'rows of an array of {power_of_two(26)} f32: wide on the left, tall on the right</text>')
    out.append(f'<text x="14" y="{HEIGHT / 2:.0f}" text-anchor="middle" transform="rotate(-90 14 {HEIGHT / 2:.0f})">'
               'GB/s, read and written</text>')
    for i, (name, colour, dashes, points) in enumerate(entry for entry in series if entry[3]):
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        path = " ".join(f"{x(k):.1f},{y(points[k]):.1f}" for k in sorted(points))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        at = TOP + 16 + 20 * i
        out.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{at}" x2="{WIDTH - RIGHT + 36}" y2="{at}" stroke="{colour}" '
                   f'stroke-width="2"{dash}/><text x="{WIDTH - RIGHT + 42}" y="{at + 4}">{name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


# ---- the peers harness

BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "bf16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8,
         "u64": 8, "f64": 8}


def result_bytes(op, dtype):
    if op in ("argmin", "argmax", "count", "valid") or (op in ("sum", "prod") and dtype[0] in "iub" and dtype != "bf16"):
        return 8
    return 1 if op in ("any", "all") else BYTES[dtype]


def bytes_moved(dtype, shape, axes, view, op):
    import numpy
    x = numpy.broadcast_to(numpy.int8(0), shape)
    if view:
        x = eval(view, {"x": x})  # the harness's own expressions
    outputs = math.prod(size for axis, size in enumerate(x.shape) if axis not in axes)
    return x.size * BYTES[dtype] + outputs * result_bytes(op, dtype)


def import_peers(folder, files):
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    from cases import CASES
    timed, calls, ceiling = {}, {}, {}
    for file in files:
        for row in json.loads(pathlib.Path(file).read_text()):
            match = re.fullmatch(r"ceiling-(\d+)M-.*", row["case"])
            if match:
                size = str(int(match[1]) << 20)
                ceiling[size] = max(ceiling.get(size, 0), row["GBps"])
            elif row.get("s"):
                timed.setdefault(row["case"], {})[row["peer"]] = row["s"]
                if row.get("host_s"):
                    calls.setdefault(row["case"], {})[row["peer"]] = row["host_s"]
    cases = [{"name": name, "dtype": dtype, "shape": shape, "axes": axes, "view": view, "op": op,
              "bytes": bytes_moved(dtype, shape, axes, view, op), "seconds": timed[name],
              "back_to_back": calls.get(name, {})}
             for name, dtype, shape, axes, view, op in CASES if name in timed]
    lines = ",\n".join("    " + json.dumps(case) for case in cases)
    DATA.mkdir(parents=True, exist_ok=True)
    (DATA / "gpu-peers.json").write_text(
        '{\n  "ceiling_gbps": ' + json.dumps(ceiling) + ',\n  "cases": [\n' + lines + "\n  ]\n}\n")
    print(f"written: {DATA / 'gpu-peers.json'}, {len(cases)} cases")


# ---- README

def rewritten(text):
    def block(match):
        name = match[2]
        if name not in BLOCKS:
            fail(f"README.md: there is no block '{name}'")
        return f"{match[1]}\n{BLOCKS[name]()}\n{match[3]}"
    return re.sub(r"(<!-- bench: ([a-z0-9-]+) -->)\n.*?(<!-- /bench -->)", block, text, flags=re.S)


def outputs():
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    made = {readme: rewritten(text)}
    if "<!-- bench: wide-tall -->" in text:
        made[PLOT] = plot()
    return made


def main(arguments):
    if arguments == []:
        for path, text in outputs().items():
            path.write_text(text, encoding="utf-8")
            print(f"written: {path}")
    elif arguments == ["--check"]:
        stale = [path for path, text in outputs().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
        if stale:
            fail("not what data/bench says: " + ", ".join(map(str, stale)) + "; run tools/report.py")
    elif len(arguments) == 2 and arguments[0] == "--print" and arguments[1] in BLOCKS:
        print(BLOCKS[arguments[1]]())
    elif len(arguments) > 2 and arguments[0] == "--import":
        import_peers(arguments[1], arguments[2:])
    else:
        sys.exit(__doc__)


main(sys.argv[1:])
