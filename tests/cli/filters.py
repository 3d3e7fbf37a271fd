#!/usr/bin/python3
"""Filters that no plugin is there for: filters.py TOOL"""
import os
import re
import sys
import zlib

from names import fails, listed
from output import h5py, np, run_checks

BITGROOM, GRANULARBR, ZFP, BLOSC2, UNKNOWN = 32022, 32023, 32013, 32026, 32099


def make(folder, name, filters, stored):
    """d of 3 x 4 f32 in one chunk, which went through these filters and is stored so."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((3, 4))
    for number, values in filters:
        creation.set_filter(number, h5py.h5z.FLAG_OPTIONAL, values)
    with h5py.File(folder.file(name), "w") as file:
        data = h5py.h5d.create(file.id, b"d", h5py.h5t.IEEE_F32LE, h5py.h5s.create_simple((3, 4)), creation)
        data.write_direct_chunk((0, 0), stored)


def check_rounding_is_undone_by_nothing(folder):
    numbers = np.arange(12, dtype="<f4").reshape(3, 4)
    shuffled = np.frombuffer(numbers.tobytes(), "u1").reshape(12, 4).T.tobytes()
    shuffle, deflate = (h5py.h5z.FILTER_SHUFFLE, (4,)), (h5py.h5z.FILTER_DEFLATE, (5,))
    for number, name in ((BITGROOM, "bitgroom"), (GRANULARBR, "granularbr")):
        rounding = (number, (3, 4, 0, 0, 0))
        for filters, stored, shown in (([rounding, shuffle, deflate], zlib.compress(shuffled), f"{name},shuffle,deflate"),
                                       ([rounding, deflate], zlib.compress(numbers.tobytes()), f"{name},deflate"),
                                       ([rounding], numbers.tobytes(), name)):
            make(folder, "a.h5", filters, stored)
            out, errors = folder.run("a.h5:/d", "-d", "0", "--no-plugins")
            assert out.split()[-4:] == [b"12", b"15", b"18", b"21"] and errors == "", (shown, out, errors)
            assert listed(folder, "a.h5") == {"/d": f"f32 [3, 4]  chunks 3x4, {shown}"}, listed(folder, "a.h5")
        for filters in ([rounding, (UNKNOWN, ())], [(UNKNOWN, ()), rounding, deflate]):
            make(folder, "a.h5", filters, zlib.compress(bytes(48)))
            fails(folder, f"a.h5:/d: needs filter {UNKNOWN}, which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, turned off)"
                  "; where it is there, h5repack -f NONE undoes it",
                  "a.h5:/d", "--no-plugins")


def check_what_is_not_undone_is_named(folder):
    make(folder, "b2.h5", [(BLOSC2, (1, 0, 4, 48))], bytes(100))
    fails(folder, f"b2.h5:/d: needs filter {BLOSC2} (blosc2), which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, turned off)"
          "; where it is there, h5repack -f NONE undoes it", "b2.h5:/d", "--no-plugins")


def zfp_of(numbers):
    """The filter's values and the stored chunk, at 16 bits a number; None without zfp's module."""
    try:
        import zfpy
    except ImportError:
        return None
    stream = zfpy.compress_numpy(numbers, rate=16, write_header=True)
    header = 12  # bytes: magic, dims, and the short form of a mode
    return (0x10005110, *np.frombuffer(stream[:header], "<u4").tolist()), stream[header:], zfpy.decompress_numpy(stream)


def check_zfp(folder):
    """By libzfp, or else by HDF5's plugin, or else not at all."""
    made = zfp_of(np.add.outer(np.arange(3) / 3, np.sqrt(np.arange(4))).astype("f4"))
    if made is None:
        print("skipped: python3-zfpy is not here")
        return
    values, stored, numbers = made
    make(folder, "z.h5", [(ZFP, values)], stored)
    out, errors = folder.run("z.h5:/d", "-d", "1", "--op", "max", "--no-plugins", status=None)
    if errors:
        assert errors == (f"h5gpured: z.h5:/d: needs filter {ZFP} (zfp), which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, "
                          "turned off), nor is this built with libzfp; where it is there, h5repack -f NONE undoes it\n"), errors
    else:
        assert np.allclose(np.float32(out.split()[-3:]), numbers.max(axis=1), rtol=1e-6), (out, numbers)
    make(folder, "z.h5", [(ZFP, (values[0], *(0 for _ in values[1:])))], stored)
    assert "needs filter" in folder.run("z.h5:/d", "--no-plugins", status=1)[1]


def check_the_lists_of_filters(_):
    """README.md and the page name those that the table of decode.c has a codec for."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, "src/h5/decode.c"), encoding="utf-8") as source:
        rows = re.findall(r'\{\w+, "(\w+)", \S+, (.+)\},\n', source.read())
    known = {name for name, codec in rows if codec != "NULL"}
    assert len(known) > 10 and len(rows) > len(known), rows
    for file in ("README.md", "tools/h5gpured.1"):
        with open(os.path.join(root, file), encoding="utf-8") as page:
            said = re.search(r"went through (shuffle[^.]*?) are decoded", " ".join(page.read().split())).group(1)
        names = re.split(", | and ", said.lower().replace("granular bitround", "granularbr"))
        assert set(names) == known and len(names) == len(known), (file, set(names) ^ known)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
