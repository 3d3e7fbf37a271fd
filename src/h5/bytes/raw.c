/* See raw.h. Reads numbers and bytes; what they are is in header.c, message.c and heap.c. */
#include "h5/bytes/raw.h"

#include <unistd.h>

/* Only this driver's handle is a descriptor. */
static bool has_descriptor(hid_t file) {
  hid_t access = H5Fget_access_plist(file);
  bool has = access >= 0 && H5Pget_driver(access) == H5FD_SEC2;
  if (access >= 0) H5Pclose(access);
  return has;
}

static int descriptor_of(hid_t file) {
  void *handle = NULL;
  bool found = has_descriptor(file) && H5Fget_vfd_handle(file, H5P_DEFAULT, &handle) >= 0 && handle;
  return found ? *(const int *)handle : -1;
}

int ndr_raw_descriptor(hid_t object) {
  hid_t file = H5Iget_file_id(object);
  int descriptor = file >= 0 ? descriptor_of(file) : -1;
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
  raw->fd = file >= 0 ? descriptor_of(file) : -1;
  bool good = raw->fd >= 0 && find_layout(file, raw);
  if (file >= 0) H5Fclose(file);
  return good;
}

bool ndr_raw_read(ndr_raw *raw, uint64_t address, void *bytes, size_t count) {
  uint64_t at;
  if (__builtin_add_overflow(raw->base, address, &at) || at > INT64_MAX) return false;
  ssize_t length = pread(raw->fd, bytes, count, (off_t)at);
  if (length < 0) raw->failed = true;
  return length == (ssize_t)count;
}

uint64_t ndr_raw_number(const uint8_t *bytes, size_t count) {
  uint64_t value = 0;
  for (size_t i = count < 8 ? count : 8; i > 0; i--) value = value << 8 | bytes[i - 1];
  return value;
}
