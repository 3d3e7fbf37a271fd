#!/usr/bin/env python3
"""Measures datasets reduced on a GPU beside h5py + PyTorch and CuPy, and records it: bench_h5_gpu.py BUILD RECORD.json [FOLDER]

BUILD is a build folder with the CUDA backend. Files are made in FOLDER (default: a temporary one) from seeded noise, in
the page cache when they are timed. BENCH_SHAPE, "2048,1024,1024" unless set, is that of the contiguous dataset; the
compressed one has a quarter of its rows; the packed one, i16 of the other byte order with missing values, has them all,
and its GB/s are of what is stored. Everything but the row of whole processes is timed inside one process in which CUDA has
started, the library through its C interface; runs take turns, and the best of each is kept. Every answer is compared.
Ceilings of the same run: pread of the file into pinned memory by several threads, and copies from there to the GPU.
"""
import concurrent.futures
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

import h5py
import numpy as np

import bench_h5
from bench_h5 import best_times, program, version, weather
from provenance import provenance

bench_h5.RUNS, bench_h5.PATIENCE = 5, 6.0

SHAPE = tuple(map(int, os.environ.get("BENCH_SHAPE", "2048,1024,1024").split(",")))
CHUNK = (4, 256, 512)
SLAB_BYTES = 32 << 20
CORES = len(os.sched_getaffinity(0))  # that this process may use
CPU, CUDA = 1, 2  # ndr_h5_device
MAX_DIMS, MAX_OPS = 32, 20
MEAN, F32 = 6, 11


def driver():
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")[0].strip()


def block(rows, seed):
    return np.random.default_rng(seed).standard_normal((rows, *SHAPE[1:]), np.float32)


def deflated(piece):
    shuffled = np.ascontiguousarray(piece).view(np.uint8).reshape(-1, piece.itemsize).T.tobytes()
    return zlib.compress(shuffled, 1)


def make_deflated(path, pool):
    """As h5py would write it; the chunks are compressed by all cores."""
    rows = SHAPE[0] // 4
    source = weather((8 * CHUNK[0], *SHAPE[1:]))
    with h5py.File(path, "w") as file:
        data = file.create_dataset("x", (rows, *SHAPE[1:]), "f4", chunks=CHUNK, compression="gzip", compression_opts=1,
                                   shuffle=True)
        corners = [(i, j, k) for i in range(0, rows, CHUNK[0]) for j in range(0, SHAPE[1], CHUNK[1])
                   for k in range(0, SHAPE[2], CHUNK[2])]

        def pack(corner):
            i, j, k = corner[0] % source.shape[0], corner[1], corner[2]
            return corner, deflated(source[i:i + CHUNK[0], j:j + CHUNK[1], k:k + CHUNK[2]])

        for corner, stored in pool.map(pack, corners):
            data.id.write_direct_chunk(corner, stored)


def make_packed(path):
    """Big-endian i16 with a scale, an offset and missing values, as reanalyses are kept."""
    with h5py.File(path, "w") as file:
        data, random = file.create_dataset("x", SHAPE, ">i2"), np.random.default_rng(2)
        source = random.integers(-30000, 30000, (32, *SHAPE[1:]), np.int16)
        source[random.random(source.shape, np.float32) < 0.05] = -32767
        for row in range(0, SHAPE[0], 32):
            data[row:row + 32] = source[:SHAPE[0] - row]
        data.attrs["_FillValue"], data.attrs["scale_factor"], data.attrs["add_offset"] = np.int16(-32767), 0.01, 273.15


def make(folder, pool):
    with h5py.File(folder / "contiguous.h5", "w") as file:
        data, source = file.create_dataset("x", SHAPE, "f4"), block(32, 1)
        for row in range(0, SHAPE[0], 32):
            data[row:row + 32] = source[:SHAPE[0] - row] + np.float32(row % 7)
    make_deflated(folder / "deflate.h5", pool)
    make_packed(folder / "packed.h5")
    with h5py.File(folder / "small.h5", "w") as file:
        file["x"] = block(1, 3)


# ---- the library, through its C interface

class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("ndim", ctypes.c_int),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)]


class Progress(ctypes.Structure):
    _fields_ = [(name, ctypes.c_int64) for name in ("bytes", "total_bytes", "slabs", "total_slabs", "stored_bytes")] + [
        ("threads", ctypes.c_int)] + [(name, ctypes.c_double) for name in (
            "read_seconds", "decode_seconds", "unpack_seconds", "wait_seconds", "reduce_seconds")] + [
                ("device_type", ctypes.c_int), ("device_id", ctypes.c_int), ("warning", ctypes.c_char_p)]


WATCH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Progress))


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("device", ctypes.c_int), ("device_id", ctypes.c_int), ("threads", ctypes.c_int),
                ("memory", ctypes.c_int64), ("on_progress", WATCH), ("user", ctypes.c_void_p),
                ("weights", ctypes.c_void_p), ("weight_dims", ctypes.c_void_p)]


