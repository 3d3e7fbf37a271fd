/* NVRTC, which turns the text of kernels into machine code. */
#ifndef NDR_CUDA_COMPILER_H
#define NDR_CUDA_COMPILER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/* Whether NVRTC can be opened on this machine. */
bool ndr_cuda_can_compile(void);

/* Its version, "13.0"; "" if there is none. */
const char *ndr_cuda_compiler_version(void);

/* Compiles a text; *code is to be freed. */
ndr_status ndr_cuda_compile_text(const char *source, int capability, void **code, size_t *bytes);

#endif
