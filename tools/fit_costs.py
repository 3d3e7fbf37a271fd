#!/usr/bin/env python3
"""Fits the weights of the GPU cost model to measured times: fit_costs.py PRINT_TERMS RECORD.json...

Rewrites src/family/weights.def. PRINT_TERMS is the program of that name in a build's tests folder; the records are those of `ndbench regret`, measured with
kernels and launches as they are now. Weights are not negative and minimise the relative error, robustly. What the planner's
regret would be with them is printed. Needs numpy.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

ROUNDS = 8  # of reweighting: a few outliers must not bend the fit
WEIGHTS = pathlib.Path(__file__).resolve().parent.parent / "src/family/weights.def"


def nonnegative(a, b):
    """Least squares by coordinate descent, no coefficient below 0."""
    gram, right, x = a.T @ a, a.T @ b, np.zeros(a.shape[1])
    for _ in range(20000):
        before = x.copy()
        for j in np.flatnonzero(np.diag(gram)):
            x[j] = max(0.0, x[j] - (gram[j] @ x - right[j]) / gram[j, j])
        if np.abs(x - before).max() < 1e-9:
            break
    return x


def fit(terms, times):
    weight = 1 / times
    for _ in range(ROUNDS):
        found = nonnegative(terms * weight[:, None], times * weight)
        error = np.abs(terms @ found - times) / times
        weight = 1 / times / np.sqrt(np.maximum(error, 0.03))
    return found


def read(program, records):
    """Per problem: its name, and by family the name of the weights, the terms and the microseconds."""
    rows = [row for record in records for row in json.loads(pathlib.Path(record).read_text())["rows"]]
    lines = "".join(row["problem"] + "\n" for row in rows)
    printed = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
    for row, line in zip(rows, printed, strict=True):
        seen = json.loads(line)
        yield row["problem"], {family: (seen[family][0], np.array(seen[family][1:]), 1e6 * seconds)
                               for family, seconds in row["seconds"].items() if family in seen}


def main():
    problems = list(read(sys.argv[1], sys.argv[2:]))
    kernels = collections.defaultdict(list)
    for _, families in problems:
        for kernel, terms, time in families.values():
            kernels[kernel].append((terms, time))
    weights = {kernel: fit(np.array([terms for terms, _ in seen]), np.array([time for _, time in seen]))
               for kernel, seen in kernels.items()}

    regrets = []
    for name, families in problems:
        choice = min(families.values(), key=lambda one: weights[one[0]] @ one[1])
        regrets.append((choice[2] / min(time for _, _, time in families.values()), name))
    regrets.sort(reverse=True)
    share = [regrets[int(len(regrets) * q)][0] for q in (0.5, 0.05, 0.01)]
    print(f"{len(regrets)} problems, regret: median {share[0]:.3f}, 95 % {share[1]:.3f}, 99 % {share[2]:.3f}")
    for regret, name in regrets[:20]:
        print(f"  {regret:.2f}  {name}")

    table = re.findall(r"WEIGHTS\((\w+), (\d+), (.*)\)", WEIGHTS.read_text())
    lines = ["/* Made by tools/fit_costs.py: kernel, blocks that a multiprocessor runs at a time, weights. */\n"]
    for kernel, resident, old in table:
        new = ", ".join(f"{w:.4g}" for w in weights[kernel]) if kernel in weights else old
        lines.append(f"WEIGHTS({kernel}, {resident}, {new})\n")
    WEIGHTS.write_text("".join(lines))


if __name__ == "__main__":
    main()
