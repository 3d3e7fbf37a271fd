/* Global heaps, where HDF5 keeps elements of variable length. HDF5 1.10 believes the sizes in them: it goes round for
 * ever where one is too small, and copies beyond its memory where one is too large. */
#ifndef NDR_H5_BYTES_HEAP_H
#define NDR_H5_BYTES_HEAP_H

#include "h5/bytes/message.h"

/* Whether each element of variable length leads to an object of exactly its size, in a heap that is whole. True for
 * attributes of other types, and where the message does not hold the elements. False, with raw->failed, where the file
 * cannot be read. */
bool ndr_heap_holds(ndr_raw *raw, const ndr_message *message);

#endif
