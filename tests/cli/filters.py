#!/usr/bin/python3
"""Filters that no plugin is there for: filters.py TOOL"""
import sys
import zlib

from names import fails, listed
from output import h5py, np, run_checks

BITGROOM, GRANULARBR, UNKNOWN = 32022, 32023, 32099


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
            fails(folder, f"a.h5:/d: needs filter {UNKNOWN}, which HDF5 does not find (plugins: HDF5_PLUGIN_PATH, turned off)",
                  "a.h5:/d", "--no-plugins")


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_")]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
