/* Within weights*.c: the text of --weights, and the two things that it may name. Functions that return false have
 * complained; `where` names the dataset that is reduced in complaints. */
#ifndef H5GPURED_WEIGHTS_H
#define H5GPURED_WEIGHTS_H

#include "h5gpured/besides.h"
#include "h5gpured/operators.h"

/* ---- The text (weights_text.c) ---------------------------------------------------------------------------------- */

/* DIM, DIM:cos and DIM:days. */
typedef enum { BY_VALUE, BY_COSINE, BY_DAYS } weighing;

/* The entry that *rest, a comma list or NULL, begins with; NULL after the last one. *rest is moved behind it. */
const char *weights_next(const char **rest, size_t *length);

/* What an entry of that length is, and the length of the :cos or :days at its end. */
weighing weighing_of(const char *entry, size_t length);
size_t weights_function_length(const char *entry, size_t length);

/* "dim 1 (lat)", or "dim 1" where it has no name. */
const char *weights_dim_text(const ndr_h5_info *info, int d, char text[DIM_CHARS]);

/* The library's last sentence without the dataset that it may begin with. */
const char *weights_reason(const char *where);

/* Complain of the library's last error, and of a lack of memory. Return false. */
bool weights_refuse(const char *where);
bool weights_refuse_memory(const char *where);

/* ---- Dims (weights_dims.c) -------------------------------------------------------------------------------------- */

/* Complains of the first entry of a list that is no dim. A dataset whose name has commas is no list. */
bool weights_check_list(const h5gpured_options *options, const ndr_h5_info *info, const char *where);

/* Sets the tensor to the product of the weights of the list's dims. */
bool weights_read_dims(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where, weights *w);

/* ---- A dataset (weights_dataset.c) ------------------------------------------------------------------------------ */

/* Whether a dataset can be opened by that text. A path without a file is in the first input. */
bool weights_are_there(const h5gpured_options *options, const char *path);

/* Finds the dataset that a user means by a word: one of that path, else one of that name in the dataset's group, else
 * in the root. Returns what --weights has to be for it, to be freed; NULL: there is none, or no memory. */
char *weights_find_path(const h5gpured_options *options, const ndr_h5_info *info, const char *word);

/* Opens the dataset and pairs its dims. */
bool weights_read_dataset(const h5gpured_options *options, const ndr_h5_dataset *dataset, const char *where,
                          weights *w);

#endif
