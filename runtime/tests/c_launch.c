/* Launches the kernel of fake_driver.c through the C library, in a context that this program makes current. argv[1] is
 * the program; with argv[2], prints the nanoseconds that one launch takes over that many launches. */
#define _POSIX_C_SOURCE 199309L
#include "girih_runtime.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cuDevicePrimaryCtxRetain(void **context, int device);
int cuCtxSetCurrent(void *context);

#define EXPECT(condition)                                                                                              \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, girih_last_error());                                 \
      return 1;                                                                                                        \
    }                                                                                                                  \
  } while (0)

enum { N = 512 };

int main(int argc, char **argv) {
  static _Alignas(256) float x[N], y[N];
  int64_t size = N, stride = 1;
  float factor = 2;
  uint32_t bits;
  void *context = NULL;
  girih_program *program = NULL;
  girih_value values[3];
  int i;

  EXPECT(argc >= 2);
  EXPECT(girih_program_from_file(argv[1], &program) == GIRIH_OK);
  memset(values, 0, sizeof values);
  for (i = 0; i < 2; i++) {
    values[i].kind = GIRIH_MEMREF;
    values[i].dtype = GIRIH_F32;
    values[i].data = (uint64_t)(uintptr_t)(i ? y : x);
    values[i].rank = 1;
    values[i].shape = &size;
    values[i].strides = &stride;
  }
  values[2].kind = GIRIH_SCALAR;
  values[2].dtype = GIRIH_F32;
  memcpy(&bits, &factor, sizeof bits);
  values[2].data = bits;
  for (i = 0; i < N; i++) x[i] = (float)i;

  EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_DEVICE_ERROR);
  EXPECT(strstr(girih_last_error(), "no CUDA context is current on this thread") != NULL);
  EXPECT(cuDevicePrimaryCtxRetain(&context, 42) == 0 && cuCtxSetCurrent(context) == 0);
  EXPECT(girih_program_load(program) == GIRIH_OK);
  EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_OK);
  for (i = 0; i < N; i++) EXPECT(y[i] == 2 * x[i]);

  /* Remembered launches must not be mistaken for others: other bits, other size. */
  factor = 3;
  memcpy(&bits, &factor, sizeof bits);
  values[2].data = bits;
  EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_OK);
  for (i = 0; i < N; i++) EXPECT(y[i] == 3 * x[i]);
  y[N - 1] = -1;
  size = N - 1;
  EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_OK);
  EXPECT(y[N - 1] == -1 && y[N - 2] == 3 * x[N - 2]);
  size = 0;
  EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_OK);

  if (argc > 2) {
    struct timespec begin, end;
    long count = atol(argv[2]);
    size = 1;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (i = 0; i < count; i++) EXPECT(girih_launch(program, 0, values, 3, NULL) == GIRIH_OK);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.0f ns\n", ((double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec)) / (double)count);
  }
  girih_program_free(program);
  return 0;
}
