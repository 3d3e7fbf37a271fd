/* The part of NVRTC that src/cuda calls, over the host's C++ compiler. Names and meanings are NVIDIA's. */
#ifndef SIMT_NVRTC_H
#define SIMT_NVRTC_H

#include <stddef.h>

typedef enum nvrtcResult {
  NVRTC_SUCCESS,
  NVRTC_ERROR_OUT_OF_MEMORY,
  NVRTC_ERROR_INVALID_OPTION,
  NVRTC_ERROR_COMPILATION
} nvrtcResult;

typedef struct simt_program *nvrtcProgram;

nvrtcResult nvrtcVersion(int *major, int *minor);
nvrtcResult nvrtcCreateProgram(nvrtcProgram *program, const char *source, const char *name, int header_count,
                               const char *const *headers, const char *const *header_names);
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count, const char *const *options);
nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program);
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *cubin);
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *size);
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *log);
const char *nvrtcGetErrorString(nvrtcResult result);

#endif
