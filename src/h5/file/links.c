/* See links.h: finds files where HDF5 would, and decides whether they may be read. Which files a dataset needs is in
 * sources.c. */
#include "h5/file/links.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "h5/find/path.h"

/* id is negative where HDF5 does not have the file open for us, and path then NULL. */
struct ndr_linked_file {
  char *path;
  hid_t id;
  ndr_link_kind kind;
  dev_t device;
  ino_t inode;
};

static ndr_status fail_memory(void) {
  return ndr_fail(NDR_ERR_MEMORY, "out of memory");
}

/* ---- Where HDF5 looks ------------------------------------------------------------------------------------------- */

static char *join(const char *a, size_t length, const char *b) {
  char *path = ndr_hdf_noted(malloc(length + strlen(b) + 2));
  if (path) sprintf(path, "%.*s%s%s", (int)length, a, length && a[length - 1] != '/' ? "/" : "", b);
  return path;
}

char *ndr_links_beside(const char *file, bool resolved, const char *name) {
  char *real = resolved ? realpath(file, NULL) : NULL;
  const char *from = real ? real : file, *slash = strrchr(from, '/');
  char *path = join(from, slash ? (size_t)(slash - from) + 1 : 0, name);
  free(real);
  return path;
}

/* Frees a path at which there is nothing. */
static char *keep_existing(char *path) {
  struct stat facts;
  if (path && stat(path, &facts) == 0) return path;
  free(path);
  return NULL;
}

/* A virtual dataset takes the variable as one prefix, too, which may start at the folder of the file. */
static char *search_origin(const char *parent, const char *prefix, const char *name) {
  static const char origin[] = "${ORIGIN}";
  size_t length = strlen(origin);
  if (strncmp(prefix, origin, length) != 0) return keep_existing(join(prefix, strlen(prefix), name));
  char *rest = join(prefix + length, strlen(prefix + length), name);
  char *path = rest ? ndr_links_beside(parent, false, rest + strspn(rest, "/")) : NULL;
  free(rest);
  return keep_existing(path);
}

static char *search_variable(const char *parent, const char *name, ndr_link_kind kind) {
  const char *prefixes = getenv(kind == NDR_LINK_SOURCE ? "HDF5_VDS_PREFIX" : "HDF5_EXT_PREFIX");
  char *path = NULL;
  for (const char *start = prefixes; start && !path;) {
    size_t length = strcspn(start, ":");
    if (length > 0) path = keep_existing(join(start, length, name));
    start = start[length] ? start + length + 1 : NULL;
  }
  if (!path && prefixes && *prefixes && kind == NDR_LINK_SOURCE) path = search_origin(parent, prefixes, name);
  return path;
}

/* The first file there is in the order that H5Lcreate_external and H5Pset_virtual document, to be freed: the name if it
 * is absolute, else (or if there is nothing) its last part behind the prefixes of the environment, beside the file that
 * names it, in the current folder, and beside that file with its symbolic links resolved. */
static char *search(const char *parent, const char *name, ndr_link_kind kind) {
  char *path = NULL;
  if (name[0] == '/') {
    path = keep_existing(ndr_hdf_noted(strdup(name)));
    name = strrchr(name, '/') + 1;
  }
  if (!path) path = search_variable(parent, name, kind);
  if (!path) path = keep_existing(ndr_links_beside(parent, false, name));
  if (!path) path = keep_existing(ndr_hdf_noted(strdup(name)));
  if (!path) path = keep_existing(ndr_links_beside(parent, true, name));
  return path;
}

/* ---- What may be opened ----------------------------------------------------------------------------------------- */

static bool is_below(const char *folder, const char *path) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || folder[length - 1] == '/');
}

static ndr_status permit(const ndr_links *links, const char *path, struct stat *facts) {
  char *real = realpath(path, NULL);
  ndr_status status = NDR_OK;
  if (!real || stat(real, facts) != 0)
    status = ndr_fail(NDR_ERR_FILE, "needs %s: %s", path, strerror(errno));
  else if (links->folder && !is_below(links->folder, real))
    status =
        ndr_fail(NDR_ERR_FILE,
                 "needs %s, which is outside the folder of the input (ndr_h5_access.allow_external reads it)", real);
  else if (!S_ISREG(facts->st_mode))
    status = ndr_fail(NDR_ERR_FILE, "needs %s, which is not a regular file", real);
  free(real);
  return status;
}

bool ndr_links_contain(const ndr_links *links, const struct stat *facts, ndr_link_kind *kind) {
  for (int i = 0; i < links->file_count; i++) {
    const struct ndr_linked_file *file = &links->files[i];
    *kind = file->kind;
    if (file->device == facts->st_dev && file->inode == facts->st_ino) return true;
  }
  return false;
}

