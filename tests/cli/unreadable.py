#!/usr/bin/python3
"""Attributes that cannot be read: numbers are given without those that they can do without, a line naming each; not
without those that change what numbers mean, but under --raw: unreadable.py TOOL
"""
import os
import signal
import subprocess
import sys
import time

from names import fails
from output import attributes, h5py, make_scale, np, run_checks, text

BEFORE, AFTER = ("first",), ("units",)
RAW = "which may change what its numbers mean; --raw takes them as stored"
DATATYPE = "HDF5: bad version number for datatype message"
DATASPACE = "the header of a dataset or group is malformed (HDF5: wrong version number in dataspace message)"


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


# ---- Parts that do not fit into their message -----------------------------------------------------------------------

TORN = "an attribute is longer than the message that holds it"


def lengthen(folder, name, version, part):
    """Makes a length of the attribute too large: 0 is that of the name, 1 of the type, 2 of the dataspace, 3 the rank."""
    make(folder, "a.h5", (name, "nothing"), version)
    with open(folder.file("a.h5"), "rb") as file:
        data = bytearray(file.read())
    at = data.index(name.encode() + b"\0")
    start = at - (8 if version == "earliest" else 9)
    if part < 3:
        data[start + 2 + 2 * part:start + 4 + 2 * part] = (400).to_bytes(2, "little")
    else:
        data[data.index(b"\1\1\1" if version == "earliest" else b"\2\1\1", at) + 1] = 30
    check_sums(data)
    with open(folder.file("a.h5"), "wb") as file:
        file.write(data)


def check_messages_that_are_too_short(folder):
    """HDF5 takes what follows the message for its end, or does not find it and those behind it."""
    for version in ("earliest", "latest"):
        for part in (1, 2, 3):
            for name in ("scale_factor", "spoilt"):
                lengthen(folder, name, version, part)
                _, errors = folder.run("a.h5:/d", "-d", "0", status=0 if name == "spoilt" else 1)
                first, *rest = errors.splitlines()
                assert first == f"h5gpured: a.h5:/d: its attributes first, {name}, units cannot be read: {TORN}", (version, part, first)
                assert len(rest) == (name == "scale_factor"), errors
                out, _ = folder.run("a.h5:/d", "-d", "0", "--raw")
                assert out.split()[-4:] == [b"12", b"15", b"18", b"21"], out
                with folder.reduce("a.h5:/d", "-d", "0", "--raw") as made:
                    assert made["d"][...].tolist() == [12, 15, 18, 21] and not attributes(made["d"]).keys() & {"first", "spoilt"}


# ---- Values ----------------------------------------------------------------------------------------------------------

HEAP = "its heap of elements of variable length is damaged"


def objects_of(data):
    """The first heap of the file: (index, where its length is, length) of each object."""
    at = data.index(b"GCOL")
    end, at = at + int.from_bytes(data[at + 8:at + 16], "little"), at + 16
    while end - at >= 16:
        index, length = (int.from_bytes(data[at + i:at + i + n], "little") for i, n in ((0, 2), (8, 8)))
        yield index, at + 8, length
        at += 16 + (length + 7) // 8 * 8 if index else length


