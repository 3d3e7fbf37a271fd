/* The ranks of a comm as threads of this process, up to thousands of them. Each has a mailbox for the messages to it,
 * which can hand them out late and in another order than they came in, as a network does. */
#ifndef TEST_SUPPORT_THREADS_COMM_H
#define TEST_SUPPORT_THREADS_COMM_H

#include <stdbool.h>

#include "ndreduce/comm.h"

/* What a rank has sent. */
typedef struct threads_sent {
  int64_t messages, bytes;
} threads_sent;

/* What each rank does. Not by Check's assertions, which only work in the test's thread: keep findings in `user`. */
typedef void threads_body(ndr_comm *comm, void *user);

/* Whether only one rank runs at a time, until it waits for a message: for what is not made for threads, like the
 * emulated GPUs. */
extern bool threads_take_turns;

/* For how many nanoseconds a rank polls before it sleeps until a message comes, as MPI's do; 0 at first. */
extern int64_t threads_poll_nanoseconds;

/* Runs a thread for each rank and waits for all of them. With a seed other than 0, messages of different ranks come in
 * random order, and some late; those from one rank to another stay in order. sent[r] becomes what rank r has sent,
 * unless `sent` is NULL. Returns the number of messages that nobody has received. */
int64_t threads_run(int ranks, uint64_t seed, threads_body *body, void *user, threads_sent *sent);

#endif
