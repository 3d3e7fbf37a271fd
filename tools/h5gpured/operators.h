/* Operators of one's own, and the expressions in them and in conditions. */
#ifndef H5GPURED_OPERATORS_H
#define H5GPURED_OPERATORS_H

#include "h5gpured/h5gpured.h"

/* The name of operator i of the command line. */
const char *op_name(const h5gpured_options *options, int i);

/* Makes the operators that are texts, with the values of --set, and arrays in one order. Returns NULL, or what is wrong
 * with the command line, to be freed. */
char *operators_make(h5gpured_options *options);

/* The operators for one dataset: those that name its dims in index(NAME) are made for it, and to be closed; not after a
 * complaint. */
bool operators_open(const h5gpured_options *options, const ndr_h5_info *info, const char *where, ndr_op *ops);
void operators_close(const h5gpured_options *options, const ndr_op *ops);
void operators_free(h5gpured_options *options);

/* What an operator of one's own is made of. */
typedef struct operator_parts {
  char *text; /* as the library spells it; to be freed */
  int parameter_count;
  named_value parameters[MOST_VALUES]; /* of --set */
  int value_counts[MOST_VALUES];       /* of each parameter */
  double values[MOST_VALUES];          /* of all of them, one after the other */
} operator_parts;

/* `op` is bound. False where there is no memory. */
bool operator_take_apart(const h5gpured_options *options, ndr_op op, operator_parts *parts);

bool is_named(const named_value *value, const char *name, int length);

/* The next name of an array or a number in an expression, from *text on; *text is moved behind it. Returns its length,
 * 0 after the last. */
int expression_name(const char **text, const char **name);

/* Sets *numbered to the text with numbers in place of the names of dims in index(NAME), to be freed: those of the
 * dataset that `info` describes, or 0 where it is NULL. Returns NULL, or what is wrong, until the next error. */
const char *expression_number_dims(const char *text, const ndr_h5_info *info, char **numbered);

/* The expression with a number in place of a name; to be freed. NULL: out of memory. */
char *expression_put(const char *text, const named_value *name, double value);

/* What looks like the beginning of a date, YEAR-MONTH, which an expression subtracts; NULL if there is none. */
const char *expression_date(const char *text);

/* Whether --where is a dataset, or a file without one, and no condition; so it is for the labels of --by. */
bool where_is_dataset(const char *text);

/* Whether there is in a text what conditions have, and names of files do not; a part behind one may have a "=". */
bool compares(const char *text);

/* Whether a name in the text ends as names of HDF5 files do: there may be no such file. */
bool has_file_name(const char *text);

/* The end of errors of conditions that have the name of a file in them. */
#define NAMED_FILES "; in a condition other files have names: --where 'Y > 0' --with Y=FILE:/PATH"

#endif
