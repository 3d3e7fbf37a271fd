#!/usr/bin/python3
"""Whether two builds give the same bits on random views: bits.py LIBRARY OTHER [CASES [SEED]]

For changes that should change no result: LIBRARY and OTHER are libndreduce.so of before and after, which have the operators and
the structs of compare.py. Larger arrays than compare.py's are among the cases, so that all families and several threads run."""
import os
import sys

import numpy as np

import compare
from compare import ORDERED, case_text, random_dims, random_shape, random_values, random_view
from library import DTYPES, OPS, Failure, Library, Options


def outcome(library, array, dims, op, options):
    try:
        return library.reduce(array, dims, op, options)
    except Failure as failure:
        return str(failure)


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and a == b
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    libraries = [Library(os.path.abspath(path)) for path in sys.argv[1:3]]
    cases = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    random = np.random.default_rng(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    different = 0
    for number in range(cases):
        compare.MOST = 20000 if number % 10 else 3000000
        name = str(random.choice(list(DTYPES)))
        op = str(random.choice([o for o in OPS if not (name.startswith("c") and o in ORDERED)]))
        array = random_view(random, random_values(random, np.dtype(DTYPES[name]), random_shape(random), op))
        dims = random_dims(random, array.ndim)
        options = Options(keepdims=int(random.integers(0, 2)), skip_nan=int(random.integers(0, 3) == 0),
                          ddof=float(random.choice([0, 1, 2.5])), accumulate=int(random.integers(0, 4) == 0))
        results = [outcome(library, array, dims, op, options) for library in libraries]
        if not same(*results):
            different += 1
            print("not the same:", case_text(array, dims, op, name, options))
    print(f"{cases - different} of {cases} cases have the same bits")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
