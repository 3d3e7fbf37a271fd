#!/usr/bin/python3
"""Whether two builds give the same bits on random problems: bits.py [options] BEFORE [AFTER]

For changes that should change no result. BEFORE and AFTER are libndreduce.so of two builds, or lists that this script printed.
With BEFORE alone it prints such a list: a line a problem, with a hash of its results, so that builds on two machines can be
compared.

Each library is loaded by a process of its own. Only functions that have kept their signature are called, so that BEFORE may be
old: ndreduce, ndreduce_many, ndr_result_describe, ndr_memory_*, ndr_copy, ndr_stream_*. Failures are the same if their status is.

With --device cuda the arrays lie in the memory of a GPU. The emulated GPU has a library, too: the target simt_ndreduce of a build
with NDREDUCE_SIMT=ON makes tests/simt/libsimt_ndreduce.so. It is slow: give it --most 20000."""
import argparse
import ctypes
import hashlib
import itertools
import os
import subprocess
import sys
import warnings

import numpy as np

import compare
from compare import ORDERED, random_dims, random_shape, random_values, random_view
from library import DTYPES, ERR_EMPTY, OPS, Device, Failure, Library, Options, tensor_of

# bf16, which NumPy does not have, is the upper half of f32 in a u16.
NAMES = [*DTYPES, "bf16"]
FAMILIES = {"cpu": ("scalar", "rows", "runs", "tile"), "cuda": ("tree", "thread", "tile")}
UNKNOWN = "-"  # in the place of a hash, where a library does not have the operator
REFUSALS = (ERR_EMPTY, 90)  # of no elements, and by a forced family
LARGE_ONCE_IN = 10
SMALL_MOST = 20000


class Problem:
    """One random problem; the same for the same state of `random`, whatever the library."""

    def __init__(self, random, device, most):
        large = random.integers(0, LARGE_ONCE_IN) == 0
        compare.MOST = most if large else min(most, SMALL_MOST)
        self.name = str(random.choice(NAMES))
        defined = [op for op in OPS if not (self.name.startswith("c") and op in ORDERED)]
        count = 1 if random.integers(0, 4) else int(random.integers(2, 4))
        self.ops = [str(op) for op in random.choice(defined, count, replace=False)]
        shape = random_shape(random)
        self.memory = self.values(random, shape)
        self.view = random_view(random, self.memory)
        self.dims = random_dims(random, self.view.ndim)
        self.reversed_results = random.integers(0, 4) == 0
        # The elements begin this many elements past a boundary of 256 bytes.
        self.past = int(random.integers(0, 17)) if random.integers(0, 2) else 0
        self.device_number = int(random.integers(0, 60))
        self.family = str(random.choice(FAMILIES[device])) if random.integers(0, 3) == 0 else None
        self.options = {"keepdims": int(random.integers(0, 2)), "skip_nan": int(random.integers(0, 6) == 0),
                        "ddof": float(random.choice([0, 1, 2.5])), "accumulate": int(random.integers(0, 6) == 0),
                        "threads": int(random.integers(0, 4))}

    def values(self, random, shape):
        if self.name != "bf16":
            return np.ascontiguousarray(random_values(random, np.dtype(DTYPES[self.name]), shape, self.ops[0]))
        values = random_values(random, np.dtype(np.float32), shape, self.ops[0])
        return np.ascontiguousarray((np.ascontiguousarray(values).view(np.uint32) >> 16).astype(np.uint16))

    def __str__(self):
        """In the mini-language, as far as that goes."""
        options = Options(**{key: value for key, value in self.options.items() if key != "threads"})
        text = compare.case_text(self.view, self.dims, "+".join(self.ops), self.name, options)
        return f"{text} | {self.family or 'any family'}, {self.past} past, {self.options['threads']} threads"


