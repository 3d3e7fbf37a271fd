/* Arrays that are read beside the dataset: masks, weights, second arrays of operators. Small ones that are repeated
 * along some dim are read once; the others come with each slab of the dataset, the box of them that belongs to it. What
 * they are read for is the matter of run/besides.h. */
#ifndef NDR_H5_READ_BESIDE_H
#define NDR_H5_READ_BESIDE_H

#include "h5/read/route/reader.h"
#include "h5/read/slab/slab_iterator.h"

/* Weights, a mask, NDR_MAX_OPERANDS arrays of operators and as many of a condition. */
#define NDR_MOST_BESIDES (2 + 2 * NDR_MAX_OPERANDS)

typedef struct ndr_beside {
  const ndr_h5_dataset *dataset; /* NULL for an array in memory */
  int ndim;
  int64_t shape[NDR_MAX_DIMS];
  int dims[NDR_MAX_DIMS];    /* dim i lies along dim dims[i] of what is reduced; -1: it has size 1 and is repeated */
  bool turned[NDR_MAX_DIMS]; /* the file has dim i in reverse: its boxes are turned when they are gathered */
  ndr_dtype dtype;           /* as it is reduced */
  int part_count;            /* of the readers: files of a series, or 1 */
  ndr_reader *readers;
  const void *memory;           /* all of it, compact; NULL where it is not in memory */
  void *owned;                  /* the same where it is to be freed */
  void *cut;                    /* what the dataset lies in if it is a part of the caller's; to be freed */
  bool cut_along[NDR_MAX_DIMS]; /* whether that part is cut along dim i */
  bool by_place[NDR_MAX_DIMS];  /* whether it is cut by coordinates, which then agree with the dataset's */
  int64_t *steps;               /* [step of the dataset]: the step of dim step_dim that it is paired with; owned;
                                   NULL: dims are paired step by step */
  int step_dim;
  const char *grouped_by; /* the groups that pair these, as "time:month"; the caller's */
  bool once;              /* read once; else with each slab */
  int64_t place;          /* where its box begins in a slot */
  int64_t gathered;       /* where the box of a series, or one that is turned, is gathered for a GPU; 0: it is not */
} ndr_beside;

/* A box of an array, in its own dims. */
typedef struct ndr_beside_box {
  int64_t begin[NDR_MAX_DIMS], size[NDR_MAX_DIMS];
} ndr_beside_box;

/* The box that belongs to a slab, or to a leaf, of what is reduced, and how many elements it has. Of an array with
 * `steps` it is the box once it is gathered: along step_dim it counts steps of the dataset. */
ndr_beside_box ndr_beside_find(const ndr_beside *beside, const ndr_slab *slab);
int64_t ndr_beside_elements(const ndr_beside *beside, const ndr_beside_box *box);

/* Whether a GPU gets the whole array before the first slab, rather than a box of it with each slab. */
static inline bool ndr_beside_is_brought_whole(const ndr_beside *beside) {
  return beside->once && !beside->steps;
}

/* Elements of all of it; INT64_MAX where they are more. */
int64_t ndr_beside_count(const ndr_beside *beside);

/* Whether the file has some dim in reverse. */
bool ndr_beside_is_turned(const ndr_beside *beside);

/* Opens the readers. as_f64 and defer are as for ndr_reader_open. Close the array even if that fails. */
ndr_status ndr_beside_open(ndr_beside *beside, bool as_f64, bool defer, int64_t memory);
void ndr_beside_close(ndr_beside *beside);

/* Memory that `threads` threads need for reading. */
int64_t ndr_beside_scratch_bytes(const ndr_beside *beside, int threads);

/* Bytes that an element takes in a slot: files of a series may store them in several ways. */
int64_t ndr_beside_slot_bytes(const ndr_beside *beside);

/* Reads all of it to memory. Its readers must not defer. */
ndr_status ndr_beside_load(ndr_beside *beside);

/* In how many pieces the box of a slab is read, and reads one of them. `data` is the slot. */
int64_t ndr_beside_pieces(const ndr_beside *beside, const ndr_slab *slab);
ndr_status ndr_beside_read(const ndr_beside *beside, ndr_reader_scratch *scratch, const ndr_slab *slab, int64_t piece,
                           void *data);

/* Finds the box of `leaf`, a part of `slab`, unpacked and compact: in the slot or in memory, if it lies there so, else
 * in `buffer`, to which it is copied. With NULL for the buffer, returns false where it would have to be. */
bool ndr_beside_gather(const ndr_beside *beside, const ndr_slab *slab, const ndr_slab *leaf, void *data, void *buffer,
                       void **elements);

/* A tensor of the shape of the slab or leaf, which repeats the box of it; strides has room for all dims. `elements` is
 * the compact box, or, if that is `whole`, all of the array, which has no `steps` then. */
DLTensor ndr_beside_tensor(const ndr_beside *beside, ndr_slab *slab, int ndim, void *elements, bool whole,
                           int64_t *strides);

#endif
