# SPDX-License-Identifier: Apache-2.0
# How a layer of Tutti is declared: tutti_layer(NAME SOURCES ... DEPENDS ... [APART | TOGETHER] [COMMON_HEADERS |
# PRECOMPILES headers ...]) makes the static library tutti_NAME. Of one that is APART each file has names of its own for
# what is alike; of one that is TOGETHER files include so much that some at a time are compiled in half the time.
# A layer may include only the layers named in DEPENDS and those below them; tests/lint/layers.txt holds the same rule.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Every other library inherits this one, so it also carries what all translation units must share.
add_library(tutti_options INTERFACE)
target_include_directories(tutti_options INTERFACE
  "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>")
# No contraction of a*b+c: the same bits on every processor is a promise of the data layer.
target_compile_options(tutti_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual
  -ffp-contract=off -fno-math-errno)
# GCC frees as it goes, which takes a twentieth of its time; where there are 2 GiB a core, it need not begin below 1 GiB.
cmake_host_system_information(RESULT tutti_memory QUERY TOTAL_PHYSICAL_MEMORY)
cmake_host_system_information(RESULT tutti_cores QUERY NUMBER_OF_LOGICAL_CORES)
math(EXPR tutti_memory_of_a_core "${tutti_memory} / ${tutti_cores}")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND tutti_memory_of_a_core GREATER_EQUAL 2048)
  target_compile_options(tutti_options INTERFACE --param=ggc-min-heapsize=1048576)
endif()

if(NOT TUTTI_COMPILE_TOGETHER MATCHES "^(none|some|all)$")
  message(FATAL_ERROR "TUTTI_COMPILE_TOGETHER is '${TUTTI_COMPILE_TOGETHER}'; it takes none, some or all")
endif()
if(TUTTI_SANITIZE STREQUAL "address")
  target_compile_options(tutti_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # Every access asks for these two, which takes a third of the time to compile.
  if(TUTTI_BRIEF_TESTS)
    target_compile_options(tutti_options INTERFACE -fno-sanitize=null,alignment)
  endif()
  target_link_options(tutti_options INTERFACE -fsanitize=address,undefined)
elseif(TUTTI_SANITIZE STREQUAL "thread")
  target_compile_options(tutti_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(tutti_options INTERFACE -fsanitize=thread)
elseif(NOT TUTTI_SANITIZE STREQUAL "")
  message(FATAL_ERROR "TUTTI_SANITIZE is '${TUTTI_SANITIZE}'; it takes nothing, address or thread")
endif()

# tutti_precompiles(TARGET HEADER...): headers of others that most of its sources include, compiled once for all of them.
# Sources include what they use all the same; lint holds headers to that.
option(TUTTI_PRECOMPILE_HEADERS "Compile once what many sources include" ON)
function(tutti_precompiles target)
  if(TUTTI_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# tutti_shares_headers(TARGET): the same for what nearly all sources include, once for all targets that say so. They must
# be compiled with the same options, so none of them may be what tutti_compiles_quickly has.
file(WRITE "${PROJECT_BINARY_DIR}/common_headers.cpp" "// Its headers are all that there is.\n")
add_library(tutti_common_headers OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/common_headers.cpp")
target_link_libraries(tutti_common_headers PRIVATE tutti_options fmt::fmt)
tutti_precompiles(tutti_common_headers
  <algorithm> <array> <atomic> <chrono> <coroutine> <deque> <functional> <map> <memory> <mutex> <optional> <span> <string>
  <variant> <vector> <fmt/format.h>)
function(tutti_shares_headers target)
  if(TUTTI_PRECOMPILE_HEADERS)
    target_precompile_headers(${target} REUSE_FROM tutti_common_headers)
  endif()
endfunction()

# tutti_compiles_together(TARGET [NUMBER]): its files so many at a time.
function(tutti_compiles_together target)
  set(number 8)
  if(ARGC GREATER 1)
    set(number ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${number})
endfunction()

# tutti_layer_together(TARGET): its files 32 at a time, or eight with a sanitizer, which needs more memory for each.
function(tutti_layer_together target)
  if(TUTTI_COMPILE_TOGETHER STREQUAL "none")
    return()
  endif()
  if(TUTTI_SANITIZE)
    tutti_compiles_together(${target} 8)
  else()
    tutti_compiles_together(${target} 32)
  endif()
endfunction()

function(tutti_layer name)
  cmake_parse_arguments(layer "APART;TOGETHER;COMMON_HEADERS" "" "SOURCES;DEPENDS;PRECOMPILES" ${ARGN})
  add_library(tutti_${name} STATIC ${layer_SOURCES})
  target_link_libraries(tutti_${name} PUBLIC tutti_options ${layer_DEPENDS})
  if(layer_TOGETHER OR (TUTTI_COMPILE_TOGETHER STREQUAL "all" AND NOT layer_APART))
    tutti_layer_together(tutti_${name})
  endif()
  if(layer_PRECOMPILES)
    tutti_precompiles(tutti_${name} ${layer_PRECOMPILES})
  elseif(layer_COMMON_HEADERS)
    tutti_shares_headers(tutti_${name})
  endif()
endfunction()

# tutti_exports(TARGET): exports only what the folder's exports.map names, under its version.
function(tutti_exports target)
  set(map "${CMAKE_CURRENT_SOURCE_DIR}/exports.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}")
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()

# tutti_compiles_quickly(TARGET...): for code that need not be fast, which is compiled in two thirds of the time so.
function(tutti_compiles_quickly)
  foreach(target ${ARGN})
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endforeach()
endfunction()

# tutti_embeds(RESULT FOLDER NAME...): data/FOLDER/NAME.toml of each name, as the rows of a C++ array of names and texts, in
# the variable RESULT; and installs the folder. So a program needs to find no folder.
function(tutti_embeds result folder)
  set(rows "")
  foreach(name ${ARGN})
    set(path "${PROJECT_SOURCE_DIR}/data/${folder}/${name}.toml")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(APPEND rows "    {\"${name}\", R\"toml(${text})toml\"},\n")
  endforeach()
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/data/${folder}" DESTINATION "${CMAKE_INSTALL_DATADIR}/tutti"
    FILES_MATCHING PATTERN "*.toml")
  set(${result} "${rows}" PARENT_SCOPE)
endfunction()

# tutti_embeds_text(RESULT PATH...): the texts of files, one behind the other, in the variable RESULT, for a raw string in
# a file that configure_file makes; and their SHA-256 in RESULT_sha256.
function(tutti_embeds_text result)
  set(all "")
  foreach(path ${ARGN})
    cmake_path(ABSOLUTE_PATH path)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${path}" text)
    string(APPEND all "${text}")
  endforeach()
  string(SHA256 digest "${all}")
  set(${result} "${all}" PARENT_SCOPE)
  set(${result}_sha256 "${digest}" PARENT_SCOPE)
endfunction()