class Host:
    """Where the arrays of a CPU's problems lie."""

    def __init__(self, library, number):
        self.device = Device(1, 0)
        self.stream = None
        self.kept = []

    def place(self, array, past):
        """The address of a copy of the array."""
        raw = np.empty(array.nbytes + 512 + past, np.uint8)
        self.kept.append(raw)
        address = -(-raw.ctypes.data // 256) * 256 + past
        ctypes.memmove(address, array.ctypes.data, array.nbytes)
        return address

    def fetch(self, array, address):
        ctypes.memmove(array.ctypes.data, address, array.nbytes)

    def release(self):
        self.kept = []


class Gpu:
    """Where those of a GPU lie: device memory, on a stream of its own."""

    def __init__(self, library, number):
        self.library, self.so = library, library.so
        count = ctypes.c_int()
        library.check(self.so.ndr_device_count(2, ctypes.byref(count)))
        self.device = Device(2, number % count.value)
        stream = ctypes.c_void_p()
        library.check(self.so.ndr_stream_create(self.device, ctypes.byref(stream)))
        self.stream = stream.value
        self.memory = []

    def copy(self, to, source, size):
        self.library.check(self.so.ndr_copy(self.device, ctypes.c_void_p(to), ctypes.c_void_p(source),
                                            ctypes.c_size_t(size), ctypes.c_void_p(self.stream)))
        self.library.check(self.so.ndr_stream_wait(self.device, ctypes.c_void_p(self.stream)))

    def place(self, array, past):
        memory = ctypes.c_void_p()
        size = ctypes.c_size_t(array.nbytes + past + 16)
        self.library.check(self.so.ndr_memory_allocate(self.device, size, ctypes.byref(memory)))
        self.memory.append(memory)
        self.copy(memory.value + past, array.ctypes.data, array.nbytes)
        return memory.value + past

    def fetch(self, array, address):
        self.copy(array.ctypes.data, address, array.nbytes)

    def release(self):
        for memory in self.memory:
            self.so.ndr_memory_free(self.device, memory)
        self.so.ndr_stream_destroy(self.device, ctypes.c_void_p(self.stream))


def one_nan(result, bf16):
    """The result with one NaN for all: which operand's NaN an addition hands on is the compiler's choice."""
    if bf16 and result.dtype == np.uint16:
        return np.where(result & 0x7FFF > 0x7F80, 0x7FC0, result)
    if result.dtype.kind == "c":
        result = np.ascontiguousarray(result).view(result.real.dtype)
    return np.where(np.isnan(result), np.nan, result).astype(result.dtype) if result.dtype.kind == "f" else result


def results_of(library, problem, place):
    """The bytes of all results, in the order of the operators."""
    array = tensor_of(problem.view, problem.name)
    array.data = place.place(problem.memory, problem.past * problem.memory.itemsize)
    array.data += problem.view.ctypes.data - problem.memory.ctypes.data
    array.device = place.device
    options = Options(stream=place.stream, force_family=problem.family and problem.family.encode(), **problem.options)
    dims = (ctypes.c_int * max(len(problem.dims), 1))(*problem.dims)
    results, tensors, numbers = [], [], [OPS.index(op) for op in problem.ops]
    for op in problem.ops:
        shape, dtype = library.describe(problem.view, problem.dims, op, options, problem.name)
        bf16 = dtype == "bf16"
        result = np.full(shape, 99, np.uint16 if bf16 else dtype, "F" if problem.reversed_results else "C")
        tensor = tensor_of(result, "bf16" if bf16 else None)
        tensor.data, tensor.device = place.place(result, 0), place.device
        results.append(result)
        tensors.append(tensor)
    if len(numbers) == 1:
        library.check(library.so.ndreduce(ctypes.byref(array), len(problem.dims), dims, numbers[0],
                                          ctypes.byref(tensors[0]), ctypes.byref(options)))
    else:
        pointers = (ctypes.c_void_p * len(tensors))(*(ctypes.addressof(tensor) for tensor in tensors))
        library.check(library.so.ndreduce_many(ctypes.byref(array), len(problem.dims), dims, len(numbers),
                                               (ctypes.c_int * len(numbers))(*numbers), pointers, ctypes.byref(options)))
    for result, tensor in zip(results, tensors):
        place.fetch(result, tensor.data)
    return b"".join(one_nan(result, problem.name == "bf16").tobytes() for result in results)


def outcome(library, problem, device):
    if any(library.so.ndr_op_name(OPS.index(op)) is None for op in problem.ops):
        return UNKNOWN
    place = (Gpu if device == "cuda" else Host)(library, problem.device_number)
    try:
        return hashlib.blake2b(results_of(library, problem, place), digest_size=8).hexdigest()
    except Failure as failure:
        if failure.status not in REFUSALS:
            sys.exit(f"{problem}: {failure}")
        return f"status={failure.status}"
    finally:
        place.release()


def print_list(path, given):
    library = Library(os.path.abspath(path))
    library.so.ndr_op_name.restype = ctypes.c_char_p
    random = np.random.default_rng(given.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(given.cases):
            problem = Problem(random, given.device, given.most)
            print(outcome(library, problem, given.device), problem, flush=True)


def lines_of(path, options):
    """The lines of a list, or those that a process of its own prints for a library."""
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return open(path), None
    process = subprocess.Popen([sys.executable, "-B", __file__, *options, path], stdout=subprocess.PIPE, text=True)
    return process.stdout, process


def compare_lists(given, options):
    """Line by line, as they come; the number of problems, failures, unknown ones, and those that differ."""
    sources = [lines_of(path, options) for path in (given.before, given.after)]
    count = failed = unknown = different = 0
    for before, after in itertools.zip_longest(*(lines for lines, _ in sources)):
        if before is None or after is None:
            sys.exit(f"{given.after if before else given.before}: ends after {count} problems")
        (was, problem), (now, same_problem) = (line.rstrip("\n").split(" ", 1) for line in (before, after))
        if problem != same_problem:
            sys.exit(f"the lists are of other problems: {problem} and {same_problem}")
        count += 1
        failed += was == now and now.startswith("status=")
        if UNKNOWN in (was, now):
            unknown += 1
        elif was != now:
            different += 1
            print(f"not the same: {problem}: {was}, {now}")
    for path, (_, process) in zip((given.before, given.after), sources):
        if process and process.wait():
            sys.exit(f"{path}: the process that ran it ended with {process.returncode}")
    return count, failed, unknown, different


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after", nargs="?")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--most", type=int, default=3000000, help="elements of a large problem, one in ten")
    given = parser.parse_args()
    if not given.after:
        return print_list(given.before, given)
    options = [f"--{name}={getattr(given, name)}" for name in ("device", "cases", "seed", "most")]
    count, failed, unknown, different = compare_lists(given, options)
    compared = count - failed - unknown
    print(f"{count} problems: {compared - different} have the same bits, {different} do not; both libraries refuse {failed}, "
          f"{unknown} have an operator that only one of them knows")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
