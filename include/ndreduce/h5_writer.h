/* Files of results, as HDF5 that netCDF-4's readers open: results that are in memory, results that are written as they
 * are computed, and copies of other datasets, all with the coordinates and attributes that describe them. h5.h tells
 * what is true of all these headers.
 *
 *   ndr_h5_dataset *dataset;
 *   ndr_h5_writer *writer = NULL;
 *   ndr_h5_writer_options options = NDR_H5_WRITER_OPTIONS_INIT;
 *   ndr_problem problem = NDR_PROBLEM_INIT;
 *   ndr_op op = NDR_MEAN;
 *   const char *name = "temp";
 *   options.overwrite = 1;
 *   ndr_status status = ndr_h5_open(&dataset, "data/ocean.nc", "/temp", NULL);
 *   if (status == NDR_OK) status = ndr_h5_problem(&problem, dataset, NDR_DIMS(0), 1, &op);
 *   if (status == NDR_OK) status = ndr_h5_writer_create(&writer, "means.nc", 0, NULL, &options);
 *   if (status == NDR_OK) status = ndr_h5_writer_add_reduced(writer, dataset, &problem, &name, NULL);
 *   if (status == NDR_OK) status = ndr_h5_writer_commit(writer);
 *   puts(status == NDR_OK ? "written" : ndr_last_error()); // prints written
 *   ndr_h5_writer_destroy(writer);
 *   ndr_h5_close(dataset);
 */
#ifndef NDREDUCE_H5_WRITER_H
#define NDREDUCE_H5_WRITER_H

#include "ndreduce/h5_reduce.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A file of results. Until ndr_h5_writer_commit has succeeded, nothing is at `path` that was not there before: the
 * bytes go to a temporary file in the same folder, which commit renames and ndr_h5_writer_destroy removes. Once a
 * commit has returned, or on_remark or on_progress has stopped a call, the writer can only be destroyed: other calls
 * fail.
 *
 * The file lists its variables as netCDF lists their sources in the input, in whatever order they were added: the
 * variables of a group, then its groups, each in the order of creation or, if the group does not keep it, by name.
 * Results of one source keep the order in which they were added; files come in the order of their first result or copy.
 */
typedef struct ndr_h5_writer ndr_h5_writer;

