/* The version of smempipe, by semantic versioning. CMake reads it here: few files need it, so a new one compiles few. */
#ifndef SMP_BASE_VERSION_H
#define SMP_BASE_VERSION_H

#define SMP_VERSION "0.2.0"

#endif
