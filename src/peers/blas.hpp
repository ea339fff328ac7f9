// SPDX-License-Identifier: Apache-2.0
// Matrix products of whichever BLAS is installed, opened when they are first wanted: workers that multiply nothing load
// none, and nothing is needed to build them. One thread a process, since each rank has a core.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tutti::peers {

class Blas {
 public:
  // Code::unsupported where there is none.
  [[nodiscard]] static Result<Blas> open();

  // c = a · b, of rows x inner and inner x columns, each row by row.
  void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Sgemm = void(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                     const int*, const float*, const int*, const float*, float*, const int*);
  std::string name_;
  Sgemm* sgemm_ = nullptr;
};

}  // namespace tutti::peers
