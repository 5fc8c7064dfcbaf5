"""girih's runtime from Python, through its C library and ctypes.

    program = Program("gemm.ptx")
    launch = program.kernel("gemm").bind(a, b, c)   # torch tensors, or anything with data_ptr(), shape, stride(), dtype
    launch(stream)                                  # a CUstream as an integer; not waited for

Arrays are checked against the kernel at every launch; a GirihError says which argument breaks which rule.
"""

import ctypes
import pathlib
import struct

STATUS_OK = 0
MEMREF, SCALAR = 0, 1
DYNAMIC = -(2**63)
MAX_RANK = 8
ABI_VERSION = 1

# girih_dtype, in the order of the header.
DTYPES = ["i1", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "tf32", "f64", "e4m3", "e5m2"]
# The same by the names of torch and NumPy.
FOREIGN = {
    "bool": "i1",
    "int8": "i8",
    "uint8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "e4m3",
    "float8_e5m2": "e5m2",
}
SCALAR_FORMATS = {"i1": "<?", "i8": "<b", "i16": "<h", "i32": "<i", "i64": "<q", "f16": "<e", "f32": "<f", "f64": "<d"}


class GirihError(RuntimeError):
    """What the library says about a call that failed."""


class _ArgInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("alignment", ctypes.c_uint64),
        ("shape", ctypes.c_int64 * MAX_RANK),
        ("strides", ctypes.c_int64 * MAX_RANK),
    ]


class _Value(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int32),
        ("dtype", ctypes.c_int32),
        ("data", ctypes.c_uint64),
        ("rank", ctypes.c_int32),
        ("reserved", ctypes.c_int32),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
    ]


def find_library():
    """libgirih_runtime.so of a distribution (`lib/` beside this folder) or of a built checkout."""
    root = pathlib.Path(__file__).resolve().parent.parent
    folders = ["lib", ".", "target/release", "target/debug"]
    for folder in folders:
        path = root / folder / "libgirih_runtime.so"
        if path.exists():
            return path
    looked = ", ".join(str(root / folder) for folder in folders)
    raise GirihError(f"libgirih_runtime.so is in none of {looked}; build it with `cargo build --release -p girih-runtime`")


class Library:
    """The shared library with its functions declared."""

    def __init__(self, path=None):
        library = ctypes.CDLL(str(path or find_library()))
        pointer, size, text = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p
        declarations = {
            "girih_abi_version": (ctypes.c_uint32, []),
            "girih_version": (text, []),
            "girih_last_error": (text, []),
            "girih_program_from_text": (ctypes.c_int, [text, size, ctypes.POINTER(pointer)]),
            "girih_program_from_file": (ctypes.c_int, [text, ctypes.POINTER(pointer)]),
            "girih_program_free": (None, [pointer]),
            "girih_kernel_count": (size, [pointer]),
            "girih_kernel_name": (text, [pointer, size]),
            "girih_kernel_find": (ctypes.c_int, [pointer, text, ctypes.POINTER(size)]),
            "girih_arg_count": (size, [pointer, size]),
            "girih_arg_info_get": (ctypes.c_int, [pointer, size, size, ctypes.POINTER(_ArgInfo)]),
            "girih_program_load": (ctypes.c_int, [pointer]),
            "girih_launch": (ctypes.c_int, [pointer, size, ctypes.POINTER(_Value), size, pointer]),
            "girih_check": (ctypes.c_int, [pointer, size, ctypes.POINTER(_Value), size]),
        }
        for name, (result, arguments) in declarations.items():
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
        self.raw = library
        if library.girih_abi_version() != ABI_VERSION:
            raise GirihError(f"the library has interface {library.girih_abi_version()}, expected {ABI_VERSION}")

    def check(self, status):
        if status != STATUS_OK:
            raise GirihError(self.raw.girih_last_error().decode())


class Program:
    """PTX with its launch manifest."""

    def __init__(self, path, library=None):
        self.library = library or Library()
        self.handle = ctypes.c_void_p()
        raw = self.library.raw
        self.library.check(raw.girih_program_from_file(str(path).encode(), ctypes.byref(self.handle)))

    def load(self):
        """Compiles for the current CUDA context, which the first launch does otherwise."""
        self.library.check(self.library.raw.girih_program_load(self.handle))

    def kernels(self):
        raw = self.library.raw
        return [raw.girih_kernel_name(self.handle, i).decode() for i in range(raw.girih_kernel_count(self.handle))]

    def kernel(self, name=None):
        index = ctypes.c_size_t()
        found = self.library.raw.girih_kernel_find(self.handle, name.encode() if name else None, ctypes.byref(index))
        self.library.check(found)
        return Kernel(self, index.value)

    def close(self):
        """Frees the program; none of its launches may be running."""
        if self.handle:
            self.library.raw.girih_program_free(self.handle)
            self.handle = ctypes.c_void_p()


class Kernel:
    """A kernel of a program."""

    def __init__(self, program, index):
        self.program, self.index = program, index
        raw, check = program.library.raw, program.library.check
        self.args = []
        for i in range(raw.girih_arg_count(program.handle, index)):
            info = _ArgInfo()
            check(raw.girih_arg_info_get(program.handle, index, i, ctypes.byref(info)))
            self.args.append(info)

    def bind(self, *values):
        """A launch of these values, which it keeps alive."""
        if len(values) != len(self.args):
            raise GirihError(f"the kernel takes {len(self.args)} arguments, but {len(values)} are given")
        return Launch(self, values)


class Launch:
    """A kernel with values; call it to launch."""

    def __init__(self, kernel, values):
        self.kernel, self.values = kernel, values
        self.lists = []
        self.raw_values = (_Value * len(values))(*map(self._value, kernel.args, values))
        self._launch = kernel.program.library.raw.girih_launch
        self._fixed = (kernel.program.handle, kernel.index, self.raw_values, len(values))

    def _value(self, info, value):
        if info.kind == SCALAR:
            return _Value(kind=SCALAR, dtype=info.dtype, data=_scalar_bits(DTYPES[info.dtype], value))
        if not hasattr(value, "data_ptr"):
            raise GirihError(f"argument {info.name.decode()} is an array; {value!r} is none")
        rank = len(value.shape)
        shape, strides = (ctypes.c_int64 * rank)(*value.shape), (ctypes.c_int64 * rank)(*value.stride())
        self.lists += [shape, strides]
        name = str(value.dtype).removeprefix("torch.")
        if name not in FOREIGN:
            raise GirihError(f"argument {info.name.decode()} has elements of type {name}, which girih does not have")
        dtype = DTYPES.index(FOREIGN[name])
        return _Value(kind=MEMREF, dtype=dtype, data=value.data_ptr(), rank=rank, shape=shape, strides=strides)

    def __call__(self, stream=None):
        if self._launch(*self._fixed, stream):
            raise GirihError(self.kernel.program.library.raw.girih_last_error().decode())

    def check(self):
        """Raises what a launch would raise about the values, without a GPU."""
        library = self.kernel.program.library
        library.check(library.raw.girih_check(*self._fixed))


def _scalar_bits(dtype, value):
    if dtype in ("bf16", "tf32"):
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
        # To nearest even; bf16 is the upper half of an f32.
        return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 if dtype == "bf16" else bits
    if dtype not in SCALAR_FORMATS:
        raise GirihError(f"scalars of type {dtype} cannot be made from Python numbers")
    return int.from_bytes(struct.pack(SCALAR_FORMATS[dtype], value), "little")
