/* See reading_driver.h. */
#include "h5/structure/reading_driver.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5/structure/driver_file.h"

/* In the range that HDF5 leaves to anyone. */
#define DRIVER_NUMBER 377

/* What HDF5 keeps of the access properties. */
typedef struct {
  ndr_h5_structure *structure;
} properties;

typedef struct {
  ndr_driver_file base;
  ndr_reading reading;
  dev_t device;
  ino_t inode;
} open_file;

static const open_file *file_of(const H5FD_t *base) {
  return (const open_file *)(const void *)base;
}

static open_file *own(H5FD_t *base) {
  return (open_file *)(void *)base;
}

/* The reason that the sentences of hdf.h are made of. */
static void fail(const char *what) {
  H5Epush2(H5E_DEFAULT, __FILE__, __func__, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "%s: %s", what,
           strerror(errno));
}

/* ---- Properties -------------------------------------------------------------------------------------------------- */

static void *copy_properties(const void *from) {
  properties *p = ndr_hdf_noted(malloc(sizeof *p));
  if (p) *p = *(const properties *)from;
  return p;
}

static herr_t free_properties(void *p) {
  free(p);
  return 0;
}

/* Files behind external links, and the sources of virtual datasets, are opened with these. */
static void *get_properties(H5FD_t *base) {
  const properties p = {own(base)->reading.structure};
  return copy_properties(&p);
}

/* ---- Files ------------------------------------------------------------------------------------------------------- */

static H5FD_t *open_driver(const char *name, unsigned flags, hid_t access, haddr_t most) {
  const properties *p = H5Pget_driver_info(access);
  open_file *file = p ? ndr_hdf_noted(calloc(1, sizeof *file)) : NULL;
  struct stat facts;
  (void)flags, (void)most;
  if (!file) return NULL;
  int fd = open(name, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &facts) != 0) {
    fail("unable to open file");
    if (fd >= 0) close(fd);
    free(file);
    return NULL;
  }
  file->reading = (ndr_reading){fd, p->structure, ndr_structure_enter(p->structure, name, fd)};
  file->base.end = (haddr_t)facts.st_size;
  file->device = facts.st_dev;
  file->inode = facts.st_ino;
  return &file->base.base;
}

static herr_t close_driver(H5FD_t *base) {
  close(own(base)->reading.fd);
  free(base);
  return 0;
}

static int order_of(uint64_t a, uint64_t b) {
  return (a > b) - (a < b);
}

/* HDF5 opens a file once for all that read it: but not for several ranks that are threads of a process. */
static int compare(const H5FD_t *one, const H5FD_t *other) {
  const open_file *a = file_of(one), *b = file_of(other);
  int order = order_of((uintptr_t)a->reading.structure, (uintptr_t)b->reading.structure);
  if (order == 0) order = order_of(a->device, b->device);
  return order ? order : order_of(a->inode, b->inode);
}

static herr_t get_handle(H5FD_t *base, hid_t access, void **handle) {
  (void)access;
  *handle = &own(base)->reading;
  return 0;
}

bool ndr_reading_read(const ndr_reading *reading, bool elements, int64_t begin, int64_t size, void *to) {
  ndr_image none = {0, 0, NULL};
  ndr_h5_structure *s = reading->structure;
  bool keeps = reading->file && s->comm->rank == 0 && (!elements || s->opening);
  return ndr_image_read(reading->file ? &reading->file->image : &none, reading->fd, begin, size, to,
                        keeps ? &s->room : NULL);
}

static herr_t read_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t bytes, void *to) {
  (void)transfer;
  if (ndr_reading_read(&own(base)->reading, type == H5FD_MEM_DRAW, (int64_t)address, (int64_t)bytes, to)) return 0;
  fail("file read failed");
  return -1;
}

static herr_t write_bytes(H5FD_t *base, H5FD_mem_t type, hid_t transfer, haddr_t address, size_t bytes,
                          const void *from) {
  (void)base, (void)type, (void)transfer, (void)address, (void)bytes, (void)from;
  return -1;
}

/* Rank 0 alone locks a file against writers, as thousands of locks would burden a file system. A copy on another
 * machine is not locked. */
static herr_t lock_file(H5FD_t *base, hbool_t writes) {
  const ndr_reading *reading = &own(base)->reading;
  (void)writes;
  if (reading->structure->comm->rank != 0 || flock(reading->fd, LOCK_SH | LOCK_NB) == 0 || errno == ENOSYS) return 0;
  fail("unable to lock file");
  return -1;
}

static herr_t unlock_file(H5FD_t *base) {
  const ndr_reading *reading = &own(base)->reading;
  if (reading->structure->comm->rank == 0) flock(reading->fd, LOCK_UN);
  return 0;
}

static const H5FD_class_t driver_class = {
#if H5_VERSION_GE(1, 13, 0)
    .version = H5FD_CLASS_VERSION,
    .value = DRIVER_NUMBER,
#endif
    .name = "ndreduce_reading",
    .maxaddr = (haddr_t)INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .fapl_size = sizeof(properties),
    .fapl_get = get_properties,
    .fapl_copy = copy_properties,
    .fapl_free = free_properties,
    .open = open_driver,
    .close = close_driver,
    .cmp = compare,
    .query = ndr_driver_query,
    .get_eoa = ndr_driver_get_allocated,
    .set_eoa = ndr_driver_set_allocated,
    .get_eof = ndr_driver_get_end,
    .get_handle = get_handle,
    .read = read_bytes,
    .write = write_bytes,
    .lock = lock_file,
    .unlock = unlock_file,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

/* Of the driver. Used inside the lock. */
static hid_t driver = H5I_INVALID_HID;

bool ndr_reading_driver_set(hid_t access, ndr_h5_structure *structure) {
  const properties p = {structure};
  if (H5Iget_type(driver) != H5I_VFL) driver = H5FDregister(&driver_class);
  return driver >= 0 && H5Pset_driver(access, driver, &p) >= 0;
}

bool ndr_reading_driver_is(hid_t access) {
  return driver >= 0 && H5Pget_driver(access) == driver;
}
