/* Opens a file, and says what one is that is not HDF5. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "h5/find/path.h"
#include "h5/structure/reading_driver.h"

/* What a file that HDF5 does not open may be, by its first bytes. */
static const struct {
  char bytes[8];
  size_t length;
  const char *advice;
} foreign[] = {
    {"CDF\1", 4, "netCDF-3 classic, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"CDF\2", 4, "netCDF-3 with 64-bit offsets, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"CDF\5", 4, "netCDF-3 with 64-bit data, not HDF5: convert with nccopy -k nc4 IN OUT"},
    {"\x0e\x03\x13\x01", 4, "HDF4, not HDF5: convert with h4toh5 IN OUT"},
    {"GRIB", 4, "GRIB, not HDF5: convert with cdo -f nc4 copy IN OUT"},
    {"BUFR", 4, "BUFR, not HDF5"},
    {"SIMPLE  ", 8, "FITS, not HDF5"},
    {"\x93NUMPY", 6, "a NumPy file, not HDF5"},
    {"PK\3\4", 4, "a zip archive, not HDF5: unpack it first"},
    {"\x1f\x8b", 2, "compressed by gzip: unpack it with gunzip first"},
    {"BZh", 3, "compressed by bzip2: unpack it with bunzip2 first"},
    {"\xfd"
     "7zXZ",
     5, "compressed by xz: unpack it with unxz first"},
    {"\x28\xb5\x2f\xfd", 4, "compressed by zstd: unpack it with unzstd first"},
};

/* A superblock has that many bytes or more. */
enum { LEAST_BYTES = 48 };

static bool is_text(const char *bytes, size_t length) {
  for (size_t i = 0; i < length; i++)
    if ((unsigned char)bytes[i] < 32 && !strchr("\t\n\r\f", bytes[i])) return false;
  return !memchr(bytes, 0, length);
}

static const char *recognise(const char *file) {
  static const char signature[] = "\x89HDF\r\n\x1a\n";
  char start[512] = "";
  FILE *stream = fopen(file, "rb");
  if (!stream) return strerror(errno);
  size_t length = fread(start, 1, sizeof start, stream);
  fclose(stream);
  if (length == 0) return "is empty";
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    if (memcmp(start, foreign[i].bytes, foreign[i].length) == 0) return foreign[i].advice;
  if (length < LEAST_BYTES && memcmp(start, signature, sizeof signature - 1) == 0)
    return "is cut short: it ends within its first block";
  return is_text(start, length) ? "is text, not HDF5" : NULL;
}

/* HDF5 knows how long a file should be; false where that is not what is wrong. */
static bool is_short(unsigned long long *bytes, unsigned long long *stored) {
  char text[NDR_HDF_TEXT];
  ndr_hdf_text(text);
  const char *actual = strstr(text, "truncated file: eof = "), *wanted = strstr(text, "stored_eof = ");
  if (!actual || !wanted) return false;
  *bytes = strtoull(strchr(actual, '=') + 1, NULL, 10);
  *stored = strtoull(strchr(wanted, '=') + 1, NULL, 10);
  return true;
}

/* Says why HDF5 has not opened the file. */
static ndr_status fail_to_open(const char *file) {
  unsigned long long bytes, stored;
  if (is_short(&bytes, &stored))
    return ndr_fail(NDR_ERR_FILE, "%s: is cut short: it has %llu of its %llu bytes; copy or download it again", file,
                    bytes, stored);
  ndr_status status = ndr_hdf_fail(NDR_ERR_FILE, file, "cannot be opened as HDF5");
  const char *advice = recognise(file);
  if (!advice && H5Fis_hdf5(file) <= 0) advice = "is not an HDF5 file";
  return advice ? ndr_fail(NDR_ERR_FILE, "%s: %s", file, advice) : status;
}

ndr_status ndr_hdf_open(const char *file, ndr_h5_structure *structure, hid_t *opened) {
  struct stat facts;
  if (stat(file, &facts) != 0) return ndr_path_fail(file);
  if (!S_ISREG(facts.st_mode)) return ndr_fail(NDR_ERR_FILE, "%s: is not a regular file", file);
  hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  /* Network file systems may have no locks; reading does not need one. */
#if H5_VERSION_GE(1, 12, 1) || (H5_VERSION_GE(1, 10, 7) && !H5_VERSION_GE(1, 12, 0))
  H5Pset_file_locking(access, true, true);
#endif
  /* Reading in parallel goes by these drivers' descriptors, whatever the environment says. */
  *opened = H5I_INVALID_HID;
  if (structure ? ndr_reading_driver_set(access, structure) : H5Pset_fapl_sec2(access) >= 0)
    *opened = H5Fopen(file, H5F_ACC_RDONLY, access);
  ndr_status status = *opened < 0 ? fail_to_open(file) : NDR_OK;
  H5Pclose(access);
  return status;
}
