/* Locks and fork(): a child has one thread, and would wait for ever for a lock that another thread holds. */
#ifndef NDR_CORE_FORK_H
#define NDR_CORE_FORK_H

#include <pthread.h>

/* Makes fork() take a static mutex, and release it in parent and child, so that the child finds the guarded data whole.
 * At most once in a file. No thread may wait for one such mutex while it holds another. `held` says whether the thread
 * that forks holds the mutex already, as it may inside a caller's function; then the child holds it, too. */
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
