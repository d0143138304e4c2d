# The template of pages: page.html with the style and the scripts of this folder, one file, and as a C array in the
# program, so that a page needs nothing beside it. The policy in its head allows this style and these scripts alone, by
# their hashes.
set(page_folder ${CMAKE_SOURCE_DIR}/src/report/page)
set(page_scripts dom table banks roofline compare kernel time batch measure main)

# The 64 digits of a SHA-256 as base64.
function(smp_base64_of_hash hex out)
  set(letters "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  set(text "")
  string(APPEND hex "00")
  foreach(at RANGE 0 63 3)
    string(SUBSTRING "${hex}" ${at} 3 digits)
    math(EXPR high "0x${digits} >> 6")
    math(EXPR low "0x${digits} & 63")
    string(SUBSTRING "${letters}" ${high} 1 first)
    string(SUBSTRING "${letters}" ${low} 1 second)
    string(APPEND text ${first}${second})
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${out} "${text}=" PARENT_SCOPE)
endfunction()

# A file without the comments that have lines of their own, and without indentation.
function(smp_page_part file out)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/${file})
  file(READ ${page_folder}/${file} text)
  string(REGEX REPLACE "\n *//[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n/\\*[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n+ *" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

smp_page_part(page.css style)
set(script "\n\"use strict\";(()=>{")
foreach(name IN LISTS page_scripts)
  smp_page_part(${name}.js part)
  string(APPEND script "${part}")
endforeach()
string(APPEND script "})();\n")
string(SHA256 style_hash "${style}")
string(SHA256 script_hash "${script}")
smp_base64_of_hash(${style_hash} style_hash)
smp_base64_of_hash(${script_hash} script_hash)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/page.html)
file(READ ${page_folder}/page.html page_template)
foreach(name STYLE_HASH SCRIPT_HASH STYLE SCRIPT)
  string(TOLOWER ${name} variable)
  string(REPLACE "@${name}@" "${${variable}}" page_template "${page_template}")
endforeach()
string(REPLACE "@VERSION@" "${PROJECT_VERSION}" page_template "${page_template}")
file(WRITE ${CMAKE_BINARY_DIR}/page.html "${page_template}") # tests fill it in, too
file(READ ${CMAKE_BINARY_DIR}/page.html page_bytes HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," page_bytes "${page_bytes}")
set(page_source ${CMAKE_BINARY_DIR}/page_template.c)
file(GENERATE OUTPUT ${page_source} CONTENT "/* Made of src/report/page by page.cmake. */
extern const unsigned char smp_page_template[];
const unsigned char smp_page_template[] = {${page_bytes}0};
")

# The page of `smempipe edit`: its files as they are, the style of all pages, and dom.js as a module.
set(edit_arrays "")
set(edit_rows "")
function(smp_edit_file name type text)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  file(WRITE ${CMAKE_BINARY_DIR}/edit_page/${name} "${text}")
  file(READ ${CMAKE_BINARY_DIR}/edit_page/${name} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND edit_arrays "static const unsigned char ${identifier}[] = {${hex}};\n")
  string(APPEND edit_rows "    {\"${name}\", \"${type}\", ${identifier}, sizeof ${identifier}},\n")
  set(edit_arrays "${edit_arrays}" PARENT_SCOPE)
  set(edit_rows "${edit_rows}" PARENT_SCOPE)
endfunction()
smp_page_part(dom.js part)
smp_edit_file(kit.js text/javascript "${part}export {h, s, build, seconds, count};\n")
smp_page_part(page.css part)
smp_edit_file(page.css text/css "${part}")
file(GLOB edit_files CONFIGURE_DEPENDS RELATIVE ${page_folder}/edit ${page_folder}/edit/*)
foreach(name IN LISTS edit_files)
  set(type text/javascript)
  if(name MATCHES "css$")
    set(type text/css)
  elseif(name MATCHES "html$")
    set(type text/html)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_folder}/edit/${name})
  file(READ ${page_folder}/edit/${name} text)
  smp_edit_file(${name} ${type} "${text}")
endforeach()
set(edit_source ${CMAKE_BINARY_DIR}/edit_page.c)
file(GENERATE OUTPUT ${edit_source} CONTENT "/* Made of src/report/page by page.cmake. */
#include \"commands/edit/session.h\"

${edit_arrays}
const smp_edit_page_file smp_edit_page_files[] = {
${edit_rows}    {0}};
")
