/* The message of an object header that holds an attribute: its name, type, dataspace and elements, one after the other.
 * HDF5 1.10 believes the lengths in it, and reads beyond the message where they are wrong. */
#ifndef NDR_H5_BYTES_MESSAGE_H
#define NDR_H5_BYTES_MESSAGE_H

#include "h5/bytes/raw.h"

typedef struct ndr_message {
  const char *name;
  const uint8_t *type;  /* NULL where the type lies elsewhere in the file */
  size_t element_bytes; /* in the file */
  uint64_t count;       /* of elements */
  const uint8_t
      *data; /* count * element_bytes; NULL where type or dataspace lie elsewhere, or are of a later version */
} ndr_message;

/* False if the parts do not fit into the message, or if the type or the dataspace has parts that do not fit into it.
 * What the parts mean is left to HDF5. */
bool ndr_message_split(const uint8_t *bytes, size_t count, const ndr_raw *raw, ndr_message *message);

#endif
