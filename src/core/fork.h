/* Locks that survive fork(). A child has one thread; it would wait for ever for a lock that another thread held. */
#ifndef NDR_CORE_FORK_H
#define NDR_CORE_FORK_H

#include <pthread.h>

/* Makes fork() take a static mutex, and release it in parent and child, so that the child finds the guarded data whole.
 * Use it at most once in a file. No thread may wait for one such mutex while it holds another. `held` is an expression
 * that says whether the thread that forks holds the mutex already, as it may in a callback; the child then holds it. */
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
