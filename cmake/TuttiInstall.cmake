# SPDX-License-Identifier: Apache-2.0
# What is installed beside the program (src/cli does that): the libraries, the public headers, a package config
# (find_package(Tutti), targets tutti::tutti and tutti::bench), tutti.pc and tutti-bench.pc. All is found relative to where it lies, so an installed tree
# may be moved.
#
# The libraries are shared, and link the layers that they are made of privately: they are inside, so neither the package
# config nor the .pc files name them. tests/install builds programs against the result.
if(NOT TARGET tutti_library)
  return()
endif()
get_target_property(tutti_library_type tutti_library TYPE)
if(NOT tutti_library_type STREQUAL "SHARED_LIBRARY")
  message(STATUS "Tutti: only a shared tutti_library can be installed; nothing will be")
  return()
endif()

include(CMakePackageConfigHelpers)
set(tutti_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Tutti")
set(tutti_pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(NOT TARGET tutti::tutti)
  add_library(tutti::tutti ALIAS tutti_library)
endif()

install(TARGETS tutti_library tutti_bench_library EXPORT TuttiTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/tutti" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

install(EXPORT TuttiTargets NAMESPACE tutti:: FILE TuttiExports.cmake DESTINATION "${tutti_package_dir}")
configure_package_config_file(
  "${CMAKE_CURRENT_LIST_DIR}/TuttiConfig.cmake.in" "${PROJECT_BINARY_DIR}/TuttiConfig.cmake"
  INSTALL_DESTINATION "${tutti_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/TuttiConfig.cmake" "${PROJECT_BINARY_DIR}/TuttiConfigVersion.cmake"
  DESTINATION "${tutti_package_dir}")

file(RELATIVE_PATH tutti_pkgconfig_to_prefix "/${tutti_pkgconfig_dir}" "/")
string(REGEX REPLACE "/$" "" tutti_pkgconfig_to_prefix "${tutti_pkgconfig_to_prefix}")
foreach(library tutti tutti_bench)
  string(REPLACE "_" "-" tutti_pkgconfig_name "${library}")
  set(tutti_pkgconfig_library "${library}")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/tutti.pc.in" "${PROJECT_BINARY_DIR}/${tutti_pkgconfig_name}.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/${tutti_pkgconfig_name}.pc" DESTINATION "${tutti_pkgconfig_dir}")
endforeach()
