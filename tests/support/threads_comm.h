/* The ranks of a comm as threads of this process, up to thousands of them. They send messages by mailboxes, which count
 * them, and can hand them out late and in another order than they came in, as machines of a network do. */
#ifndef TEST_SUPPORT_THREADS_COMM_H
#define TEST_SUPPORT_THREADS_COMM_H

#include "ndreduce/comm.h"

/* What a rank has sent. */
typedef struct threads_sent {
  int64_t messages, bytes;
} threads_sent;

/* What each rank does. An assertion of Check would fail outside of the test's thread: keep what is found in `user`. */
typedef void threads_body(const ndr_comm *comm, void *user);

/* Runs a thread for each rank and waits for all of them. With a seed other than 0, messages of different ranks come in
 * random order, and some late; those from one rank to another stay in order. sent: NULL, or one for each rank. Returns
 * the number of messages that nobody has received. */
int64_t threads_run(int ranks, uint64_t seed, threads_body *body, void *user, threads_sent *sent);

#endif
