// SPDX-License-Identifier: Apache-2.0
#include "base/status.hpp"

#include <array>
#include <cstring>

#include "base/limits.hpp"

namespace tutti {

std::string_view name_of(Code code) {
  switch (code) {
    case Code::ok: return "ok";
    case Code::invalid_argument: return "invalid argument";
    case Code::invalid_usage: return "invalid usage";
    case Code::unsupported: return "unsupported";
    case Code::rank_lost: return "rank lost";
    case Code::aborted: return "aborted";
    case Code::timeout: return "timeout";
    case Code::system: return "system error";
    case Code::internal: return "internal error";
  }
  return "unknown code";
}

Status::Status(Code code, std::string message, int rank) {
  TUTTI_ASSERT(code != Code::ok, "an error needs a code");
  details_ = std::make_shared<const Details>(Details{code, rank, std::move(message), nullptr});
}

Status Status::from_errno(std::string what, int error_number) {
  std::array<char, 128> buffer{};
  // The GNU form returns the words, which may or may not stand in the buffer.
  const char* words = strerror_r(error_number, buffer.data(), buffer.size());
  return {Code::system, std::move(what) + ": " + words + limit_behind(error_number)};
}

Status Status::with_context(std::string what) const {
  if (ok()) return {};
  Status outer;
  outer.details_ =
      std::make_shared<const Details>(Details{code(), rank(), std::move(what), std::make_unique<Status>(*this)});
  return outer;
}

std::string Status::to_string() const {
  if (ok()) return "ok";
  std::string text(message());
  for (const Status* inner = cause(); inner != nullptr; inner = inner->cause()) {
    text += ": ";
    text += inner->message();
  }
  return text;
}

}  // namespace tutti
