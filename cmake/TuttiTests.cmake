# SPDX-License-Identifier: Apache-2.0
# How a test is declared: tutti_test(NAME SOURCES ... [APART] [PART_OF layer files...] DEPENDS layers ... LABELS ... [TIMEOUT s])
# makes the GoogleTest program test_NAME and registers each of its tests with CTest under the labels given (unit where none
# is). PART_OF is for tests of a few files of a large layer: where sanitizers build just the programs that they run, those
# files are compiled into the program, and the rest of the layer is spared; elsewhere it is one more layer.
#
# Labels: unit, conformance, multiprocess, golden, install, fuzz, lint, slow. `concurrent` and `parses` mark what
# the sanitizers run on in every test run, the thread sanitizer on what is concurrent only; the targets tests_for_asan
# and tests_for_tsan build just those programs.
include(GoogleTest)

add_custom_target(tests_for_asan)
add_custom_target(tests_for_tsan)
add_custom_target(fuzzers)

# A sanitizer slows a test down; its time limit grows with it.
set(TUTTI_TEST_SLOWDOWN 1)
if(TUTTI_SANITIZE)
  set(TUTTI_TEST_SLOWDOWN 5)
endif()

# tutti_test_headers(NAME HEADER...): what the tests declared from here on, in this folder and below it, include, compiled
# once for all of them.
function(tutti_test_headers name)
  set(target tutti_${name}_test_headers)
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${name}_test_headers.cpp" "// Its headers are all that there is.\n")
  add_executable(${target} EXCLUDE_FROM_ALL "${CMAKE_CURRENT_BINARY_DIR}/${name}_test_headers.cpp")
  target_link_libraries(${target} PRIVATE tutti_options GTest::gtest_main fmt::fmt)
  target_compile_options(${target} PRIVATE -O0)
  tutti_precompiles(${target} <gtest/gtest.h> <fmt/format.h> ${ARGN})
  # GCC 12 takes what it inlines from precompiled headers for ours, and is wrong about it.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  set(TUTTI_TEST_HEADERS ${target} PARENT_SCOPE)
endfunction()

function(tutti_test name)
  cmake_parse_arguments(test "APART" "TIMEOUT" "SOURCES;PART_OF;DEPENDS;LABELS" ${ARGN})
  if(NOT test_LABELS)
    set(test_LABELS unit)
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  math(EXPR test_TIMEOUT "${test_TIMEOUT} * ${TUTTI_TEST_SLOWDOWN}")
  # Ranks that wait for each other want the cores to themselves.
  set(processors 1)
  if("multiprocess" IN_LIST test_LABELS)
    set(processors 2)
  endif()

  if(test_PART_OF)
    list(POP_FRONT test_PART_OF layer)
    if(TUTTI_SANITIZE)
      list(TRANSFORM test_PART_OF PREPEND "${PROJECT_SOURCE_DIR}/src/${layer}/")
      list(APPEND test_SOURCES ${test_PART_OF})
    else()
      list(APPEND test_DEPENDS tutti_${layer})
    endif()
  endif()

  add_executable(test_${name} ${test_SOURCES})
  # fmt even where no source needs it: who has not all definitions of the precompiled headers is not given them.
  target_link_libraries(test_${name} PRIVATE tutti_options ${test_DEPENDS} GTest::gtest_main fmt::fmt)
  target_compile_definitions(test_${name} PRIVATE TUTTI_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # It is compiled in three quarters of the time so, and what it tests is optimised.
  target_compile_options(test_${name} PRIVATE -O0)
  if(NOT TUTTI_COMPILE_TOGETHER STREQUAL "none" AND NOT test_APART)
    tutti_compiles_together(test_${name})
  endif()
  if(TUTTI_PRECOMPILE_HEADERS)
    target_precompile_headers(test_${name} REUSE_FROM ${TUTTI_TEST_HEADERS})
    target_compile_options(test_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds> $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>)
  endif()
  if("concurrent" IN_LIST test_LABELS OR "parses" IN_LIST test_LABELS)
    add_dependencies(tests_for_asan test_${name})
  endif()
  if("concurrent" IN_LIST test_LABELS)
    add_dependencies(tests_for_tsan test_${name})
  endif()
  gtest_discover_tests(test_${name} TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${test_TIMEOUT})
  # gtest_discover_tests cannot pass a list on (the labels would fall apart), but leaves the names of the tests to files
  # that CTest reads after its own.
  set(more "${CMAKE_CURRENT_BINARY_DIR}/test_${name}_labels.cmake")
  file(WRITE "${more}"
    "if(test_${name}_TESTS)\n"
    "  set_tests_properties(\${test_${name}_TESTS} PROPERTIES LABELS \"${test_LABELS}\" PROCESSORS ${processors})\n"
    "endif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${more}")
endfunction()

# tutti_fuzz(NAME SOURCES ... DEPENDS layers ... [CORPUS folder]): a libFuzzer program fuzz_NAME (its source
# defines LLVMFuzzerTestOneInput) and a test that runs it for TUTTI_FUZZ_SECONDS, beginning with the corpus. It is built
# where Clang builds with the address sanitizer, as `./dev test --full` does; elsewhere this declares nothing.
set(TUTTI_FUZZ_SECONDS 120 CACHE STRING "How long the test of each fuzzer runs")

function(tutti_fuzz name)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR NOT TUTTI_SANITIZE STREQUAL "address")
    return()
  endif()
  cmake_parse_arguments(fuzz "" "CORPUS" "SOURCES;DEPENDS" ${ARGN})
  add_executable(fuzz_${name} EXCLUDE_FROM_ALL ${fuzz_SOURCES})
  target_link_libraries(fuzz_${name} PRIVATE tutti_options ${fuzz_DEPENDS})
  target_compile_options(fuzz_${name} PRIVATE -O1 -fsanitize=fuzzer)
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers fuzz_${name})

  # New inputs go to the first folder, which the build owns; the corpus is only read.
  set(found "${CMAKE_CURRENT_BINARY_DIR}/fuzz_${name}.found")
  file(MAKE_DIRECTORY "${found}")
  if(fuzz_CORPUS)
    cmake_path(ABSOLUTE_PATH fuzz_CORPUS)
  endif()
  add_test(NAME fuzz.${name} COMMAND fuzz_${name} "${found}" ${fuzz_CORPUS}
    -max_total_time=${TUTTI_FUZZ_SECONDS} -timeout=10 -print_final_stats=1 "-artifact_prefix=${found}/")
  math(EXPR timeout "${TUTTI_FUZZ_SECONDS} + 120")
  set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT ${timeout})
endfunction()
