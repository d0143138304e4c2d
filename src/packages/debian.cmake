# Run by cpack over the files that are to be packed: what Debian asks of a package besides. Manual pages are compressed;
# the copyright file, the changelog, of which the log of the sources is the longer form, and the list of parts (SPDX)
# are in /usr/share/doc/PACKAGE.
get_filename_component(sources ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
file(READ ${sources}/LICENSE licence)
string(REGEX REPLACE "^[^\n]*\n\n[^\n]*\n\n" "" licence "${licence}") # its title and the line of the copyright
string(REGEX REPLACE "\n+$" "" licence "${licence}")
string(REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REPLACE "\n" "\n " licence "${licence}")
file(TIMESTAMP ${sources}/CHANGELOG.md date "%a, %d %b %Y %H:%M:%S +0000" UTC)

# The folder of each package, by its component.
find_program(SMP_PYTHON python3)
find_program(SMP_SHLIBDEPS dpkg-shlibdeps)
if(NOT SMP_SHLIBDEPS)
  message(FATAL_ERROR "There is no dpkg-shlibdeps, so that packages would depend on nothing: install dpkg-dev.")
endif()
set(packages Unspecified smempipe library ${CPACK_DEBIAN_LIBRARY_PACKAGE_NAME} development libsmempipe-dev
  cuda smempipe-cuda)
while(packages)
  list(POP_FRONT packages component package)
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  if(NOT IS_DIRECTORY ${root})
    continue()
  endif()
  set(doc ${root}/share/doc/${package})
  file(WRITE ${doc}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: smempipe

Files: *
Copyright: 2026 The smempipe authors
License: Expat
 ${licence}
")

  file(WRITE ${doc}/changelog "smempipe (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Release ${CPACK_PACKAGE_VERSION}; NEWS.gz says what is new.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  configure_file(${sources}/CHANGELOG.md ${doc}/NEWS COPYONLY)
  # What its programs need (SPDX), where there is Python to find it out.
  if(SMP_PYTHON AND NOT component STREQUAL "development")
    execute_process(COMMAND ${SMP_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/bundle.py --sbom ${doc}/smempipe.spdx.json ${root}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  file(GLOB texts ${root}/share/man/*/*.[1-9] ${doc}/changelog ${doc}/NEWS)
  execute_process(COMMAND gzip -9nf ${texts} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB packed ${root}/share/man/*/* ${doc}/*)
  file(CHMOD ${packed} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  file(GLOB libraries ${root}/lib/*/smempipe/*.so)
  if(libraries)
    file(CHMOD ${libraries} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
endwhile()
