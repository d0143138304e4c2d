# Kernel files (kernels/ROOM/NAME.cu) three times over: by nvcc into a fatbin, where there is an nvcc; by the host's C++
# compiler for the emulator; and by it again, instrumented, for the emulator's traces.
# kernels/README.md tells how they are written.

string(CONCAT help "GPU architectures: native (of the GPUs that are present, else 75 compiled in a hurry), "
  "all (a release), or numbers such as 80;90. PTX of the highest is added")
set(SMP_CUDA_ARCHS "native" CACHE STRING "${help}")
set(SMP_CUDA_HURRY "mid" CACHE STRING
  "How much nvcc hurries where no GPU is: min, mid, or max for code that nobody runs")
option(SMP_CUDA "Build GPU kernels when nvcc is found" ON)
set(SMP_CUDA_SHARE "1/1" CACHE STRING
  "K/N: where no GPU is, GPU kernels of every Nth file alone, from the Kth (tests/run.sh, by turns)")

# ---------------------------------------------------------------------------------------------- nvcc

set(SMP_NVCC_FLAGS "")
set(hurried "")
if(SMP_CUDA)
  find_program(SMP_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin /usr/local/cuda/bin /opt/cuda/bin)
endif()
if(SMP_CUDA AND SMP_NVCC)
  # nvcc knows which host compilers it supports; kernels need it only to preprocess, so a newer one will do.
  set(probe ${CMAKE_BINARY_DIR}/nvcc_probe.cu)
  file(WRITE ${probe} "#include <math.h>\nextern \"C\" __global__ void probe(float *p) { *p = sqrtf(*p); }\n")
  set(works FALSE)
  foreach(flags "-ccbin=${CMAKE_CXX_COMPILER}" "-ccbin=${CMAKE_CXX_COMPILER};-allow-unsupported-compiler" "")
    execute_process(COMMAND ${SMP_NVCC} ${flags} -std=c++17 -fatbin -o ${probe}.fatbin ${probe}
      RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE nvcc_says)
    if(NOT failed)
      set(works TRUE)
      set(SMP_NVCC_FLAGS ${flags})
      break()
    endif()
  endforeach()
  if(NOT works)
    message(WARNING "nvcc does not work, so there will be no --device cuda:\n${nvcc_says}")
    set(SMP_CUDA OFF)
  endif()
endif()

