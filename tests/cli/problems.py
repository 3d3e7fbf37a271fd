"""How many cases a test tries, and how it ends: it prints each problem that it has collected on a line, and their number."""
import os
import sys
import tempfile
import time


def share_of(cases, first=0):
    """Every NDR_TEST_SHARE-th case, from number `first` on: fewer cases under sanitizers, whose programs start slowly."""
    share = int(os.environ.get("NDR_TEST_SHARE") or 1)
    return list(cases)[first % share::share]


def case_count(usual):
    """NDR_TEST_CASES, or the share of the usual number."""
    return int(os.environ.get("NDR_TEST_CASES") or len(share_of(range(usual))))


def tell(problems):
    """Prints the problems, and returns the exit status."""
    print(*problems, sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


def skip(why):
    """Ends the test as one that CTest shows as skipped."""
    print(f"skipped: {why}")
    sys.exit(77)


def wait_for(condition, seconds):
    """Whether the condition comes true within that time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def run_in_folder(*checks):
    """Calls each as check(tool, folder, problems), in a folder that they share, and tells what they found."""
    tool, problems = os.path.abspath(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        for check in checks:
            check(tool, folder, problems)
    return tell(problems)
