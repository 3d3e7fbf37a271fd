#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "h5/hdf.h"

/* What a file that HDF5 does not open may be, by its first bytes. */
static const struct {
  char bytes[5];
  size_t length;
  const char *advice;
} foreign[] = {
    {"CDF\1", 4, "netCDF-3 classic, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"CDF\2", 4, "netCDF-3 with 64-bit offsets, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"CDF\5", 4, "netCDF-3 with 64-bit data, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"\x0e\x03\x13\x01", 4, "HDF4, not HDF5: convert with h4toh5 IN OUT"},
};

static const char *recognise(const char *file) {
  char start[8] = "";
  FILE *stream = fopen(file, "rb");
  if (!stream) return strerror(errno);
  size_t length = fread(start, 1, sizeof start, stream);
  fclose(stream);
  if (length == 0) return "is empty";
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (memcmp(start, foreign[i].bytes, foreign[i].length) == 0) return foreign[i].advice;
  return NULL;
}

ndr_status ndr_hdf_open(const char *file, hid_t *opened) {
  struct stat facts;
  if (stat(file, &facts) != 0) return ndr_fail(NDR_ERR_FILE, "%s: %s", file, strerror(errno));
  if (!S_ISREG(facts.st_mode)) return ndr_fail(NDR_ERR_FILE, "%s: is not a regular file", file);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  /* Network file systems may have no locks; reading does not need one. */
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, true, true);
#endif
  ndr_status status = NDR_OK;
  *opened = H5Fopen(file, H5F_ACC_RDONLY, access);
  if (*opened < 0) {
    status = ndr_hdf_fail(NDR_ERR_FILE, file, "cannot be opened as HDF5");
    const char *advice = recognise(file);
    if (!advice && H5Fis_hdf5(file) <= 0) advice = "is not an HDF5 file";
    if (advice) status = ndr_fail(NDR_ERR_FILE, "%s: %s", file, advice);
  }
  H5Pclose(access);
  return status;
}
