"""The part about GPUs: Markdown from the records that tools/bench/bench_gpu.sh makes. A part whose record is missing is left
out; where none is there, one sentence says so."""
import pathlib
import re
import statistics

from report_plots import NAMES, done, ladder_panels, ladder_title, machine_of, sweep_rows, times_of, version_of

NO_RECORD = "No record of a GPU is kept yet: `tools/bench/bench_gpu.sh` makes them."


def table(head, rows, texts=1):
    """The first columns, `texts` of them, are words; the others are numbers."""
    lines = [head, ["---"] * texts + ["---:"] * (len(head) - texts)] + rows
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def details(summary, text):
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def span(values, form="{:,.0f}"):
    """The least and the most of some values."""
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} to {high}"


def ratios(row):
    """peer -> how many times as fast ndreduce was. It is timed in both runs, and held against a peer in the peer's own."""
    python = row.get("python", {})
    ours = {True: python.get("ndreduce", {}).get("median_seconds", row["median_seconds"]), False: row["median_seconds"]}
    return {name: times["median_seconds"] / ours[name in python]
            for name, times in times_of(row).items() if name != "ndreduce" and times.get("median_seconds")}


def best_peer(row):
    """(ratio, name) of the fastest peer, or None."""
    return min(((ratio, name) for name, ratio in ratios(row).items()), default=None)


BESIDE = ["problem", "ndreduce, GB/s", "of ceiling", "best of the others, GB/s", "ratio"]


def beside_peers(row):
    """The cells of BESIDE."""
    best = best_peer(row)
    cells = [f"{times_of(row)[best[1]]['gbps']:,.0f} {NAMES[best[1]]}", f"{best[0]:.2f}x"] if best else ["", ""]
    return [f"`{row['problem']}`", f"{row['gbps']:,.0f}", f"{row['of_ceiling']:.1%}", *cells]


def against_peers(rows):
    """A sentence on the best peer of every row, or ""."""
    best = [(*best_peer(row), row) for row in rows if best_peer(row)]
    if not best:
        return ""
    ratio, name, row = min(best, key=lambda entry: entry[0])
    mean = statistics.geometric_mean([entry[0] for entry in best])
    ahead = sum(entry[0] >= 0.98 for entry in best)
    compiled = [entry for entry in best if "inductor" in times_of(entry[2])]
    alone = len(best) - len(compiled) if compiled else 0
    without = f" On {alone} of these nothing was compiled by the others." if alone else ""
    return (f"On {ahead} of {len(best)} it is as fast as the fastest of the others (0.98 counts as a tie), which changes from "
            f"case to case; the geometric mean is {mean:.2f}x the fastest of the others, the least {ratio:.2f}x "
            f"({row['name'] or row['problem']}, {NAMES[name]}).{without}")


# ---- parts: each takes the record and the paths of figures

def wide_tall_text(record, figure):
    """The sentence and the picture that the first page shows, too."""
    rows = [row for lines in sweep_rows(record).values() for row in lines.values()]
    shares = [row["gbps"] / row["ceiling_gbps"] for row in rows]
    return (f"**Wide against tall.** The same 2^26 numbers, from one row to one column, each row summed and each column summed: "
            f"ndreduce takes them in at {span([row['gbps'] for row in rows])} GB/s, {span(shares, '{:.0%}')} of the rate of only "
            f"reading them.\n\n![GB/s over the shape, of each library]({figure('wide-tall')})")


def wide_tall(record, figure):
    axes = sweep_rows(record)
    rows = [row for lines in axes.values() for row in lines.values()]
    shapes = [(8, 1), (8, 0), (18, 1), (18, 0)]
    lines = []
    for name in NAMES:
        speeds = [times_of(row)[name]["gbps"] for row in rows if times_of(row).get(name, {}).get("gbps")]
        if not speeds:
            continue
        cells = [times_of(axes[axis].get(k, {"median_seconds": 0, "gbps": 0})).get(name, {}).get("gbps") for k, axis in shapes]
        lines.append([NAMES[name]] + [f"{cell:,.0f}" if cell else "" for cell in cells] +
                     [f"{statistics.geometric_mean(speeds):,.0f}", f"{min(speeds):,.0f}"])
    return (wide_tall_text(record, figure) + "\n\n" +
            table(["GB/s", "2^8 x 2^18, rows", "columns", "2^18 x 2^8, rows", "columns", "geometric mean", "least"], lines) +
            "\n\nThe last two columns are of all the shapes that the library can do (CUB: rows only).")


