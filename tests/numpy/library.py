"""libndreduce.so as a foreign caller sees it: ctypes, DLPack tensors, nothing but the public header's ABI."""
import ctypes

import numpy as np

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8,
    "u16": np.uint16, "u32": np.uint32, "u64": np.uint64, "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
OPS = ("sum prod min max argmin argmax mean var std norm1 norm2 norminf logsumexp any all count valid ptp").split()
ERR_EMPTY = 60
MAX_DIMS = 32


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_size_t), ("keepdims", ctypes.c_int), ("skip_nan", ctypes.c_int), ("ddof", ctypes.c_double),
        ("accumulate", ctypes.c_int), ("weighting", ctypes.c_int), ("initial", ctypes.POINTER(ctypes.c_double)),
        ("where", ctypes.POINTER(Tensor)), ("weights", ctypes.POINTER(Tensor)),
        ("others", ctypes.POINTER(ctypes.POINTER(Tensor))), ("other_count", ctypes.c_int),
        ("groups", ctypes.c_void_p), ("group_dim", ctypes.c_int),
        ("planning", ctypes.c_int), ("threads", ctypes.c_int),
        ("stream", ctypes.c_void_p), ("force_family", ctypes.c_char_p), ("device", ctypes.c_void_p),
    ]

    def __init__(self, **given):
        super().__init__(size=ctypes.sizeof(Options), **given)


class Failure(Exception):
    def __init__(self, status, sentence):
        super().__init__(f"status {status}: {sentence}")
        self.status = status


def dlpack_type(dtype, name=None):
    """name: "bf16" where that is what a u16 holds."""
    if name == "bf16":
        return DataType(4, 16, 1)
    code = {"b": 6, "i": 0, "u": 1, "f": 2, "c": 5}[dtype.kind]
    return DataType(code, dtype.itemsize * 8, 1)


def numpy_type(dtype):
    """NumPy's dtype, or "bf16", which it does not have."""
    if dtype.code == 4:
        return "bf16"
    kind = {6: "bool", 0: "int", 1: "uint", 2: "float", 5: "complex"}[dtype.code]
    return np.dtype(kind if kind == "bool" else f"{kind}{dtype.bits}")


def tensor_of(array, name=None):
    shape = (ctypes.c_int64 * MAX_DIMS)(*array.shape)
    strides = (ctypes.c_int64 * MAX_DIMS)(*(s // array.itemsize for s in array.strides))
    return Tensor(array.ctypes.data, Device(1, 0), array.ndim, dlpack_type(array.dtype, name), shape, strides, 0)


class Library:
    def __init__(self, path):
        # Global: kernels that the emulated GPU compiles at run time find its machine among the symbols of the program.
        self.so = ctypes.CDLL(path, ctypes.RTLD_GLOBAL)
        self.so.ndr_last_error.restype = ctypes.c_char_p
        self.so.ndr_version.restype = ctypes.c_char_p
        self.so.ndr_operator_destroy.restype = None

    def check(self, status):
        if status:
            raise Failure(status, self.so.ndr_last_error().decode())

    def describe(self, array, dims, op, options, name=None):
        """The shape and dtype that the result must have."""
        result = Tensor(shape=(ctypes.c_int64 * MAX_DIMS)())
        numbers = (ctypes.c_int * max(len(dims), 1))(*dims)
        tensor = tensor_of(array, name)
        self.check(self.so.ndr_result_describe(ctypes.byref(tensor), len(dims), numbers, OPS.index(op),
                                               ctypes.byref(options), ctypes.byref(result)))
        return tuple(result.shape[: result.ndim]), numpy_type(result.dtype)

    def reduce(self, array, dims, op, options):
        shape, dtype = self.describe(array, dims, op, options)
        result = np.full(shape, 99, dtype)
        numbers = (ctypes.c_int * max(len(dims), 1))(*dims)
        source, target = tensor_of(array), tensor_of(result)
        self.check(self.so.ndreduce(ctypes.byref(source), len(dims), numbers, OPS.index(op), ctypes.byref(target),
                                    ctypes.byref(options)))
        return result

    def operator(self, text, values):
        """The number of an operator of one's own."""
        op = ctypes.c_int()
        numbers = (ctypes.c_double * max(len(values), 1))(*values)
        self.check(self.so.ndr_operator_create(ctypes.byref(op), text.encode(), numbers, len(values)))
        return op.value

    def reduce_operands(self, array, dims, op, options, where=None, weights=None, others=(), initial=None):
        """As reduce, with arrays beside the array. op is a name, or the number of an operator of one's own."""
        tensors = [tensor_of(other) for other in others]
        if where is not None:
            options.where = ctypes.pointer(tensor_of(where))
        if weights is not None:
            options.weights = ctypes.pointer(tensor_of(weights))
        if initial is not None:
            options.initial = ctypes.pointer(ctypes.c_double(initial))
        options.others = (ctypes.POINTER(Tensor) * max(len(others), 1))(*(ctypes.pointer(t) for t in tensors))
        options.other_count = len(others)
        number = OPS.index(op) if isinstance(op, str) else op
        numbers = (ctypes.c_int * max(len(dims), 1))(*dims)
        source, form = tensor_of(array), Tensor(shape=(ctypes.c_int64 * MAX_DIMS)())
        self.check(self.so.ndr_result_describe(ctypes.byref(source), len(dims), numbers, number, ctypes.byref(options),
                                               ctypes.byref(form)))
        result = np.full(tuple(form.shape[: form.ndim]), 99, numpy_type(form.dtype))
        target = tensor_of(result)
        self.check(self.so.ndreduce(ctypes.byref(source), len(dims), numbers, number, ctypes.byref(target),
                                    ctypes.byref(options)))
        return result