class Problem(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int),
                ("shape", ctypes.c_int64 * MAX_DIMS), ("strides", ctypes.c_int64 * MAX_DIMS),
                ("dim_count", ctypes.c_int), ("dims", ctypes.c_int * MAX_DIMS),
                ("op_count", ctypes.c_int), ("ops", ctypes.c_int * MAX_OPS), ("keepdims", ctypes.c_int),
                ("skip_nan", ctypes.c_int), ("ddof", ctypes.c_double), ("accumulate", ctypes.c_int)]


class Library:
    def __init__(self, path):
        self.calls = ctypes.CDLL(str(path))
        self.calls.ndr_last_error.restype = ctypes.c_char_p
        self.last = None  # what on_progress was told last

    def check(self, status):
        if status:
            sys.exit(f"bench_h5_gpu.py: {self.calls.ndr_last_error().decode()}")

    def mean(self, path, axis, device, shape, dtype):
        def watch(_, now):
            self.last = Progress.from_buffer_copy(now.contents)
            return 0

        dataset, callback = ctypes.c_void_p(), WATCH(watch)
        kept = [n for d, n in enumerate(shape) if d != axis]
        result = np.empty(kept, dtype)
        tensor = DLTensor(result.ctypes.data, 1, 0, len(kept), 2, 8 * result.itemsize, 1, (ctypes.c_int64 * len(kept))(*kept), None, 0)
        options, problem = Options(ctypes.sizeof(Options), device, 0, 0, 0, callback), Problem(ctypes.sizeof(Problem))
        self.check(self.calls.ndr_h5_open(ctypes.byref(dataset), os.fsencode(path), b"/x", None))
        self.check(self.calls.ndr_h5_problem(ctypes.byref(problem), dataset, 1, (ctypes.c_int * 1)(axis), 1,
                                             (ctypes.c_int * 1)(MEAN)))
        self.check(self.calls.ndr_h5_reduce(dataset, ctypes.byref(problem),
                                            (ctypes.POINTER(DLTensor) * 1)(ctypes.pointer(tensor)), ctypes.byref(options)))
        self.calls.ndr_h5_close(dataset)
        return result


# ---- rivals

def torch_whole(path, axis):
    import torch
    with h5py.File(path) as file:
        return torch.from_numpy(file["x"][()]).cuda().mean(axis).cpu().numpy()


def cupy_whole(path, axis):
    import cupy
    with h5py.File(path) as file:
        return cupy.asnumpy(cupy.asarray(file["x"][()]).mean(axis))