def comparison(record, figure):
    rows = done(record)
    lines = [[row["name"], *beside_peers(row)] for row in rows]
    shares = [row["of_ceiling"] for row in rows]
    least = min(rows, key=lambda row: row["of_ceiling"])
    return (f"**Every kind of reduction**, {len(rows)} of them, at 1 GiB: {statistics.geometric_mean(shares):.1%} of only reading in "
            f"the geometric mean, the least {least['of_ceiling']:.1%} ({least['name']}). {against_peers(rows)}\n\n"
            f"![Share of the ceiling, of each library]({figure('peers')})\n\n" +
            details("the numbers", table(["case", *BESIDE], lines, 2)))


def odd_text(record):
    """The sentence on odd shapes that the first page shows, too."""
    rows = done(record)
    shares = [row["of_ceiling"] for row in rows]
    return (f"**Odd widths**, {len(rows)} problems of 512 MiB that were drawn once: few rows, short rows, rows off a 16-byte "
            f"boundary, short neighbours on both sides, steps. {statistics.geometric_mean(shares):.1%} of only reading in the "
            f"geometric mean, the least {min(shares):.1%}. {against_peers(rows)}")


def odd(record):
    return odd_text(record) + "\n\n" + details("the numbers", table(BESIDE, [beside_peers(row) for row in done(record)]))


def operators_text(record):
    """The sentence on masks, weights and formulas that the first page shows, too."""
    rows = done(record)
    shares = [row["of_ceiling"] for row in rows]
    least = min(rows, key=lambda row: row["of_ceiling"])
    size = round(min(row["bytes"] for row in rows) / 2 ** 20)
    return (f"**Masks, weights and operators of one's own** on {len(rows)} reductions of {size:,} MiB of f32, in full, over rows, "
            f"columns, the middle dim and (0,2): {statistics.geometric_mean(shares):.1%} of only reading as many bytes in the geometric "
            f"mean, the least {least['of_ceiling']:.1%} ({least['name']}). {against_peers(rows)}")


def operators(record):
    """A row a reduction, a column a layout: share of the ceiling, and times the best of the others."""
    layouts = list(dict.fromkeys(row["name"].rsplit(", ", 1)[1] for row in record["rows"]))
    cells = {tuple(row["name"].rsplit(", ", 1)): row for row in done(record)}
    lines = []
    for name in dict.fromkeys(name for name, _ in cells):
        line = [name]
        for layout in layouts:
            row = cells.get((name, layout))
            best = row and best_peer(row)
            line.append("" if not row else f"{row['of_ceiling']:.1%}" + (f", {best[0]:.2f}x {NAMES[best[1]]}" if best else ""))
        lines.append(line)
    return operators_text(record) + "\n\n" + details("the numbers", table(["of only reading", *layouts], lines))


def of_plain(record):
    """(row, its rate over that of the plain sum of the same array) of every sum by group."""
    plain = {row["name"].split(", ")[1]: row for row in done(record) if not row.get("groups")}
    return [(row, row["gbps"] / plain[row["name"].split(", ")[1]]["gbps"]) for row in done(record) if row.get("groups")]


def groups_text(record):
    """The sentence on groups that the first page shows, too."""
    rows = of_plain(record)
    least = min(rows, key=lambda entry: entry[1])
    return (f"**Sums by group**, {len(rows)} of them over {record['rows'][0]['bytes'] / 2**20:,.0f} MiB of f32, by labels in runs, in "
            f"turn and in no order: {statistics.geometric_mean([share for _, share in rows]):.0%} of the rate of the plain sum in the "
            f"geometric mean, the least {least[1]:.0%} ({least[0]['name']}). {against_peers([row for row, _ in rows])}")


def groups(record):
    shares = {row["name"]: f"{share:.0%}" for row, share in of_plain(record)}
    lines = [[row["name"], shares.get(row["name"], ""), *beside_peers(row)[1:]] for row in done(record)]
    return groups_text(record) + "\n\n" + details("the numbers", table(["case", "of the plain sum", *BESIDE[1:]], lines))


