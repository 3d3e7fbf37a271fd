#!/usr/bin/env python3
"""Times PyTorch, its inductor, XLA (through JAX) and CuPy on the problems of an ndbench record, and adds them to it.

  bench_peers.py [--library libndreduce.so] [--peers LIST] [--inductor-every N] [--seconds S] RECORD.json

Each row of the record gains "python": by name of the peer median_seconds, gbps (of the bytes that ndbench counts) and, for
calls of less than 50 us, back_to_back_seconds, the host's time a call when many are made in a row. One of them is
"ndreduce" itself, called from Python on the same data in the same turns, so that all of "python" is one run. The record
is written anew after every row: what has been measured when time runs out is kept.

  --library          without it ndreduce is left out
  --peers            a comma list, default ndreduce,torch,inductor,jax,cupy; those that cannot be imported are left out
  --inductor-every   compile for every Nth shape only (compiling takes seconds)
  --seconds          after so many, no more is compiled (default 400)

On a GPU a call is timed between two events after a read of other data that empties the second-level cache; JAX, whose
stream is its own, by the wall clock over queued calls that go round several copies, and on small arrays only back to
back. Results are held against float64, or exactly; a peer that gives another result is not timed.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests" / "numpy"))
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

SAMPLES, ROUNDS, SHORT_CALL, PATIENCE = 24, 3, 50e-6, 0.3  # PATIENCE: seconds of one peer's samples on one problem
SPINNING = 0.03  # seconds for which a peer's threads of OpenMP may spin on the cores that the next one would use


def fail(text):
    sys.exit(f"bench_peers.py: {text}")


try:
    import torch
    from bench_calls import Peers, check, memory_for, torch_function
    from bench_numpy import Problem
    from library import Library
except ImportError as error:
    fail(f"the peers need NumPy and PyTorch: {error}")


# ---- times

class Clock:
    def __init__(self, place):
        self.on_gpu = place == "cuda"
        if self.on_gpu:
            l2 = getattr(torch.cuda.get_device_properties(0), "L2_cache_size", 64 << 20)
            self.other = torch.zeros(max(8 * l2, 256 << 20) // 4, device=place)

    def wait(self):
        if self.on_gpu:
            torch.cuda.synchronize()

    def samples(self, call, count):
        """Seconds of `count` calls, each with cold caches."""
        if not self.on_gpu:
            time.sleep(SPINNING)
        if call.queued:
            return self.queued(call, count)
        if not self.on_gpu:
            return [self.wall(call.run) for _ in range(count)]
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(count)]
        for start, stop in events:
            torch.amax(self.other, 0)  # the host is done queueing the call before this is through
            start.record()
            call.run()
            stop.record()
        self.wait()
        return [1e-3 * start.elapsed_time(stop) for start, stop in events]

    def wall(self, run):
        start = time.perf_counter()
        run()
        return time.perf_counter() - start

    def queued(self, call, count):
        """What a call more in the queue takes: the first one's way there and the last one's way back do not count."""
        def run(calls):
            start = time.perf_counter()
            for i in range(calls):
                last = call.queued(i)
            last.block_until_ready()
            return time.perf_counter() - start
        return [max(run(3 * count) - run(count), 1e-9) / (2 * count)] * count

    def back_to_back(self, call, count=300):
        finish = call.queued and (lambda: call.queued(0).block_until_ready())
        for _ in range(10):
            call.run()
        (finish or self.wait)()
        start = time.perf_counter()
        for _ in range(count):
            call.run()
        (finish or self.wait)()
        return (time.perf_counter() - start) / count

    def time(self, calls):
        """Fills in the samples of all, in turns."""
        counts = {}
        for name, call in calls.items():
            first = max(*self.samples(call, 3), 1e-9)
            counts[name] = max(1, int(min(SAMPLES, PATIENCE / first)) // ROUNDS)
        for _ in range(ROUNDS):
            for name, call in calls.items():
                call.samples += self.samples(call, counts[name])


# ---- a record

def make_calls(names, peers, problem, memory, x, skip):
    calls = {}
    for name in names:
        if name in skip:
            continue
        try:
            call = getattr(peers, name)(problem, memory, x)
            if call:
                check(call, problem, x)
                calls[name] = call
        except Exception as error:  # whatever a peer does wrong is its own affair
            sentence = (str(error).splitlines() or [""])[0]
            print(f"  {name}: {type(error).__name__}: {sentence[:120]}", flush=True)
    return calls


def measure(row, problem, calls, clock):
    clock.time(calls)
    short = any(statistics.median(call.samples) < SHORT_CALL for call in calls.values())
    row["python"] = {}
    for name, call in calls.items():
        seconds = statistics.median(call.samples)
        times = {} if call.queued and short else {"median_seconds": float(f"{seconds:.6g}"),
                                                  "gbps": float(f"{row['bytes'] / seconds / 1e9:.6g}")}
        if short:
            times["back_to_back_seconds"] = float(f"{clock.back_to_back(call):.6g}")
        row["python"][name] = times


def show(row, names):
    cells = []
    for name in names:
        times = row["python"].get(name, {})
        if "back_to_back_seconds" in times:
            device = f"{times['median_seconds'] * 1e6:.1f}" if "median_seconds" in times else "-"
            cells.append(f"{device}/{times['back_to_back_seconds'] * 1e6:.1f} us")
        else:
            cells.append(f"{times['gbps']:.0f}" if times else "-")
    print(f"{row['problem']:44}" + "".join(f"{cell:>15}" for cell in cells), flush=True)


def write(path, record):
    head = {key: value for key, value in record.items() if key != "rows"}
    rows = ",\n".join("    " + json.dumps(row) for row in record["rows"])
    new = path.with_suffix(".new")
    new.write_text(json.dumps(head, indent=2)[:-2] + ',\n  "rows": [\n' + rows + "\n  ]\n}\n", encoding="utf-8")
    os.replace(new, path)


def versions(names):
    modules = {"torch": "torch", "inductor": "triton", "jax": "jax", "cupy": "cupy", "flox": "flox", "numbagg": "numbagg",
               "numpy": "numpy", "numexpr": "numexpr"}
    found = {}
    for name in names:
        if name not in modules:
            continue
        try:
            found[modules[name]] = __import__(modules[name]).__version__
        except (ImportError, AttributeError):
            pass
    return found


def options():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--library", default=os.environ.get("NDREDUCE"))
    parser.add_argument("--peers", default="ndreduce,torch,inductor,jax,cupy")
    parser.add_argument("--inductor-every", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=400)
    parser.add_argument("record", type=pathlib.Path)
    given = parser.parse_args()
    unknown = set(given.peers.split(",")) - {"ndreduce", "torch", "inductor", "jax", "cupy"}
    if unknown:
        fail(f"no such peer: {', '.join(sorted(unknown))}")
    return given


def importable(name, library):
    if name == "ndreduce":
        return library is not None
    if name in ("jax", "cupy", "numexpr"):
        try:
            __import__(name)
        except Exception as error:
            print(f"{name} is left out: {error}")
            return False
    return True


def main():
    given = options()
    try:
        record = json.loads(given.record.read_text(encoding="utf-8"))
        library = Library(given.library) if given.library else None
    except (OSError, ValueError) as error:
        fail(error)
    place = record["device"]
    if place == "cuda" and not torch.cuda.is_available():
        fail("the record is of a GPU, and PyTorch sees none")
    torch.manual_seed(1)
    names = [name for name in given.peers.split(",") if importable(name, library)]
    record["python"] = versions(names)
    peers, clock, began = Peers(library, place), Clock(place), time.monotonic()
    shapes = {}
    print(f"{'GB/s, or us on the device/back to back':44}" + "".join(f"{name:>15}" for name in names))
    for row in record["rows"]:
        problem = Problem(row["problem"])
        if not problem.dims or None in [torch_function(op, problem) for op in problem.ops] or not row["bytes"]:
            continue
        memory = memory_for(problem, row.get("offset", 0), place)
        if memory is None or problem.keepdims or problem.skip_nan:
            continue
        x = torch.as_strided(memory, problem.shape, problem.strides, row.get("offset", 0))
        shape = shapes.setdefault(tuple(problem.shape), len(shapes))
        late = time.monotonic() - began > given.seconds
        skip = {"inductor", "jax"} if late else {"inductor"} if shape % given.inductor_every else set()
        calls = make_calls(names, peers, problem, memory, x, skip)
        if calls:
            measure(row, problem, calls, clock)
            show(row, names)
        write(given.record, record)


if __name__ == "__main__":
    main()
