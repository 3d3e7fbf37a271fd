#!/usr/bin/python3
"""What h5gpured --device auto goes by follows from what was measured: check_gpu_pays.py SOURCE_ROOT"""
import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, str(root / "tools/bench"))
from report_gpu import gpu_pays  # noqa: E402

APART = 1.5  # runs differ by so much

record = json.loads((root / "data/bench/h5-gpu.json").read_text())
source = (root / "src/h5/run/job/job_device.c").read_text()
texts = {name: (root / name).read_text() for name in ("tools/h5gpured/README.md", "tools/h5gpured/h5gpured.1", "include/ndreduce/h5_reduce.h")}
problems = []
for name, filtered in (("PLAIN_GIB", False), ("FILTERED_GIB", True)):
    used, measured = int(re.search(rf"#define {name} (\d+)", source)[1]), gpu_pays(record, filtered)
    print(f"{name} {used}, measured {measured:.1f}")
    if not used / APART <= measured <= used * APART:
        problems.append(f"{name} of src/h5/run/job/job_device.c is {used}, but data/bench/h5-gpu.json says {measured:.1f}")
    problems += [f"{file} does not say {used} GiB" for file, text in texts.items() if f"{used} GiB" not in text]
print(*problems, sep="\n")
sys.exit(1 if problems else 0)