def sets(records):
    """One line a set of ndbench: gpu, dtypes, ops."""
    lines = []
    for name, record in records.items():
        rows = done(record)
        least = min(rows, key=lambda row: row["of_ceiling"])
        lines.append([f"`{name}`", f"{len(rows)}", f"{statistics.geometric_mean([row['of_ceiling'] for row in rows]):.1%}",
                      f"{least['of_ceiling']:.1%}", f"`{least['problem']}`"])
    return ("Nobody's favourite shapes, every dtype and every operator, in % of only reading as many bytes (`ndbench --list` has "
            "the problems):\n\n" + table(["set", "problems", "geometric mean", "least", "which is"], lines))


def planner(heat, regret, measured, figure):
    text = "**The planner** picks one of three kernel families by the shape; where each is at home:"
    if heat:
        text += f"\n\n![Speed of each family over outputs and reduced length]({figure('heat')})"
        text += (f"\n\nIts choice, the last column of panels, takes {heat['regret']['median']:.2f} times as long as the fastest "
                 f"family in the median, {heat['regret']['p95']:.2f} at the 95th percentile"
                 f"{' (red crosses: more than 1.25)' if heat['regret']['worst'] > 1.25 else ''}.")
    else:
        text = "**The planner** picks one of three kernel families by the shape."
    if regret:
        of = regret["regret"]
        text += (f" On {of['problems']:,} random problems (any dims, strides and dtypes, 64 KiB to "
                 f"{regret['largest'] / 2**20:.0f} MiB) the median is "
                 f"{of['median']:.3f}, the 95th percentile {of['p95']:.3f}, the 99th {of['p99']:.2f}, the worst {of['worst']:.2f}, "
                 f"{sum(row['regret'] > 1.25 for row in regret['rows'])} of them more than 1.25 (`ndbench regret --seed {regret['seed']}`).")
    if regret and measured:
        of = measured["regret"]
        text += (f" Where it may use the clock (`NDR_MEASURE`), they are {of['median']:.3f}, {of['p95']:.3f}, {of['p99']:.2f} and "
                 f"{of['worst']:.2f} on {of['problems']:,} of them (`ndbench regret --seed {measured['seed']} --measure`).")
    return text


def gauge_text(record):
    """What the gauge is, and its numbers over all kinds."""
    found = {entry["size"]: entry for entry in record["gauge"] if entry["kind"] == "all" and entry["size"] != "any"}
    numbers = "; ".join(f"{'of ' * (size[0] != 'b')}{size}: {entry['mean']:.0%} in the geometric mean, the 5th percentile {entry['p5']:.0%}"
                        for size, entry in found.items())
    bursts = next((entry for entry in record.get("bursts", []) if entry["size"].startswith("32")), None)
    if bursts and record["burst_bytes"] > 32:
        numbers += (f". This memory hands over bursts of {record['burst_bytes']} bytes (to read every other sector of 32 takes "
                    f"{record['alternate']:.0%} of the time to read all); counted so, those of 32 MiB and more run at {bursts['mean']:.0%}, "
                    f"the 5th percentile {bursts['p5']:.0%}")
    plain = {entry["size"]: entry for entry in record.get("plain", []) if entry["size"] != "any"}
    if plain:
        numbers += (". Loops that only read or copy as many bytes reach " +
                    " and ".join(f"{entry['mean']:.0%} {size[0] != 'b' and 'of ' or ''}{size}" for size, entry in plain.items()))
    launch = f", and a launch of {1e6 * record['launch_seconds']:.1f} us" if record.get("launch_seconds") else ""
    return (f"**Random problems** of every dtype and layout, {len(record['rows']):,} of them up to "
            f"{record['largest'] / 2**20:,.0f} MiB: the least time in which the machine can move what must be touched{launch}, as a "
            f"share of the time that the planner's choice takes. Problems {numbers} (`ndbench gauge --count {len(record['rows'])} --largest "
            f"{record['largest'] >> 20}M --seed {record['seed']}`).")


def gauge(record):
    """The same with a row for each kind, and the worst."""
    sizes = list(dict.fromkeys(entry["size"] for entry in record["gauge"] if entry["size"] != "any"))
    kinds = list(dict.fromkeys(entry["kind"] for entry in record["gauge"]))
    found = {(entry["kind"], entry["size"]): entry for entry in record["gauge"]}
    head = ["kind"] + [f"{size}: {what}" for size in sizes for what in ("mean", "5 %", "25 %")]
    rows = [[kind] + [f"{found[kind, size][key]:.0%}" for size in sizes for key in ("mean", "p5", "p25")] for kind in kinds]
    worst = sorted((row for row in record["rows"] if row.get("share")), key=lambda row: row["share"])[:20]
    lines = [[f"`{row['problem']}`", row["family"], f"{row['share']:.0%}"] for row in worst]
    return (f"{gauge_text(record)}\n\n{table(head, rows)}\n\n"
            + details("the twenty worst", table(["problem", "family", "share"], lines, 2)))


