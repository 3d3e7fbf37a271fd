/* A program that calls libndreduce_h5 alone, so that it names no other library of ours to the loader. */
#include <ndreduce/h5.h>

int main(void) {
  int count, dims[NDR_MAX_DIMS];
  return ndr_h5_dims_parse("all", 2, NULL, &count, dims) == NDR_OK && count == 2 ? 0 : 1;
}
