/* Reductions of HDF5 and netCDF-4 datasets of any size, read piece by piece within a memory budget.
 *
 *   float mean; // what ndr_problem_result says: of f32 elements f32
 *   DLTensor result = ndr_tensor(&mean, NDR_F32, 0, NULL), *results[] = {&result};
 *   ndr_h5_dataset *dataset;
 *   ndr_problem problem = NDR_PROBLEM_INIT;
 *   ndr_op op = NDR_MEAN;
 *   ndr_status status = ndr_h5_open(&dataset, "data/ocean.nc", "/temp", NULL);
 *   if (status == NDR_OK) status = ndr_h5_problem(&problem, dataset, NDR_ALL_DIMS, 1, &op);
 *   if (status == NDR_OK) status = ndr_h5_reduce(dataset, &problem, results, NULL);
 *   if (status == NDR_OK) printf("%g\n", mean); // prints 12.75
 *   else fprintf(stderr, "%s\n", ndr_last_error());
 *   ndr_h5_close(dataset);
 *
 * h5_dataset.h opens and describes datasets, h5_reduce.h reduces and scans them, and h5_writer.h writes files of
 * results. This header has all three, and tells what is true of them all. Link libndreduce_h5.
 *
 * Files are not trusted: sizes are checked before memory is taken, and other files that they lead to (external links,
 * external storage, sources of virtual datasets) are read only where they lie in the folder of the input or below it,
 * symbolic links resolved, unless that is allowed. The sentences of ndr_last_error() on what is wrong with a file name
 * it, and the dataset.
 *
 * Threads: the functions may be called from any thread; those on one dataset or writer, from one thread at a time. All
 * HDF5 calls made here are serialised by a lock of our own. A program that calls HDF5 in other threads itself needs an
 * HDF5 library built thread-safe. The error printing and plugin settings of HDF5 are as the program left them after
 * each call; when the program ends, error printing is turned off.
 *
 * Callbacks run in the thread that made the call. The lock is not recursive, so a callback must not call functions of
 * these headers unless its text there says that it may. It may call those of ndreduce.h, plan.h and device.h, print,
 * and fork. What it is handed lives until it returns. If it returns something other than 0, the call that it was called
 * by stops and fails with NDR_ERR_CANCELLED, unless its text says otherwise.
 *
 * Malformed files: what the library can tell of a file is checked before HDF5 reads it, and refused. That is not all:
 * HDF5 1.10 has defects by which a malformed file crashes it, or keeps it busy for ever, inside the process that reads
 * it, and no error comes back from there. h5gpured catches the crash, names the file and ends with status 1, which a
 * library cannot do for a program that goes on; signals end it wherever it is. A program that reads files of strangers
 * and must not be lost with them should read them in a child process with a limit of time, or run h5gpured, and use
 * HDF5 1.14 or later. */
#ifndef NDREDUCE_H5_H
#define NDREDUCE_H5_H

#include "ndreduce/h5_dataset.h"
#include "ndreduce/h5_reduce.h"
#include "ndreduce/h5_writer.h"

#endif
