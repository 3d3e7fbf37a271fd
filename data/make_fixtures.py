#!/usr/bin/python3
"""Writes the fixtures of this folder: make_fixtures.py [FOLDER]. Needs python3-h5py.

ocean.nc   what netCDF-4 writes: temp(time, lat, lon) with its scales, shuffled and deflated
monthly.nc months with dates and bounds: sst(time, lat, lon) of 2001 to 2003, and basin(lat, lon), zones of its map
kinds.h5   one small dataset of every element type that can be reduced
traps.h5   what must be refused, and what is easily got wrong
packed.h5  missing values, packing and the like, rightly and wrongly described
vast.h5    2 GiB of which one chunk was ever written, to be slow and large without being large

All values are small multiples of 1/4, so that sums are exact in any order and answers can be compared as text.
"""
import os
import sys

import h5py
import numpy as np


def put_scale(file, name, values, **attributes):
    scale = file.create_dataset(name, data=values)
    scale.make_scale(name)
    scale.attrs.update(attributes)
    return scale


def write_ocean(path):
    """Sea surface temperature: warm at the equator, seasons opposite in the two halves, a ripple along lon."""
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        time, lat, lon = np.arange(12), np.linspace(-75, 75, 6), np.arange(0, 360, 45)
        season = np.array([0, 1, 2, 3, 2, 1, 0, -1, -2, -3, -2, -1])[:, None, None]
        ripple = np.array([0, 0.25, 0.5, 0.25, 0, -0.25, -0.5, -0.25])
        band = np.array([-1.5, 12.25, 25.5, 26.5, 14.25, -0.5])[None, :, None]
        values = band - season * np.sign(lat)[None, :, None] * 1.25 + ripple
        temp = file.create_dataset("temp", data=values.astype("f4"), chunks=(5, 6, 5), shuffle=True, compression=4)
        temp.attrs.update({"units": "degC", "long_name": "sea surface temperature"})
        scales = (put_scale(file, "time", time.astype("f8"), units="months since 2000-01-01", axis="T"),
                  put_scale(file, "lat", lat, units="degrees_north", standard_name="latitude"),
                  put_scale(file, "lon", lon.astype("f8"), units="degrees_east", standard_name="longitude"))
        for dim, scale in zip(temp.dims, scales):
            dim.attach_scale(scale)
        file.attrs["Conventions"] = "CF-1.8"


def write_monthly(path):
    """Three years of months, each a quarter of a degree warmer than the last; 2001 to 2003 have no leap day."""
    months = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] * 3)
    ends = np.cumsum(months)
    lat, lon = np.array([-45.0, 0, 45]), np.arange(0.0, 360, 90)
    season = np.array([0, 0, 1, 2, 3, 4, 4, 4, 3, 2, 1, 0] * 3)[:, None, None] * np.sign(lat)[:, None]
    trend = np.repeat([0, 0.25, 0.5], 12)[:, None, None]
    values = np.array([10.5, 27, 12])[:, None] + season + trend + np.array([0, 0.5, 0, -0.5])
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        scales = {"time": put_scale(file, "time", ends - months / 2, units="days since 2001-01-01", calendar="standard",
                                    axis="T", bounds="time_bnds"),
                  "lat": put_scale(file, "lat", lat, units="degrees_north", standard_name="latitude"),
                  "lon": put_scale(file, "lon", lon, units="degrees_east", standard_name="longitude"),
                  "nv": file.create_dataset("nv", shape=(2,), dtype=">f4")}
        scales["nv"].make_scale("This is a netCDF dimension but not a netCDF variable.%10d" % 2)
        sst = file.create_dataset("sst", data=values.astype("f4"), chunks=(12, 3, 4), shuffle=True, compression=4)
        sst.attrs.update({"units": "degC", "long_name": "sea surface temperature"})
        basin = file.create_dataset("basin", data=np.array([[3, 3, 1, 1], [3, 2, 1, -1], [-1, 2, 1, 1]], "i1"))
        basin.attrs.update({"flag_values": np.array([1, 2, 3], "i1"), "flag_meanings": "pacific indian atlantic"})
        file["time_bnds"] = np.stack([ends - months, ends], 1).astype("f8")
        for name, dims in (("sst", ("time", "lat", "lon")), ("basin", ("lat", "lon")), ("time_bnds", ("time", "nv"))):
            for d, dim in enumerate(dims):
                file[name].dims[d].attach_scale(scales[dim])
        file.attrs["Conventions"] = "CF-1.8"


