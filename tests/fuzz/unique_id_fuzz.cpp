// SPDX-License-Identifier: Apache-2.0
// The id as text and as bytes: any is read or refused, and what was read is written the same. Since hardly anything has
// the right checksum by chance, the bytes of a good id are also changed by the input.
#include <algorithm>

#include "base/unique_id.hpp"
#include "fuzz.hpp"

namespace tutti {
namespace {

using fuzz::require;

void check_id(const UniqueId& id) {
  const Result<UniqueId> by_text = UniqueId::from_text(id.to_text());
  require(by_text.ok() && *by_text == id, "an id is read back from its text");
  const Result<UniqueId> by_bytes = UniqueId::from_bytes(id.to_bytes());
  require(by_bytes.ok() && *by_bytes == id, "an id is read back from its bytes");
  require(!to_text(id.address()).empty(), "an address has a text");
}

void check_text(std::string_view text) {
  const Result<UniqueId> id = UniqueId::from_text(text);
  if (id.ok()) return check_id(*id);
  // It may be a secret with a slip in it. What is shorter may be in the message by chance.
  require(text.size() < 100 || id.status().to_string().find(text) == std::string::npos, "an error quotes no id");
}

void check_bytes(std::string_view bytes) {
  const Result<UniqueId> made = UniqueId::make({.port = 4711, .bytes = {127, 0, 0, 1}});
  require(made.ok(), "an id can be made");
  UniqueId::Raw raw = made->to_bytes();
  const std::size_t size = std::min(bytes.size(), raw.size());
  for (std::size_t i = 0; i < size; ++i) raw[i] ^= static_cast<std::byte>(bytes[i]);
  const Result<UniqueId> changed = UniqueId::from_bytes(raw);
  if (changed.ok()) check_id(*changed);
  std::copy_n(reinterpret_cast<const std::byte*>(bytes.data()), size, raw.begin());
  if (const Result<UniqueId> other = UniqueId::from_bytes(raw); other.ok()) check_id(*other);
}

}  // namespace
}  // namespace tutti

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = tutti::fuzz::as_text(data, size);
  tutti::check_text(text);
  tutti::check_bytes(text);
  return 0;
}