/* Room for one more, which counts once file_count says so. */
static struct ndr_linked_file *next_file(ndr_links *links, const struct stat *facts, ndr_link_kind kind) {
  struct ndr_linked_file *files = realloc(links->files, (size_t)(links->file_count + 1) * sizeof *files);
  if (!files) return NULL;
  links->files = files;
  files[links->file_count] = (struct ndr_linked_file){NULL, H5I_INVALID_HID, kind, facts->st_dev, facts->st_ino};
  return &files[links->file_count];
}

/* A file that we do not open. */
static ndr_status remember(ndr_links *links, const struct stat *facts, ndr_link_kind kind) {
  ndr_link_kind known;
  if (ndr_links_contain(links, facts, &known)) return NDR_OK;
  if (!next_file(links, facts, kind)) return fail_memory();
  links->file_count++;
  return NDR_OK;
}

ndr_status ndr_links_permit_raw(ndr_links *links, const char *path, int64_t *bytes) {
  struct stat facts;
  NDR_TRY(permit(links, path, &facts));
  *bytes = (int64_t)facts.st_size;
  return remember(links, &facts, NDR_LINK_RAW);
}

static ndr_status open_new(ndr_links *links, const char *path, ndr_link_kind kind, hid_t *file) {
  char reason[512];
  struct stat facts;
  NDR_TRY(permit(links, path, &facts));
  struct ndr_linked_file *added = next_file(links, &facts, kind);
  if (!added) return fail_memory();
  ndr_status status = ndr_hdf_open(path, links->structure, &added->id);
  if (status != NDR_OK) {
    snprintf(reason, sizeof reason, "%s", ndr_last_error());
    return ndr_fail(status, "needs %s", reason);
  }
  added->path = strdup(path);
  links->file_count++;
  *file = added->id;
  return added->path ? NDR_OK : fail_memory();
}

ndr_status ndr_links_open(ndr_links *links, const char *parent, const char *name, ndr_link_kind kind, hid_t *file) {
  *file = H5I_INVALID_HID;
  char *path = search(parent, name, kind);
  if (!path) return ndr_hdf_lacks_memory() ? fail_memory() : NDR_OK;
  for (int i = links->file_count - 1; i >= 0 && *file < 0; i--)
    if (links->files[i].path && strcmp(links->files[i].path, path) == 0) *file = links->files[i].id;
  ndr_status status = *file < 0 ? open_new(links, path, kind, file) : NDR_OK;
  free(path);
  return status;
}

/* Called by HDF5 on the way through an external link, before it opens the file. */
static herr_t follow(const char *parent_file, const char *parent_group, const char *child_file,
                     const char *child_object, unsigned *flags, hid_t access, void *user) {
  (void)parent_group, (void)child_object, (void)flags, (void)access;
  ndr_links *links = user;
  hid_t file;
  if (links->status != NDR_OK) return -1;
  links->status = ndr_links_open(links, parent_file, child_file, NDR_LINK_EXTERNAL, &file);
  if (links->status == NDR_OK && file < 0)
    links->status = ndr_fail(NDR_ERR_FILE, "needs %s, which does not exist", child_file);
  return links->status == NDR_OK ? 0 : -1;
}

ndr_status ndr_links_start(ndr_links *links, const char *file, bool anywhere, ndr_h5_structure *structure) {
  *links = (ndr_links){.access = H5Pcreate(H5P_DATASET_ACCESS), .structure = structure};
  /* Every chunk is read once and whole, so HDF5's chunk cache would only cost memory and a copy. */
  if (links->access < 0 || H5Pset_chunk_cache(links->access, 1, 0, 1.0) < 0 ||
      H5Pset_elink_cb(links->access, follow, links) < 0 || H5Pset_efile_prefix(links->access, "${ORIGIN}") < 0)
    return ndr_hdf_fail(NDR_ERR_FILE, file, "HDF5 lacks a list of properties");
  struct stat facts;
  if (stat(file, &facts) != 0) return ndr_path_fail(file);
  NDR_TRY(remember(links, &facts, NDR_LINK_INPUT));
  if (anywhere) return NDR_OK;
  char *real = realpath(file, NULL);
  if (!real) return ndr_fail(NDR_ERR_FILE, "%s: %s", file, strerror(errno));
  char *slash = strrchr(real, '/');
  slash[slash == real] = 0;
  links->folder = real;
  return NDR_OK;
}

void ndr_links_end(ndr_links *links) {
  for (int i = 0; i < links->file_count; i++) {
    if (links->files[i].id >= 0) H5Fclose(links->files[i].id);
    free(links->files[i].path);
  }
  free(links->files);
  free(links->folder);
  if (links->access > 0) H5Pclose(links->access);
  *links = (ndr_links){.access = H5I_INVALID_HID};
}