/* How a file of results is made. Start from NDR_H5_WRITER_OPTIONS_INIT; NULL means exactly that. */
typedef struct ndr_h5_writer_options {
  size_t size;
  int overwrite;       /* not 0: a file that exists is replaced */
  int deflate;         /* 1 .. 9: level of compression, behind a shuffle; 0: none; -1: results of at least 64 KiB are
                          compressed if their source is, by deflate at its level, in chunks that follow the source's */
  const char *history; /* a line that is put before the input's attribute `history`, as "DATE: COMMAND"; NULL: none */
  const char *comment; /* "weighted by lat": in brackets in cell_methods of sum, mean, var, std and norm2; or NULL */
  /* Called once for each thing of the inputs that the file will not have though it belongs there; may be NULL. Called
   * under the lock. Once it has stopped a call, the writer can only be destroyed. */
  int (*on_remark)(void *user, const char *sentence);
  /* Called every few MiB while the file is written, without the lock; may be NULL. Once it has stopped a call, the
   * writer can only be destroyed. */
  int (*on_progress)(void *user, int64_t bytes, int64_t total_bytes);
  void *user;        /* for both */
  const char *where; /* a condition that cell_methods says in brackets of all results, "where x > 273.15"; or NULL. One
                        that has brackets itself, which would end these, is called a condition only */
  int threads;       /* at most so many CPU threads compress; 0: ndr_thread_count() */
} ndr_h5_writer_options;
#define NDR_H5_WRITER_OPTIONS_INIT                                                                                     \
  { sizeof(ndr_h5_writer_options), 0, -1, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/* Starts a file. Fails with NDR_ERR_FILE if path is one of the input files (same file, whatever its name), exists and
 * may not be overwritten or written to, is a folder or not a regular file, or its folder cannot be written to. A
 * symbolic link is followed and stays; a file that is replaced hands its permissions on, and owner and group where that
 * is allowed. On failure *writer is NULL. */
NDR_API ndr_status ndr_h5_writer_create(ndr_h5_writer **writer, const char *path, int input_count,
                                        const char *const *inputs, const ndr_h5_writer_options *options);

/* Fails with NDR_ERR_FILE if the file at the writer's path is one that the dataset is made of: its own, or one that
 * external links, external storage or a virtual dataset have led to. ndr_h5_writer_add finds that out for its source;
 * this call, before the work, and for what is read without being added, like weights. */
NDR_API ndr_status ndr_h5_writer_protect(const ndr_h5_writer *writer, const ndr_h5_dataset *dataset);

/* Says what the groups of the results are that are added from now on; they must live until then. NULL: these results
 * have no groups. */
NDR_API ndr_status ndr_h5_writer_groups(ndr_h5_writer *writer, const ndr_h5_groups *groups);

/* Names the sources of the arrays that operators of one's own and a condition read beside the dataset, for results that
 * are added after this call. names[i] is the array's name there; sources[i] is a text for people, as "b.nc:/tas". A
 * result's attribute ndreduce_with then has those that its operator or the condition reads: "y: b.nc:/tas; lat:
 * coordinate". The texts are copied; a count of 0 forgets those of the call before. */
NDR_API ndr_status ndr_h5_writer_array_sources(ndr_h5_writer *writer, int count, const char *const *names,
                                               const char *const *sources);

/* Sets the units of the weights of results that are added after this call. A weighted sum then has the product of
 * units, "K m2", and a weighted norm2 none; neither has the standard_name of the source. "": they are not known, and a
 * sum has none, either. NULL: weights are numbers. The text is copied. */
NDR_API ndr_status ndr_h5_writer_weight_units(ndr_h5_writer *writer, const char *units);

/* Adds the result of the problem's ops[i] over `source` as dataset `name`, which is not "" or ".". A name with "/",
 * GROUP/NAME, puts it into a group; then all that belongs to it lies in groups as in the input, and groups have the
 * attributes that those of the same path have there. With it are written:
 *   scales       copies of those of the dims that are left. A dim that is unlimited in the source (by its scale, or
 *                where it has none by the dataset) stays so. A reduced time axis leaves the time that it covered, with
 *                its bounds. A dim of groups of times, or windows, has the dim's name and a coordinate with
 *                bounds; of climatologies these are climatology_bounds, as in CF's section 7.4. A dim of labels is
 *                called as their dataset, and has its attributes. Windows over several dims have a dim for each, which
 *                the result may have, too, or the one dim of groups (ndr_h5_groups_unfold).
 *   variables    copies of those that the scales' attributes bounds, climatology and formula_terms name, and the
 *                source's coordinates, grid_mapping, mesh, geometry and cell_measures: all that have no reduced dim, of
 *                64 MiB together at most. They are cut as the source is; of a series those of all files are joined,
 *                where they have the dim along which the files follow each other.
 *   attributes   of the source, where they hold for the result: those of packing and of valid values only if it is of
 *                the packed type; units squared for a variance and none for indices; cell_methods extended. An
 *                attribute may be of any size. One of more than 65,536 texts of variable length, one of numbers with
 *                several dims, which netCDF cannot read, and one of neither numbers nor texts is left out, and
 *                on_remark told. Attributes of the whole file are those of the first source's root, and of its groups
 *                where no outer one has the name and results do not lie in groups.
 * f16 and bf16 are written as f32, because readers of netCDF crash on them. HDF5's times of creation are not kept.
 *
 * Where missing elements were left out, NaN is written as the source's _FillValue if the dtype has that value and no
 * element does. The attribute _FillValue says so, and missing_value where the source has one.
 *
 * The result is copied: memory for it is needed a second time until the writer is destroyed, and a third time during
 * the call if missing elements are marked. */
NDR_API ndr_status ndr_h5_writer_add(ndr_h5_writer *writer, const ndr_h5_dataset *source, const ndr_problem *problem,
                                     int i, const char *name, const DLTensor *result);

/* Adds what ndr_h5_locate has found along dim as dataset `name`: f64 of the shape of the indices, described as the
 * coordinates of dim are. NaN is marked as missing. */
NDR_API ndr_status ndr_h5_writer_add_located(ndr_h5_writer *writer, const ndr_h5_dataset *source,
                                             const ndr_problem *problem, int dim, const char *name,
                                             const DLTensor *values);

/* Reduces the dataset as ndr_h5_reduce does, and adds the result of each operator as ndr_h5_writer_add does, of ops[i]
 * as names[i], without holding it in memory: blocks of results are written to the temporary file as they are finished.
 * Of options->memory, or its default, three quarters are for reading and reducing, and the rest for the chunks that are
 * being written. A file of less than an eighth of it is put together in memory.
 *
 * Chunks that follow those of the source, and whole ones of the blocks, are compressed by all threads. Where a part of
 * the source was opened that does not begin with a chunk, some chunks are read again to be completed. If an element
 * turns out to be equal to the value that is to mark missing ones, all is done again with NaN as the mark.
 *
 * Fails as the two do, and with NDR_ERR_FILE, before anything is read, if results that are not compressed need more
 * bytes than the file system has left; what compressed ones need is not known before. The writer then can only be
 * destroyed.
 */
NDR_API ndr_status ndr_h5_writer_add_reduced(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_problem *problem,
                                             const char *const *names, const ndr_h5_options *options);

/* Scans the dataset as ndr_h5_scan_to does, and adds the result as dataset `name` in the same way. It has all dims of
 * the source with their scales; cell_methods says "time: sum (running)", or "(running from the last, exclusive)" of a
 * scan that is reversed and exclusive. */
NDR_API ndr_status ndr_h5_writer_add_scan(ndr_h5_writer *writer, ndr_h5_dataset *source, const ndr_h5_scan *scan,
                                          const char *name, const ndr_h5_options *options);

/* Copies a dataset, or the part of it that was opened, into the groups that it lies in: elements as they are stored,
 * its attributes, and the scales and variables that ndr_h5_writer_add brings with a result. Does nothing where the file
 * has it already, because a result brought it or it has been copied, also from another input in which it is the same.
 * If its name is taken it is called NAME_2. *name receives what it is called, which lives as long as the writer, or
 * NULL where nothing was done. Enumerations in netCDF files become their integers; floats that netCDF lacks are
 * widened. Fails with NDR_ERR_DTYPE on elements that are neither numbers nor texts and where the files of a series
 * differ in how they store elements, with NDR_ERR_MEMORY where there is too little memory for the elements twice. */
NDR_API ndr_status ndr_h5_writer_copy(ndr_h5_writer *writer, const ndr_h5_dataset *source, const char **name);

/* Whether one copy can stand for two datasets: *same is 1 if their shapes, types, stored elements, and the attributes
 * that say what elements mean are equal, else 0. Fails with NDR_ERR_ARGUMENT if one is a series, and with NDR_ERR_DTYPE
 * and NDR_ERR_MEMORY as ndr_h5_writer_copy does. */
NDR_API ndr_status ndr_h5_same(const ndr_h5_dataset *a, const ndr_h5_dataset *b, int *same);

/* Finishes the file and puts it at path. A writer commits once; after that only ndr_h5_writer_destroy may be called,
 * and other calls fail with NDR_ERR_ARGUMENT, or NDR_ERR_CANCELLED if on_progress stopped the commit. */
NDR_API ndr_status ndr_h5_writer_commit(ndr_h5_writer *writer);

/* The same with these bytes, a file of another format, in place of the results that were added. */
NDR_API ndr_status ndr_h5_writer_commit_bytes(ndr_h5_writer *writer, const void *data, size_t bytes);

/* Frees a writer and removes its temporary file, if there still is one; NULL is allowed. */
NDR_API void ndr_h5_writer_destroy(ndr_h5_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
