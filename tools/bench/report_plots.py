"""Figures from the records of a GPU: each function returns the text of a gnuplot program without terminal and output, or
None where its record is missing. report.py runs them."""
import math

COLOURS = {"ndreduce": "#000000", "torch": "#e69f00", "inductor": "#d55e00", "jax": "#009e73", "cub": "#56b4e9",
           "cublas": "#0072b2", "cupy": "#cc79a7"}
NAMES = {"ndreduce": "ndreduce", "torch": "PyTorch", "inductor": "inductor", "jax": "XLA (JAX)", "cub": "CUB",
         "cublas": "cuBLAS", "cupy": "CuPy",
         # of sums by group, which no figure shows
         "scatter_reduce": "PyTorch's scatter_reduce", "index_add": "PyTorch's index_add", "flox": "flox", "numbagg": "numbagg",
         "numpy": "NumPy", "numexpr": "numexpr", "reduceat": "NumPy's reduceat", "bincount": "NumPy's bincount", "add_at": "NumPy's add.at"}
MARKS = {"ndreduce": 7, "torch": 5, "inductor": 9, "jax": 13, "cub": 11, "cublas": 4, "cupy": 6}
GREY = "#888888"
SWEEP_ELEMENTS = 26


def machine_of(record):
    machine = record["machine"]
    return f"{machine.get('gpu', machine['cpu'])}, driver {machine.get('driver', '-')}, CUDA {machine.get('cuda', '-')}"


def version_of(record):
    return f"ndreduce {record['library']}, commit {record['commit']}, {record['date'][:10]}"


def caption(record):
    return f"{machine_of(record)}; {version_of(record)}"


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def block(name, lines):
    return f"${name} << EOD\n" + "\n".join(lines) + "\nEOD\n"


# Labels on the screen belong to the first panel alone.
ONCE = "unset label 1000\nunset label 1001\n"


def begin(record, title):
    """The figure's title over all its panels, and below it what was measured where."""
    return (f"set label 1000 {quoted(title)} at screen 0.5,0.965 center font ',15'\n"
            f"set label 1001 {quoted(caption(record))} at screen 0.5,0.02 center font ',10' textcolor rgb '{GREY}' "
            "noenhanced\nset border lc rgb '#555555'\nset tics nomirror\nset grid lc rgb '#dddddd' lt 1 lw 0.5\n")


def legend(libraries, kind):
    """Entries of a key for these libraries, ndreduce first, in the order of NAMES."""
    return [f"keyentry with {kind} pt {MARKS[name]} ps {1.0 if name == 'ndreduce' else 0.8} lw "
            f"{3 if name == 'ndreduce' else 1.5} lc rgb '{COLOURS[name]}' title {quoted(NAMES[name])}"
            for name in NAMES if name in libraries]


def times_of(row):
    """name -> times, of ndreduce and all peers in a row of ndbench."""
    ours = {"median_seconds": row["median_seconds"], "gbps": row["gbps"],
            "back_to_back_seconds": row.get("back_to_back_seconds")}
    others = {name: times for name, times in row.get("python", {}).items() if name != "ndreduce"}
    return {"ndreduce": ours, **row.get("peers", {}), **others}


def done(record):
    return [row for row in record["rows"] if row.get("median_seconds")]


# ---- wide against tall

def sweep_rows(record):
    """axis -> {k: row} for arrays of 2^k rows."""
    axes = {0: {}, 1: {}}
    for row in done(record):
        rows, _, axis = row["name"].rpartition("-axis")
        axes[int(axis)][int(rows[2:rows.index("x")])] = row
    return axes


