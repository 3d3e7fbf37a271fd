/* See raw.h. Reads numbers and bytes; what they are is in header.c, message.c and heap.c. */
#include "h5/bytes/raw.h"

#include <sys/stat.h>
#include <unistd.h>

#include "h5/structure/reading_driver.h"

/* The handles of these drivers begin with a descriptor. */
static int descriptor_of(hid_t file, const ndr_reading **reading) {
  void *handle = NULL;
  hid_t access = H5Fget_access_plist(file);
  bool ours = access >= 0 && ndr_reading_driver_is(access);
  bool found = ours || (access >= 0 && H5Pget_driver(access) == H5FD_SEC2);
  if (access >= 0) H5Pclose(access);
  found = found && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle;
  *reading = found && ours ? handle : NULL;
  return found ? *(const int *)handle : -1;
}

int ndr_raw_descriptor(hid_t object) {
  const ndr_reading *reading;
  hid_t file = H5Iget_file_id(object);
  int descriptor = file >= 0 ? descriptor_of(file, &reading) : -1;
  if (file >= 0) H5Fclose(file);
  return descriptor;
}

static bool find_layout(hid_t file, ndr_raw *raw) {
  hsize_t base = 0;
  hid_t creation = H5Fget_create_plist(file);
  bool good = H5Pget_sizes(creation, &raw->address_bytes, &raw->length_bytes) >= 0 &&
              H5Pget_userblock(creation, &base) >= 0 && raw->address_bytes <= 8 && raw->length_bytes <= 8;
  raw->base = base;
  if (creation >= 0) H5Pclose(creation);
  return good;
}

bool ndr_raw_open(hid_t object, ndr_raw *raw) {
  hid_t file = H5Iget_file_id(object);
  raw->failed = false;
  raw->reading = NULL;
  raw->fd = file >= 0 ? descriptor_of(file, &raw->reading) : -1;
  bool good = raw->fd >= 0 && find_layout(file, raw);
  if (file >= 0) H5Fclose(file);
  return good;
}

static bool read_shared(ndr_raw *raw, int64_t at, void *bytes, size_t count) {
  struct stat facts;
  if (fstat(raw->fd, &facts) != 0) return !(raw->failed = true);
  if (at > facts.st_size || (int64_t)count > facts.st_size - at) return false;
  if (ndr_reading_read(raw->reading, false, at, (int64_t)count, bytes)) return true;
  raw->failed = true;
  return false;
}

bool ndr_raw_read(ndr_raw *raw, uint64_t address, void *bytes, size_t count) {
  uint64_t at;
  if (__builtin_add_overflow(raw->base, address, &at) || at > INT64_MAX) return false;
  if (raw->reading) return read_shared(raw, (int64_t)at, bytes, count);
  ssize_t length = pread(raw->fd, bytes, count, (off_t)at);
  if (length < 0) raw->failed = true;
  return length == (ssize_t)count;
}

uint64_t ndr_raw_number(const uint8_t *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count < 8 ? count : 8; i > 0; i--) value = value << 8 | bytes[i - 1];
  return value;
}
