"""What tests share: how many cases they try; and how those end that collect what is wrong, with each problem on a line,
their number, and the exit status."""
import os
import sys
import tempfile


def share_of(cases, first=0):
    """Of NDR_TEST_SHARE cases one, as under sanitizers, whose programs start slowly. `first` moves which one."""
    share = int(os.environ.get("NDR_TEST_SHARE") or 1)
    return list(cases)[first % share::share]


def case_count(usual):
    """NDR_TEST_CASES, or the share of the usual number."""
    return int(os.environ.get("NDR_TEST_CASES") or len(share_of(range(usual))))


def tell(problems):
    """Prints them, and returns the exit status."""
    print(*problems, sep="\n")
    print(f"{len(problems)} problems")
    return 1 if problems else 0


def run_in_folder(*checks):
    """Calls each as check(tool, folder, problems), in a folder that they share, and tells what they found."""
    tool, problems = os.path.abspath(sys.argv[1]), []
    with tempfile.TemporaryDirectory() as folder:
        for check in checks:
            check(tool, folder, problems)
    return tell(problems)
