# SPDX-License-Identifier: Apache-2.0
# What Tutti needs from elsewhere. Nothing is fetched and nothing is vendored: every dependency is a package of the
# system. A missing one is named here together with the Debian package that has it; all missing ones are reported at once.

include(TuttiMpi)
set(tutti_missing "")

macro(tutti_require package debian_package)
  find_package(${package} ${ARGN} QUIET)
  if(NOT ${package}_FOUND)
    list(APPEND tutti_missing "  ${package}: ${debian_package}")
  endif()
endmacro()

# An optional dependency: TUTTI_<name> is AUTO (used where it is found), ON (required) or OFF; TUTTI_HAS_<name> says what
# came of it.
macro(tutti_optional name package debian_package)
  set(TUTTI_${name} AUTO CACHE STRING "${package}: AUTO, ON or OFF")
  set_property(CACHE TUTTI_${name} PROPERTY STRINGS AUTO ON OFF)
  set(TUTTI_HAS_${name} FALSE)
  if(TUTTI_${name} STREQUAL "AUTO")
    find_package(${package} ${ARGN} QUIET)
    set(TUTTI_HAS_${name} ${${package}_FOUND})
  elseif(TUTTI_${name})
    tutti_require(${package} ${debian_package} ${ARGN})
    set(TUTTI_HAS_${name} ${${package}_FOUND})
  endif()
endmacro()

tutti_require(Threads libc6-dev)
tutti_require(fmt libfmt-dev 9)
tutti_require(CLI11 libcli11-dev 2)
tutti_require(nlohmann_json nlohmann-json3-dev 3)
tutti_require(hwy libhwy-dev 1.0 CONFIG)
# 3.37: STRICT tables.
tutti_require(SQLite3 libsqlite3-dev 3.37)
tutti_require(tomlplusplus libtomlplusplus-dev 3 CONFIG)
tutti_optional(EXPAT EXPAT libexpat1-dev 2.2)
tutti_optional(HWLOC Hwloc libhwloc-dev 2.0)
tutti_optional(CHARTJS ChartJs libjs-chart.js 3)
tutti_optional(LIBFABRIC Libfabric libfabric-dev 1.14)
tutti_optional(HTTPLIB Httplib libcpp-httplib-dev 0.11)
# Peers that are measured, each by a worker of its own.
tutti_find_mpi(OPENMPI mpicxx.openmpi mpi libopenmpi-dev)
tutti_find_mpi(MPICH mpicxx.mpich mpich libmpich-dev)
tutti_optional(GLOO Gloo libgloo-dev CONFIG)
# Kernels for devices. C++20 wants nvcc 12; sanitizers of the host look at none of it.
set(TUTTI_CUDA AUTO CACHE STRING "Device kernels: AUTO, ON or OFF")
set_property(CACHE TUTTI_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TUTTI_HAS_CUDA FALSE)
if(TUTTI_CUDA STREQUAL "ON" OR (TUTTI_CUDA STREQUAL "AUTO" AND NOT TUTTI_SANITIZE))
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
      # Machine code for Hopper, and what drivers compile for other devices from Ampere on.
      set(CMAKE_CUDA_ARCHITECTURES "80-virtual;90-real" CACHE STRING "Devices to compile for")
    endif()
    enable_language(CUDA)
    if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12)
      # CMake 3.25 does not know that it has C++20.
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      find_package(CUDAToolkit QUIET)
      set(TUTTI_HAS_CUDA ${CUDAToolkit_FOUND})
    endif()
  endif()
  if(TUTTI_CUDA STREQUAL "ON" AND NOT TUTTI_HAS_CUDA)
    list(APPEND tutti_missing "  CUDA: nvcc 12 and its toolkit, from NVIDIA")
  endif()
endif()
if(TUTTI_BUILD_TESTS)
  tutti_require(GTest libgtest-dev)
endif()

if(tutti_missing)
  list(JOIN tutti_missing "\n" tutti_missing_lines)
  message(FATAL_ERROR "Tutti needs packages that were not found (on Debian, './dev setup' installs all of them):\n"
                      "${tutti_missing_lines}")
endif()