def sweep(record):
    axes = sweep_rows(record)
    top = max(row["ceiling_gbps"] for rows in axes.values() for row in rows.values())
    out = begin(record, f"Sums of 2^{{{SWEEP_ELEMENTS}}} f32, from one row to one column")
    out += (f"set multiplot layout 1,2 margins 0.065,0.85,0.19,0.85 spacing 0.02\nset yrange [0:{1.06 * top:.0f}]\n"
            f"set xrange [0:{SWEEP_ELEMENTS}]\nset xtics 0,4 format '2^{{%.0f}}'\nset xlabel 'rows'\n")
    shown = set()
    for axis, title in ((1, "each row summed"), (0, "each column summed")):
        rows = axes[axis]
        out += block(f"c{axis}", [f"{k} {rows[k]['ceiling_gbps']:.1f}" for k in sorted(rows)])
        series = [f"$c{axis} using 1:2 with lines dt 2 lw 1.5 lc rgb '{GREY}' notitle"]
        for name in list(NAMES)[::-1]:
            points = [f"{k} {times_of(rows[k])[name]['gbps']:.1f}" for k in sorted(rows)
                      if times_of(rows[k]).get(name, {}).get("gbps")]
            if not points:
                continue
            shown.add(name)
            out += block(f"{name}{axis}", points)
            width, size = (3, 0.6) if name == "ndreduce" else (1.5, 0.5)
            # Two shapes at the ends have nothing between them.
            style = f"linespoints lw {width}" if len(points) > 2 else "points"
            series.append(f"${name}{axis} using 1:2 with {style} ps {size} pt {MARKS[name]} "
                          f"lc rgb '{COLOURS[name]}' notitle")
        out += f"set title {quoted(title)} offset 0,-0.6\n"
        if axis == 1:
            out += "set ylabel 'GB/s, read and written'\nunset key\n"
        else:
            out += "unset ylabel\nset format y ''\nset key at screen 0.86,0.85 left top Left reverse samplen 2 spacing 1.3\n"
            series += legend(shown, "linespoints") + [f"keyentry with lines dt 2 lw 1.5 lc rgb '{GREY}' title 'only reading'"]
        out += "plot " + ", \\\n  ".join(series) + "\n" + ONCE
    return out + "unset multiplot\n"


# ---- every family over outputs and reduced length

PALETTE = "(0 '#440154', 25 '#3b528b', 50 '#21918c', 75 '#5ec962', 100 '#fde725')"
HEAT_SIZES = range(25)


def heat_cells(record, layout, family):
    """The grid of a panel in % of the ceiling, and where the choice lost much; family None: that of the choice."""
    cells, lost = {}, []
    for row in record["rows"]:
        kind, a, b = row["name"].split("-")
        seconds = row["seconds"].get(family or row["choice"])
        if kind != layout or not seconds or not row["ceiling_gbps"]:
            continue
        cells[int(a), int(b)] = 100 * row["bytes"] / seconds / 1e9 / row["ceiling_gbps"]
        if not family and row["regret"] > 1.25:
            lost.append(f"{a} {b}")
    return [f"{a} {b} {cells.get((a, b), math.nan):.1f}" for b in HEAT_SIZES for a in HEAT_SIZES], lost


def heat_panel(record, layout, family, first):
    """One layout and family; `first` panels of a row carry its label. The rows' panels lie above the columns'."""
    cells, lost = heat_cells(record, layout, family)
    name = f"{layout}_{family or 'choice'}"
    out = block(name, cells)
    if layout == "rows":
        out += f"set title {quoted(family or 'the choice')} offset 0,-0.8\nset format x ''\nunset xlabel\n"
    else:
        out += "unset title\nset format x '2^{%.0f}'\nset xlabel 'outputs'\n"
    label = "elements of a row" if layout == "rows" else "elements of a column"
    out += f"set format y '2^{{%.0f}}'\nset ylabel {quoted(label)}\n" if first else "set format y ''\nunset ylabel\n"
    out += ("unset colorbox\n" if family or layout == "columns" else
            "set colorbox user origin 0.925,0.14 size 0.015,0.73\nset format cb '%.0f %%'\n")
    marks = ""
    if lost:
        out += block(name + "_lost", lost)
        marks = f", ${name}_lost using 1:2 with points pt 2 ps 0.6 lw 1.5 lc rgb '#ff3030' notitle"
    return out + f"plot ${name} using 1:2:3 with image pixels notitle{marks}\n" + ONCE


def heat(record):
    families = sorted({family for row in record["rows"] for family in row["seconds"]})
    out = begin(record, "Speed of each kernel family, and of the planner's choice, in % of only reading as much")
    out += (f"set multiplot layout 2,{len(families) + 1} margins 0.075,0.91,0.14,0.87 spacing 0.025,0.04\n"
            f"set palette defined {PALETTE}\nset cbrange [0:100]\nset xtics 0,8\nset ytics 0,8\nunset grid\n"
            f"set xrange [-0.5:{HEAT_SIZES[-1] + 0.5}]\nset yrange [-0.5:{HEAT_SIZES[-1] + 0.5}]\n"
            "set object 1 rectangle from graph 0,0 to graph 1,1 fillcolor rgb '#eeeeee' fillstyle solid noborder behind\n")
    for layout in ("rows", "columns"):
        for i, family in enumerate(families + [None]):
            out += heat_panel(record, layout, family, i == 0)
    return out + "unset multiplot\n"


