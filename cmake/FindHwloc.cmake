# SPDX-License-Identifier: Apache-2.0
# hwloc has no package of its own for CMake: Hwloc_FOUND and the target Hwloc::hwloc.
find_path(HWLOC_INCLUDE_DIR hwloc.h)
find_library(HWLOC_LIBRARY hwloc)
mark_as_advanced(HWLOC_INCLUDE_DIR HWLOC_LIBRARY)
if(HWLOC_INCLUDE_DIR)
  # 2.9.0 is 0x00020900.
  file(STRINGS "${HWLOC_INCLUDE_DIR}/hwloc.h" line REGEX "^#define HWLOC_API_VERSION 0x[0-9a-f]+")
  if(line MATCHES "0x000([0-9a-f])([0-9a-f][0-9a-f])")
    math(EXPR hwloc_minor "0x${CMAKE_MATCH_2}")
    set(Hwloc_VERSION "${CMAKE_MATCH_1}.${hwloc_minor}")
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hwloc REQUIRED_VARS HWLOC_LIBRARY HWLOC_INCLUDE_DIR VERSION_VAR Hwloc_VERSION)
if(Hwloc_FOUND AND NOT TARGET Hwloc::hwloc)
  add_library(Hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(Hwloc::hwloc PROPERTIES IMPORTED_LOCATION "${HWLOC_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${HWLOC_INCLUDE_DIR}")
endif()
