# SPDX-License-Identifier: Apache-2.0
# `library` exports the functions that `header`, and device.h beside it, declare, all under its version; `bench_library`
# exports names of namespace tutti; `nccl_tuner` a symbol for each version of NCCL's interface. Nothing of the C++ library,
# or of other libraries inside, is visible.
cmake_minimum_required(VERSION 3.25)

# exported(LIBRARY OUT...): the names that it defines for others, but for those of versions.
function(exported from out)
  execute_process(COMMAND "${nm}" --dynamic --defined-only ${ARGN} "${from}"
    OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  # A semicolon would part a name in two.
  string(REPLACE ";" " " lines "${lines}")
  string(REPLACE "\n" ";" lines "${lines}")
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^[0-9a-f]* *([A-Za-z]) (.*)$" AND NOT CMAKE_MATCH_1 STREQUAL "A")
      list(APPEND names "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${out} "${names}" PARENT_SCOPE)
endfunction()

file(READ "${header}" text)
cmake_path(GET header PARENT_PATH folder)
file(READ "${folder}/device.h" device_text)
string(APPEND text "${device_text}")
string(REPLACE ";" " " text "${text}")
string(REGEX MATCHALL "TUTTI_API [^(]*tutti[A-Za-z0-9]+\\(" declared "${text}")
list(TRANSFORM declared REPLACE ".*[ *](tutti[A-Za-z0-9]+)\\(" "\\1@@TUTTI_0.1")
list(LENGTH declared number)
if(number LESS 50)
  message(FATAL_ERROR "only ${number} functions were found in ${header}")
endif()

exported("${library}" names)
list(SORT declared)
list(SORT names)
if(NOT names STREQUAL declared)
  set(missing ${declared})
  list(REMOVE_ITEM missing ${names})
  list(REMOVE_ITEM names ${declared})
  message(FATAL_ERROR "declared and not exported: ${missing}\nexported and not declared: ${names}")
endif()

exported("${bench_library}" names --demangle)
list(FILTER names EXCLUDE REGEX "^((typeinfo|typeinfo name|vtable) for )?tutti::")
if(names)
  message(FATAL_ERROR "exported by the library for benches: ${names}")
endif()
exported("${bench_library}" names --demangle)
list(FILTER names INCLUDE REGEX "tutti::bench_main")
list(LENGTH names number)
if(NOT number EQUAL 1)
  message(FATAL_ERROR "the library for benches has no bench_main")
endif()

exported("${nccl_tuner}" names)
list(SORT names)
set(expected ncclTunerPlugin_v2 ncclTunerPlugin_v3 ncclTunerPlugin_v4 ncclTunerPlugin_v5 ncclTunerPlugin_v6)
if(NOT names STREQUAL expected)
  message(FATAL_ERROR "the tuner of NCCL exports ${names}; it is to export ${expected}")
endif()
