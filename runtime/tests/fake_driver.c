/* A CUDA driver with one GPU, host memory and one kernel: y[i] = factor * x[i].
 *
 * It stands in for libcuda.so.1 where there is no GPU, so that every call of the runtime into the driver is made for
 * real: argument order, structures, attributes, parameters. It refuses what does not fit. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { OK = 0, INVALID_VALUE = 1, INVALID_PTX = 218, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned attribute_count;
} Config;
typedef struct {
  int id;
  char pad[4];
  union {
    char bytes[64];
    unsigned cluster[3];
  } value;
} Attribute;

static int shared_limit, context_storage, module_storage, function_storage, failed;
static void *current;

int cuGetErrorName(int error, const char **text) {
  *text = error == INVALID_PTX     ? "CUDA_ERROR_INVALID_PTX"
          : error == LAUNCH_FAILED ? "CUDA_ERROR_LAUNCH_FAILED"
          : error == NOT_FOUND     ? "CUDA_ERROR_NOT_FOUND"
                                   : "CUDA_ERROR_INVALID_VALUE";
  return OK;
}
int cuGetErrorString(int error, const char **text) {
  *text = error == LAUNCH_FAILED ? "unspecified launch failure" : "refused by the fake driver";
  return OK;
}
int cuDriverGetVersion(int *version) {
  const char *text = getenv("FAKE_DRIVER_VERSION");
  *version = text ? atoi(text) : 13000;
  return OK;
}
int cuInit(unsigned flags) { return flags ? INVALID_VALUE : OK; }
int cuDeviceGetCount(int *count) { return *count = 1, OK; }
int cuDeviceGet(int *device, int ordinal) { return *device = 42, ordinal ? INVALID_VALUE : OK; }
int cuDeviceGetName(char *name, int length, int device) {
  strncpy(name, "Fake GPU", (size_t)length);
  return device == 42 ? OK : INVALID_VALUE;
}
int cuDeviceGetAttribute(int *value, int attribute, int device) {
  /* Compute capability 9.0; an L2 cache of 1 KiB. */
  *value = attribute == 75 ? 9 : attribute == 38 ? 1024 : 0;
  return device == 42 ? OK : INVALID_VALUE;
}
int cuDevicePrimaryCtxRetain(void **context, int device) {
  *context = &context_storage;
  return device == 42 ? OK : INVALID_VALUE;
}
int cuDevicePrimaryCtxRelease_v2(int device) { return device == 42 ? OK : INVALID_VALUE; }
int cuCtxSetCurrent(void *context) { return current = context, OK; }
int cuCtxGetCurrent(void **context) { return *context = current, OK; }
int cuCtxGetId(void *context, unsigned long long *id) { return *id = 7, context == current ? OK : INVALID_VALUE; }
int cuCtxGetDevice(int *device) { return *device = 42, OK; }
int cuCtxSynchronize(void) { return failed ? LAUNCH_FAILED : OK; }

int cuMemAlloc_v2(uint64_t *address, size_t bytes) {
  return *address = (uint64_t)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256), bytes ? OK : INVALID_VALUE;
}
int cuMemFree_v2(uint64_t address) { return free((void *)(uintptr_t)address), OK; }
int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes) {
  return memcpy((void *)(uintptr_t)to, from, bytes), OK;
}
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes) { return memcpy(to, (void *)(uintptr_t)from, bytes), OK; }
int cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void *stream) {
  return memset((void *)(uintptr_t)address, value, bytes), stream ? INVALID_VALUE : OK;
}

int cuModuleLoadDataEx(void **module, const char *ptx, unsigned count, int *options, void **values) {
  unsigned i;
  char *log = NULL;
  size_t size = 0;
  for (i = 0; i < count; i++) {
    if (options[i] == 5) log = values[i];
    if (options[i] == 6) size = (size_t)(uintptr_t)values[i];
  }
  if (strstr(ptx, "not ptx")) {
    if (log) strncpy(log, "ptxas application ptx input, line 7; fatal : not PTX", size);
    return INVALID_PTX;
  }
  return *module = &module_storage, OK;
}
int cuModuleUnload(void *module) { return module == &module_storage ? OK : INVALID_VALUE; }
int cuModuleGetFunction(void **function, void *module, const char *name) {
  *function = &function_storage;
  return module == &module_storage && !strcmp(name, "scale") ? OK : NOT_FOUND;
}
int cuFuncSetAttribute(void *function, int attribute, int value) {
  if (attribute == 8) shared_limit = value;
  return function == &function_storage ? OK : INVALID_VALUE;
}

/* A map is the fields that matter here, in order. */
int cuTensorMapEncodeTiled(uint64_t *map, int type, unsigned rank, void *address, const uint64_t *dims,
                           const uint64_t *strides, const unsigned *box, const unsigned *steps, int interleave,
                           int swizzle, int promotion, int fill) {
  (void)strides;
  if ((uintptr_t)map % 64) return INVALID_VALUE;
  if (type != 7 || rank != 1 || box[0] != 32 || steps[0] != 1 || interleave || swizzle != 3 || promotion != 2 || fill)
    return INVALID_VALUE;
  memset(map, 0, 128);
  map[0] = (uint64_t)(uintptr_t)address;
  map[1] = dims[0];
  return OK;
}

int cuLaunchKernelEx(const Config *config, void *function, void **params, void **extra) {
  const Attribute *attribute = config->attributes;
  const float *x = *(const float **)params[0];
  float *y = *(float **)params[1];
  int64_t i, n = *(int64_t *)params[2];
  float factor = *(float *)params[3];
  const uint64_t *map = params[4];
  if (function != &function_storage || extra) return INVALID_VALUE;
  if (config->attribute_count != 1 || attribute->id != 4 || attribute->value.cluster[0] != 2) return INVALID_VALUE;
  if (config->grid[0] != 2 * (unsigned)((n + 255) / 256) || config->grid[1] != 1 || config->block[0] != 128)
    return INVALID_VALUE;
  if (config->shared != 100000 || shared_limit != 100000) return INVALID_VALUE;
  if (map[0] != (uint64_t)(uintptr_t)x || map[1] != (uint64_t)n) return INVALID_VALUE;
  if (factor < 0) return failed = 1, OK;
  for (i = 0; i < n; i++) y[i] = factor * x[i];
  return OK;
}

int cuEventCreate(void **event, unsigned flags) { return *event = malloc(1), flags ? INVALID_VALUE : OK; }
int cuEventDestroy_v2(void *event) { return free(event), OK; }
int cuEventRecord(void *event, void *stream) { return event && !stream ? OK : INVALID_VALUE; }
int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end) {
  return *milliseconds = 0.25f, start && end ? OK : INVALID_VALUE;
}
