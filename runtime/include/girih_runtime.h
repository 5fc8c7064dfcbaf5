/* girih's runtime for C: launches compiled girih programs on the caller's stream and memory.
 *
 * Functions that can fail return GIRIH_OK or another status; girih_last_error() then says what was expected, what was
 * found and what to do. No function prints, aborts, or unwinds. Every function may be called from any thread; calls on
 * one program wait for each other. A launch uses the CUDA context that is current on the calling thread, is not waited
 * for, and allocates no device memory, so it may be captured into a CUDA graph once the program has run in the context.
 *
 * Link with -lgirih_runtime. The CUDA driver is loaded when it is first needed.
 */
#ifndef GIRIH_RUNTIME_H
#define GIRIH_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of this interface; girih_abi_version() gives the library's. */
#define GIRIH_ABI_VERSION 1

typedef enum girih_status {
  GIRIH_OK = 0,
  /* A null pointer, an index out of range, an unknown kernel, a wrong kind of value. */
  GIRIH_INVALID_CALL = 1,
  /* A file that cannot be read, PTX without a usable manifest. */
  GIRIH_INVALID_PROGRAM = 2,
  /* An argument or a launch that the kernel or its tensor maps do not take. */
  GIRIH_INVALID_ARGUMENT = 3,
  /* No driver, no context, or an error of the driver. */
  GIRIH_DEVICE_ERROR = 4,
  /* A bug in girih. */
  GIRIH_INTERNAL_ERROR = 5
} girih_status;

/* Element types. */
typedef enum girih_dtype {
  GIRIH_I1 = 0, /* one byte, 0 or 1 */
  GIRIH_I8 = 1,
  GIRIH_I16 = 2,
  GIRIH_I32 = 3,
  GIRIH_I64 = 4,
  GIRIH_F16 = 5,
  GIRIH_BF16 = 6,
  GIRIH_F32 = 7,
  GIRIH_TF32 = 8, /* stored as f32; f32 arrays are taken too */
  GIRIH_F64 = 9,
  GIRIH_E4M3 = 10,
  GIRIH_E5M2 = 11
} girih_dtype;

typedef enum girih_kind {
  GIRIH_MEMREF = 0,    /* an array in device memory */
  GIRIH_SCALAR = 1,    /* a number */
  GIRIH_TENSOR_MAP = 2 /* a CUtensorMap that the caller has encoded; nothing of it is checked */
} girih_kind;

/* A size or stride that is known only at run time, in girih_arg_info. */
#define GIRIH_DYNAMIC INT64_MIN

/* Dimensions that girih_arg_info has room for. */
#define GIRIH_MAX_RANK 8

/* A compiled program: PTX with its launch manifest. */
typedef struct girih_program girih_program;

/* What a kernel's argument must be. */
typedef struct girih_arg_info {
  const char *name;  /* lives as long as the program */
  int32_t kind;      /* girih_kind */
  int32_t dtype;     /* girih_dtype */
  int32_t rank;      /* 0 for a scalar, dimensions of the tensor for a tensor map */
  int32_t reserved;
  uint64_t alignment;              /* bytes, of the address */
  int64_t shape[GIRIH_MAX_RANK];   /* outermost first, or GIRIH_DYNAMIC */
  int64_t strides[GIRIH_MAX_RANK]; /* in elements, or GIRIH_DYNAMIC */
} girih_arg_info;

/* The value of an argument. */
typedef struct girih_value {
  int32_t kind;  /* girih_kind */
  int32_t dtype; /* girih_dtype */
  /* Memref: device address of the first element. Scalar: the value's bits, zero-extended. Tensor map: host address of its
   * 128 bytes, read during the call only; dtype, rank and lists are not looked at. */
  uint64_t data;
  int32_t rank;  /* 0 for a scalar */
  int32_t reserved;
  const int64_t *shape;   /* rank sizes, outermost first; read during the call only */
  const int64_t *strides; /* rank strides in elements, not negative */
} girih_value;

/* Version of the interface that the library implements. */
uint32_t girih_abi_version(void);
/* Version of girih, such as "0.1.0". */
const char *girih_version(void);
/* Why the last call on this thread failed; empty after a success. Valid until the thread's next call. */
const char *girih_last_error(void);

/* Reads a program from `size` bytes of PTX text. */
girih_status girih_program_from_text(const char *ptx, size_t size, girih_program **program);
/* Reads a program from a file. */
girih_status girih_program_from_file(const char *path, girih_program **program);
/* Frees a program; null is allowed. Nothing of it may be running or used any more. Its code is unloaded from the current
 * context; other contexts keep it until they end. */
void girih_program_free(girih_program *program);

/* Number of kernels; 0 for null. */
size_t girih_kernel_count(const girih_program *program);
/* Name of a kernel, or null when the index is out of range. Lives as long as the program. */
const char *girih_kernel_name(const girih_program *program, size_t kernel);
/* Index of the kernel of that name; a null name means the only kernel. */
girih_status girih_kernel_find(const girih_program *program, const char *name, size_t *kernel);
/* Number of arguments of a kernel; 0 when the index is out of range. */
size_t girih_arg_count(const girih_program *program, size_t kernel);
/* What argument `arg` must be. */
girih_status girih_arg_info_get(const girih_program *program, size_t kernel, size_t arg, girih_arg_info *info);

/* Compiles the program for the current context, which the first launch in a context does otherwise. */
girih_status girih_program_load(girih_program *program);
/* Checks `count` values against the kernel and its tensor maps, and launches it on `stream`, a CUstream or cudaStream_t
 * of the current context (null: the legacy default stream). An empty grid launches nothing and succeeds. Checked values
 * and their tensor maps are remembered, so that a launch with the same values costs little. */
girih_status girih_launch(girih_program *program, size_t kernel, const girih_value *values, size_t count, void *stream);
/* Checks as girih_launch does, without a device. */
girih_status girih_check(girih_program *program, size_t kernel, const girih_value *values, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* GIRIH_RUNTIME_H */
