/* The control groups of Linux (cgroups) that limit a process. Finds their folders; what a limit is, its reader knows.
 */
#ifndef NDR_COMMON_CONTROL_GROUPS_H
#define NDR_COMMON_CONTROL_GROUPS_H

/* The two versions have files of different names in a group's folder. */
typedef enum ndr_group_version { NDR_GROUP_V1 = 1, NDR_GROUP_V2 = 2 } ndr_group_version;

typedef void ndr_group_visit(void *user, ndr_group_version version, const char *folder);

/* Visits the folder of every group whose limits of a controller ("cpu", "memory") hold for a process: the group that it
 * is in and all groups around that one. `membership` is a file like /proc/self/cgroup, `root` a folder like
 * /sys/fs/cgroup. A folder that is visited need not exist. */
void ndr_visit_groups(const char *membership, const char *root, const char *controller, ndr_group_visit *visit,
                      void *user);

#endif