def damage_heap(path, wanted, length):
    """Gives the object of that index another length."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for index, at, _ in objects_of(bytes(data)):
        if index == wanted:
            data[at:at + 8] = length.to_bytes(8, "little")
    with open(path, "wb") as file:
        file.write(data)


def make_texts(folder, more=0, version="earliest"):
    with h5py.File(folder.file("a.h5"), "w", libver=version) as file:
        data = file.create_dataset("d", data=np.arange(12, dtype="i2").reshape(3, 4))
        data.dims[1].attach_scale(make_scale(file, "x", np.arange(4.0), units="m"))
        data.attrs.update({"long_name": "speed", "coordinates": "x", "number": 7, "cell_methods": "time: point"})
        data.attrs.update({f"more{i}": i for i in range(more)})
        file.attrs["title"] = "none"
        file.attrs["number"] = 8


def check_heaps(folder):
    """HDF5 1.10 goes round for ever where free space is too short, and writes beyond its memory where a text is longer
    than its attribute has it."""
    for index, length in ((0, 0), (0, 2), (0, 8), (0, 1 << 40), (1, 1000), (1, 1 << 63), (2, (1 << 64) - 8), (1, 0)):
        make_texts(folder)
        damage_heap(folder.file("a.h5"), index, length)
        out, errors = folder.run("a.h5:/d", "-d", "0")
        assert out.split()[-4:] == [b"12", b"15", b"18", b"21"], out
        _, errors = folder.run("a.h5:/d", "-d", "0", "-o", "o.h5", "--overwrite")
        lost = [line for line in errors.splitlines() if HEAP in line or "is left out: it cannot be read" in line]
        assert lost and len(lost) == len(errors.splitlines()) == len(set(lost)), (index, length, errors)
        with h5py.File(folder.file("o.h5")) as made:
            assert made["d"][...].tolist() == [12, 15, 18, 21]
            assert made["d"].attrs["number"] == 7 and made.attrs["number"] == 8
            assert index or not {"long_name", "coordinates"} & made["d"].attrs.keys(), list(made["d"].attrs)
    make_texts(folder)
    with folder.reduce("a.h5:/d", "-d", "0") as made:
        assert text(made["d"].attrs["long_name"]) == "speed" and text(made.attrs["title"]) == "none"


def sum_block(data, at):
    """Puts right the checksum of a block of the first heap of attributes."""
    start = data.index(b"FRHP") + 112
    size = int.from_bytes(data[start:start + 8], "little")
    data[at + 18:at + 22] = bytes(4)
    data[at + 18:at + 22] = checksum(bytes(data[at:at + size])).to_bytes(4, "little")


def check_attributes_outside_the_header(folder):
    """Many attributes lie in a heap of their own, where HDF5 finds each by itself."""
    for name, status in (("more5", 0), ("scale_factor", 1)):
        make_texts(folder, 12, "latest")
        with h5py.File(folder.file("a.h5"), "a", libver="latest") as file:
            file["d"].attrs[name] = np.array([9], "i4")
        with open(folder.file("a.h5"), "rb") as file:
            data = bytearray(file.read())
        at = data.rindex(name.encode() + b"\0")
        data[at + len(name) + 1] |= 0x70
        sum_block(data, data.rindex(b"FHDB", 0, at))
        with open(folder.file("a.h5"), "wb") as file:
            file.write(data)
        first = f"h5gpured: a.h5:/d: its attributes, 1 of {17 + (name == 'scale_factor')}, cannot be read: {DATATYPE}\n"
        _, errors = folder.run("a.h5:/d", "-d", "0", status=status)
        assert errors.startswith(first) and errors.count("\n") == 1 + status, errors
        assert not status or errors.endswith(f"h5gpured: a.h5:/d: its attribute {name} cannot be read, {RAW}\n"), errors
        _, errors = folder.run("a.h5:/d", "-d", "0", "--raw", "-q", "-o", "o.h5", "--overwrite")
        assert errors == first, errors
        with h5py.File(folder.file("o.h5")) as made:
            assert made["d"][...].tolist() == [12, 15, 18, 21] and name not in made["d"].attrs
            assert made["d"].attrs["more11"] == 11 and text(made["d"].attrs["long_name"]) == "speed"


def check_signals_while_hdf5_is_lost(folder):
    """The heap of texts of attributes outside the header is not looked at beforehand."""
    make_texts(folder, 12, "latest")
    damage_heap(folder.file("a.h5"), 0, 2)
    for number in (signal.SIGINT, signal.SIGTERM):
        for options in ([], ["-o", "lost.h5"]):
            process = subprocess.Popen([folder.tool, "a.h5:/d", *options], cwd=folder.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            time.sleep(0.5)
            if process.poll() is None: # later versions of HDF5 refuse the file
                process.send_signal(number)
                assert process.wait(timeout=10) == -number, process.returncode
            process.communicate()
            assert not [name for name in os.listdir(folder.path) if "lost" in name or name.startswith(".ndreduce")]


def check_other_drivers(folder):
    """A file's descriptor is read from, which only one of HDF5's drivers has."""
    make_texts(folder)
    wanted = folder.run("a.h5:/d", "-d", "0")
    for driver in ("core", "stdio", "sec2"):
        os.environ["HDF5_DRIVER"] = driver
        try:
            assert folder.run("a.h5:/d", "-d", "0") == wanted, driver
        finally:
            del os.environ["HDF5_DRIVER"]


# ---- Attributes that can be read, and are not what their names promise ------------------------------------------------

def check_attributes_of_other_kinds(folder):
    def make_odd(**attributes):
        with h5py.File(folder.file("odd.nc"), "w") as file:
            file["x"] = np.arange(3.0)
            make_scale(file, "t", np.arange(3.0), units="m")
            file["x"].dims[0].attach_scale(file["t"])
            file["x"].attrs.update(attributes)

    for name in ("scale_factor", "add_offset"):
        for value, what in ((np.bytes_("0.01"), "is the text '0.01', not one number"), ("2", "is the text '2', not one number"),
                            (np.array([1.0, 2.0]), "has 2 values, not one number"), (h5py.Empty("f8"), "has 0 values, not one number")):
            make_odd(**{name: value})
            fails(folder, f"odd.nc:/x: its attribute {name} {what}; --raw takes its numbers as stored", "odd.nc:/x")
            assert folder.run("odd.nc:/x", "--raw", "--json")[1] == "" and what in folder.run("--list", "odd.nc")[0].decode()
    for name, value, what in (("_FillValue", np.bytes_("1"), "is the text '1', not one number"),
                              ("missing_value", ["1", "2"], "is text, not up to 15 numbers"),
                              ("valid_range", np.array([1.0]), "has 1 value, not two numbers"), ("_Unsigned", 1, "")):
        make_odd(**{name: value})
        out, errors = folder.run("odd.nc:/x", "--op", "sum")
        assert out.split()[-1] == b"3", out
        assert errors == (f"h5gpured: odd.nc:/x: its attribute {name} {what}: it is ignored\n" if what else ""), errors
        assert folder.run("odd.nc:/x", "--raw")[1] == ""
    make_odd()
    with h5py.File(folder.file("odd.nc"), "a") as file:
        file["t"].attrs["scale_factor"] = np.bytes_("2")
    fails(folder, "odd.nc:/x: the coordinates t cannot be read: their attribute scale_factor is the text '2', not one number", "odd.nc:/x[t=0:2]")


# ---- Whose ------------------------------------------------------------------------------------------------------------

def check_that_other_files_are_not_spoken_of(folder):
    make(folder, "a.h5", ("spoilt", "type"))
    with h5py.File(folder.file("b.h5"), "w") as file:
        file["d"] = np.ones(3)
        file["small"] = h5py.ExternalLink("a.h5", "/d")
    assert folder.run("b.h5:/d")[1] == ""
    fails(folder, "b.h5:/none: there is no such dataset; --list shows them", "b.h5:/none")


CHECKS = [value for name, value in list(globals().items()) if name.startswith("check_") and name != "check_sums"]

if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], CHECKS))
