#include "machine.cuh"

#include "convert.cu"
