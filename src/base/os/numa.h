/* Memory nodes of a host (NUMA): which one a PCI device is next to, and threads that stay beside it, so that the memory
 * that they touch first, and what is pinned for them, lies there. Read from sysfs; where that says nothing, nothing is
 * done. */
#pragma once

#include <stdbool.h>

/* Returns the node of the device at that address; -1: unknown, or the host has one node. root: "/sys"; tests have
 * another. */
int smp_numa_node_of_pci(const char *root, int domain, int bus, int device);

/* Keeps the calling thread on those processors of the node that the process (its first thread) may use. False: there
 * are none, or node is negative, and the thread runs where it did. */
bool smp_numa_stay(const char *root, int node);
