#!/usr/bin/python3
"""Fields of tables, complex numbers by all their names, and names that are nearly right: fields.py TOOL
"""
import sys

from names import answers, fails, listed
from output import attach, attributes, h5py, make_scale, np, run_checks

INNER = np.dtype([("depth", "<f4"), ("flag", "?")])
TABLE = np.dtype([("id", "<i4"), ("name", "S5"), ("energy", ">f8"), ("where", INNER), ("odd.name", "<u2"), ("z", "<c16"),
                  ("spin", "<f4", (3,)), ("inner", np.dtype([("deep", INNER)]))])
FORMS = {"plain": {}, "chunked": {"chunks": (7,)}, "packed": {"chunks": (16,), "compression": "gzip", "shuffle": True}}
SHOWN = {"id": "i32 [t 40]", "energy": "f64 [t 40]", "where.depth": "f32 [t 40]", "where.flag": "bool [t 40]",
         "odd.name": "u16 [t 40]", "z": "c128 [t 40]", "inner.deep.depth": "f32 [t 40]", "inner.deep.flag": "bool [t 40]"}


def make_tables(folder):
    rows = np.zeros(40, TABLE)
    for name in ("id", "energy", "odd.name"):
        rows[name] = np.arange(40) * 3
    rows["where"]["depth"], rows["inner"]["deep"]["depth"] = np.arange(40) / 4, -np.arange(40)
    rows["where"]["flag"], rows["z"] = np.arange(40) % 3 == 0, np.arange(40) * (1 + 2j)
    with h5py.File(folder.file("tables.h5"), "w") as file:
        scale = make_scale(file, "t", np.arange(40.0))
        for form, options in FORMS.items():
            table = file.create_dataset(form, data=rows, **options)
            table.attrs.update({"units": "m", "scale_factor": 2.0, "TITLE": "events"})
            attach(table, scale)
        file.create_dataset("never", (8,), TABLE, chunks=(4,), fillvalue=rows[5])
        file.create_dataset("grid", data=np.zeros((3, 4, 5), INNER))
    return rows


def check_fields(folder):
    rows = make_tables(folder)
    for form in FORMS:
        for field, values in (("id", rows["id"]), ("energy", rows["energy"]), ("where.depth", rows["where"]["depth"]),
                              ("odd.name", rows["odd.name"]), ("inner.deep.depth", rows["inner"]["deep"]["depth"])):
            path = f"/{form}.{field}"
            assert answers(folder, f"tables.h5:{path}") == {path: [values.sum()]}
            assert answers(folder, f"tables.h5:{path}[3:30:4]", "--op", "max", "--memory", "1M") == {path: [values[3:30:4].max()]}
        assert answers(folder, f"tables.h5:/{form}.where.flag", "--op", "any") == {f"/{form}.where.flag": [True]}
        assert answers(folder, f"tables.h5:/{form}.z") == {f"/{form}.z": [[780, 1560]]}
    assert answers(folder, "tables.h5:/never.energy") == {"/never.energy": [8 * 15]}
    assert answers(folder, "tables.h5:/grid.depth", "-d", "0,2", "--op", "valid") == {"/grid.depth": [15] * 4}
    assert answers(folder, "tables.h5:/plain.id", "--weights", "/plain.where.depth", "--op", "sum") == {
        "/plain.id": [np.sum(rows["id"] * rows["where"]["depth"])]}


def check_fields_in_listings(folder):
    make_tables(folder)
    lines = listed(folder, "tables.h5")
    for form in FORMS:
        for field, shown in SHOWN.items():
            assert lines[f"/{form}.{field}"].startswith(shown + "  c"), lines
        assert lines[f"/{form}.name"] == "holds strings, which cannot be reduced", lines
        assert lines[f"/{form}.spin"] == ("holds small arrays as elements, which cannot be reduced; h5py reads these a"
                                          "s dims: write what it reads to a dataset"), lines
    assert "/plain" not in lines and len(lines) == 1 + 3 * 10 + 10 + 2, lines
    wide = np.dtype([(f"c{i}", "<f4") for i in range(1100)])
    with h5py.File(folder.file("wide.h5"), "w", libver="latest") as file:
        file["wide"] = np.zeros(2, wide)
    lines = listed(folder, "wide.h5")
    assert len(lines) == 1001 and lines["/wide"] == "has more fields than are listed", len(lines)


def check_what_fields_leave_behind(folder):
    """Attributes tell of the table."""
    make_tables(folder)
    with folder.reduce("tables.h5:/packed.energy[2:]", "-d", "all", "--op", "mean") as out:
        assert attributes(out["packed.energy"]) == {"cell_methods": "t: mean"}, attributes(out["packed.energy"])


