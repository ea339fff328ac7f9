// SPDX-License-Identifier: Apache-2.0
// Converts SVG pictures to PNG by rsvg-convert (Debian: librsvg2-bin), if it is on PATH. It is small and draws as
// browsers do. It is a program that is started for each picture, so no build needs it. Where it finds no font it would
// draw boxes instead of words, and nothing is converted. Thread-safe.
#pragma once

#include <string>

#include "base/status.hpp"
#include "base/variables/environment.hpp"

namespace tutti::cli {

class PngMaker {
 public:
  explicit PngMaker(const Environment& environment);

  [[nodiscard]] bool is_there() const { return reason_.empty(); }
  // Why there are no PNG pictures, if it is not there.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  // After an error there is no such file.
  [[nodiscard]] Status make(const std::string& svg, const std::string& png) const;

 private:
  void find_program();
  [[nodiscard]] Result<bool> has_fonts() const;

  const Environment& environment_;
  std::string program_;
  std::string reason_;
};

}  // namespace tutti::cli