def microseconds(seconds):
    return f"{seconds * 1e6:.1f}" if seconds else ""


def small(record, figure):
    rows, lines = done(record), []
    shown = [name for name in NAMES if any(name in times_of(row) for row in rows)]
    for row in rows:
        times = times_of(row)
        lines.append([f"`{row['problem']}`"] + [
            " / ".join(microseconds(times.get(name, {}).get(key)) or "-" for key in ("median_seconds", "back_to_back_seconds"))
            for name in shown])
    device = [row["median_seconds"] * 1e6 for row in rows]
    host = [row["back_to_back_seconds"] * 1e6 for row in rows if row.get("back_to_back_seconds")]
    text = f"**Small arrays** are a matter of latency: {span(device, '{:.1f}')} us on the device"
    text += f", {span(host, '{:.1f}')} us a call from the host when many follow each other." if host else "."
    return (f"{text}\n\n![Microseconds a call, of each library]({figure('small')})\n\n" +
            details("the numbers", table(["us on the device / back to back"] + [NAMES[name] for name in shown], lines)))


def mended():
    """rung -> the rung that it mends, as ndbench's table has it."""
    source = (pathlib.Path(__file__).parent.parent / "ladder/rungs.c").read_text()
    return dict(re.findall(r'\{(?:REDUCE|AXES|ND|SCAN|SELECT),\s*"(\w+)",\s*"[^"]*",\s*"(\w+)"', source))


def rungs(rows):
    """One ceiling a table, the best measured beside any of its rungs; a gain over the rung that is mended."""
    ceiling = max(row["ceiling_gbps"] for row in rows)
    speed = {row["rung"]: row["gbps"] for row in rows}
    before = {rung: other for rung, other in mended().items() if other in speed}
    lines = [[row["rung"], row["name"], f"{row['gbps']:,.1f}", f"{row['gbps'] / ceiling:.1%}",
              f"{row['gbps'] / speed[before[row['rung']]]:.2f}x over {before[row['rung']]}" if row["rung"] in before else ""]
             for row in rows]
    return table(["rung", "", "GB/s", f"of {ceiling:,.0f} GB/s", "gain"], lines, 2)


def ladder(record, figure):
    panels = ladder_panels(record, "reduce")
    text = ("**The ladder.** What each step that lectures teach buys on this machine, every rung a kernel to read in "
            "`kernels/ladder*.cuh` (`ndbench ladder`, and `--explain RUNG` for the idea):")
    for rows in panels.values():
        text += f"\n\n![GB/s of each rung]({figure('ladder')})\n\n" + details(
            f"the numbers: {ladder_title(rows[0])}", rungs(rows))
    for summary, name, ladders in (("the ladders over axes", "ladder-axes", ("axes", "nd")),
                                   ("the ladders of prefix sums and selections, beside plain copies", "ladder-arrays", ("scan", "select"))):
        panels = ladder_panels(record, *ladders)
        if panels:
            text += "\n\n" + details(summary, f"![GB/s of each rung]({figure(name)})\n\n" + "\n\n".join(
                f"{title}:\n\n{rungs(rows)}" for title, rows in panels.items()))
    return text


# ---- all of it

def scans_text(record):
    """The sentence on running sums and selections that the first page shows, too."""
    rows = done(record)
    sums, kept = [[row for row in rows if row["problem"].startswith(what)] for what in ("sum", "select")]
    shares = [row["of_ceiling"] for row in sums]
    least = min(sums, key=lambda row: row["of_ceiling"])
    return (f"**Running sums and selections** of 1 GiB of f32. {len(sums)} sums: {statistics.geometric_mean(shares):.1%} of a copy in the "
            f"geometric mean, the least {least['of_ceiling']:.1%} ({least['name']}). {against_peers(sums)} Selections, by what is "
            f"kept: {', '.join(row['name'].split(' ')[0] + ' % at ' + format(row['of_ceiling'], '.0%') for row in kept)} of a copy's rate for "
            f"the bytes that they need{in_bursts(kept)}.")


