# Packages, by cpack in a build folder: smempipe (the command), libsmempipe1 (the library), libsmempipe-dev and, of a
# build with nvcc, smempipe-cuda. dpkg-shlibdeps finds what they need, so they fit the release of Debian or Ubuntu that
# they were built on. src/packages/make.sh builds and tries them.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smempipe)
set(CPACK_PACKAGE_VENDOR "The smempipe authors")
# Who makes the package answers for it: DEBFULLNAME and DEBEMAIL, as for Debian's own tools, else who git knows.
set(SMP_PACKAGER "" CACHE STRING "Name <address> of who makes packages")
if(NOT SMP_PACKAGER AND DEFINED ENV{DEBEMAIL})
  set(SMP_PACKAGER "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
elseif(NOT SMP_PACKAGER)
  execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} log -1 --format=%an\ <%ae> OUTPUT_VARIABLE SMP_PACKAGER
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT SMP_PACKAGER)
  set(SMP_PACKAGER "The smempipe authors <root@localhost>")
endif()
set(CPACK_PACKAGE_CONTACT ${SMP_PACKAGER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "pipelines over pictures and sound, on CPUs and NVIDIA GPUs")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "Runs chains of stages (resize, blur, levels, loudness, ...) that a small
text file describes over files and folders of pictures and recordings,
with the same bytes on CPUs, on NVIDIA GPUs and in an emulator of them.
It says what each stage cost (time, bandwidth, bank conflicts of shared
memory) and sets naive and tiled variants of each CUDA kernel side by side.")
set(CPACK_PACKAGE_FILE_NAME "smempipe-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz) # lintian of every release reads it
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified library development)
set(recommended "")
if(TARGET smempipe_cuda) # the kernels for GPUs, which command and library open
  list(APPEND CPACK_COMPONENTS_ALL cuda)
  set(CPACK_DEBIAN_CUDA_PACKAGE_NAME smempipe-cuda)
  set(CPACK_DEBIAN_CUDA_DESCRIPTION "Runs chains of stages (resize, blur, levels, loudness, ...) that a text
describes over pictures and sounds in memory or in files. This package has
the kernels that smempipe and libsmempipe${SMP_SOVERSION} run on NVIDIA GPUs.")
  list(APPEND recommended "smempipe-cuda (= ${PROJECT_VERSION})")
endif()
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME smempipe)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsmempipe${SMP_SOVERSION})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "Runs chains of stages (resize, blur, levels, loudness, ...) that a text
describes over pictures and sounds in memory or in files, on CPUs and on
NVIDIA GPUs. This package has the shared library.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsmempipe-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libsmempipe${SMP_SOVERSION} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Runs chains of stages (resize, blur, levels, loudness, ...) that a text
describes over pictures and sounds in memory or in files. This package has
the header and what pkg-config reads.")
file(WRITE ${CMAKE_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${CMAKE_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_POST_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/src/packages/debian_scripts.cmake)
set(CPACK_DEBIAN_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What is opened while the program runs, dpkg-shlibdeps does not see.
if(HEIF_FOUND AND NOT SMP_LINK_HEIF)
  set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "libheif1 (>= ${HEIF_VERSION})")
  set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "libheif1 (>= ${HEIF_VERSION})")
endif()
if(FONTS_FOUND)
  list(APPEND recommended libharfbuzz0b libfontconfig1)
endif()
if(AV_FOUND)
  string(REGEX MATCH "^[0-9]+" av_major "${AV_libavformat_VERSION}")
  list(APPEND recommended libavformat${av_major})
endif()
if(MICROHTTPD_FOUND)
  list(APPEND recommended libmicrohttpd12)
endif()
list(JOIN recommended ", " recommended)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS "${recommended}")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "${recommended}")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SUGGESTS
  "libpoppler-glib8 | libpoppler-glib8t64, librsvg2-2, libjxl0.7, libopenjp2-7, libraw20 | libraw23t64")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS
  "libpoppler-glib8 | libpoppler-glib8t64, librsvg2-2, libjxl0.7, libopenjp2-7, libraw20 | libraw23t64")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_SOURCE_DIR}/src/packages/debian.cmake)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)
include(CPack)
