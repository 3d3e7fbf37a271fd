"""Random expressions of operators of one's own, and what NumPy makes of them under the promotion of operator.h."""
import numpy as np

MOST_DEPTH = 3


def arithmetic_dtype(dtype):
    return np.dtype(np.int64) if dtype.kind == "b" else dtype


class Term:
    """A text, its value, and whether rounding may have made the value another one than the library's. Weak: a number or
    parameter, which takes the dtype of what it meets."""

    def __init__(self, text, value, inexact=False, weak=False):
        self.text, self.value, self.inexact, self.weak = text, value, inexact, weak


def meet(a, b, arithmetic):
    """Both values in their common dtype. At least one is not weak."""
    if a.weak or b.weak:
        number, array = (a, b) if a.weak else (b, a)
        dtype = array.value.dtype
        if isinstance(number.value, float):
            dtype = dtype if dtype.kind == "f" else np.dtype(np.float64)
        else:
            dtype = arithmetic_dtype(dtype)
    else:
        dtype = np.promote_types(a.value.dtype, b.value.dtype)
    if arithmetic:
        dtype = arithmetic_dtype(dtype)
    return np.asarray(a.value).astype(dtype), np.asarray(b.value).astype(dtype)


def floated(value):
    return value if value.dtype.kind == "f" else value.astype(np.float64)


class Tree:
    def __init__(self, random, arrays, parameters, shape):
        self.random, self.arrays, self.parameters, self.shape = random, arrays, parameters, shape
        term = self.array_term(0)
        used = [name for name in arrays if name not in term.text]
        for name in used:  # the operator reads every array
            term = self.combine("+", term, Term(name, arrays[name]))
        self.text, self.value, self.inexact = term.text, term.value, term.inexact

    def pick(self, *choices):
        return choices[int(self.random.integers(0, len(choices)))]

    def leaf(self):
        kind = self.random.integers(0, 8)
        if kind == 0 and len(self.shape):
            d = int(self.random.integers(0, len(self.shape)))
            steps = np.arange(self.shape[d]).reshape([-1] + [1] * (len(self.shape) - 1 - d))
            return Term(f"index({d})", np.broadcast_to(steps, self.shape))
        name = self.pick(*self.arrays)
        return Term(name, self.arrays[name])

    def number(self):
        kind = self.random.integers(0, 4)
        if kind == 0:
            at = int(self.random.integers(0, 2))
            return Term("pq"[at], self.parameters[at], weak=True)
        if kind == 1:
            value = float(self.random.integers(0, 9)) + 0.5
            return Term(repr(value), value, weak=True)
        value = int(self.random.integers(0, 6))
        return Term(str(value), value, weak=True)

    def array_term(self, depth):
        if depth >= MOST_DEPTH or (depth and self.random.integers(0, 4) == 0):
            return self.leaf()
        kind = self.random.integers(0, 10)
        if kind < 5:
            return self.binary(depth)
        if kind < 7:
            return self.unary(depth)
        if kind == 7:
            return self.condition(depth)
        if kind == 8:
            a = self.array_term(depth + 1)
            power = int(self.random.integers(2, 4))
            value = np.asarray(a.value).astype(arithmetic_dtype(a.value.dtype))
            result = value * value if power == 2 else value * value * value
            return Term(f"({a.text})**{power}", result, a.inexact)
        condition = self.condition(depth)
        a, b = self.array_term(depth + 1), self.pick(self.number, lambda: self.array_term(depth + 1))()
        left, right = meet(a, b, False)
        return Term(f"({condition.text} ? {a.text} : {b.text})", np.where(condition.value, left, right),
                    a.inexact or b.inexact)

    def pair(self, depth):
        a, b = self.array_term(depth + 1), self.pick(self.number, lambda: self.array_term(depth + 1))()
        return (a, b) if self.random.integers(0, 2) else (b, a)

    def combine(self, sign, a, b):
        left, right = meet(a, b, True)
        inexact = a.inexact or b.inexact
        text = f"({a.text} {sign} {b.text})"
        if sign == "+":
            return Term(text, left + right, inexact)
        if sign == "-":
            return Term(text, left - right, inexact)
        if sign == "*":
            return Term(text, left * right, inexact)
        return Term(text, floated(left) / floated(right), inexact)

    def binary(self, depth):
        a, b = self.pair(depth)
        kind = self.pick("+", "-", "*", "/", "min", "max")
        if kind in ("min", "max"):
            left, right = meet(a, b, False)
            value = (np.minimum if kind == "min" else np.maximum)(left, right)
            return Term(f"{kind}({a.text}, {b.text})", value, a.inexact or b.inexact)
        return self.combine(kind, a, b)

    def unary(self, depth):
        a = self.array_term(depth + 1)
        value = np.asarray(a.value)
        kind = self.pick("-", "abs", "sqrt", "floor", "exp", "sin", "isnan", "f64")
        if kind == "-":
            return Term(f"(-{a.text})", -value.astype(arithmetic_dtype(value.dtype)), a.inexact)
        if kind == "abs":
            return Term(f"abs({a.text})", np.abs(value.astype(arithmetic_dtype(value.dtype))), a.inexact)
        if kind == "f64":
            return Term(f"f64({a.text})", value.astype(np.float64), a.inexact)
        if kind == "isnan":
            return Term(f"isnan({a.text})", np.isnan(value), a.inexact)
        if kind == "floor" and (a.inexact or value.dtype.kind != "f"):
            return a
        if kind in ("exp", "sin") and a.inexact:  # which may make a small error a large one
            return a
        value = floated(value)
        return Term(f"{kind}({a.text})", getattr(np, kind)(value), a.inexact or kind in ("exp", "sin"))

    def condition(self, depth):
        """Only of values that are the library's to the last bit."""
        for _ in range(20):
            a, b = self.pair(depth + 1)
            if not (a.inexact or b.inexact):
                break
        else:
            a, b = self.leaf(), Term("2", 2, weak=True)
        left, right = meet(a, b, True)
        sign, function = self.pick(("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal),
                                   ("==", np.equal), ("!=", np.not_equal))
        return Term(f"({a.text} {sign} {b.text})", function(left, right))
