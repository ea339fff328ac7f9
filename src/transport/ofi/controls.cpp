// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/controls.hpp"

#include <algorithm>

#include <rdma/fi_errno.h>

namespace tutti::transport::ofi {
namespace {

constexpr std::uint32_t kLeast = 16;
constexpr std::uint32_t kMost = 128;

}  // namespace

Controls::Controls(Fabric& fabric, const Tags& tags, std::uint32_t num_ranks)
    : fabric_(fabric),
      tags_(tags),
      num_receives_(std::clamp(2 * num_ranks, kLeast, kMost)),
      num_places_(2 * num_receives_),
      memory_(std::make_unique<std::byte[]>(num_places_ * kStride)),
      places_(std::make_unique<Place[]>(num_places_)) {
  for (std::uint32_t place = 0; place < num_places_; ++place) {
    places_[place].operation.owner = this;
    places_[place].operation.slot = place;
    places_[place].operation.is_control = true;
  }
}

Status Controls::open() {
  TUTTI_TRY_ASSIGN(registration_, fabric_.register_memory({memory_.get(), num_places_ * kStride}));
  for (std::uint32_t place = 0; place < num_receives_; ++place) unposted_.push_back(place);
  post_again();
  if (unposted_.size() < num_receives_) return {};
  return {Code::system, "libfabric takes no receives"};
}

Begun Controls::post(std::uint32_t place) {
  // The source may be any: its bits are ignored.
  const std::uint64_t any_source = std::uint64_t{kMostRanks - 1} << 14U;
  std::int64_t error = 0;
  return fabric_.receive(bytes_of(place), Fabric::descriptor_of(registration_), tags_.of_control(), any_source,
                         places_[place].operation, error);
}

bool Controls::post_again() {
  while (!unposted_.empty() && post(unposted_.back()) == Begun::yes) unposted_.pop_back();
  return !unposted_.empty();
}

Begun Controls::send(fi_addr_t to, const Control& control, Owner& owner, std::int64_t& error) {
  const std::uint32_t num_sends = num_places_ - num_receives_;
  for (std::uint32_t tried = 0; tried < num_sends; ++tried) {
    const std::uint32_t place = num_receives_ + next_++ % num_sends;
    Place& found = places_[place];
    if (found.is_busy) continue;
    encode(control, bytes_of(place));
    found.sender = &owner;
    found.operation.traffic = static_cast<std::uint32_t>(control.kind);
    const Begun begun = fabric_.send(bytes_of(place), Fabric::descriptor_of(registration_), to, tags_.of_control(),
                                     found.operation, error);
    found.is_busy = begun == Begun::yes;
    num_sending_ += found.is_busy ? 1 : 0;
    return begun;
  }
  return Begun::later;
}

void Controls::on_completion(const Completion& completion) {
  const std::uint32_t place = completion.operation->slot;
  if (place >= num_receives_) {
    places_[place].is_busy = false;
    --num_sending_;
    return places_[place].sender->on_completion(completion);
  }
  if (completion.error == 0 && completion.bytes == kControlBytes) {
    const std::optional<Control> control = decode_control(bytes_of(place));
    if (control) received_.push_back(*control);
  }
  if (completion.error == FI_ECANCELED) return;
  if (post(place) != Begun::yes) unposted_.push_back(place);
}

}  // namespace tutti::transport::ofi
