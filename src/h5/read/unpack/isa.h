/* Which of the loops that unpack.c and totals.c have for several instruction sets run here. All give the same bits. */
#ifndef NDR_H5_READ_UNPACK_ISA_H
#define NDR_H5_READ_UNPACK_ISA_H

/* Each has what those before it have. Only the first exists where loops are compiled for one instruction set alone. */
typedef enum ndr_unpack_isa { NDR_UNPACK_BASELINE, NDR_UNPACK_AVX2, NDR_UNPACK_AVX512 } ndr_unpack_isa;

/* The widest that this machine has, unless NDR_CPU_ISA in the environment names a narrower one. */
ndr_unpack_isa ndr_unpack_isa_here(void);

/* The widest that this machine has up to the one named "baseline", "avx2" or "avx512"; of all for other names, and for
 * NULL. */
ndr_unpack_isa ndr_unpack_isa_up_to(const char *name);

#endif