def in_bursts(kept):
    """What selections reach of the bytes that the device fetches for them, if the record has that."""
    shares = [row["of_ceiling_in_bursts"] for row in kept if "of_ceiling_in_bursts" in row]
    if not shares:
        return ""
    return f"; counted in the bursts of 64 bytes that this device fetches by default, {', '.join(format(s, '.0%') for s in shares)}"


def scans(record):
    lines = [[row["name"], *beside_peers(row)] for row in done(record)]
    return scans_text(record) + "\n\n" + details("the numbers", table(["case", *BESIDE], lines, 2))


RECORDS = ("sweep", "peers", "odd", "operators", "groups", "scans", "gauge", "gpu", "dtypes", "ops", "heat", "regret", "regret-measured", "small", "ladder")


def provenance(records):
    """What was measured where, each machine and each version once."""
    machines = {}
    for name, record in records.items():
        machines.setdefault(machine_of(record), {}).setdefault(version_of(record), []).append(name)
    return "Measured on " + "; on ".join(
        f"{machine}: " + "; ".join(version + (f" ({', '.join(names)})" if len(versions) > 1 else "") for version, names in versions.items())
        for machine, versions in machines.items()) + "."


def versions(records):
    """The libraries of Python that were there, once each."""
    found = {}
    for record in records.values():
        found.update(record.get("python", {}))
    names = {"torch": "PyTorch", "triton": "Triton", "jax": "JAX", "cupy": "CuPy", "flox": "flox", "numbagg": "numbagg", "numpy": "NumPy"}
    return " Beside it " + ", ".join(f"{names[key]} {found[key]}" for key in names if key in found) + "." if found else ""


def gpu_block(load, figure):
    """load: name of a file -> record or None; figure: name -> path in Markdown."""
    records = {name: record for name in RECORDS if (record := load(f"gpu-{name}.json"))}
    if not records:
        return NO_RECORD
    parts = [provenance(records) + versions(records)]
    if "sweep" in records:
        parts.append(wide_tall(records["sweep"], figure))
    if "peers" in records:
        parts.append(comparison(records["peers"], figure))
    if "odd" in records:
        parts.append(odd(records["odd"]))
    if "operators" in records:
        parts.append(operators(records["operators"]))
    if "groups" in records:
        parts.append(groups(records["groups"]))
    if "scans" in records:
        parts.append(scans(records["scans"]))
    if "gauge" in records:
        parts.append(gauge(records["gauge"]))
    plain = {name: records[name] for name in ("gpu", "dtypes", "ops") if name in records}
    if plain:
        parts.append(sets(plain))
    if "heat" in records or "regret" in records:
        parts.append(planner(records.get("heat"), records.get("regret"), records.get("regret-measured"), figure))
    if "small" in records:
        parts.append(small(records["small"], figure))
    if "ladder" in records:
        parts.append(ladder(records["ladder"], figure))
    return "\n\n".join(parts)


def gpu_short(load, figure):
    """What the first page shows of it."""
    records = {name: record for name in ("sweep", "odd", "gauge", "operators", "groups", "scans") if (record := load(f"gpu-{name}.json"))}
    if not records:
        return NO_RECORD
    texts = {"odd": odd_text, "gauge": gauge_text, "operators": operators_text, "groups": groups_text, "scans": scans_text}
    first = wide_tall_text(records["sweep"], figure) + "\n\n" if "sweep" in records else ""
    return provenance(records) + "\n\n" + first + "\n".join(f"- {text(records[name])}" for name, text in texts.items() if name in records)


def missing_records(load):
    missing = [name for name in RECORDS if not load(f"gpu-{name}.json")]
    return f"no record of {', '.join(missing)}: tools/bench/bench_gpu.sh {' '.join(missing)}" if missing else ""


def gpu_pays(record, filtered):
    """GiB of elements from which on a GPU saves more than it takes to start, on average over the cases of a kind, those
    aside whose bytes are more in memory than in the file."""
    start = record["start_seconds"]["cuda"] - record["start_seconds"]["cpu"]
    rows = [row for row in record["rows"] if ("decode_gbs" in row) == filtered and not row.get("packed")]
    saved = sum((row["seconds"]["h5gpured cpu"] - row["seconds"]["h5gpured cuda"]) / row["bytes"] for row in rows) / len(rows)
    return start / saved / 2**30 if saved > 0 else float("inf")
