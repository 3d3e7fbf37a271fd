/* See control_groups.h. A limit holds for all groups inside the one that has it, so each group up to the root counts.
 */
#include "common/control_groups.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATH_CHARS = 4096 };

static bool has_word(const char *list, const char *word) {
  size_t length = strlen(word);
  while (strncmp(list, word, length) != 0 || !strchr(",", list[length])) {
    list = strchr(list, ',');
    if (!list) return false;
    list++;
  }
  return true;
}

/* In a container a group's path may be that of the host, and lead nowhere; the root is the container's own then. */
static void visit_upwards(ndr_group_version version, const char *root, const char *group, ndr_group_visit *visit,
                          void *user) {
  char folder[PATH_CHARS];
  size_t root_length = strlen(root);
  visit(user, version, root);
  if ((size_t)snprintf(folder, sizeof folder, "%s%s", root, group) >= sizeof folder) return;
  while (strlen(folder) > root_length) {
    visit(user, version, folder);
    *strrchr(folder, '/') = 0;
  }
}

/* Lines are NUMBER:CONTROLLERS:PATH. Version 2 has one line without controllers; version 1 has one for each of its
 * hierarchies, which lie in folders of their controllers' names. */
void ndr_visit_groups(const char *membership, const char *root, const char *controller, ndr_group_visit *visit,
                      void *user) {
  char line[PATH_CHARS], top[PATH_CHARS];
  FILE *file = fopen(membership, "r");
  while (file && fgets(line, sizeof line, file)) {
    char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group) continue;
    *group++ = 0;
    group[strcspn(group, "\n")] = 0;
    controllers++;
    bool second = *controllers == 0;
    if (group[0] != '/' || (!second && !has_word(controllers, controller))) continue;
    snprintf(top, sizeof top, "%s%s%s", root, second ? "" : "/", second ? "" : controller);
    visit_upwards(second ? NDR_GROUP_V2 : NDR_GROUP_V1, top, group, visit, user);
  }
  if (file) fclose(file);
}
