/* The processes of an MPI launcher as ranks of one reduction. */
#ifndef H5GPURED_RANKS_H
#define H5GPURED_RANKS_H

#include "h5gpured/h5gpured.h"

/* Under an MPI launcher begins as one of its ranks, unless the options are what each process does by itself; ends the
 * program if that fails. Chooses this process's GPU of its machine. Ranks other than 0 explain nothing. */
void ranks_start(h5gpured_options *options);

/* Before MPI has started, one process of a launcher says for all what is wrong with them. The first says it at once,
 * and ends the others. Another one waits a while for that: if it is still there, the first has found nothing wrong. */
void ranks_take_turn(void);
__attribute__((noreturn)) void ranks_exit(int code);

/* The ranks; NULL: this process is alone. */
ndr_comm *ranks_comm(void);

/* What ranks share of the files; NULL without ranks. */
ndr_h5_structure *ranks_structure(void);

/* On rank 0, before each reduction: hands the others what it has read of the files by then. On the others nothing. */
bool ranks_send_structure(void);

/* On the others, before they open what is reduced: waits for that. On rank 0 nothing. Both: false after a failure. */
bool ranks_receive_structure(void);

/* Whether this process has the output: it is rank 0, or alone. */
bool ranks_leads(void);

/* On ranks other than 0 keeps a complaint for ranks_agree, and returns true. False: this process prints it. */
bool ranks_keep(const char *text);

/* Whether all ranks are good; `good`: this one is. Collective, when all is done but to make the output appear. Rank 0
 * prints what failed on another rank. Once the ranks have agreed, or a call of theirs has failed, returns `good`. */
bool ranks_agree(bool good);

#endif
