/* Functions of libraries that are opened at run time. */
#ifndef NDR_CORE_SYMBOL_H
#define NDR_CORE_SYMBOL_H

#include <stdbool.h>
#include <string.h>

/* Sets the pointer to a function that `function` points to, to what dlsym has returned; false: that is NULL. dlsym
 * returns an object pointer, and POSIX allows it to be copied to a function pointer. */
static inline bool ndr_set_function(void *function, void *symbol) {
  memcpy(function, &symbol, sizeof symbol);
  return symbol != NULL;
}

#endif
