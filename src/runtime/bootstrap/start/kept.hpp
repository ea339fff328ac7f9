// SPDX-License-Identifier: Apache-2.0
// What a way of starting leaves behind that has to live as long as the process: a session with the launcher, which the
// destructor ends in order, or the place where rank 0 waits for the others.
#pragma once

namespace tutti {

class Kept {
 public:
  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  virtual ~Kept() = default;
};

}  // namespace tutti
