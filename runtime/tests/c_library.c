/* Uses the C library as a stranger would: argv[1] is a program with one kernel `scale(x, n)`. */
#include "girih_runtime.h"
#include <stdio.h>
#include <string.h>

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, girih_last_error());                                 \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

int main(int argc, char **argv) {
  girih_program *program = NULL;
  girih_arg_info info;
  size_t kernel = 99;
  int64_t shape[1] = {1000}, strides[1] = {1};
  girih_value values[2];

  EXPECT(argc == 2);
  EXPECT(girih_abi_version() == GIRIH_ABI_VERSION);
  EXPECT(strlen(girih_version()) > 0);
  EXPECT(girih_program_from_file("/nonexistent.ptx", &program) == GIRIH_INVALID_PROGRAM);
  EXPECT(strstr(girih_last_error(), "/nonexistent.ptx") != NULL);
  EXPECT(girih_program_from_file(argv[1], &program) == GIRIH_OK);
  EXPECT(strcmp(girih_last_error(), "") == 0);
  EXPECT(girih_kernel_find(program, "scale", &kernel) == GIRIH_OK && kernel == 0);
  EXPECT(girih_arg_count(program, kernel) == 2);

  EXPECT(girih_arg_info_get(program, kernel, 0, &info) == GIRIH_OK);
  EXPECT(strcmp(info.name, "x") == 0 && info.kind == GIRIH_MEMREF && info.dtype == GIRIH_F32 && info.rank == 1);
  EXPECT(info.shape[0] == GIRIH_DYNAMIC && info.strides[0] == 1 && info.alignment == 4);
  EXPECT(girih_arg_info_get(program, kernel, 1, &info) == GIRIH_OK);
  EXPECT(info.kind == GIRIH_SCALAR && info.dtype == GIRIH_I64);

  memset(values, 0, sizeof values);
  values[0].kind = GIRIH_MEMREF;
  values[0].dtype = GIRIH_F32;
  values[0].data = 0x10000;
  values[0].rank = 1;
  values[0].shape = shape;
  values[0].strides = strides;
  values[1].kind = GIRIH_SCALAR;
  values[1].dtype = GIRIH_I64;
  values[1].data = 3;
  EXPECT(girih_check(program, kernel, values, 2) == GIRIH_OK);
  EXPECT(girih_check(program, kernel, values, 1) == GIRIH_INVALID_ARGUMENT);
  values[0].data = 0x10002;
  EXPECT(girih_launch(program, kernel, values, 2, NULL) == GIRIH_INVALID_ARGUMENT);
  EXPECT(strstr(girih_last_error(), "argument x: address = 0x10002, but the kernel needs a multiple of 4") != NULL);

  /* No context is current in this process, with or without a GPU. */
  values[0].data = 0x10000;
  EXPECT(girih_launch(program, kernel, values, 2, NULL) == GIRIH_DEVICE_ERROR);
  EXPECT(strlen(girih_last_error()) > 0);
  girih_program_free(program);
  return 0;
}
