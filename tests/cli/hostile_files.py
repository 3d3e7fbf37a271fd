"""Files to be damaged, and files that lie: small ones written with h5py, then patched where HDF5 would not write it."""
import os
import struct
import zlib

import h5py
import numpy as np

UNLIMITED = h5py.h5s.UNLIMITED


def scaled(file, name, values, **options):
    """A variable with a dimension scale for each dim, as netCDF-4 writes it."""
    dataset = file.create_dataset(name, data=values, **options)
    for d, length in enumerate(values.shape):
        scale = file.create_dataset(f"dim{d}", data=np.arange(float(length)))
        scale.make_scale(f"dim{d}")
        dataset.dims[d].attach_scale(scale)
    return dataset


def make_sound(folder):
    """One file for each kind of storage; all of them can be read. Returns their names."""
    numbers = np.arange(60 * 40, dtype="f4").reshape(60, 40)
    makers = {
        "chunks.h5": lambda file: file.create_dataset("d", data=numbers, chunks=(16, 16), shuffle=True, compression=4),
        "checked.h5": lambda file: file.create_dataset("d", data=numbers, chunks=(60, 7), fletcher32=True),
        "packed.nc": lambda file: scaled(file, "d", numbers.astype("i2"), chunks=(20, 20), compression=1).attrs.update(
            {"scale_factor": 0.5, "add_offset": 2.0, "_FillValue": np.int16(7), "valid_range": np.int16([0, 2000])}),
        "plain.h5": lambda file: scaled(file, "d", numbers),
        "many.h5": lambda file: file.create_dataset("d", data=numbers, chunks=(2, 2), maxshape=(None, None)),
        "virtual.h5": make_virtual,
        "external.h5": lambda file: file.create_dataset("d", (100,), "f4", external=[("raw.bin", 0, 400)]),
        "kinds.h5": make_kinds,
    }
    np.arange(100, dtype="f4").tofile(os.path.join(folder, "raw.bin"))
    for name, make in makers.items():
        newest = name in ("many.h5", "kinds.h5")
        with h5py.File(os.path.join(folder, name), "w", libver="latest" if newest else "earliest") as file:
            make(file)
    return list(makers)


def make_virtual(file):
    file["a"] = np.arange(12.0).reshape(3, 4)
    layout = h5py.VirtualLayout((6, 4), "f8")
    layout[:3] = h5py.VirtualSource("plain.h5", "d", (60, 40))[:3, :4]
    layout[3:] = h5py.VirtualSource(".", "a", (3, 4))
    file.create_virtual_dataset("d", layout)


def make_kinds(file):
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple((4, 5))
    compact = h5py.h5d.create(file.id, b"group/compact", h5py.h5t.STD_I16BE, space, creation, link_chain())
    compact.write(h5py.h5s.ALL, h5py.h5s.ALL, np.arange(20, dtype="i2").reshape(4, 5))
    file["group/truth"] = np.array([True, False, True])
    file["group/complex"] = np.array([1 + 2j, 3 - 1j])
    file["group/soft"] = h5py.SoftLink("/group/truth")
    file.create_dataset("d", data=np.arange(999), chunks=(100,), scaleoffset=0)
    file["d"].attrs["_ARRAY_DIMENSIONS"] = ["x"]


def link_chain():
    creation = h5py.h5p.create(h5py.h5p.LINK_CREATE)
    creation.set_create_intermediate_group(True)
    return creation


# ---- Files that lie -------------------------------------------------------------------------------------------------

def replace_once(path, old, new):
    with open(path, "rb") as file:
        data = file.read()
    if data.count(old) != 1 or len(old) != len(new):
        raise ValueError(f"{path}: {old!r} is there {data.count(old)} times")
    with open(path, "wb") as file:
        file.write(data.replace(old, new))


def shape_message(*shape):
    return b"".join(struct.pack("<Q", size) for size in shape)


def lie_about_shape(path, claimed):
    """A contiguous dataset of 7919 x 7907 that claims another shape."""
    with h5py.File(path, "w", libver="earliest") as file:
        space = h5py.h5s.create_simple((7919, 7907), (7919, 7907))
        creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        creation.set_alloc_time(h5py.h5d.ALLOC_TIME_LATE)
        dataset = h5py.h5d.create(file.id, b"d", h5py.h5t.STD_U8LE, space, creation)
        row = h5py.h5s.create_simple((7919, 7907))
        row.select_hyperslab((0, 0), (1, 16))
        dataset.write(h5py.h5s.create_simple((16,)), row, np.arange(16, dtype="u1"))
    with open(path, "rb") as file:
        data = file.read()
    old = shape_message(7919, 7907)
    with open(path, "wb") as file:
        file.write(data.replace(old, shape_message(*claimed)))


def write_chunk(path, shape, chunk, stored, mask=0, dtype="u1", **filters):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("d", shape, dtype, chunks=chunk, **filters)
        dataset.id.write_direct_chunk((0,) * len(shape), stored, mask)


def lie_about_chunks(path, old, new):
    """Chunks of `old` elements in a dataset of 2^33 that claim to be of `new`."""
    write_chunk(path, (1 << 33,), (old,), zlib.compress(bytes(old)), compression=1)
    with open(path, "rb") as file:
        data = file.read()
    with open(path, "wb") as file:
        file.write(data.replace(struct.pack("<II", old, 1), struct.pack("<II", new, 1)))