def put_raw(group, name, stored, values):
    """Values of a NumPy type, converted by HDF5 to a type that NumPy lacks."""
    values = np.ascontiguousarray(values)
    space = h5py.h5s.create_simple(values.shape)
    dataset = h5py.h5d.create(group.id, name.encode(), stored, space)
    dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, values)


def float_type(exponent, mantissa, bias):
    stored = h5py.h5t.IEEE_F32LE.copy()
    stored.set_fields(exponent + mantissa, mantissa, exponent, 0, mantissa)
    bits = exponent + mantissa + 1
    stored.set_precision(bits)
    stored.set_size((bits + 7) // 8)
    stored.set_ebias(bias)
    return stored


def integer_type(base, bits, size, offset=0):
    stored = base.copy()
    stored.set_precision(bits)
    if size < stored.get_size():
        stored.set_size(size)
    stored.set_offset(offset)
    return stored


def write_kinds(path):
    ramp = np.arange(-6, 6).reshape(3, 4)
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        for code in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"):
            for order in "<>":
                values = (abs(ramp) if code[0] == "u" else ramp / 4 if code[0] == "f" else ramp).astype(order + code)
                file[("be_" if order == ">" else "le_") + code] = values
        file["c8"] = (ramp / 4 + 1j * ramp[::-1] / 2).astype("c8")
        file["c16"] = (ramp / 4 + 1j * ramp[::-1] / 2).astype(">c16")
        file["bool"] = ramp % 3 == 0
        file.create_dataset("enum", data=ramp % 3, dtype=h5py.enum_dtype({"dry": 0, "wet": 1, "ice": 2}, basetype="u1"))
        put_raw(file, "bf16", float_type(8, 7, 127), (ramp / 4).astype("f4"))
        put_raw(file, "f24", float_type(7, 16, 63), (ramp / 4).astype("f4"))
        put_raw(file, "f80", h5py.h5t.py_create(np.dtype("longdouble")), (ramp / 4).astype("longdouble"))
        put_raw(file, "i24_be", integer_type(h5py.h5t.STD_I32BE, 24, 3), ramp.astype("i4"))
        put_raw(file, "i12_at_2", integer_type(h5py.h5t.STD_I16LE, 12, 2, 2), ramp.astype("i2"))
        put_raw(file, "u5", integer_type(h5py.h5t.STD_U8LE, 5, 1), abs(ramp).astype("u1"))
        bits = h5py.h5d.create(file.id, b"bits", h5py.h5t.STD_B16BE, h5py.h5s.create_simple(ramp.shape))
        bits.write(h5py.h5s.ALL, h5py.h5s.ALL, abs(ramp).astype("u2"), h5py.h5t.NATIVE_B16)
        file["scalar"] = np.float32(2.5)
        put_layouts(file.create_group("layout"), (ramp / 4).astype("f4"))


def put_layouts(group, values):
    """One array stored in different ways; 3 x 4 is cut raggedly by chunks of 2 x 3."""
    group["contiguous"] = values
    compact = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    compact.set_layout(h5py.h5d.COMPACT)
    space = h5py.h5s.create_simple(values.shape)
    h5py.h5d.create(group.id, b"compact", h5py.h5t.IEEE_F32LE, space, compact).write(space, space, values)
    for name, options in (("chunked", {}), ("deflate", {"compression": 9}), ("shuffled", {"shuffle": True, "compression": 1}),
                          ("fletcher32", {"fletcher32": True}), ("scaleoffset", {"scaleoffset": 3}), ("lzf", {"compression": "lzf"})):
        group.create_dataset(name, data=values, chunks=(2, 3), **options)
    growing = group.create_dataset("growing", shape=(1, 4), maxshape=(None, 4), chunks=(2, 3), dtype="f4", fillvalue=0.5)
    growing[0] = values[0]
    growing.resize((3, 4))


def put_dataset(file, name, stored, space, creation=None):
    h5py.h5d.create(file.id, name.encode(), stored, space, creation)


def write_traps(path):
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        file["nan"] = np.array([[1, np.nan, 3], [4, 5, np.nan]], "f4")
        file["infinite"] = np.array([np.inf, -np.inf, 1], "f8")
        for name, shape in (("large", (3, 40, 50)), ("deep", (2, 3, 12, 11, 10))):
            ramp = np.arange(np.prod(shape), dtype="i4").reshape(shape)
            file.create_dataset(name, data=ramp, chunks=shape, shuffle=True, compression=9)
        file["text"] = np.array([b"a", b"b"])
        file.create_dataset("texts", data=["a", "bc"], dtype=h5py.string_dtype())
        file["compound"] = np.zeros(2, [("a", "i4"), ("b", "f4")])
        file["empty_shape"] = np.zeros((0, 3), "f4")
        file["null"] = h5py.Empty("f4")
        file.create_dataset("pairs", shape=(2,), dtype=np.dtype(("f4", (2,))))
        file.create_dataset("ragged", shape=(2,), dtype=h5py.vlen_dtype("f4"))
        file.create_dataset("opaque", shape=(2,), dtype="V4")
        file.create_dataset("reference", shape=(2,), dtype=h5py.ref_dtype)
        file.create_dataset("never_written", shape=(40, 1 << 36), dtype=">f4", fillvalue=0.25)
        file.create_dataset("never_written_chunks", shape=(4, 5), dtype="i2", chunks=(2, 2), fillvalue=-3)
        file.create_dataset("external", shape=(2,), dtype="i4", external=[("elsewhere.raw", 0, 8)])
        group = file.create_group("group")
        group["inner"] = np.arange(4, dtype="i4")
        group["soft"] = h5py.SoftLink("/group/inner")
        group["dangling"] = h5py.SoftLink("/nowhere")
        group["loop"] = h5py.SoftLink("/group/loop")
        group["up"] = file["/"]
        group["outside"] = h5py.ExternalLink("kinds.h5", "/le_f4")
        group["type"] = np.dtype("f4")
        labels = file.create_dataset("labels", data=np.arange(6, dtype="f8").reshape(2, 3))
        labels.dims[0].label, labels.dims[1].label = "y", "x"
        listed = file.create_dataset("listed", data=np.arange(6, dtype="f8").reshape(2, 3))
        listed.attrs.create("_ARRAY_DIMENSIONS", ["row", "column"], dtype=h5py.string_dtype())
        twins = file.create_dataset("twins", data=np.arange(4, dtype="f8").reshape(2, 2))
        twins.dims[0].label = twins.dims[1].label = "n"
        put_filtered(file)
        virtual = h5py.VirtualLayout((4,), "f4")
        virtual[:] = h5py.VirtualSource("kinds.h5", "le_f4", (3, 4))[0]
    with h5py.File(path, "a", libver=("earliest", "v110")) as file:
        file.create_virtual_dataset("virtual", virtual)


def put_filtered(file):
    """A filter that no library has, and a chunk that fails its checksum."""
    creation = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    creation.set_chunk((4,))
    creation.set_filter(32767, h5py.h5z.FLAG_OPTIONAL, ())
    put_dataset(file, "unknown_filter", h5py.h5t.STD_I32LE, h5py.h5s.create_simple((4,)), creation)
    file["unknown_filter"].id.write_direct_chunk((0,), np.arange(4, dtype="<i4").tobytes())
    broken = file.create_dataset("broken", data=np.arange(4, dtype="<i4"), chunks=(4,), fletcher32=True)
    broken.id.write_direct_chunk((0,), np.arange(5, dtype="<i4").tobytes())


def put_masked(group, name, values, stored, attributes, **options):
    """Values as stored, with attributes whose types count: (text or NumPy value) as they are given."""
    dataset = group.create_dataset(name, data=None if values is None else np.asarray(values, stored), dtype=stored, **options)
    for key, value in attributes.items():
        dataset.attrs.create(key, value)
    return dataset


def write_packed(path):
    """Missing, packed and unsigned numbers, as files have them and as they should not."""
    ramp = np.arange(-6, 6).reshape(3, 4)
    holes = np.where(ramp % 5 == 0, -999, ramp)
    holes[:, 2] = -999
    i2, f4, f8 = np.int16, np.float32, np.float64
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        put_masked(file, "temp", holes, "<i2", {"_FillValue": i2(-999), "scale_factor": f8(0.25), "add_offset": f8(10)},
                   chunks=(2, 3), shuffle=True, compression=1)
        put_masked(file, "temp_be", holes, ">i2", {"_FillValue": i2(-999), "scale_factor": f4(0.25), "add_offset": f4(10)})
        put_masked(file, "counts", holes, "<i4", {"missing_value": np.array([-999, 3, 3], "i2")})
        put_masked(file, "unsigned", ramp * 20, "i1", {"_Unsigned": "true", "_FillValue": np.int8(-20), "valid_range": np.array([0, -41], "i1")})
        put_masked(file, "unsigned_only", ramp, "<i2", {"_Unsigned": np.bytes_("True")})
        put_masked(file, "range", ramp / 4, "<f4", {"valid_range": np.array([-1, 0.75], "f4"), "valid_min": f4(0.5)})
        put_masked(file, "least", ramp / 4, "<f4", {"valid_min": f8(-0.75)})
        put_masked(file, "most", ramp, "<i8", {"valid_max": np.int32(2)})
        put_masked(file, "wide_fill", np.where(ramp % 5 == 0, 1e20, ramp / 4), "<f4", {"missing_value": f8(1e20)})
        put_masked(file, "nan_fill", np.where(ramp % 5 == 0, np.nan, ramp / 4), ">f8", {"_FillValue": f8(np.nan)})
        put_masked(file, "half", holes / 4, "<f2", {"_FillValue": np.float16(-999 / 4)})
        put_masked(file, "all_missing", np.full((3, 4), -1), "<i2", {"_FillValue": i2(-1), "scale_factor": f8(0.5)})
        put_masked(file, "unpacked_one", ramp, "<i2", {"scale_factor": f8(1), "add_offset": f8(0)})
        put_masked(file, "never_masked", ramp, "<i2", {"_FillValue": f4(1e20), "missing_value": f4(np.nan), "valid_max": f8(0.5),
                                                      "valid_min": np.int32(-32768)})
        put_masked(file, "nonsense", ramp, "<i2", {"_FillValue": "-1", "missing_value": np.arange(-50, 50), "scale_factor": "2",
                                                   "add_offset": np.arange(2.0), "valid_range": i2(0), "_Unsigned": i2(1)})
        put_masked(file, "flags", ramp % 2 == 0, "?", {"_FillValue": np.uint8(0)})
        put_masked(file, "scale_zero", ramp, "<i2", {"scale_factor": f8(0), "add_offset": f8(3)})
        put_masked(file, "unwritten", None, "<i2", {"scale_factor": f8(0.5), "_FillValue": i2(-7)}, shape=(3, 4), chunks=(2, 3),
                   fillvalue=6)
        put_masked(file, "unwritten_missing", None, ">i2", {"scale_factor": f8(0.5), "_FillValue": i2(-7)}, shape=(3, 4), fillvalue=-7)
        partly = put_masked(file, "partly", None, "<i2", {"_FillValue": i2(-7)}, shape=(3, 4), chunks=(3, 2), fillvalue=-7)
        partly[:, :2] = ramp[:, :2]


def write_vast(path):
    with h5py.File(path, "w", libver=("earliest", "v108")) as file:
        vast = file.create_dataset("vast", shape=(512, 1024, 1024), dtype="f4", chunks=(16, 128, 128), shuffle=True,
                                   compression=9, fillvalue=0.25)
        vast[16:32, 128:256, 128:256] = 2.5


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    write_ocean(os.path.join(folder, "ocean.nc"))
    write_monthly(os.path.join(folder, "monthly.nc"))
    write_kinds(os.path.join(folder, "kinds.h5"))
    write_traps(os.path.join(folder, "traps.h5"))
    write_packed(os.path.join(folder, "packed.h5"))
    write_vast(os.path.join(folder, "vast.h5"))


if __name__ == "__main__":
    main()
