#!/usr/bin/env python3
"""Fits the weights of the GPU cost model to measured times: fit_costs.py PRINT_TERMS RECORD.json...

Rewrites src/gpuplan/weights.def. PRINT_TERMS is the program of that name in a build's tests folder; the records are those
of `ndbench regret`, measured with kernels and launches as they are now. A launch is predicted to take the sum of its
terms, each times w + op_cost * v: w and v are the kernel's and not negative, op_cost the operator's. First both are
fitted to the times, robustly, and more closely those of families that are near the best of their problem. Then the weights
are tuned to what they are for: that the family of the least prediction be the fastest. Prints the planner's regret with
either. Needs numpy.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys

import numpy as np

FAMILY = pathlib.Path(__file__).resolve().parents[2] / "src/gpuplan"
WEIGHTS, LAUNCH = FAMILY / "weights.def", FAMILY / "launch.h"
HEAD = """/* Written by tools/bench/fit_costs.py.
 *   WEIGHTS(model, TERM(term, plain, per_cost), ...)  microseconds that one unit of a term (launch.h) takes in
 *                                                     launches of a model (cost.c): plain + per_cost * what the
 *                                                     operator costs; terms that are not named take no time
 *   OP_COST(operator, dtype, value)                   what an operator costs
 * Fitted to {problems} problems of `ndbench regret` (seeds {seeds}) on an {gpu}, commit {commit}. On these the choice
 * takes, against the fastest family, {p95:.3f} times as long at 95 % and {worst:.2f} at worst. */
"""
ROUNDS = 8    # of reweighting: a few outliers must not bend the fit
TURNS = 6     # of fitting weights and op_costs in turn
STEPS = 800   # of tuning
TAU = 0.08    # predictions that differ by less than this share count as alike while tuning
ANCHOR = 0.3  # how much predictions that are far from the times count then, against regret


class Rows:
    """What was measured: an entry for each family of each problem."""

    def __init__(self, program, records):
        read = [json.loads(pathlib.Path(record).read_text()) for record in records]
        runs = [row for record in read for row in record["rows"]]
        self.seeds = ", ".join(str(record["seed"]) for record in read if "seed" in record)
        self.gpu, self.commit = read[0]["machine"]["gpu"], read[0]["commit"]
        lines = "".join(row["problem"] + "\n" for row in runs)
        printed = subprocess.run([program], input=lines, capture_output=True, text=True, check=True).stdout.splitlines()
        kernels, op_costs, terms, times, problems = [], [], [], [], []
        for number, (row, line) in enumerate(zip(runs, printed, strict=True)):
            seen = json.loads(line)
            for family in row["seconds"].keys() & seen.keys():
                kernels.append(seen[family][0])
                terms.append(seen[family][1:])
                op_costs.append(tuple(seen["op_cost"]))
                times.append(1e6 * row["seconds"][family])
                problems.append(number)
        self.names = [row["problem"] for row in runs]
        self.kernels, self.kernel = np.unique(kernels, return_inverse=True)
        self.op_costs = sorted(set(op_costs))
        self.op_cost = np.array([self.op_costs.index(e) for e in op_costs])
        self.terms, self.times, self.problem = np.array(terms), np.array(times), np.array(problems)
        self.best = self.least(self.times)
        self.ratio = self.times / self.best[self.problem]

    def least(self, values):
        least = np.full(len(self.names), np.inf)
        np.minimum.at(least, self.problem, values)
        return least

    def features(self, op_cost):
        return np.hstack([self.terms, self.terms * op_cost[self.op_cost][:, None]])

    def regrets(self, predicted):
        chosen = predicted <= self.least(predicted)[self.problem]
        return np.array(sorted(zip(self.ratio[chosen], self.problem[chosen]), reverse=True))

    def report(self, what, predicted):
        regrets = self.regrets(predicted)
        share = [regrets[int(len(regrets) * q)][0] for q in (0.5, 0.05, 0.01)]
        print(f"{what}: {len(self.names)} problems, regret: median {share[0]:.3f}, 95 % {share[1]:.3f}, "
              f"99 % {share[2]:.3f}, worst {regrets[0][0]:.2f}, {(regrets[:, 0] > 1.25).sum()} above 1.25")
        return regrets


def nonnegative(a, b):
    """Least squares by coordinate descent, no coefficient below 0."""
    gram, right, x = a.T @ a, a.T @ b, np.zeros(a.shape[1])
    for _ in range(4000):
        before = x.copy()
        for j in np.flatnonzero(np.diag(gram)):
            x[j] = max(0.0, x[j] - (gram[j] @ x - right[j]) / gram[j, j])
        if np.abs(x - before).max() < 1e-8 * (1 + np.abs(x).max()):
            break
    return x


def fit_weights(features, times, ratio):
    near = np.minimum(1, 1.7 / ratio) / times
    weight = near
    for _ in range(ROUNDS):
        found = nonnegative(features * weight[:, None], times * weight)
        error = np.abs(features @ found - times) / times
        weight = near / np.sqrt(np.maximum(error, 0.03))
    return found


def fit_op_costs(rows, weights):
    """By each operator's own entries, whatever their kernels; of those with few entries it stays 1."""
    op_costs, half = np.ones(len(rows.op_costs)), rows.terms.shape[1]
    plain = (rows.terms * weights[rows.kernel, :half]).sum(1)
    more = (rows.terms * weights[rows.kernel, half:]).sum(1)
    for e in range(len(op_costs)):
        mine = rows.op_cost == e
        if mine.sum() < 6:
            continue
        tried = np.concatenate([[0], np.geomspace(0.05, 40, 60)])
        errors = [np.abs(np.log((plain[mine] + value * more[mine]) / rows.times[mine])).sum() for value in tried]
        op_costs[e] = tried[np.argmin(errors)]
    return op_costs


