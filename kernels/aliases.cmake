# cmake -DOBJECTS=LIST -DNM=PROGRAM -DFROM=v4 -DTO=LIST -DOUT=FILE -P aliases.cmake: writes a linker's script by which
# each function NAME_v4 of the objects is also that of the instruction sets in TO.
list(FILTER OBJECTS EXCLUDE REGEX "\\.gch$") # a precompiled header is among them
set(text "/* Written by CMake. */\n")
execute_process(COMMAND ${NM} -g --defined-only ${OBJECTS} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL " T [A-Za-z0-9_]+_${FROM}\n" symbols "${symbols}")
foreach(symbol IN LISTS symbols)
  string(REGEX REPLACE "^ T (.*)_${FROM}\n$" "\\1" name "${symbol}")
  foreach(set IN LISTS TO)
    string(APPEND text "${name}_${set} = ${name}_${FROM};\n")
  endforeach()
endforeach()
file(WRITE ${OUT} "${text}")
