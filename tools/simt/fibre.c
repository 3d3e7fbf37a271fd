/* See fibre.h: stacks, and the jumps between them. Which one runs next is decided in launch.c. */
#include "fibre.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sanitizer.h"

/* The emulation is built without the thread sanitizer, which would take its own bookkeeping for races; it only talks to
 * it. The declarations are those of sanitizer/tsan_interface.h. */
#ifdef SIMT_TALK_TO_TSAN
#define WITH_TSAN 1
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *token);
void __tsan_release(void *token);
enum { TSAN_NO_SYNC = 1 };
#else
#define WITH_TSAN 0
#endif

/* swapcontext makes a system call for the signal mask, which costs ten times the switch itself; so the common machines
 * have one of their own, and the rest (or a build with -DSIMT_UCONTEXT) that. */
#if defined SIMT_UCONTEXT || !(defined __x86_64__ || defined __aarch64__)
#define WITH_UCONTEXT 1
#include <ucontext.h>
typedef ucontext_t *context;
#else
#define WITH_UCONTEXT 0
typedef void *context;
#endif

/* Sanitized frames of unoptimised kernels take a few KB each. */
enum { STACK_BYTES = 128 << 10 };

struct fibre {
  void (*body)(void);
  unsigned char *memory; /* a page that faults, then the stack */
  size_t guard;
  context self, back;
#if WITH_UCONTEXT
  ucontext_t contexts[2];
#endif
#if WITH_ASAN
  void *fake_stack, *fake_stack_back;
  const void *bottom_back;
  size_t bytes_back;
#endif
#if WITH_TSAN
  void *thread, *thread_back;
#endif
};

#if WITH_ASAN
static void announce_entering(fibre *f) {
  __sanitizer_start_switch_fiber(&f->fake_stack_back, f->memory + f->guard, STACK_BYTES);
}
static void entered(fibre *f) {
  __sanitizer_finish_switch_fiber(f->fake_stack, &f->bottom_back, &f->bytes_back);
}
static void announce_leaving(fibre *f) {
  __sanitizer_start_switch_fiber(&f->fake_stack, f->bottom_back, f->bytes_back);
}
static void left(fibre *f) {
  __sanitizer_finish_switch_fiber(f->fake_stack_back, NULL, NULL);
}
#elif WITH_TSAN
static void announce_entering(fibre *f) {
  f->thread_back = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(f->thread, TSAN_NO_SYNC);
}
static void entered(fibre *f) {
  (void)f;
}
static void announce_leaving(fibre *f) {
  __tsan_switch_to_fiber(f->thread_back, TSAN_NO_SYNC);
}
static void left(fibre *f) {
  (void)f;
}
#else
static void announce_entering(fibre *f) {
  (void)f;
}
static void entered(fibre *f) {
  (void)f;
}
static void announce_leaving(fibre *f) {
  (void)f;
}
static void left(fibre *f) {
  (void)f;
}
#endif

#if WITH_TSAN
void fibre_release(void *token) {
  __tsan_release(token);
}
void fibre_acquire(void *token) {
  __tsan_acquire(token);
}
#else
void fibre_release(void *token) {
  (void)token;
}
void fibre_acquire(void *token) {
  (void)token;
}
#endif

/* The fibre that is being entered for the first time: its first function is called by a switch, without arguments. */
static fibre *starting;

static void start(void) {
  fibre *f = starting;
  entered(f);
  f->body();
  abort();
}

#if WITH_UCONTEXT
static void switch_context(context *save, context load) {
  swapcontext(*save, load);
}

static void prepare(fibre *f) {
  f->self = &f->contexts[0];
  f->back = &f->contexts[1];
  getcontext(f->self);
  f->self->uc_stack.ss_sp = f->memory + f->guard;
  f->self->uc_stack.ss_size = STACK_BYTES;
  f->self->uc_link = NULL;
  makecontext(f->self, start, 0);
}
#else
/* Pushes what a called function must preserve, keeps the stack pointer in *save, takes the one in load, pops. */
void simt_switch_context(context *save, context load);

#if defined __x86_64__
enum { SAVED_WORDS = 6, PROGRAM_COUNTER = 6, FIRST_WORDS = 8 };
__asm__(".text\n.p2align 4\n.globl simt_switch_context\n.type simt_switch_context, @function\nsimt_switch_context:\n"
        "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
        "  movq %rsp, (%rdi)\n  movq %rsi, %rsp\n"
        "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n  ret\n"
        ".size simt_switch_context, . - simt_switch_context\n");
#else
enum { PROGRAM_COUNTER = 11, FIRST_WORDS = 20 };
__asm__(".text\n.p2align 4\n.globl simt_switch_context\n.type simt_switch_context, %function\nsimt_switch_context:\n"
        "  sub sp, sp, #160\n"
        "  stp x19, x20, [sp]\n  stp x21, x22, [sp, #16]\n  stp x23, x24, [sp, #32]\n  stp x25, x26, [sp, #48]\n"
        "  stp x27, x28, [sp, #64]\n  stp x29, x30, [sp, #80]\n"
        "  stp d8, d9, [sp, #96]\n  stp d10, d11, [sp, #112]\n  stp d12, d13, [sp, #128]\n  stp d14, d15, [sp, #144]\n"
        "  mov x9, sp\n  str x9, [x0]\n  mov sp, x1\n"
        "  ldp x19, x20, [sp]\n  ldp x21, x22, [sp, #16]\n  ldp x23, x24, [sp, #32]\n  ldp x25, x26, [sp, #48]\n"
        "  ldp x27, x28, [sp, #64]\n  ldp x29, x30, [sp, #80]\n"
        "  ldp d8, d9, [sp, #96]\n  ldp d10, d11, [sp, #112]\n  ldp d12, d13, [sp, #128]\n  ldp d14, d15, [sp, #144]\n"
        "  add sp, sp, #160\n  ret\n"
        ".size simt_switch_context, . - simt_switch_context\n");
#endif

static void switch_context(context *save, context load) {
  simt_switch_context(save, load);
}

/* The stack as the switch would have left it, about to return into start. On x86-64 a called function finds its return
 * address, here 0, 8 bytes below a multiple of 16. */
static void prepare(fibre *f) {
  uintptr_t *top = (uintptr_t *)(void *)(f->memory + f->guard + STACK_BYTES) - FIRST_WORDS;
  top[PROGRAM_COUNTER] = (uintptr_t)start;
  f->self = top;
}
#endif

fibre *fibre_create(void (*body)(void)) {
  fibre *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->guard = (size_t)sysconf(_SC_PAGESIZE);
  f->memory =
      mmap(NULL, f->guard + STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (f->memory == MAP_FAILED || mprotect(f->memory, f->guard, PROT_NONE)) {
    free(f);
    return NULL;
  }
  f->body = body;
#if WITH_TSAN
  f->thread = __tsan_create_fiber(0);
#endif
  prepare(f);
  return f;
}

void fibre_enter(fibre *f) {
  starting = f;
  announce_entering(f);
  switch_context(&f->back, f->self);
  left(f);
}

void fibre_leave(fibre *f) {
  announce_leaving(f);
  switch_context(&f->self, f->back);
  entered(f);
}

void fibre_destroy(fibre *f) {
  if (!f) return;
#if WITH_ASAN
  /* Frames that will never return leave their redzones behind, and the pages may serve again. */
  ASAN_UNPOISON_MEMORY_REGION(f->memory + f->guard, STACK_BYTES);
#endif
#if WITH_TSAN
  __tsan_destroy_fiber(f->thread);
#endif
  munmap(f->memory, f->guard + STACK_BYTES);
  free(f);
}