if(SMP_CUDA AND SMP_NVCC)
  execute_process(COMMAND ${SMP_NVCC} --list-gpu-arch
    OUTPUT_VARIABLE known ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX REPLACE "compute_" "" known "${known}")
  string(REGEX REPLACE "[\r\n]+" ";" known "${known}")
  if(SMP_CUDA_ARCHS STREQUAL "native")
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
      OUTPUT_VARIABLE archs RESULT_VARIABLE failed ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(failed OR NOT archs MATCHES "^[0-9]+\\.[0-9]")
      # No GPU will run them here: where nvcc offers it, a faster compilation of slower code.
      set(archs 75)
      execute_process(COMMAND ${SMP_NVCC} ${SMP_NVCC_FLAGS} -Ofc ${SMP_CUDA_HURRY} -std=c++17 -fatbin
          -o ${probe}.fatbin ${probe}
        RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
      if(NOT failed)
        list(APPEND SMP_NVCC_FLAGS -Ofc ${SMP_CUDA_HURRY})
        set(hurried ", compiled in a hurry because there is no GPU here: for one elsewhere say -DSMP_CUDA_ARCHS")
      endif()
    endif()
    string(REGEX REPLACE "[. ]" "" archs "${archs}")
    string(REGEX REPLACE "[\r\n]+" ";" archs "${archs}")
  elseif(SMP_CUDA_ARCHS STREQUAL "all")
    set(archs 75 80 86 89 90 100 120)
  else()
    string(REGEX REPLACE "sm_|compute_" "" archs "${SMP_CUDA_ARCHS}")
    string(REGEX REPLACE "[, ]+" ";" archs "${archs}")
  endif()
  list(REMOVE_DUPLICATES archs)
  set(usable "")
  foreach(arch ${archs})
    if(arch IN_LIST known)
      list(APPEND usable ${arch})
    endif()
  endforeach()
  if(NOT usable) # a GPU newer or older than this nvcc: its lowest PTX may still do
    list(GET known 0 usable)
  endif()
  list(SORT usable COMPARE NATURAL)
  foreach(arch ${usable})
    list(APPEND SMP_NVCC_FLAGS -gencode arch=compute_${arch},code=sm_${arch})
  endforeach()
  list(GET usable -1 newest)
  list(APPEND SMP_NVCC_FLAGS -gencode arch=compute_${newest},code=compute_${newest})
  list(APPEND SMP_NVCC_FLAGS -std=c++17 -O3 --fmad=false -lineinfo -Xfatbin -compress-all
    -I${CMAKE_SOURCE_DIR}/kernels -I${CMAKE_SOURCE_DIR}/src)
  if(SMP_WERROR)
    list(APPEND SMP_NVCC_FLAGS -Werror all-warnings)
  endif()
  string(REPLACE ";" " sm_" shown "${usable}")
  message(STATUS "GPU kernels: ${SMP_NVCC}, sm_${shown} and PTX${hurried}")
  # Counts of the kernels are of their SASS, which NVIDIA's disassembler writes: of the code that GPUs load.
  get_filename_component(nvcc_folder "${SMP_NVCC}" DIRECTORY)
  find_program(SMP_NVDISASM nvdisasm HINTS ${nvcc_folder} $ENV{CUDA_PATH}/bin $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
  set(SMP_SASS_ARCH "")
  foreach(arch ${usable})
    if(SMP_NVDISASM AND NOT hurried AND arch GREATER_EQUAL 80 AND arch LESS_EQUAL 90)
      set(SMP_SASS_ARCH ${arch})
    endif()
  endforeach()
  if(SMP_SASS_ARCH)
    message(STATUS "Counts: of the kernels' SASS of sm_${SMP_SASS_ARCH}, by ${SMP_NVDISASM}")
  elseif(SMP_NVDISASM)
    message(STATUS "Counts: of kernels as the host's compiler makes them (SASS needs -DSMP_CUDA_ARCHS=90)")
  else()
    message(STATUS "Counts: of kernels as the host's compiler makes them (SASS needs nvdisasm)")
  endif()
else()
  message(STATUS "GPU kernels: none (no nvcc); --device cuda will say so")
endif()

# Where the compiler hurries, these files are compiled for sm_90 as well, so that tests count some SASS.
set(SMP_SASS_FILES "transpose_swizzled_rgb;waveform" CACHE STRING
  "Kernel files whose SASS is kept in a build for no GPU")
if(SMP_CUDA AND SMP_NVDISASM AND NOT CMAKE_CROSSCOMPILING)
  add_executable(pack_sass EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/src/lab/program_kernels/pack/pack_sass.c)
  target_link_libraries(pack_sass PRIVATE ZLIB::ZLIB)
  target_compile_definitions(pack_sass PRIVATE _GNU_SOURCE)
endif()
set(SMP_SASS_FOLDER ${CMAKE_BINARY_DIR}/sass)

# ---------------------------------------------------------------------------------------------- host compilers

# Exceptions, run-time types and guarded statics are not there on a GPU either; without them no C++ library is needed.
set(SMP_KERNEL_CXX_FLAGS -fno-exceptions -fno-rtti -fno-threadsafe-statics -fno-strict-aliasing)

# Traced kernels call the emulator in the program (-fsanitize=thread's callbacks). No sanitizer beside that, no
# optimisation that merges accesses, no inlining, of which unoptimised code grows: calls tell where they are from
# (src/device/simt/simt_calls.c). The thread's place is the program's own variable: no call finds it.
add_library(smp_traced_flags INTERFACE)
target_compile_options(smp_traced_flags INTERFACE
  -O0 -g1 -w -fPIC -ftls-model=initial-exec -fsanitize=thread -fno-math-errno -ffp-contract=off
  $<$<COMPILE_LANGUAGE:CXX>:${SMP_KERNEL_CXX_FLAGS}>)
target_compile_definitions(smp_traced_flags INTERFACE _GNU_SOURCE SMP_TRACED)
target_include_directories(smp_traced_flags INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/kernels)

# smp_kernel_files(TABLE [APART] [ALONE NAME] SOURCES...): object libraries TABLE_plain, TABLE_traced and TABLE_table;
# the last defines `const smp_kernel_file TABLE[]`. ${TABLE}_objects is set to all their objects. APART: traced kernels
# and fatbins are not among them. ${TABLE}_traced is set to the objects of a library of the former, ${TABLE}_fatbins to
# the source of a library of the latter, empty where there are none (device/kernel_table.h).
# The host's compiler gets eight files in one, each in a namespace, for half of the time of small ones; ALONE: a file
# that is one by itself, NAME.plain.cpp. Headers come before, so that each is read once, outside.
function(smp_kernel_files table)
  cmake_parse_arguments(PARSE_ARGV 1 option "APART" "ALONE" "")
  set(folder ${CMAKE_BINARY_DIR}/kernels/${table})
  file(MAKE_DIRECTORY ${folder})
  set(plain "")
  set(traced "")
  set(images "")
  set(declarations "")
  set(rows "")
  set(traced_declarations "")
  set(traced_rows "")
  set(fatbin_declarations "")
  set(fatbin_rows "")
  set(share 1)
  set(shares 1)
  if(hurried AND option_APART AND SMP_CUDA_SHARE MATCHES "^([0-9]+)/([0-9]+)$")
    set(share ${CMAKE_MATCH_1})
    set(shares ${CMAKE_MATCH_2})
  endif()
  set(index 0)
  set(number 0)
  set(groups "")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${option_UNPARSED_ARGUMENTS}) # whose headers are read
  foreach(source ${option_UNPARSED_ARGUMENTS})
    get_filename_component(source ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    file(RELATIVE_PATH included ${CMAKE_SOURCE_DIR}/kernels ${source}) # so that a compiler cache serves every clone
    if(name STREQUAL option_ALONE)
      set(group ${name})
    else()
      math(EXPR group "${number} / 8")
      math(EXPR number "${number} + 1")
    endif()
    list(APPEND groups ${group})
    file(STRINGS ${source} headers REGEX "^#include \".*h\"")
    list(APPEND headers_${group} ${headers})
    foreach(kind plain traced)
      set(list "const smp_simt_kernel *const *const ${table}_${kind}_${name}")
      string(APPEND ${kind}_${group} "namespace smp_${kind}_${name} {\nstatic smp_simt_kernel *smp_simt_list;\n"
        "#include \"${included}\"\n}\nextern \"C\" {\nextern ${list};\n"
        "${list} = &smp_${kind}_${name}::smp_simt_list;\n}\n")
      set(${kind}_declaration "extern const smp_simt_kernel *const *const ${table}_${kind}_${name};\n")
    endforeach()
    string(APPEND declarations "${plain_declaration}")
    if(option_APART)
      set(traced_list "0")
      string(APPEND traced_declarations "${traced_declaration}")
      string(APPEND traced_rows "    {\"${name}\", &${table}_traced_${name}},\n")
    else()
      set(traced_list "&${table}_traced_${name}")
      string(APPEND declarations "${traced_declaration}")
    endif()
    math(EXPR index "(${index} + 1) % ${shares}")
    math(EXPR share_index "${share} % ${shares}")
    # Tests of the library open it for invert's kernels.
    if(SMP_CUDA AND SMP_NVCC AND (index EQUAL share_index OR name IN_LIST SMP_SASS_FILES OR name STREQUAL "invert"))
      set(fatbin ${folder}/${name}.fatbin)
      set(usage ${folder}/${name}.usage)
      set(sass "")
      set(alone "")
      if(option_APART AND TARGET pack_sass AND (SMP_SASS_ARCH OR name IN_LIST SMP_SASS_FILES))
        set(sass ${SMP_SASS_FOLDER}/${name}.gz)
        if(NOT SMP_SASS_ARCH)
          set(alone -DALONE=-gencode=arch=compute_90,code=sm_90)
        endif()
      endif()
      add_custom_command(OUTPUT ${fatbin} ${sass} BYPRODUCTS ${usage}
        COMMAND ${CMAKE_COMMAND} -DUSAGE=${usage} -DSASS=${sass} -DKEEP=${folder}/${name}.keep "-DARCH=${SMP_SASS_ARCH}"
          ${alone} "-DNVDISASM=${SMP_NVDISASM}" "-DPACK=$<$<BOOL:${sass}>:$<TARGET_FILE:pack_sass>>"
          -DVERSION=${PROJECT_VERSION} -P ${CMAKE_SOURCE_DIR}/kernels/nvcc.cmake --
          ${SMP_NVCC} ${SMP_NVCC_FLAGS} -Xcompiler=-MD,-MF,${fatbin}.d,-MT,${fatbin} -fatbin -o ${fatbin} ${source}
        DEPENDS ${source} $<$<BOOL:${sass}>:pack_sass> DEPFILE ${fatbin}.d COMMENT "Building GPU kernels ${name}.cu"
        VERBATIM)
      list(APPEND images ${fatbin})
      set(section "__asm__(\".section .rodata\\n.balign 64\\n")
      set(hidden "__attribute__((visibility(\"hidden\")))")
      set(label ${table}_fatbin_${name})
      string(CONCAT fatbin_declaration "${section}.globl ${label}\\n.hidden ${label}\\n${label}:\\n"
        ".incbin \\\"${fatbin}\\\"\\n.previous\\n\");\nextern const unsigned char ${label}[] ${hidden};\n")
      set(label ${table}_usage_${name})
      string(APPEND declarations "${section}.globl ${label}\\n.hidden ${label}\\n${label}:\\n"
        ".incbin \\\"${usage}\\\"\\n.byte 0\\n.previous\\n\");\nextern const char ${label}[] ${hidden};\n")
      if(option_APART)
        set(image "0, ${label}")
        string(APPEND fatbin_declarations "${fatbin_declaration}")
        string(APPEND fatbin_rows "    {\"${name}\", ${table}_fatbin_${name}},\n")
      else()
        set(image "${table}_fatbin_${name}, ${label}")
        string(APPEND declarations "${fatbin_declaration}")
      endif()
    else()
      set(image "0, 0")
    endif()
    string(APPEND rows "    {\"${name}\", ${image}, &${table}_plain_${name}, ${traced_list}},\n")
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group ${groups})
    list(REMOVE_DUPLICATES headers_${group})
    list(JOIN headers_${group} "\n" headers)
    foreach(kind plain traced)
      set(wrapper ${folder}/${group}.${kind}.cpp)
      file(GENERATE OUTPUT ${wrapper} CONTENT
        "// Written by CMake: kernel files for the emulator, ${kind}.\n${headers}\n${${kind}_${group}}")
      list(APPEND ${kind} ${wrapper})
    endforeach()
  endforeach()
  # The program and the library of fatbins know each other by the fatbins' sum.
  set(build "")
  if(option_APART)
    set(build "extern const char ${table}_build[];\nconst char ${table}_build[] = ")
    if(images)
      add_custom_command(OUTPUT ${folder}/build.h
        COMMAND ${CMAKE_COMMAND} "-DFATBINS=${images}" -DOUT=${folder}/build.h
          -P ${CMAKE_SOURCE_DIR}/kernels/fatbins.cmake
        DEPENDS ${images} ${CMAKE_SOURCE_DIR}/kernels/fatbins.cmake VERBATIM)
      add_custom_target(${table}_build DEPENDS ${folder}/build.h)
      string(PREPEND build "#include \"build.h\"\n")
      string(APPEND build "SMP_KERNELS_BUILD;\n")
    else()
      string(APPEND build "\"\";\n")
    endif()
  endif()
  string(CONCAT text "/* Written by CMake: the kernel files that the program carries. */\n"
    "#include \"device/kernel_table.h\"\n${declarations}${build}extern const smp_kernel_file ${table}[];\n"
    "const smp_kernel_file ${table}[] = {\n${rows}    {0, 0, 0, 0, 0},\n};\n")
  file(GENERATE OUTPUT ${folder}/table.c CONTENT "${text}")
  set_source_files_properties(${folder}/table.c PROPERTIES OBJECT_DEPENDS "${images}")
  string(CONCAT version "#include \"base/version.h\"\nextern const char ${table}_version[];\n"
    "const char ${table}_version[] = SMP_VERSION;\n")
  set(${table}_fatbins "" PARENT_SCOPE)
  if(option_APART AND images)
    string(CONCAT text "/* Written by CMake: the fatbins that a library carries. */\n"
      "#include \"device/kernel_table.h\"\n${fatbin_declarations}${build}${version}"
      "extern const smp_fatbin_file ${table}_fatbins[];\n"
      "const smp_fatbin_file ${table}_fatbins[] = {\n${fatbin_rows}    {0, 0},\n};\n")
    file(GENERATE OUTPUT ${folder}/fatbins.c CONTENT "${text}")
    set_source_files_properties(${folder}/table.c ${folder}/fatbins.c PROPERTIES
      OBJECT_DEPENDS "${images};${folder}/build.h")
    set(${table}_fatbins ${folder}/fatbins.c PARENT_SCOPE)
  endif()
  set(objects "")
  if(option_APART AND SMP_TRACE_FROM) # a sanitizer's build: kernels keep to the bounds of views, which tests check
    foreach(source ${plain})
      get_filename_component(name ${source} NAME)
      list(APPEND objects ${SMP_TRACE_FROM}/CMakeFiles/${table}_plain.dir/kernels/${table}/${name}.o)
    endforeach()
    set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
  elseif(plain)
    add_library(${table}_plain OBJECT ${plain})
    target_link_libraries(${table}_plain PRIVATE smp_flags)
    # What each file runs at the program's start lies together, so that starting does not touch all kernels' pages.
    # Nothing unwinds their stacks but a debugger, which has -g's tables: half a megabyte less.
    target_compile_options(${table}_plain PRIVATE ${SMP_KERNEL_CXX_FLAGS} -Wno-unknown-pragmas
      $<$<CONFIG:Release>:-fno-asynchronous-unwind-tables>
      $<$<CXX_COMPILER_ID:GNU>:-freorder-functions>
      $<$<CONFIG:Release,RelWithDebInfo>:-Og>
      $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>) # that one needs the C++ library
    add_library(${table}_traced OBJECT EXCLUDE_FROM_ALL ${traced})
    target_link_libraries(${table}_traced PRIVATE smp_traced_flags)
    set(objects $<TARGET_OBJECTS:${table}_plain>)
    if(option_APART)
      string(CONCAT text "/* Written by CMake: the traced kernels that a library carries. */\n"
        "#include \"device/kernel_table.h\"\n${traced_declarations}extern const smp_traced_file ${table}_traced[];\n"
        "const smp_traced_file ${table}_traced[] = {\n${traced_rows}    {0, 0},\n};\n${version}")
      file(GENERATE OUTPUT ${folder}/traced_table.c CONTENT "${text}")
      target_sources(${table}_traced PRIVATE ${folder}/traced_table.c)
      set(${table}_traced $<TARGET_OBJECTS:${table}_traced> PARENT_SCOPE)
    else()
      list(APPEND objects $<TARGET_OBJECTS:${table}_traced>)
    endif()
  endif()
  add_library(${table}_table OBJECT ${folder}/table.c)
  target_link_libraries(${table}_table PRIVATE smp_flags)
  if(TARGET ${table}_build)
    add_dependencies(${table}_table ${table}_build)
  endif()
  set(${table}_objects ${objects} $<TARGET_OBJECTS:${table}_table> PARENT_SCOPE)
endfunction()
