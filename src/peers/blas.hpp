// SPDX-License-Identifier: Apache-2.0
// Matrix products by whichever BLAS is installed. It is opened when first wanted, so workers that multiply nothing load
// none, and building needs none. One thread in each process, since each rank has a core.
#pragma once

#include <string>

#include "base/status.hpp"

namespace tutti::peers {

class Blas {
 public:
  // Code::unsupported if there is none.
  [[nodiscard]] static Result<Blas> open();

  // c = a · b, where a is rows x inner and b is inner x columns, all row-major.
  void multiply(const float* a, const float* b, float* c, int rows, int inner, int columns) const;
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  using Sgemm = void(const char*, const char*, const int*, const int*, const int*, const float*, const float*,
                     const int*, const float*, const int*, const float*, float*, const int*);
  std::string name_;
  Sgemm* sgemm_ = nullptr;
};

}  // namespace tutti::peers
