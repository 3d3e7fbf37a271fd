/* Groups as text in the mini-language: COUNT[ITEM,...], where an item is
 *   LABEL               one label
 *   FIRST:END           FIRST, FIRST + 1, ... below END; FIRST:END:STEP by steps, which may be negative
 *   ITEM x LENGTH       each of these LENGTH times: 0:12x30
 *   TIMES(ITEM)         all of them TIMES times, one after the other: 365(0:24)
 * or windows, one range for each dim: {BEGIN:END:WINDOW,...}, as in {0:360:2,0:720:2} */
#ifndef NDR_CORE_GROUPS_TEXT_H
#define NDR_CORE_GROUPS_TEXT_H

#include "core/groups/groups.h"

/* Parses groups whose labels have this shape, and moves *text behind them; they are the caller's. Fails with
 * NDR_ERR_PARSE and what was expected at *text, in *expected. */
ndr_status ndr_groups_parse(const char **text, int ndim, const int64_t *shape, ndr_groups **groups,
                            const char **expected);

/* Gives groups to the process, which keeps them for ever; equal ones are the same ones. Fails with NDR_ERR_MEMORY.
 * Takes `made` in any case. */
ndr_status ndr_groups_keep(ndr_groups *made, const ndr_groups **groups);

/* Appends them so that they can be parsed; of more than `most` pieces the first ones and the number of labels, which
 * cannot. */
void ndr_groups_print(const ndr_groups *groups, int64_t most, char *text, size_t capacity, size_t *length);

#endif
