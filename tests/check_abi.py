#!/usr/bin/env python3
"""The interface of the libraries is what tests/abi says: check_abi.py [--write] FOLDER_OF_LIBRARIES COMPILER [FLAGS...]

It lists the symbols that the libraries export, and where each member of the public structs lies. Who changes either sees that
programs are concerned; a change that is meant is written down with --write."""
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parent / "include"
LIBRARIES = ("libndreduce", "libndreduce_h5")


def symbols(library):
    listed = subprocess.run(["nm", "--dynamic", "--defined-only", "--format=posix", library], capture_output=True, text=True, check=True)
    return [f"{library.stem}: {line.split()[0]}" for line in listed.stdout.splitlines()]


def members(body):
    for declaration in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)", declaration)
        if pointer:
            yield pointer.group(1)
        elif declaration.strip():
            yield from re.findall(r"(\w+)(?:\[[^]]*\])*\s*(?:,|$)", declaration.strip())


def layouts(compiler, folder):
    names = ("ndreduce.h", "groups.h", "plan.h", "scan.h", "device.h", "comm.h", "h5_dataset.h", "h5_reduce.h", "h5_writer.h")
    text = "".join((INCLUDE / "ndreduce" / name).read_text() for name in names)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r"NDR_DEFAULT\((?:[^()]|\([^()]*\))*\)", "", text)  # of members in C++
    calls = []
    for body, name in re.findall(r"^typedef (?:struct|union) \w+ \{(.*?)^\} (\w+);", text, flags=re.S | re.M):
        calls.append(f'printf("{name} %zu\\n", sizeof({name}));')
        calls += [f'printf("{name}.{m} %zu %zu\\n", offsetof({name}, {m}), sizeof((({name} *)0)->{m}));' for m in members(body)]
    source = folder / "layouts.c"
    source.write_text("#include <ndreduce/comm.h>\n#include <ndreduce/device.h>\n#include <ndreduce/h5.h>\n#include <ndreduce/scan.h>\n#include <stdio.h>\nint main(void) {\n" + "\n".join(calls) + "\nreturn 0;\n}\n")
    subprocess.run([*compiler, f"-I{INCLUDE}", source, "-o", folder / "layouts"], check=True)
    return subprocess.run([folder / "layouts"], capture_output=True, text=True, check=True).stdout.splitlines()


def main():
    arguments = sys.argv[1:]
    write = arguments[0] == "--write" and arguments.pop(0)
    libraries = [pathlib.Path(arguments[0]) / f"{name}.so" for name in LIBRARIES]
    if not all(library.exists() for library in libraries):
        print("skipped: this build lacks one of", *LIBRARIES)
        return 77
    with tempfile.TemporaryDirectory() as folder:
        found = [line for library in libraries for line in symbols(library)] + layouts(arguments[1:], pathlib.Path(folder))
    if write:
        (HERE / "abi").write_text("\n".join(found) + "\n")
        return 0
    differences = list(difflib.unified_diff((HERE / "abi").read_text().splitlines(), found, "tests/abi", "this build", lineterm=""))
    print(*differences, f"{len(found)} symbols, structs and members", sep="\n")
    if differences:
        print("if that is meant: tests/check_abi.py --write FOLDER_OF_LIBRARIES COMPILER")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
