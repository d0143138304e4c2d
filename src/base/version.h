/* The version of smempipe, by semantic versioning. CMake reads it here. Few files include it, so that a new version
 * compiles few. */
#ifndef SMP_BASE_VERSION_H
#define SMP_BASE_VERSION_H

#define SMP_VERSION "0.2.0"

#endif
