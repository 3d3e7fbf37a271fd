"""What every record of these scripts begins with: the commit, the date and the machine."""
import os
import pathlib
import platform
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commit():
    """That of this tree; of a copy without its history NDREDUCE_COMMIT in the environment, as the build takes it."""
    said = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=False)
    return os.environ.get("NDREDUCE_COMMIT") or said.stdout.strip() or "unknown"


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def provenance(**machine):
    """machine: what else is to be known of it, like its GPU."""
    return {"commit": commit(), "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "machine": {"cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)), "kernel": f"{platform.system()} {platform.release()}",
                        "load": os.getloadavg()[0], **machine}}