# ---- bars and dots

def bars(rows, x_label, top):
    """Horizontal bars, the first on top: (label, value, colour, text behind it)."""
    ticks = ", ".join(f"{quoted(label)} {len(rows) - i}" for i, (label, *_) in enumerate(rows))
    out = (f"set yrange [0.3:{len(rows) + 0.7}]\nset ytics ({ticks}) font ',10'\nset xrange [0:{1.14 * top:.0f}]\n"
           f"set xlabel {quoted(x_label)}\nunset key\nset style fill solid 1.0 noborder\n")
    lines = [f"{value:.3f} {len(rows) - i} {int(colour[1:], 16)} \"{text}\"" for i, (_, value, colour, text) in enumerate(rows)]
    return out + block("bars", lines) + (
        "plot $bars using (0):2:(0):1:($2-0.38):($2+0.38):3 with boxxyerror lc rgb variable notitle, \\\n"
        f"  $bars using ($1+{0.01 * top:.1f}):2:4 with labels left font ',10' notitle\n")


def ladder_title(row):
    array = f"{row['dtype']} [{row['shape']}]"
    if row["ladder"] == "select":
        return f"sort of {array}" if row["rung"].startswith("q") else f"select of {array}, {row['keep']} % kept"
    return f"{'prefix ' if row['ladder'] == 'scan' else ''}{row['op']} of {array}"


def ladder_panels(record, *ladders):
    """title -> rows of some ladders, one after the other."""
    panels = {}
    for ladder in ladders:
        for row in done(record):
            if row["ladder"] == ladder:
                panels.setdefault(ladder_title(row), []).append(row)
    return panels


def ladder(record):
    panels = ladder_panels(record, "reduce")
    if not panels:
        return None
    rows = next(iter(panels.values()))
    ceiling = max(row["ceiling_gbps"] for row in rows)
    top = max(ceiling, max(row["gbps"] for row in rows))
    out = begin(record, f"The ladder: {ladder_title(rows[0])}")
    out += ("set lmargin at screen 0.29\nset rmargin at screen 0.97\nset tmargin at screen 0.9\nset bmargin at screen 0.14\n"
            f"set arrow 1 from {ceiling:.1f}, graph 0 to {ceiling:.1f}, graph 1 nohead dt 2 lw 1.5 lc rgb '{GREY}' front\n"
            f"set label 1 'only reading' at {ceiling:.1f}, graph 1.015 center font ',10' textcolor rgb '{GREY}'\n")
    bar = [(f"{row['rung']}  {row['name']}", row["gbps"], "#d55e00" if row["name"].startswith("ours") else
            "#0072b2" if row["rung"] in ("15", "16", "17") else "#56b4e9", f"{row['gbps']:.0f}") for row in rows]
    return out + bars(bar, "GB/s", top)


def ladder_stack(record, title, panels):
    """Panels of bars, one below the other."""
    if not panels:
        return None
    everything = [row for rows in panels.values() for row in rows]
    top = max(max(row["ceiling_gbps"], row["gbps"]) for row in everything)
    out = begin(record, title)
    bottom, height = 0.08, 0.87
    out += "set multiplot\nset lmargin at screen 0.33\nset rmargin at screen 0.97\n"
    room = {panel: max(len(rows), 4) + 2 for panel, rows in panels.items()}
    at = bottom + height
    for i, (panel, rows) in enumerate(panels.items()):
        share = height * room[panel] / sum(room.values())
        out += (f"set tmargin at screen {at - 0.045:.3f}\nset bmargin at screen {at - share + 0.01:.3f}\n"
                f"set title {quoted(panel)} offset 0,-0.7 noenhanced\n")
        at -= share
        ceiling = max(row["ceiling_gbps"] for row in rows)
        out += f"set arrow 1 from {ceiling:.1f}, graph 0 to {ceiling:.1f}, graph 1 nohead dt 2 lw 1.5 lc rgb '{GREY}' front\n"
        bar = [(f"{row['rung']}  {row['name']}", row["gbps"], "#d55e00" if row["name"].startswith("ours") else "#56b4e9",
                f"{row['gbps']:.0f}") for row in rows]
        out += bars(bar, "GB/s" if i == len(panels) - 1 else "", top)
        out += ONCE
    return out + "unset multiplot\n"


