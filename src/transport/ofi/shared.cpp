// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/shared.hpp"

namespace tutti::transport::ofi {

// Once a minute at most.
void Shared::warn(std::string_view words) {
  const Clock::time_point now = Clock::now();
  if (!options.warn || (warned_at_ && now - *warned_at_ < std::chrono::minutes(1))) return;
  warned_at_ = now;
  options.warn(words);
}

Result<fi_addr_t> Shared::address_of(std::uint32_t rank) {
  std::optional<fi_addr_t>& known = addresses[rank];
  if (!known) {
    TUTTI_TRY_ASSIGN(const fi_addr_t inserted, fabric->insert(options.names[rank]));
    known = inserted;
  }
  return *known;
}

Begun Shared::send_control(std::uint32_t to, Control control, Owner& owner, std::string& why) {
  const Result<fi_addr_t> address = address_of(to);
  if (!address.ok()) {
    why = address.status().message();
    return Begun::failed;
  }
  control.source = options.rank;
  control.key = key_to(to);
  std::int64_t error = 0;
  const Begun begun = controls.send(*address, control, owner, error);
  if (begun == Begun::failed) why = fabric->words_of(error);
  return begun;
}

}  // namespace tutti::transport::ofi
