/* A table of the operators that have not ended, by number, which one lock guards. */
#include "core/own_ops.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/fork.h"

typedef struct interned {
  struct interned *next;
  char text[];
} interned;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ndr_own_op **table; /* by ascending number */
static size_t count, room;
static int next_number = NDR_OWN_OPS;
static interned *names; /* what ndr_op_name has returned must stay; a program has few names */

NDR_GUARD_FORKS(lock)

/* All static functions below are called with the lock held. */

static const char *intern(const char *name, size_t length) {
  for (interned *known = names; known; known = known->next)
    if (strncmp(known->text, name, length) == 0 && !known->text[length]) return known->text;
  interned *made = malloc(sizeof *made + length + 1);
  if (!made) return NULL;
  memcpy(made->text, name, length);
  made->text[length] = 0;
  made->next = names;
  names = made;
  return made->text;
}

/* The place of the first operator with that number or a larger one. */
static size_t place_of(ndr_op op) {
  size_t low = 0, high = count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (table[middle]->op < op)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static ndr_own_op *find(ndr_op op) {
  size_t place = place_of(op);
  return place < count && table[place]->op == op ? table[place] : NULL;
}

static ndr_own_op *find_key(const char *key) {
  for (size_t i = 0; i < count; i++)
    if (table[i]->key && strcmp(table[i]->key, key) == 0) return table[i];
  return NULL;
}

static bool make_room(void) {
  if (count < room) return true;
  size_t more = room ? 2 * room : 16;
  ndr_own_op **grown = realloc(table, more * sizeof(ndr_own_op *));
  if (!grown) return false;
  table = grown;
  room = more;
  return true;
}

static void drop_definition(ndr_definition *definition) {
  if (!definition || --definition->holders > 0) return;
  free(definition->syntax);
  free(definition);
}

/* One holder fewer; the last one takes the operator out of the table. */
static void drop(ndr_own_op *own) {
  if (--own->holders > 0) return;
  size_t place = place_of(own->op);
  count--;
  memmove(table + place, table + place + 1, (count - place) * sizeof(ndr_own_op *));
  drop_definition(own->definition);
  free(own->key);
  free(own);
  if (count > 0) return;
  free(table);
  table = NULL;
  room = 0;
}

/* Adds an operator of the definition, of which it becomes a holder. */
static ndr_status add(ndr_definition *definition, const double *values, const char *key, ndr_op *op) {
  ndr_own_op *own = calloc(1, sizeof *own);
  char *kept = key ? malloc(strlen(key) + 1) : NULL;
  if (!own || (key && !kept) || !make_room() || next_number == NDR_OWN_OPS_END) {
    free(own);
    free(kept);
    return ndr_fail(NDR_ERR_MEMORY, "no memory for operator '%.60s'", definition->name);
  }
  if (key) memcpy(kept, key, strlen(key) + 1);
  own->holders = 1;
  own->op = (ndr_op)next_number++;
  own->definition = definition;
  own->key = kept;
  if (values) memcpy(own->values, values, (size_t)definition->value_count * sizeof *values);
  definition->holders++;
  table[count++] = own;
  *op = own->op;
  return NDR_OK;
}

ndr_status ndr_own_op_add(const ndr_definition *given, const double *values, const char *key, ndr_op *op) {
  ndr_status status = NDR_OK;
  ndr_syntax *syntax = given->syntax; /* until a definition has it */
  ndr_definition *definition = malloc(sizeof *definition);
  pthread_mutex_lock(&lock);
  const char *name = intern(given->name, given->name_length);
  ndr_own_op *known = key ? find_key(key) : NULL;
  if (known) {
    *op = known->op;
    known->holders += known->destroyed; /* made again while a call held it */
    known->destroyed = false;
  } else if (!definition || !name) {
    status = ndr_fail(NDR_ERR_MEMORY, "no memory for operator '%.*s'", (int)given->name_length, given->name);
  } else {
    *definition = *given;
    definition->holders = 1;
    definition->name = name;
    status = add(definition, values, key, op);
    drop_definition(definition);
    definition = NULL;
    syntax = NULL;
  }
  pthread_mutex_unlock(&lock);
  free(definition);
  free(syntax);
  return status;
}

ndr_status ndr_own_op_bind(const ndr_own_op *own, const double *values, ndr_op *op) {
  pthread_mutex_lock(&lock);
  ndr_status status = add(own->definition, values, NULL, op);
  pthread_mutex_unlock(&lock);
  return status;
}

void ndr_own_op_remove(ndr_op op) {
  pthread_mutex_lock(&lock);
  ndr_own_op *own = find(op);
  if (own && !own->destroyed) {
    own->destroyed = true;
    drop(own);
  }
  pthread_mutex_unlock(&lock);
}

ndr_own_op *ndr_own_op_hold(ndr_op op) {
  pthread_mutex_lock(&lock);
  ndr_own_op *own = find(op);
  if (own) own->holders++;
  pthread_mutex_unlock(&lock);
  return own;
}

void ndr_own_op_release(ndr_own_op *own) {
  if (!own) return;
  pthread_mutex_lock(&lock);
  drop(own);
  pthread_mutex_unlock(&lock);
}

const char *ndr_own_op_name(ndr_op op) {
  pthread_mutex_lock(&lock);
  const ndr_own_op *own = find(op);
  const char *name = own ? own->definition->name : NULL;
  pthread_mutex_unlock(&lock);
  return name;
}
