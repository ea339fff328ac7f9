# SPDX-License-Identifier: Apache-2.0
# Whether the rows of registry_rows.inc decide which files of algorithms are compiled, and what is said where the two do
# not agree: small trees with a few rows and files, each configured by itself. Needs -D scratch=FOLDER -D source=FOLDER
# (src/algorithms).

# configure(NAME ROWS FILES): leaves the exit status in `failed` and what was said, on one line, in `said`.
function(configure name rows files)
  set(tree "${scratch}/${name}")
  file(REMOVE_RECURSE "${tree}")
  string(REPLACE ";" "\n" rows "${rows}")
  file(WRITE "${tree}/registry_rows.inc" "// The rows, each TUTTI\n${rows}\n")
  foreach(file registry.cpp ${files})
    file(WRITE "${tree}/${file}" "")
  endforeach()
  file(WRITE "${tree}/CMakeLists.txt" "cmake_minimum_required(VERSION 3.25)\nproject(tree NONE)\n"
    "include(\"${source}/sources.cmake\")\n"
    "tutti_algorithm_sources(\"\${CMAKE_CURRENT_SOURCE_DIR}\" registry.cpp sources)\n"
    "message(STATUS \"sources: \${sources}.\")\n")
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${tree}" -B "${tree}/build"
    RESULT_VARIABLE failed OUTPUT_VARIABLE said ERROR_VARIABLE said)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  set(failed "${failed}" PARENT_SCOPE)
  set(said "${said}" PARENT_SCOPE)
endfunction()

function(expect_success name rows files text)
  configure("${name}" "${rows}" "${files}")
  string(FIND "${said}" "${text}" found)
  if(failed OR found EQUAL -1)
    message(SEND_ERROR "${name}: should say '${text}', and says: ${said}")
  endif()
endfunction()

function(expect_failure name rows files text)
  configure("${name}" "${rows}" "${files}")
  string(FIND "${said}" "${text}" found)
  if(NOT failed OR found EQUAL -1)
    message(SEND_ERROR "${name}: should fail and say '${text}', and says: ${said}")
  endif()
endfunction()

set(ring "TUTTI_ALGORITHM(all_gather, ring)")
set(ring_v "TUTTI_ALGORITHM(all_gather_v, ring)")
set(other_v "TUTTI_ALGORITHM(all_gather_v, other)")
expect_success(agreeing "${ring};${ring_v};${other_v}" "all_gather/ring.cpp;all_gather_v/other.cpp"
  "sources: registry.cpp;all_gather/ring.cpp;all_gather_v/other.cpp.")
expect_failure(row_without_file "${ring};TUTTI_ALGORITHM(reduce, tree)" "all_gather/ring.cpp"
  "TUTTI_ALGORITHM(reduce, tree) has no file: reduce/tree.cpp does not exist")
expect_failure(v_row_without_file "${ring};${other_v}" "all_gather/ring.cpp"
  "TUTTI_ALGORITHM(all_gather_v, other) has no file: all_gather/other.cpp does not exist")
expect_failure(file_without_row "${ring}" "all_gather/ring.cpp;reduce/tree.cpp"
  "reduce/tree.cpp belongs to nothing: there is no row TUTTI_ALGORITHM(reduce, tree)")
expect_failure(no_row "${ring};TUTTI_ALGORITHM(reduce)" "all_gather/ring.cpp"
  "'TUTTI_ALGORITHM(reduce)' is not a row, such as 'TUTTI_ALGORITHM(all_reduce, ring)'")

# A build of a tree that is right looks again when a file comes.
configure(later "${ring}" "all_gather/ring.cpp")
file(WRITE "${scratch}/later/reduce/tree.cpp" "")
execute_process(COMMAND "${CMAKE_COMMAND}" --build "${scratch}/later/build" RESULT_VARIABLE failed OUTPUT_VARIABLE said
  ERROR_VARIABLE said)
if(NOT failed OR NOT said MATCHES "reduce/tree.cpp")
  message(SEND_ERROR "later: the build should fail and name reduce/tree.cpp, and says: ${said}")
endif()