def fit(rows):
    op_costs = np.zeros(len(rows.op_costs))
    weights = np.zeros((len(rows.kernels), 2 * rows.terms.shape[1]))
    for turn in range(TURNS):
        features = rows.features(op_costs)
        for k in range(len(rows.kernels)):
            mine = rows.kernel == k
            weights[k] = fit_weights(features[mine], rows.times[mine], rows.ratio[mine])
        if turn == 0:  # nothing is known of what op_costs multiply
            weights[:, rows.terms.shape[1]:] = 0.1 * weights[:, :rows.terms.shape[1]]
        if turn < TURNS - 1:
            op_costs = fit_op_costs(rows, weights)
    return weights, op_costs


def tune(rows, weights, op_costs, rate=0.01):
    """Descends, by the weights' logarithms, the regret of a choice by chance that favours small predictions."""
    features, count = rows.features(op_costs), len(rows.names)
    logs = np.log(np.maximum(weights, 1e-12))
    mean, square = np.zeros_like(logs), np.zeros_like(logs)
    loss = np.minimum(np.log(rows.ratio), 1)
    near = ANCHOR * np.exp(-2 * loss)
    for step in range(1, STEPS + 1):
        parts = features * np.exp(logs)[rows.kernel]
        predicted = parts.sum(1)
        odds = (predicted / rows.least(predicted)[rows.problem]) ** (-1 / TAU)
        odds /= np.bincount(rows.problem, odds, count)[rows.problem]
        expected = np.bincount(rows.problem, odds * loss, count)[rows.problem]
        error = np.log(predicted / rows.times)
        slope = -odds * (loss - expected) * (1 + 6 * expected) / TAU + near * error / np.sqrt(1 + (error / 0.1) ** 2)
        gradient = np.zeros_like(logs)
        np.add.at(gradient, rows.kernel, parts * (slope / predicted)[:, None])
        gradient /= count
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.99 * square + 0.01 * gradient**2
        logs -= rate * mean / (1 - 0.9**step) / (np.sqrt(square / (1 - 0.99**step)) + 1e-9)
    return np.where(weights > 1e-9, np.exp(logs), 0)


def write(rows, weights, op_costs, regrets):
    """Rows of models that were not measured stay as they are."""
    names = re.findall(r"^  NDR_TERM_(\w+),", LAUNCH.read_text(), re.M)
    old = dict(re.findall(r"^WEIGHTS\((\w+),\n(.*?)\)\n(?=WEIGHTS|OP_COST)", WEIGHTS.read_text(), re.M | re.S))
    for kernel, found in zip(rows.kernels, weights):
        pairs = zip(names, found[:len(names)], found[len(names):], strict=True)
        old[kernel] = ",\n".join(f"        TERM({name}, {plain:.4g}, {per_cost:.4g})" for name, plain, per_cost in pairs
                                 if plain or per_cost)
    text = HEAD.format(problems=f"{len(rows.names):,}", seeds=rows.seeds, gpu=rows.gpu, commit=rows.commit,
                       p95=regrets[int(len(regrets) * 0.05)][0], worst=regrets[0][0])
    text += "".join(f"WEIGHTS({kernel},\n{terms})\n" for kernel, terms in old.items())
    text += "".join(f"OP_COST({op.upper()}, {dtype.upper()}, {value:.3g})\n"
                    for (op, dtype), value in zip(rows.op_costs, op_costs))
    WEIGHTS.write_text(text)


def main():
    rows = Rows(sys.argv[1], sys.argv[2:])
    weights, op_costs = fit(rows)
    features = rows.features(op_costs)
    rows.report("fitted", (features * weights[rows.kernel]).sum(1))
    weights = tune(rows, weights, op_costs)
    regrets = rows.report("tuned", (features * weights[rows.kernel]).sum(1))
    for regret, problem in regrets[:20]:
        print(f"  {regret:.2f}  {rows.names[int(problem)]}")
    write(rows, weights, op_costs, regrets)


if __name__ == "__main__":
    main()