def check_names_with_dots(folder):
    """A dataset that is called so comes first, and the longest table."""
    with h5py.File(folder.file("dots.h5"), "w") as file:
        for name, value in (("a", 1), ("a.b", 2), ("c", 3)):
            file[name] = np.array([(value,)], [("b.c" if name == "a" else "c", "f4")])
        file["a.b.x"], file["c.c"] = np.ones(3), np.ones(5)
    for path, value in (("/a.b.c", 2), ("/a.b.x", 3), ("/c.c", 5)):
        assert answers(folder, f"dots.h5:{path}") == {path: [value]}


def check_which_fields_are_meant(folder):
    make_tables(folder)
    with h5py.File(folder.file("tables.h5"), "r+") as file:
        file["x"] = np.ones((2, 2))
    assert answers(folder, "tables.h5:/*") == {"/x": [4]}
    with h5py.File(folder.file("one.h5"), "w") as file:
        file["table"] = np.array([(1, b"x"), (2, b"y")], [("a", "f8"), ("s", "S1")])
    assert answers(folder, "one.h5") == {"/table.a": [3]}
    fails(folder, "tables.h5:/plain: holds compound elements, which cannot be reduced; name a field, as TABLE.FIELD: "
          "--list shows them", "tables.h5:/plain")


def check_complex_numbers(folder):
    """MATLAB calls the parts real and imag, JLD2 re and im."""
    values = np.array([1 + 2j, 3 - 5j])
    with h5py.File(folder.file("complex.h5"), "w") as file:
        for names in (("r", "i"), ("real", "imag"), ("re", "im"), ("i", "r"), ("real", "i")):
            for kind in ("<f4", ">f8"):
                for options in ({}, {"chunks": (2,), "compression": "gzip"}):
                    pairs = np.array([(z.imag, z.real) if names[0] == "i" else (z.real, z.imag) for z in values],
                                     [(name, kind) for name in names])
                    file.create_dataset(f"{''.join(names)}{kind[1:]}{len(options)}", data=pairs, **options)
    found = answers(folder, "complex.h5:/*")
    assert len(found) == 16 and set(map(tuple, sum(found.values(), []))) == {(4, -3)}, found
    assert answers(folder, "complex.h5:/realimagf80.imag") == {"/realimagf80.imag": [-3]}


def check_near_names(folder):
    with h5py.File(folder.file("near.h5"), "w") as file:
        for name in ("tas", "tos", "Ocean/temperature", "Ocean/salinity", "pr"):
            file[name] = np.ones(2)
        file["events"] = np.zeros(2, [("energy", "f4"), ("time", "f4")])
    missing, listed = "there is no such dataset", "; --list shows them"
    for path, said in (("TAS", f"{missing}; did you mean /tas, /tos?"), ("ocean/temperature", f"{missing}; did you mean /Ocean?"),
                       ("Ocean/temprature", f"{missing}; did you mean /Ocean/temperature?"), ("PR", f"{missing}; did you mean /pr?"),
                       ("Ocean/x", missing + listed), ("xx", missing + listed), ("q", missing + listed),
                       ("events.Energy", "the table has no such field; did you mean energy?"),
                       ("events.x", "the table has no such field" + listed), ("event.time", missing + listed),
                       ("tas.time", missing + listed)):
        fails(folder, f"near.h5:/{path}: {said}", f"near.h5:/{path}")


def check_units_in_listings(folder):
    with h5py.File(folder.file("units.h5"), "w") as file:
        for name, units in (("plain", "K"), ("long", "\u00b5" * 40), ("steers", "m\x1b[2J"), ("empty", ""), ("none", None)):
            file[name] = np.ones(3, "f4")
            if units is not None:
                file[name].attrs["units"] = units
        file["number"] = np.ones(3, "f4")
        file["number"].attrs["units"] = 3
    lines = listed(folder, "units.h5")
    assert lines == {"/plain": "f32 [3]  K  contiguous", "/long": "f32 [3]  " + "\u00b5" * 14 + "...  contiguous",
                     "/steers": "f32 [3]  m\\x1b[2J  contiguous", "/empty": "f32 [3]  contiguous", "/none": "f32 [3]  contiguous",
                     "/number": "f32 [3]  contiguous"}, lines
    out, _ = folder.run("--list", "--json", "units.h5")
    assert out.count(b'"units":') == 4 and b'"units":"K"' in out, out


def check_units_that_cannot_be_read(folder):
    """Numbers do without, and a line says so."""
    with h5py.File(folder.file("bad.h5"), "w") as file:
        file["x"] = np.ones(3)
        file["x"].attrs["units"] = "K"
    with open(folder.file("bad.h5"), "r+b") as file:
        content = file.read()
        file.seek(content.index(b"GCOL"))
        file.write(b"LOST")
    out, errors = folder.run("bad.h5:/x", "--json")
    assert b'"data":[3]' in out and errors == "h5gpured: bad.h5:/x: its attribute units cannot be read\n", (out, errors)


if __name__ == "__main__":
    sys.exit(run_checks(sys.argv[1], [check for name, check in list(globals().items()) if name.startswith("check_")]))
