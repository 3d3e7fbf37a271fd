/* What only HDF5 can read. One thread at a time is in the library, so a box is one piece. */
#include "h5/file/seam.h"
#include "h5/read/route/route.h"

/* A filter that is missing is known only once a chunk has needed it. */
static ndr_status fail_read(const ndr_h5_dataset *dataset) {
  ndr_status status = ndr_hdf_fail(NDR_ERR_FILE, dataset->where, "cannot be read");
  hid_t creation = H5Dget_create_plist(dataset->id);
  int count = H5Pget_nfilters(creation);
  for (int i = 0; i < count; i++) {
    char name[32] = "";
    size_t values = 0;
    unsigned flags, config;
    H5Z_filter_t filter = H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, sizeof name, name, &config);
    name[sizeof name - 1] = 0;
    if (filter < 0 || H5Zfilter_avail(filter) > 0 || ndr_filter_is_rounding(filter)) continue;
    if (ndr_filter_name(filter)) snprintf(name, sizeof name, "%s", ndr_filter_name(filter));
    const char *library = ndr_filter_library(filter);
    status = ndr_fail(NDR_ERR_FILE,
                      "%s: needs filter %d%s%s%s, which HDF5 does not find (plugins: HDF5_PLUGIN_PATH%s)%s%s; where it "
                      "is there, h5repack -f NONE undoes it",
                      dataset->where, (int)filter, *name ? " (" : "", name, *name ? ")" : "",
                      dataset->no_plugins ? ", turned off" : "", library ? ", nor is this built with " : "",
                      library ? library : "");
    break;
  }
  H5Pclose(creation);
  return status;
}

/* What the file does not have of a box stays so. */
static void fill_box(const ndr_reader *reader, ndr_box box, char *to) {
  size_t bytes = (size_t)ndr_stored_bytes(reader);
  ndr_gather all = {.count = 1, .axes = {{1, 0, (int64_t)bytes}}};
  for (int d = 0; d < reader->dataset->info.ndim; d++) all.axes[0].size *= box.size[d];
  ndr_gather_fill(&all, bytes, reader->stored_fill, to);
}

static ndr_status read_side(const ndr_reader *reader, ndr_box box, const ndr_side *side, void *to) {
  const ndr_h5_dataset *dataset = reader->dataset;
  int64_t present[NDR_MAX_DIMS], place[NDR_MAX_DIMS];
  hsize_t count[NDR_MAX_DIMS];
  int ndim = dataset->info.ndim, new_dims = dataset->new_dims;
  for (int d = 0; d < ndim; d++) {
    count[d] = (hsize_t)box.size[d];
    place[d] = side->begin[d] - box.begin[d];
    present[d] = ndr_hdf_present(dataset, d, side->from[d], side->size[d]);
    if (present[d] <= 0) return NDR_OK;
  }
  hid_t target = H5Screate_simple(ndim, count, NULL), source = H5Dget_space(dataset->id);
  bool good =
      target >= 0 &&
      ndr_hdf_select(source, ndim - new_dims, side->from + new_dims, dataset->step + new_dims, present + new_dims) &&
      ndr_hdf_select(target, ndim, place, NULL, present);
  if (good) good = H5Dread(dataset->id, reader->memory_type, target, source, H5P_DEFAULT, to) >= 0;
  ndr_status status = good ? NDR_OK : fail_read(dataset);
  if (source >= 0) H5Sclose(source);
  if (target >= 0) H5Sclose(target);
  return status;
}

static ndr_status read_box(const ndr_reader *reader, ndr_box box, void *to) {
  const int sides = ndr_seam_sides(reader->dataset, box.begin, box.size);
  if (ndr_hdf_is_short(reader->dataset)) fill_box(reader, box, to);
  for (int i = 0; i < sides; i++) {
    const ndr_side side = ndr_seam_side(reader->dataset, box.begin, box.size, i);
    NDR_TRY(read_side(reader, box, &side, to));
  }
  return NDR_OK;
}

ndr_status ndr_library_read(const ndr_reader *reader, ndr_reader_scratch *scratch, ndr_box box, void *data) {
  const ndr_unpack unpack = ndr_unpack_native(&reader->unpack);
  int64_t from = ndr_stored_bytes(reader), to = (int64_t)ndr_dtype_bytes(unpack.to), count = 1;
  for (int d = 0; d < reader->dataset->info.ndim; d++) count *= box.size[d];
  ndr_hdf_scope scope;
  double begin = ndr_seconds();
  ndr_hdf_enter(&scope, reader->dataset->no_plugins);
  char *stored = (char *)data + count * (to - from);
  ndr_status status = read_box(reader, box, stored);
  ndr_hdf_leave(&scope);
  double middle = ndr_seconds();
  scratch->read_seconds += middle - begin;
  scratch->stored_bytes += count * from;
  if (status != NDR_OK || ndr_unpack_copies(&unpack)) return status;
  ndr_unpack_run(&unpack, stored, 1, data, count);
  scratch->unpack_seconds += ndr_seconds() - middle;
  return NDR_OK;
}
