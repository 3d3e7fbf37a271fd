/* See file_driver.h. */
#include "h5/write/storage/file_driver.h"

#include <stdlib.h>
#include <string.h>

#include "h5/structure/driver_file.h"

/* In the range that HDF5 leaves to anyone. */
#define DRIVER_NUMBER 376

/* What HDF5 copies of the access properties. */
typedef struct {
  ndr_file_driver *driver;
} properties;

typedef struct {
  ndr_driver_file base;
  ndr_file_driver *driver;
} open_file;

static void note(ndr_file_driver *driver, ndr_status status) {
  if (status == NDR_OK || driver->status != NDR_OK) return;
  driver->status = status;
  snprintf(driver->reason, sizeof driver->reason, "%s", ndr_last_error());
}

static H5FD_t *open_driver(const char *name, unsigned flags, hid_t access, haddr_t most) {
  const properties *p = H5Pget_driver_info(access);
  open_file *file = p ? ndr_hdf_noted(calloc(1, sizeof *file)) : NULL;
  struct stat facts;
  (void)name, (void)flags, (void)most;
  if (!file) return NULL;
  file->driver = p->driver;
  if (fstat(p->driver->file->fd, &facts) == 0) file->base.end = (haddr_t)facts.st_size;
  return &file->base.base;
}

static herr_t close_driver(H5FD_t *base) {
  free(base);
  return 0;
}

static open_file *own(H5FD_t *base) {
  return (open_file *)(void *)base;
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t bytes, void *to) {
  open_file *file = own(base);
  (void)type, (void)transfer;
  ndr_status status = ndr_atomic_file_read_at(file->driver->file, (long long)address, to, bytes);
  note(file->driver, status);
  return status == NDR_OK ? 0 : -1;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t bytes,
                          const void *from) {
  open_file *file = own(base);
  (void)type, (void)transfer;
  if (address + bytes > file->base.end) file->base.end = address + bytes;
  if (file->driver->status == NDR_OK)
    note(file->driver, ndr_atomic_file_write_at(file->driver->file, (long long)address, from, bytes));
  return 0;
}

static herr_t truncate_file(H5FD_t *base, hid_t transfer, hbool_t closing) {
  open_file *file = own(base);
  (void)transfer, (void)closing;
  if (file->base.end == file->base.end_allocated) return 0;
  file->base.end = file->base.end_allocated;
  if (file->driver->status == NDR_OK)
    note(file->driver, ndr_atomic_file_resize(file->driver->file, (long long)file->base.end));
  return 0;
}

/* The driver must not be called once the writer is gone, so closing the file closes what is open of it. */
static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = DRIVER_NUMBER,
#endif
    .name = "ndreduce",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(properties),
    .open = open_driver,
    .close = close_driver,
    .query = ndr_driver_query,
    .get_eoa = ndr_driver_get_allocated,
    .set_eoa = ndr_driver_set_allocated,
    .get_eof = ndr_driver_get_end,
    .read = read_bytes,
    .write = write_bytes,
    .truncate = truncate_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

hid_t ndr_file_driver_open(ndr_file_driver *driver) {
  const properties p = {driver};
  hid_t access = H5Pcreate(H5P_FILE_ACCESS), file = H5I_INVALID_HID;
  driver->id = H5FDregister(&driver_class);
  if (driver->id >= 0 && H5Pset_driver(access, driver->id, &p) >= 0 &&
      H5Pset_libver_bounds(access, H5F_LIBVER_EARLIEST, H5F_LIBVER_V18) >= 0)
    file = H5Fopen(driver->file->path, H5F_ACC_RDWR, access);
  if (access >= 0) H5Pclose(access);
  return file;
}

ndr_status ndr_file_driver_check(const ndr_file_driver *driver) {
  return driver->status == NDR_OK ? NDR_OK : ndr_fail(driver->status, "%s", driver->reason);
}

void ndr_file_driver_close(ndr_file_driver *driver) {
  if (driver->file && driver->id >= 0) H5FDunregister(driver->id);
  driver->file = NULL;
}
