/* How messages call a dim. */
#ifndef NDR_H5_FILE_DIMS_H
#define NDR_H5_FILE_DIMS_H

enum { NDR_DIM_TEXT = 128 };

/* Writes "dim 1 (lat)", or "dim 1" where it has no name; names may be NULL. Returns text. */
const char *ndr_dim_text(int d, const char *const *names, char text[NDR_DIM_TEXT]);

#endif
