# SPDX-License-Identifier: Apache-2.0
# cpp-httplib as a library: Httplib_FOUND and the target Httplib::httplib. Only version 0.11: `tutti web` uses its reader of
# requests below connections of its own, which other versions may not have. The classes depend on the options with which
# the library was built, and only pkg-config tells these.
include(FindPackageHandleStandardArgs)
find_package(PkgConfig QUIET)
set(Httplib_VERSION "")
if(PkgConfig_FOUND)
  pkg_check_modules(HTTPLIB QUIET IMPORTED_TARGET "cpp-httplib>=0.11" "cpp-httplib<0.12")
  if(HTTPLIB_FOUND)
    set(Httplib_VERSION "${HTTPLIB_cpp-httplib_VERSION}")
    if(NOT Httplib_VERSION)
      set(Httplib_VERSION "${HTTPLIB_VERSION}")
    endif()
  endif()
endif()
find_package_handle_standard_args(Httplib REQUIRED_VARS HTTPLIB_FOUND VERSION_VAR Httplib_VERSION)
if(Httplib_FOUND AND NOT TARGET Httplib::httplib)
  add_library(Httplib::httplib ALIAS PkgConfig::HTTPLIB)
endif()
