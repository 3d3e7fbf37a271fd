#!/usr/bin/python3
"""Filters that no plugin is there for: filters.py TOOL"""
import os
import re
import struct
import sys
import zlib

from names import fails, listed
from output import h5py, np, run_checks

BITGROOM, GRANULARBR, ZFP, SZ, BLOSC2, UNKNOWN = 32022, 32023, 32013, 32017, 32026, 32099


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
    make(folder, "sz.h5", [(SZ, (1, 0, 4, 48))], bytes(100))
    fails(folder, f"sz.h5:/d: needs filter {SZ} (sz), which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, turned off)"
          "; where it is there, h5repack -f NONE undoes it", "sz.h5:/d", "--no-plugins")


def check_blosc2(folder):
    """By libblosc2, or else by HDF5's plugin, or else not at all; what libblosc2 cannot undo alone is left to the plugin."""
    numbers = np.arange(12, dtype="<f4").reshape(3, 4)
    make(folder, "b2.h5", [(BLOSC2, (1, 0, 4, 48, 0, 0, 0))], blosc2_of(numbers))
    out, errors = folder.run("b2.h5:/d", "-d", "0", "--no-plugins", status=None)
    missing = f"needs filter {BLOSC2} (blosc2), which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, turned off)"
    way_out = "; where it is there, h5repack -f NONE undoes it\n"
    if errors:
        assert errors == f"h5gpured: b2.h5:/d: {missing}, nor is this built with libblosc2{way_out}", errors
        print("skipped: libblosc2 is not here")
        return
    assert out.split()[-4:] == [b"12", b"15", b"18", b"21"], out
    make(folder, "b2.h5", [(BLOSC2, (1, 0, 4, 48, 5, 35, 0))], blosc2_of(numbers))
    assert folder.run("b2.h5:/d", "--no-plugins", status=1)[1] == f"h5gpured: b2.h5:/d: {missing}{way_out}"
    make(folder, "b2.h5", [(BLOSC2, (1, 0, 4, 48))], bytes(100))
    assert "blosc2: there is no frame" in folder.run("b2.h5:/d", "--no-plugins", status=1)[1]


def blosc2_of(numbers):
    """A frame of one chunk that is not packed, as the filter stores it: header, chunk, the chunk's offset, trailer."""
    def chunk(data, element):
        # Blosc2's format 5; a header of 32 bytes, nothing packed; one block
        return bytes((5, 1, 0b111, element)) + struct.pack("<3i", len(data), len(data), 32 + len(data)) + bytes(16) + data

    data, element = chunk(numbers.tobytes(), numbers.itemsize), numbers.itemsize
    offset, trailer = chunk(bytes(8), 8), b"\x94\x01\x93\xcd\0\x06\xde\0\0\xdc\0\0\xce\0\0\0\x23\xd8" + bytes(17)
    header = 97
    return (b"\x9e\xa8b2frame\0" + struct.pack(">BiBQ", 0xd2, header, 0xcf, header + len(data) + len(offset) + len(trailer))
            + b"\xa4\x12\0\0\x03" + struct.pack(">BqBq", 0xd3, numbers.nbytes, 0xd3, len(data))
            + struct.pack(">BiBiBi", 0xd2, element, 0xd2, numbers.nbytes, 0xd2, numbers.nbytes)
            + b"\xd1\0\x01\xd1\0\x01\xc2\xd8\x06" + bytes(16) + b"\x93\xcd\0\x07\xde\0\0\xdc\0\0"
            + data + offset + trailer)


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
    """The two manuals name those that the table of decode.c has a codec for."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    with open(os.path.join(root, "src/h5/codec/decode.c"), encoding="utf-8") as source:
        rows = re.findall(r'\{\w+, "(\w+)", \S+, (.+)\},\n', source.read())
    known = {name for name, codec in rows if codec != "NULL"}
    assert len(known) > 10 and len(rows) > len(known), rows
    for file in ("tools/h5gpured/README.md", "tools/h5gpured/h5gpured.1"):
        with open(os.path.join(root, file), encoding="utf-8") as page:
            said = re.search(r"went through (shuffle[^.]*?) are decoded", " ".join(page.read().split())).group(1)
        names = re.split(", | and ", said.lower().replace("granular bitround", "granularbr"))
        assert set(names) == known and len(names) == len(known), (file, set(names) ^ known)


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
