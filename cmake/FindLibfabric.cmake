# SPDX-License-Identifier: Apache-2.0
# libfabric's headers, which are all that the build needs: the library is opened when a program asks for it.
# Libfabric_FOUND and the target Libfabric::headers.
find_path(LIBFABRIC_INCLUDE_DIR rdma/fabric.h)
mark_as_advanced(LIBFABRIC_INCLUDE_DIR)
if(LIBFABRIC_INCLUDE_DIR)
  file(STRINGS "${LIBFABRIC_INCLUDE_DIR}/rdma/fabric.h" lines REGEX "^#define FI_(MAJOR|MINOR)_VERSION [0-9]+")
  if(lines MATCHES "FI_MAJOR_VERSION ([0-9]+).*FI_MINOR_VERSION ([0-9]+)")
    set(Libfabric_VERSION "${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  endif()
endif()
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libfabric REQUIRED_VARS LIBFABRIC_INCLUDE_DIR VERSION_VAR Libfabric_VERSION)
if(Libfabric_FOUND AND NOT TARGET Libfabric::headers)
  add_library(Libfabric::headers INTERFACE IMPORTED)
  set_target_properties(Libfabric::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${LIBFABRIC_INCLUDE_DIR}")
endif()
