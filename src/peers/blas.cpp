// SPDX-License-Identifier: Apache-2.0
#include "peers/blas.hpp"

#include <string_view>

#include <fmt/format.h>

#include "base/system/dynamic_library.hpp"

namespace tutti::peers {

namespace {

// The fast ones first; the last is whatever the system's administrator has chosen.
constexpr std::string_view kNames[] = {"libopenblas.so.0", "libblis.so.4", "libmkl_rt.so.2", "libmkl_rt.so",
                                       "libblas.so.3"};

// Each has its own word for the number of threads.
void take_one_thread(const DynamicLibrary& library) {
  for (const char* name : {"openblas_set_num_threads", "bli_thread_set_num_threads", "MKL_Set_Num_Threads"}) {
    void (*set)(int) = nullptr;
    if (library.find(name, set).ok()) set(1);
  }
}

}  // namespace

Result<Blas> Blas::open() {
  Result<DynamicLibrary> library = DynamicLibrary::open(kNames);
  if (!library.ok())
    return Status(Code::unsupported, fmt::format("there is no BLAS for matrix products, such as Debian's "
                                                 "libopenblas0-pthread ({})",
                                                 library.status().message()));
  Blas blas;
  blas.name_ = library->name();
  TUTTI_TRY(library->find("sgemm_", blas.sgemm_));
  take_one_thread(*library);
  return blas;
}

void Blas::multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) const {
  constexpr float kOne = 1;
  constexpr float kZero = 0;
  // It thinks in columns: the rows of c are the columns of its product of b and a.
  sgemm_("N", "N", &columns, &rows, &inner, &kOne, b, &columns, a, &inner, &kZero, c, &columns);
}

}  // namespace tutti::peers
