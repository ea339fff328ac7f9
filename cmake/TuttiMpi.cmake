# SPDX-License-Identifier: Apache-2.0
# tutti_find_mpi(NAME wrapper library debian_package): an MPI of which another may be there too, so find_package(MPI),
# which knows one, is of no use. Like tutti_optional: TUTTI_<NAME> is AUTO, ON or OFF, TUTTI_HAS_<NAME> says what came of
# it, tutti_mpi::<name> is its C interface, and TUTTI_<NAME>_MPIRUN its mpirun, where that is there. The wrapper compiler
# is asked where things are, and not used.
function(tutti_find_mpi name wrapper library debian_package)
  set(TUTTI_${name} AUTO CACHE STRING "Worker for ${wrapper}: AUTO, ON or OFF")
  set_property(CACHE TUTTI_${name} PROPERTY STRINGS AUTO ON OFF)
  set(TUTTI_HAS_${name} FALSE PARENT_SCOPE)
  if(NOT TUTTI_${name})
    return()
  endif()

  find_program(TUTTI_${name}_WRAPPER ${wrapper})
  mark_as_advanced(TUTTI_${name}_WRAPPER TUTTI_${name}_MPIRUN TUTTI_${name}_INCLUDE TUTTI_${name}_LIBRARY)
  set(words "")
  if(TUTTI_${name}_WRAPPER)
    foreach(question -show -showme:compile -showme:link)
      execute_process(COMMAND "${TUTTI_${name}_WRAPPER}" ${question}
        OUTPUT_VARIABLE answer ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
      separate_arguments(answer UNIX_COMMAND "${answer}")
      list(APPEND words ${answer})
    endforeach()
  endif()
  set(includes ${words})
  list(FILTER includes INCLUDE REGEX "^-I")
  list(TRANSFORM includes REPLACE "^-I" "")
  set(libraries ${words})
  list(FILTER libraries INCLUDE REGEX "^-L")
  list(TRANSFORM libraries REPLACE "^-L" "")

  if(TUTTI_${name}_WRAPPER)
    find_path(TUTTI_${name}_INCLUDE mpi.h PATHS ${includes} NO_DEFAULT_PATH)
    find_library(TUTTI_${name}_LIBRARY ${library} PATHS ${libraries} NO_DEFAULT_PATH)
    # A compiler of its own may be all that a wrapper knows.
    find_library(TUTTI_${name}_LIBRARY ${library})
    # Beside the wrapper, and with its suffix where it has one: that of another MPI would start each rank alone.
    cmake_path(GET TUTTI_${name}_WRAPPER PARENT_PATH folder)
    cmake_path(GET TUTTI_${name}_WRAPPER EXTENSION suffix)
    find_program(TUTTI_${name}_MPIRUN "mpirun${suffix}" PATHS "${folder}" NO_DEFAULT_PATH)
  endif()
  if(TUTTI_${name}_INCLUDE AND TUTTI_${name}_LIBRARY)
    string(TOLOWER ${name} target)
    add_library(tutti_mpi::${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(tutti_mpi::${target} PROPERTIES
      IMPORTED_LOCATION "${TUTTI_${name}_LIBRARY}"
      INTERFACE_INCLUDE_DIRECTORIES "${TUTTI_${name}_INCLUDE}"
      # Their C++ interfaces were taken out of the standard.
      INTERFACE_COMPILE_DEFINITIONS "OMPI_SKIP_MPICXX=1;MPICH_SKIP_MPICXX=1")
    set(TUTTI_HAS_${name} TRUE PARENT_SCOPE)
  elseif(NOT TUTTI_${name} STREQUAL "AUTO")
    list(APPEND tutti_missing "  ${wrapper}: ${debian_package}")
    set(tutti_missing "${tutti_missing}" PARENT_SCOPE)
  endif()
endfunction()
