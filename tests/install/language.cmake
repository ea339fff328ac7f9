# SPDX-License-Identifier: Apache-2.0
# Compiles tutti.hpp for C++14, which must fail and name the required standard, and for C++17.
cmake_minimum_required(VERSION 3.25)
file(WRITE "${source}" "#include <tutti/tutti.hpp>\n")
foreach(standard IN ITEMS 14 17)
  execute_process(COMMAND "${cxx_compiler}" -std=c++${standard} -fsyntax-only "-I${include}" "${source}"
    RESULT_VARIABLE status ERROR_VARIABLE words)
  if(standard EQUAL 17 AND NOT status EQUAL 0)
    message(FATAL_ERROR "for C++17: ${words}")
  endif()
  if(standard EQUAL 14 AND (status EQUAL 0 OR NOT words MATCHES "error: .*tutti.hpp needs C\\+\\+17 or later"))
    message(FATAL_ERROR "for C++14 (${status}): ${words}")
  endif()
endforeach()
