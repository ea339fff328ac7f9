// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/failure.hpp"

#include <fmt/format.h>

namespace tutti {

std::string_view name_of(Fault fault) {
  switch (fault) {
    case Fault::out_of_bounds: return "out of bounds";
    case Fault::malformed: return "malformed step";
    case Fault::not_exposed: return "not exposed";
    case Fault::shared_end: return "shared end";
    case Fault::unmatched: return "unmatched message";
    case Fault::deadlock: return "deadlock";
    case Fault::no_value: return "no value";
    case Fault::missing: return "missing contribution";
    case Fault::doubled: return "doubled contribution";
    case Fault::mixed: return "mixed results";
    case Fault::race: return "race";
    case Fault::touch: return "touch";
    case Fault::order: return "order class";
    case Fault::too_large: return "too large to prove";
  }
  return "unknown";
}

std::string Failure::to_string() const {
  std::string text = fmt::format("{}: rank {}, lane {}, step {}", name_of(fault), rank, lane, step);
  if (!piece.empty()) text += fmt::format(", {}", piece);
  text += fmt::format(": {}", what);
  for (const std::string& line : story) text += fmt::format("\n  {}", line);
  return text;
}

}  // namespace tutti
