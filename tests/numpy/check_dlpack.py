"""The README's function for Python on NumPy's arrays and, where there is PyTorch, on its tensors, of a GPU if it has one.
    check_dlpack.py README.md LIBNDREDUCE"""

import pathlib
import re
import sys

try:
    import numpy
except ImportError:
    print("skipped: this Python has no numpy")
    sys.exit(77)

text = re.search(r"```python\n(.*?)^SUM,", pathlib.Path(sys.argv[1]).read_text(), re.DOTALL | re.MULTILINE)[1]
scope = {}
exec(text.replace('"libndreduce.so"', repr(sys.argv[2])), scope)
ndreduce = scope["ndreduce"]
SUM, MAX, MEAN = 0, 3, 6  # ndr_op
tried = 0


def check(got, expected, what):
    global tried
    assert numpy.array_equal(numpy.asarray(got), numpy.asarray(expected)), f"{what}: {got} is not {expected}"
    tried += 1


def check_numpy():
    whole = numpy.random.default_rng(1).integers(-99, 99, (7, 6, 5))
    for dtype, op, function in (("f8", SUM, "sum"), ("i4", MAX, "max"), ("f4", MEAN, "mean")):
        array = whole.astype(dtype)
        views = {"whole": array, "reversed": array[::-1], "transposed": array.T, "a part": array[1:6:2, :, 3:0:-1]}
        for name, view in views.items():
            for dim in range(3):
                expected = getattr(numpy, function)(view.astype("f8"), axis=dim).astype(dtype)
                result = numpy.empty(expected.shape, dtype)
                ndreduce(op, view, dim, result)
                check(result, expected, f"{function} of {dtype}, {name}, dim {dim}")
    try:
        ndreduce(SUM, whole, 3, numpy.empty(1))
    except ValueError as error:
        assert "dim 3" in str(error), error
    else:
        raise AssertionError("dim 3 of three was taken")


def check_torch(torch, device):
    array = torch.arange(60, dtype=torch.float32, device=device).reshape(3, 4, 5)
    for name, view in (("whole", array), ("transposed", array.permute(2, 0, 1)), ("a part", array[:, ::2])):
        result = torch.empty(view.sum(1).shape, dtype=torch.float32, device=device)
        ndreduce(SUM, view, 1, result)
        check(result.cpu(), view.sum(1).cpu(), f"sum of a tensor on {device}, {name}")


check_numpy()
try:
    import torch
except ImportError:
    print("there is no PyTorch here: tried NumPy alone")
else:
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        check_torch(torch, device)
print(f"{tried} reductions")
