#!/usr/bin/python3
"""Attributes that cannot be read: numbers are given without those that they can do without, a line naming each; not
without those that change what numbers mean, but under --raw: unreadable.py TOOL
"""
import sys

from names import fails
from output import h5py, make_scale, np, run_checks

BEFORE, AFTER = ("first",), ("units",)
RAW = "which may change what its numbers mean; --raw (ndr_h5_access.raw) takes them as stored"
DATATYPE, DATASPACE = "bad version number for datatype message", "wrong version number in dataspace message"


def rotated(value, bits):
    return (value << bits | value >> (32 - bits)) & 0xffffffff


def checksum(data):
    """Bob Jenkins's lookup3, which ends each block of a header of version 2."""
    a = b = c = (0xdeadbeef + len(data)) & 0xffffffff
    words = np.frombuffer(data + bytes(-len(data) % 12), "<u4").astype(object)
    for at in range(0, len(words), 3):
        a, b, c = ((old + int(new)) & 0xffffffff for old, new in zip((a, b, c), words[at:at + 3]))
        if at + 3 < len(words):
            for bits in (4, 6, 8, 16, 19, 4):
                a, c = ((a - c) & 0xffffffff) ^ rotated(c, bits), (c + b) & 0xffffffff
                a, b, c = b, c, a
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, bits)) & 0xffffffff
        a, b, c = b, c, a
    return b


def check_sums(data):
    """Puts right the checksums of headers of version 2 whose first block has a size of one byte or two."""
    at = data.find(b"OHDR\2")
    while at >= 0:
        flags = data[at + 5]
        width = 1 << (flags & 3)
        start = at + 6 + (16 if flags & 0x20 else 0) + (4 if flags & 0x10 else 0)
        end = start + width + int.from_bytes(data[start:start + width], "little")
        data[end:end + 4] = checksum(bytes(data[at:end])).to_bytes(4, "little")
        at = data.find(b"OHDR\2", end)


def make(folder, name, broken, version="earliest", **attributes):
    """d of 3 x 4 with attributes, of which `broken` is an i32: not decoded, after its type's version or its space's."""
    path, part = folder.file(name), broken[1]
    with h5py.File(path, "w", libver=version) as file:
        data = file.create_dataset("d", data=np.arange(12, dtype="i2").reshape(3, 4))
        for key in BEFORE + (broken[0],) + AFTER:
            data.attrs[key] = np.array([7], "i4")
        data.attrs.update(attributes)
        data.attrs["units"] = "K"
    with open(path, "rb") as file:
        data = bytearray(file.read())
    old = version == "earliest"
    at = data.index(broken[0].encode() + b"\0")
    sizes = data[at - 8 + (0 if old else -1):][:8]
    name_bytes, type_bytes = (int.from_bytes(sizes[i:i + 2], "little") for i in (2, 4))
    padded = [(size + 7) // 8 * 8 if old else size for size in (name_bytes, type_bytes)]
    if part == "type":
        data[at + padded[0]] |= 0x70
    elif part == "space":
        data[at + sum(padded)] = 9
    elif part == "name":
        data[at - 6:at - 4] = b"\xff\xff"
    check_sums(data)
    with open(path, "wb") as file:
        file.write(data)


def check_numbers_go_on(folder):
    for version in ("earliest", "latest"):
        for part, reason in (("type", DATATYPE), ("space", DATASPACE)):
            make(folder, "a.h5", ("spoilt", part), version)
            warning = f"h5gpured: a.h5:/d: its attributes spoilt, units cannot be read: {reason}\n"
            for options in ([], ["--raw"]):
                out, errors = folder.run("a.h5:/d", "-d", "0", *options)
                assert out.split()[-4:] == [b"12", b"15", b"18", b"21"] and errors == warning, (version, errors)
            assert folder.run("a.h5", "-d", "1")[1] == warning
            assert folder.run("--list", "a.h5")[1] == warning
            with folder.reduce("a.h5:/d", "-d", "0") as made:
                assert made["d"][...].tolist() == [12, 15, 18, 21]
                assert made["d"].attrs["first"] == 7 and "spoilt" not in made["d"].attrs, list(made["d"].attrs)


def check_numbers_that_would_mean_something_else(folder):
    """Behind an attribute that cannot be decoded HDF5 finds none, whatever it is."""
    for name in ("scale_factor", "add_offset", "_FillValue", "missing_value", "valid_range", "valid_min", "valid_max", "_Unsigned"):
        for broken, others in (((name, "type"), {}), (("spoilt", "type"), {name: np.int16(2)})):
            make(folder, "a.h5", broken, **others)
            _, errors = folder.run("a.h5:/d", "-d", "0", status=1)
            first, last = errors.splitlines()
            lost = ", ".join([broken[0], *others, "units"])
            assert first == f"h5gpured: a.h5:/d: its attributes {lost} cannot be read: {DATATYPE}", first
            assert last == f"h5gpured: a.h5:/d: its attribute {name} cannot be read, {RAW}", last
            out, errors = folder.run("a.h5:/d", "-d", "0", "--raw")
            assert out.split()[-4:] == [b"12", b"15", b"18", b"21"] and errors == first + "\n", errors


def check_attributes_without_names(folder):
    make(folder, "a.h5", ("spoilt", "name"))
    _, errors = folder.run("a.h5:/d", "-d", "0", status=1)
    assert errors.count("\n") == 2 and errors.endswith(f"h5gpured: a.h5:/d: its attributes cannot be read, {RAW}\n"), errors
    out, errors = folder.run("a.h5:/d", "-d", "0", "--raw")
    assert out.split()[-4:] == [b"12", b"15", b"18", b"21"], out
    assert errors.startswith("h5gpured: a.h5:/d: its attributes cannot be read: ") and errors.count("\n") == 1, errors


def check_names_of_dims(folder):
    """A list of scales whose references lead beyond the file's end."""
    path = folder.file("a.h5")
    with h5py.File(path, "w") as file:
        make_scale(file, "x", np.arange(4.0))
        file["d"] = np.ones((4, 2))
        file["d"].dims[0].attach_scale(file["x"])
    with open(path, "rb") as file:
        data = bytearray(file.read())
    heap = data.index(b"GCOL")
    data[heap:heap + 4] = b"LOST"
    with open(path, "wb") as file:
        file.write(data)
    out, errors = folder.run("a.h5:/d", "-d", "0")
    assert out.split()[-2:] == [b"4", b"4"] and errors.count("\n") == 1, errors
    assert errors.startswith("h5gpured: a.h5:/d: its attribute DIMENSION_LIST cannot be read: "), errors
    _, errors = folder.run("a.h5:/d", "-d", "x", status=1)
    assert errors.endswith("a.h5:/d: no dim is named 'x': its 2 dims have no names\n"), errors


def check_that_other_files_are_not_spoken_of(folder):
    make(folder, "a.h5", ("spoilt", "type"))
    with h5py.File(folder.file("b.h5"), "w") as file:
        file["d"] = np.ones(3)
        file["small"] = h5py.ExternalLink("a.h5", "/d")
    assert folder.run("b.h5:/d")[1] == ""
    fails(folder, "b.h5:/none: there is no such dataset", "b.h5:/none")


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_") and name != "check_sums"]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