def bomb(mebibytes):
    """A stream of so many zeros, valid to its end, that takes a thousandth of them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    checksum = ((mebibytes << 20) % 65521) << 16 | 1
    return b"\x78\xda" + block * mebibytes + b"\x03\x00" + struct.pack(">I", checksum)


def make_lies(folder):
    """name -> what --list and a reduction must end with: True (done), False (refused), None (either)."""
    def at(name):
        return os.path.join(folder, name)
    outcomes = {}
    # Deflate that inflates to far more than the chunk.
    write_chunk(at("bomb.h5"), (1000,), (1000,), bomb(1024), compression=9)
    outcomes["bomb.h5"] = False
    # The same, two filters deep.
    write_chunk(at("bomb_shuffled.h5"), (1000,), (1000,), bomb(1024), shuffle=True, compression=9)
    outcomes["bomb_shuffled.h5"] = False
    with h5py.File(at("bomb_virtual.h5"), "w") as file:
        layout = h5py.VirtualLayout((1000,), "u1")
        layout[...] = h5py.VirtualSource("bomb.h5", "d", (1000,))
        file.create_virtual_dataset("d", layout)
    # HDF5 decodes sources of virtual datasets by itself, without a limit of its own.
    outcomes["bomb_virtual.h5"] = None
    write_chunk(at("short.h5"), (1000,), (1000,), zlib.compress(bytes(10)), compression=1)
    outcomes["short.h5"] = False
    write_chunk(at("garbage.h5"), (1000,), (1000,), b"no stream of zlib's at all", compression=1)
    outcomes["garbage.h5"] = False
    # Filter masks: skipped where the bytes are packed, and bits for filters that are not there.
    write_chunk(at("mask_skips.h5"), (1000,), (1000,), zlib.compress(bytes(1000)), mask=1, compression=1)
    outcomes["mask_skips.h5"] = False
    write_chunk(at("mask_true.h5"), (1000,), (1000,), bytes(1000), mask=1, compression=1)
    outcomes["mask_true.h5"] = True
    write_chunk(at("mask_beyond.h5"), (1000,), (1000,), zlib.compress(bytes(1000)), mask=0xFFFFFF00, compression=1)
    outcomes["mask_beyond.h5"] = None
    # Chunks of nearly 4 GiB, of which nothing is there.
    for name, size in (("chunk_4g.h5", 0xFFFFFFFF), ("chunk_1g.h5", 1 << 30)):
        lie_about_chunks(at(name), 77777, size)
        outcomes[name] = False
    lie_about_chunks(at("chunk_0.h5"), 77777, 0)
    outcomes["chunk_0.h5"] = False
    for name, shape in (("shape_62.h5", (1 << 31, 1 << 31)), ("shape_64.h5", (1 << 32, 1 << 32)), ("shape_63.h5", (1 << 63, 1)),
                        ("shape_all.h5", ((1 << 64) - 1, (1 << 64) - 1)), ("shape_40.h5", (1 << 20, 1 << 20))):
        lie_about_shape(at(name), shape)
        outcomes[name] = False
    lie_about_shape(at("shape_0.h5"), (0, 7907))
    outcomes["shape_0.h5"] = None
    make_ranks(at("ranks.h5"))
    outcomes["ranks.h5"] = True
    make_rank_33(at("rank_33.h5"))
    outcomes["rank_33.h5"] = False
    make_loops(at("loops.h5"))
    outcomes["loops.h5"] = None
    return outcomes


def make_ranks(path):
    with h5py.File(path, "w") as file:
        file["scalar"] = 1.0
        file["most"] = np.ones((1,) * 32)
        file["d"] = np.ones((2,) * 10)
        file.move("most", "other")
        del file["other"], file["scalar"]


def make_rank_33(path):
    """32 dims that claim to be 33: the rank is the byte after the version of the dataspace message."""
    with h5py.File(path, "w", libver="earliest") as file:
        file["d"] = np.ones((1,) * 31 + (5,))
    with open(path, "rb") as file:
        data = file.read()
    message = struct.pack("<BBB", 1, 32, 1)
    if message not in data:
        message = struct.pack("<BBB", 1, 32, 0)
    with open(path, "wb") as file:
        file.write(data.replace(message, message[:1] + b"\x21" + message[2:]))


def make_loops(path):
    """Groups that hold each other, a thousand names of one dataset, soft links in circles."""
    with h5py.File(path, "w") as file:
        file["d"] = np.arange(10.0)
        for i in range(1000):
            file[f"names/{i}"] = file["d"]
        file["a/b/c"] = file["/"]
        file["a/again"] = file["a"]
        file["x"], file["y"] = h5py.SoftLink("/y"), h5py.SoftLink("/x")


def make_wide_coordinate(folder):
    """A coordinate whose type says that a number has 3.9 GB. Returns the path."""
    path = os.path.join(folder, "wide.h5")
    with h5py.File(path, "w") as file:
        lat = file.create_dataset("lat", data=np.linspace(-50, 50, 6))
        lat.make_scale("lat")
        file.create_dataset("d", data=np.ones((6, 8), "f4")).dims[0].attach_scale(lat)
    with open(path, "r+b") as file:
        message = bytes([0x11, 0x20, 0x3f, 0x00, 8, 0, 0, 0])  # that of the type f64, with its size
        at = file.read().index(message)
        file.seek(at + 7)
        file.write(b"\xe7")
    return path
