/* Global heaps, where HDF5 keeps elements of variable length. HDF5 1.10 believes the sizes in them: it goes round for
 * ever where one is too small, and copies beyond its memory where one is too large. */
#ifndef NDR_H5_HEAP_H
#define NDR_H5_HEAP_H

#include "h5/message.h"

/* Whether the elements of an attribute, if they are of variable length, lead to objects of just their bytes in heaps
 * that are whole. True for others, and for those of which the message does not have the elements. */
bool ndr_heap_holds(const ndr_raw *raw, const ndr_message *message);

#endif