def ladder_axes(record):
    return ladder_stack(record, "The ladder over axes", ladder_panels(record, "axes", "nd"))


def ladder_arrays(record):
    return ladder_stack(record, "Prefix sums and selections; the dashed line is only copying", ladder_panels(record, "scan", "select"))


def dots(name, rows, value, more=()):
    """A line of marks for each row, the first on top: one for each library that has a value there."""
    out, series = "", []
    for library in NAMES:
        points = [(value(row, library), len(rows) - i) for i, row in enumerate(rows)]
        lines = [f"{x:.4g} {y}" for x, y in points if x]
        if not lines:
            continue
        out += block(f"{name}{library}", lines)
        size = 1.0 if library == "ndreduce" else 0.7
        series.append(f"${name}{library} using 1:2 with points pt {MARKS[library]} ps {size} "
                      f"lc rgb '{COLOURS[library]}' notitle")
    series.append(series.pop(0))  # ndreduce on top
    return out + "plot " + ", \\\n  ".join(series + list(more)) + "\n"


def labels(rows, text):
    ticks = ", ".join(f"{quoted(text(row))} {len(rows) - i}" for i, row in enumerate(rows))
    return f"set yrange [0.3:{len(rows) + 0.7}]\nset ytics ({ticks}) font ',10' noenhanced\n"


def libraries_of(rows):
    return {name for row in rows for name in times_of(row)}


SMALL_PANELS = {"median_seconds": "on the device, caches cold", "back_to_back_seconds": "from the host, back to back"}


def small(record):
    rows = done(record)
    values = {key: [1e6 * times[key] for row in rows for times in times_of(row).values() if times.get(key)]
              for key in SMALL_PANELS}
    panels = [key for key in SMALL_PANELS if values[key]]
    out = begin(record, "Small arrays: microseconds a call")
    out += (f"set multiplot layout 1,{len(panels)} margins 0.255,0.86,0.19,0.85 spacing 0.02\nset logscale x\n"
            "set xlabel 'us'\nset xtics (1,2,5,10,20,50,100,200,500,1000,2000)\n")
    for key in panels:
        last = key == panels[-1]
        out += labels(rows, lambda row: row["problem"] if key == panels[0] else "")
        out += (f"set title {quoted(SMALL_PANELS[key])} offset 0,-0.6\n"
                f"set xrange [{min(values[key]) / 1.3:.3g}:{max(values[key]) * 1.3:.3g}]\n")
        out += "set key at screen 0.87,0.85 left top Left reverse samplen 1 spacing 1.3\n" if last else "unset key\n"
        out += dots(key, rows, lambda row, library: 1e6 * (times_of(row).get(library, {}).get(key) or 0),
                    legend(libraries_of(rows), "points") if last else ())
        out += ONCE
    return out + "unset multiplot\n"


def peers(record):
    rows = done(record)
    out = begin(record, "Every library at 1 GiB, in % of only reading as much")
    out += ("set lmargin at screen 0.2\nset rmargin at screen 0.83\nset tmargin at screen 0.93\nset bmargin at screen 0.09\n"
            "set xrange [0:104]\nset xtics 0,20 format '%.0f %%'\n"
            "set key at screen 0.84,0.93 left top Left reverse samplen 1 spacing 1.3\n")
    out += labels(rows, lambda row: row["name"])
    return out + dots("p", rows, lambda row, library: 100 * (times_of(row).get(library, {}).get("gbps") or 0) /
                      row["ceiling_gbps"], legend(libraries_of(rows), "points"))


# name of the figure -> (record, function, width, height)
FIGURES = {"wide-tall": ("gpu-sweep.json", sweep, 960, 440), "heat": ("gpu-heat.json", heat, 1000, 560),
           "ladder": ("gpu-ladder.json", ladder, 820, 560), "ladder-axes": ("gpu-ladder.json", ladder_axes, 820, 1100),
           "ladder-arrays": ("gpu-ladder.json", ladder_arrays, 820, 1100),
           "peers": ("gpu-peers.json", peers, 820, 820), "small": ("gpu-small.json", small, 960, 440)}
