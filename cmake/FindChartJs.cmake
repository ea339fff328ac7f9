# SPDX-License-Identifier: Apache-2.0
# The file of Chart.js that pages embed, as ChartJs_FILE, from version 3 on.
include(FindPackageHandleStandardArgs)
find_file(ChartJs_FILE NAMES chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
set(ChartJs_VERSION "")
if(ChartJs_FILE)
  file(READ "${ChartJs_FILE}" head LIMIT 200)
  if(head MATCHES "Chart\\.js v([0-9.]+)")
    set(ChartJs_VERSION "${CMAKE_MATCH_1}")
  endif()
endif()
find_package_handle_standard_args(ChartJs REQUIRED_VARS ChartJs_FILE VERSION_VAR ChartJs_VERSION)
mark_as_advanced(ChartJs_FILE)