def torch_slabs(path, axis):
    """A loop as one would write it: two pinned buffers, reads of the next slab while the last one is copied."""
    import torch
    with h5py.File(path) as file:
        data = file["x"]
        rows = max(1, SLAB_BYTES // (data.dtype.itemsize * int(np.prod(data.shape[1:]))))
        buffers = [torch.empty((rows, *data.shape[1:]), dtype=torch.float32, pin_memory=True) for _ in range(2)]
        busy, parts, total = [None, None], [], None
        for number, row in enumerate(range(0, data.shape[0], rows)):
            count, slot = min(rows, data.shape[0] - row), number % 2
            if busy[slot]:
                busy[slot].synchronize()
            data.read_direct(buffers[slot].numpy(), np.s_[row:row + count], np.s_[:count])
            slab = buffers[slot][:count].cuda(non_blocking=True)
            busy[slot] = torch.cuda.Event()
            busy[slot].record()
            if axis:
                parts.append(slab.mean(axis))
            else:
                total = slab.sum(0) if total is None else total + slab.sum(0)
        return (torch.cat(parts) if axis else total / data.shape[0]).cpu().numpy()


# ---- ceilings

def pinned_read(path, threads):
    """GB/s of pread by so many threads, each into pinned memory of its own."""
    import torch
    size, piece = os.path.getsize(path), 1 << 20
    buffers = [memoryview(torch.empty(8 * piece, dtype=torch.uint8, pin_memory=True).numpy()) for _ in range(threads)]

    def part(number):
        handle = os.open(path, os.O_RDONLY)
        for turn, offset in enumerate(range(number * piece, size, threads * piece)):
            at = turn % 8 * piece
            os.preadv(handle, [buffers[number][at:at + piece]], offset)
        os.close(handle)

    best = 0
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for _ in range(3):
            begin = time.perf_counter()
            list(pool.map(part, range(threads)))
            best = max(best, size / (time.perf_counter() - begin) / 1e9)
    return best


def pinned_copy():
    import torch
    source = torch.empty(256 << 20, dtype=torch.uint8, pin_memory=True)
    target, best = torch.empty_like(source, device="cuda"), 0
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        target.copy_(source, non_blocking=True)
        torch.cuda.synchronize()
        best = max(best, source.numel() / (time.perf_counter() - begin) / 1e9)
    return best


def torch_packed(path, axis):
    """Packed elements copied as they are, but for the byte order that PyTorch does not know, and unpacked on the GPU."""
    import torch
    with h5py.File(path) as file:
        data = file["x"]
        packed = torch.from_numpy(data[()].astype(np.int16)).cuda()
        missing, scale, offset = (data.attrs[name].item() for name in ("_FillValue", "scale_factor", "add_offset"))
    sums, counts = 0, 0
    for part in packed.split(64, dim=0) if axis == 0 else [packed]:
        valid = part != missing
        sums, counts = sums + torch.where(valid, part, 0).sum(axis), counts + valid.sum(axis)
    return (sums / counts.double() * scale + offset).cpu().numpy()


RIVALS = {"h5py + PyTorch": torch_whole, "h5py + PyTorch, slabs": torch_slabs, "h5py + CuPy": cupy_whole}


def measure(library, path, axis, title, rivals):
    with h5py.File(path) as file:
        shape, stored, dtype = file["x"].shape, file["x"].id.get_storage_size(), file["x"].dtype
    result = np.float32 if dtype == np.float32 else np.float64
    jobs = {"h5gpured cuda": lambda: library.mean(path, axis, CUDA, shape, result),
            "h5gpured cpu": lambda: library.mean(path, axis, CPU, shape, result)}
    jobs.update({name: lambda rival=rival: rival(path, axis) for name, rival in rivals.items()})
    expected = None
    for name, job in list(jobs.items()):
        try:
            answer = job()
        except ImportError:
            del jobs[name]
            continue
        expected = answer if expected is None else expected
        if not np.allclose(answer, expected, rtol=1e-4, atol=1e-4):
            sys.exit(f"bench_h5_gpu.py: {title}: {name} answers otherwise")
    times = best_times(jobs)
    library.mean(path, axis, CUDA, shape, result)
    last, bytes_ = library.last, dtype.itemsize * int(np.prod(shape))
    row = {"name": title, "axis": axis, "bytes": bytes_, "stored_bytes": stored, "seconds": times, "threads": last.threads,
           "stages": {name: getattr(last, f"{name}_seconds") for name in ("read", "decode", "unpack", "wait", "reduce")}}
    if dtype != np.float32:
        row["packed"] = True
    if last.decode_seconds:
        row["decode_gbs"] = bytes_ * last.threads / last.decode_seconds / 1e9
    print(f"{title:<46} " + "  ".join(f"{name} {bytes_ / seconds / 1e9:.1f} GB/s" for name, seconds in times.items()) +
          (f"  decoding alone {row['decode_gbs']:.1f}" if "decode_gbs" in row else ""), flush=True)
    return row


def measure_start(tool, path):
    """Whole processes on little data: what a GPU takes to start."""
    jobs = {name: program(tool, path, "-q", "--device", name, "--op", "max") for name in ("cpu", "cuda")}
    times = best_times(jobs)
    print("a process with 4 MiB: " + "  ".join(f"{name} {seconds:.3f} s" for name, seconds in times.items()), flush=True)
    return times


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip().splitlines()[0])
    build, record = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    import torch
    library = Library(build / "src" / "libndreduce_h5.so")
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        folder = pathlib.Path(sys.argv[3]) if len(sys.argv) == 4 else pathlib.Path(temporary)
        if not (folder / "small.h5").exists():
            make(folder, pool)
        start = measure_start(build / "tools" / "h5gpured", folder / "small.h5")
        ceilings = {f"pread to pinned, {n} threads": pinned_read(folder / "contiguous.h5", n) for n in (1, 8, CORES)}
        ceilings["pinned copy"] = pinned_copy()
        print("ceilings: " + "  ".join(f"{name} {rate:.1f} GB/s" for name, rate in ceilings.items()), flush=True)
        quarter = [SHAPE[0] // 4, *SHAPE[1:]]
        rows = [measure(library, folder / "contiguous.h5", axis, f"contiguous f32 {list(SHAPE)} over {axis}", RIVALS)
                for axis in range(3)]
        rows.append(measure(library, folder / "deflate.h5", 0, f"shuffle+deflate f32 {quarter} over 0",
                            {"h5py + PyTorch": torch_whole}))
        rows += [measure(library, folder / "packed.h5", axis, f"packed big-endian i16 {list(SHAPE)} over {axis}",
                         {"h5py + PyTorch": torch_packed}) for axis in (0, 2)]
    record.write_text(json.dumps({
        **provenance(gpu=torch.cuda.get_device_name(), driver=driver()),
        "versions": {"h5gpured": version(build / "tools" / "h5gpured", "--version"), "hdf5": h5py.version.hdf5_version,
                     "h5py": h5py.__version__, "torch": torch.__version__},
        "start_seconds": start, "ceilings": ceilings, "rows": rows}, indent=1) + "\n")
    print(f"written: {record}")


if __name__ == "__main__":
    main()
