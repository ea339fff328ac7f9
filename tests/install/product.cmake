# SPDX-License-Identifier: Apache-2.0
# The target tutti makes every program and library that an installation takes from `build`, and tutti_product the
# examples besides.
cmake_minimum_required(VERSION 3.25)

# The files that building the target makes.
function(made_by target out)
  execute_process(COMMAND "${ninja}" -C "${build}" -t commands ${target}
    OUTPUT_VARIABLE commands COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " -o [^ \n]+" files "${commands}")
  list(TRANSFORM files REPLACE "^ -o " "")
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

made_by(tutti made)
file(GLOB_RECURSE scripts "${build}/src/*/cmake_install.cmake" "${build}/cmake_install.cmake")
set(number 0)
foreach(script IN LISTS scripts)
  file(STRINGS "${script}" lines REGEX "FILES \"${build}/|\"${build}/.*\\.so|TYPE EXECUTABLE")
  foreach(line IN LISTS lines)
    string(REGEX MATCHALL "\"${build}/[^\"]+\"" files "${line}")
    foreach(file IN LISTS files)
      string(REGEX REPLACE "\"${build}/([^\"]+)\"" "\\1" file "${file}")
      # What is no file of its own, or is written when the build is configured.
      if(file MATCHES "\\.(cmake|pc|so|so\\.[0-9]+\\.[0-9]+)$|CMakeFiles/")
        continue()
      endif()
      math(EXPR number "${number} + 1")
      if(NOT file IN_LIST made)
        message(FATAL_ERROR "the target tutti does not make ${file}, which ${script} installs")
      endif()
    endforeach()
  endforeach()
endforeach()
if(number LESS 4)
  message(FATAL_ERROR "only ${number} files were found that are installed")
endif()
made_by(tutti_product made)
foreach(example IN ITEMS all_reduce all_gather_v halo symmetric)
  if(NOT "examples/${example}" IN_LIST made)
    message(FATAL_ERROR "tutti_product does not make the example ${example}")
  endif()
endforeach()
