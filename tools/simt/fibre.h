/* Fibres: stacks of their own that one thread switches between by hand. The sanitizers are told about every switch. */
#ifndef SIMT_FIBRE_H
#define SIMT_FIBRE_H

typedef struct fibre fibre;

/* body starts at the first fibre_enter and must never return. NULL when memory ran out. */
fibre *fibre_create(void (*body)(void));

/* Runs the fibre until it leaves. Fibres do not enter others. */
void fibre_enter(fibre *f);

/* Called on the fibre: back to whoever entered it. */
void fibre_leave(fibre *f);

/* Frees a fibre, wherever it has left; NULL is legal. */
void fibre_destroy(fibre *f);

/* For the thread sanitizer, to which fibres are threads: what happened before a release by one of them happened before
 * what follows an acquire of the same token by another. Switching alone orders nothing. */
void fibre_release(void *token);
void fibre_acquire(void *token);

#endif
