/* The CPU backend: a complete scalar reference and the fast families. */
#ifndef NDR_CPU_BACKEND_H
#define NDR_CPU_BACKEND_H

#include "core/plan.h"

extern const ndr_backend ndr_backend_cpu;

#endif
