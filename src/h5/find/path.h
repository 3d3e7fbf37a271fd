/* Takes FILE:/DATASET apart. Touches no file: the caller's test says what exists. */
#ifndef NDR_H5_FIND_PATH_H
#define NDR_H5_FIND_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "ndreduce/ndreduce.h"

typedef bool (*ndr_path_test)(void *user, const char *text, size_t length);

/* The length of the longest prefix of text, ending at its end or before a ":", "/" or "[", for which is_file holds; 0
 * if there is none. *dataset then points at what follows, without the ":", or is NULL if nothing does. */
size_t ndr_path_split(const char *text, ndr_path_test is_file, void *user, const char **dataset);

/* The length of the prefix that reads like a file's name when none exists: up to the first ":/", else all of it. */
size_t ndr_path_guess(const char *text);

/* Fails with the reason in errno why there is no such file, or that it is a URL. */
ndr_status ndr_path_fail(const char *file);

#endif
