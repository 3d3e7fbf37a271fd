#!/usr/bin/env python3
"""Prints tests/core/operator_table.inc: what NumPy 2 computes for expressions of the language of operators.

Rows are random pairs of dtypes and values. Left out is what operator.h names as an exception to NumPy's rules: f16,
bool in arithmetic, and integers under functions of floats."""
import random
import struct

import numpy as np

DTYPES = {'bool': np.bool_, 'i8': np.int8, 'i16': np.int16, 'i32': np.int32, 'i64': np.int64,
          'u8': np.uint8, 'u16': np.uint16, 'u32': np.uint32, 'u64': np.uint64,
          'f32': np.float32, 'f64': np.float64, 'c64': np.complex64, 'c128': np.complex128}
NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}

# Text, what NumPy does, and the kinds of dtypes for which both are defined alike: b i u f c.
EXPRESSIONS = [
    ('x + y', lambda x, y: x + y, 'iufc'),
    ('x - y', lambda x, y: x - y, 'iufc'),
    ('x * y', lambda x, y: x * y, 'iuf'),
    ('x / y', lambda x, y: x / y, 'iuf'),
    ('x + 1', lambda x, y: x + 1, 'biufc'),
    ('2 - x', lambda x, y: 2 - x, 'biufc'),
    ('x * 1.5', lambda x, y: x * 1.5, 'biufc'),
    ('x / 3', lambda x, y: x / 3, 'biuf'),
    ('1 / 3 + x', lambda x, y: 1 / 3 + x, 'biuf'),
    ('x * 2 + y', lambda x, y: x * 2 + y, 'iuf'),
    ('x < y', lambda x, y: x < y, 'biuf'),
    ('x >= y', lambda x, y: x >= y, 'biuf'),
    ('x == y', lambda x, y: x == y, 'biufc'),
    ('x != 3', lambda x, y: x != 3, 'biufc'),
    ('x > 200', lambda x, y: x > 200, 'biuf'),
    ('-1 <= x', lambda x, y: -1 <= x, 'biuf'),
    ('x && y', np.logical_and, 'biufc'),
    ('x || !y', lambda x, y: np.logical_or(x, np.logical_not(y)), 'biufc'),
    ('min(x, y)', np.minimum, 'iuf'),
    ('max(x, y)', np.maximum, 'iuf'),
    ('max(x, 2)', lambda x, y: np.maximum(x, 2), 'iuf'),
    ('abs(x)', lambda x, y: np.abs(x), 'iuf'),
    ('-x', lambda x, y: -x, 'iufc'),
    ('x**2', lambda x, y: x**2, 'iuf'),
    ('x**3', lambda x, y: x**3, 'iu'),
    ('x ? y : 1', lambda x, y: np.where(x, y, 1), 'iufc'),
    ('x < y ? x : y', lambda x, y: np.where(x < y, x, y), 'biuf'),
    ('floor(x)', lambda x, y: np.floor(x), 'iuf'),
    ('sqrt(x)', lambda x, y: np.sqrt(x), 'f'),
    ('f64(x) * x', lambda x, y: wide(x) * x, 'biufc'),
    ('isnan(x)', lambda x, y: np.isnan(x), 'biufc'),
    ('real(x) - imag(y)', lambda x, y: x.real - y.imag, 'iufc'),
    ('conj(x)', lambda x, y: np.conj(x), 'iufc'),
]


def wide(x):
    return x.astype(np.complex128 if x.dtype.kind == 'c' else np.float64)


def value_of(dtype, rng):
    kind = np.dtype(dtype).kind
    if kind == 'b':
        return dtype(rng.random() < 0.5)
    if kind in 'iu':
        info = np.iinfo(dtype)
        ends = [info.min, info.max, 0, 1, 3, info.max // 2] if info.bits < 64 else [0, 1, 3, 2**52, 2**40 + 1]
        return dtype(rng.choice(ends) if rng.random() < 0.5 else rng.randrange(0, 120))
    ends = [0.0, -0.0, 1.0, 3.0, float('nan'), float('inf'), -float('inf'), 1e-40, 1e30]
    one = lambda: rng.choice(ends) if rng.random() < 0.3 else rng.uniform(-200, 200)
    return dtype(one()) if kind == 'f' else dtype(complex(rng.uniform(-9, 9), rng.uniform(-9, 9)))


def words(value):
    data = np.asarray(value).tobytes().ljust(16, b'\0')
    return 'W(0x%x, 0x%x)' % struct.unpack('<QQ', data)


def main():
    rng = random.Random(1)
    np.seterr(all='ignore')
    print('/* Made by tests/numpy/operator_table.py: TEXT, dtype and bits of x, of y, and of what NumPy gives. */')
    for text, function, kinds in EXPRESSIONS:
        names = [name for name in DTYPES if np.dtype(DTYPES[name]).kind in kinds]
        for _ in range(12):
            dx, dy = DTYPES[rng.choice(names)], DTYPES[rng.choice(names)]
            # Arrays of one element: NumPy checks scalars for overflow, and arrays wrap.
            x, y = np.array([value_of(dx, rng)]), np.array([value_of(dy, rng)])
            result = function(x, y)
            columns = [part for value in (x, y, result) for part in (NAMES[value.dtype].upper(), words(value))]
            print('ROW("%s", %s)' % (text, ', '.join(columns)))


main()
