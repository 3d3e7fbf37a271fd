/* A long sequence of words as a polynomial, folded to two words with the same remainder, by carry-less products. */
#ifndef NDR_CORE_CHECKSUM_FOLD_H
#define NDR_CORE_CHECKSUM_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether this machine has an instruction for such products, and ndr_checksum_fold may be called. */
bool ndr_checksum_folds(void);

/* By what words are multiplied: the first and the second one, for a step of all registers, and from a register to the
 * next. */
typedef struct ndr_checksum_powers {
  uint64_t step[2], neighbour[2];
} ndr_checksum_powers;

/* For remainders by the polynomial (without x^64, its highest bit the coefficient of x^0). Takes a microsecond. */
void ndr_checksum_powers_make(uint64_t polynomial, ndr_checksum_powers *powers);

/* Sets `words` to two words that leave the same remainder as the first words of the `count` at `bytes`. Returns how
 * many words that is: a multiple of 8, 0 where there are fewer, and then `words` are not set. */
size_t ndr_checksum_fold(const unsigned char *bytes, size_t count, const ndr_checksum_powers *powers,
                         uint64_t words[2]);

#endif
