/* The version of smempipe, by semantic versioning. CMake reads it here. Few files include it, so that a new version
 * compiles few. */
#pragma once

#define SMP_VERSION "0.2.0"
