/* Locks and fork(): a child has one thread, and would wait for ever for a lock that another thread holds. */
#ifndef NDR_CORE_FORK_H
#define NDR_CORE_FORK_H

#include <pthread.h>

/* Has fork() take a static mutex and give it back on both sides, so that the child finds whole what it guards. At most
 * one in a file. No thread may wait for one such mutex while it holds another. `held` is whether the thread that forks
 * has the mutex already, as where it calls a caller's function meanwhile: the child has it then, too. */
#define NDR_GUARD_FORKS_UNLESS(held, mutex)                                                                            \
  static void before_fork(void) {                                                                                      \
    if (!(held)) pthread_mutex_lock(&(mutex));                                                                         \
  }                                                                                                                    \
  static void after_fork(void) {                                                                                       \
    if (!(held)) pthread_mutex_unlock(&(mutex));                                                                       \
  }                                                                                                                    \
  __attribute__((constructor)) static void watch_forks(void) {                                                         \
    pthread_atfork(before_fork, after_fork, after_fork);                                                               \
  }

#define NDR_GUARD_FORKS(mutex) NDR_GUARD_FORKS_UNLESS(0, mutex)

#endif
