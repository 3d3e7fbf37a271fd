#include "machine.cuh"

#include "instantiate.cu"
