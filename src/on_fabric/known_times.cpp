// SPDX-License-Identifier: Apache-2.0
#include "on_fabric/known_times.hpp"

#include "on_fabric/held.hpp"

namespace tutti::on_fabric {

namespace {

constexpr std::size_t kMostKept = 256;

}  // namespace

std::shared_ptr<KnownTimes> KnownTimes::of(const UniqueId& id) {
  static auto& held = *new Held<UniqueId::Raw, KnownTimes>;  // never destroyed, as that of fabrics
  const std::lock_guard lock(held.mutex);
  const UniqueId::Raw key = id.to_bytes();
  if (std::shared_ptr<KnownTimes> found = held.find(key)) return found;
  auto made = std::make_shared<KnownTimes>();
  held.all[key] = made;
  return made;
}

std::shared_ptr<const Timed> KnownTimes::find_or_make(const Call& call, const std::function<Timed()>& simulate) {
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMostKept && !entries_.contains(call)) entries_.clear();
    std::shared_ptr<Entry>& place = entries_[call];
    if (place == nullptr) place = std::make_shared<Entry>();
    entry = place;
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->timed == nullptr) entry->timed = std::make_shared<const Timed>(simulate());
  return entry->timed;
}

}  // namespace tutti::on_fabric
