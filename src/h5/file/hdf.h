/* What the rest of src/h5 needs around HDF5's own calls: one lock, no errors printed, HDF5's reasons in our sentences,
 * and calls that behave alike in all its versions. */
#ifndef NDR_H5_FILE_HDF_H
#define NDR_H5_FILE_HDF_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "core/status.h"
#include "ndreduce/h5_dataset.h"

/* HDF5's settings while one of our calls runs, and what they were before. */
typedef struct ndr_hdf_scope {
  H5E_auto2_t print;
  void *print_data;
  unsigned plugins;
  bool no_plugins;
} ndr_hdf_scope;

/* Takes the lock that serialises all HDF5 calls of this library, and turns error printing off, plugins too if asked. */
void ndr_hdf_enter(ndr_hdf_scope *scope, bool no_plugins);
void ndr_hdf_leave(const ndr_hdf_scope *scope);

/* Fails with "WHERE: WHAT: REASON" where the reason is that of ndr_hdf_reason. Must be called before the next call to
 * HDF5, which clears its error stack. */
ndr_status ndr_hdf_fail(ndr_status status, const char *where, const char *what);

/* The same, but without a reason: for where HDF5 has been called since. The status is NDR_ERR_FILE. */
ndr_status ndr_hdf_fail_late(const char *where, const char *what);

/* Returns the memory that an allocation gave. If it is NULL, then both functions above fail with NDR_ERR_MEMORY until
 * the scope ends, whatever their callers believe. */
void *ndr_hdf_noted(void *memory);

/* Whether ndr_hdf_noted has been given NULL in this scope. */
bool ndr_hdf_lacks_memory(void);

/* The reason alone; "" if HDF5 gives none: what is damaged, or what the system said, or else HDF5's own text. */
enum { NDR_HDF_REASON = 240 };
void ndr_hdf_reason(char reason[NDR_HDF_REASON]);

/* The text of the innermost entry of HDF5's error stack, or "". */
enum { NDR_HDF_TEXT = 4608 }; /* with the name of a file */
void ndr_hdf_text(char text[NDR_HDF_TEXT]);

/* Why the last call failed: because the file could not be read; because of what is in the file. Both are false if
 * memory was short. */
bool ndr_hdf_failed_to_read(void);
bool ndr_hdf_is_malformed(void);

/* Frees what HDF5 allocated for elements of variable length. */
#if H5_VERSION_GE(1, 12, 0)
#define ndr_hdf_reclaim H5Treclaim
#else
#define ndr_hdf_reclaim H5Dvlen_reclaim
#endif

/* The bytes of the texts that elements of variable length lead to; negative where they cannot be told. */
int64_t ndr_hdf_text_bytes(hid_t dataset, hid_t type);

/* Whether the object of that path is a dataset; negative where that cannot be read. */
htri_t ndr_hdf_is_dataset(hid_t file, const char *path, hid_t access);

/* Finds the path of an object in the file that holds it: to be freed, NULL if it has none. False if that cannot be
 * told, or memory is short. */
bool ndr_hdf_path(hid_t object, char **path);

/* Which object it is: HDF5 gives no two files the same number, not even one that is opened again. */
typedef struct ndr_hdf_object {
  unsigned long file;
  uint8_t place[16]; /* in the file */
  unsigned links;    /* hard ones, that lead to it */
  bool dataset;
} ndr_hdf_object;

/* Finds the object of a path, "." for `from` itself. False if there is none, or it cannot be read. */
bool ndr_hdf_identify(hid_t from, const char *path, hid_t access, ndr_hdf_object *object);

bool ndr_hdf_same_object(const ndr_hdf_object *a, const ndr_hdf_object *b);

/* Visits the links of a group in the order of their names, or as the second in that of their creation, which the group
 * must keep. Stops, and returns the value, when visit returns other than 0. */
typedef int (*ndr_hdf_link_visitor)(void *user, const char *name, H5L_type_t type);
herr_t ndr_hdf_each_link(hid_t group, ndr_hdf_link_visitor visit, void *user);
herr_t ndr_hdf_each_link_made(hid_t group, ndr_hdf_link_visitor visit, void *user);

/* Reads when a link was made, as a number among the links of its group; negative if the group does not keep that. False
 * if it cannot be read. */
bool ndr_hdf_link_number(hid_t file, const char *path, hid_t access, int64_t *number);

/* Visits every group and dataset below `root` once, in the order of names. Stops when visit returns other than 0. */
typedef int (*ndr_hdf_visitor)(void *user, const char *path, bool is_dataset);
herr_t ndr_hdf_visit(hid_t root, ndr_hdf_visitor visit, void *user);

/* Selects a box of a dataspace: along each dim `count` elements, `step` apart, or next to each other if step is NULL. A
 * scalar has one element, which is selected already. False if that fails or `space` is no dataspace. */
bool ndr_hdf_select(hid_t space, int ndim, const int64_t *from, const int64_t *step, const int64_t *count);

/* What H5Dget_storage_size returns. False if its 0 means a failure: taken as a size, it would turn the data into fill
 * values. */
bool ndr_hdf_storage_bytes(hid_t dataset, hsize_t *bytes);

/* Opens a file to read; a failure says what the file is instead. structure: what ranks share of it, or NULL. */
ndr_status ndr_hdf_open(const char *file, ndr_h5_structure *structure, hid_t *opened);

/* Three texts one after the other, to be freed; NULL where there is no memory. Not of HDF5. */
char *ndr_hdf_join(const char *a, const char *b, const char *c);

#endif
