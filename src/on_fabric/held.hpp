// SPDX-License-Identifier: Apache-2.0
// Objects that ranks of one process share. Each lives as long as a rank owns it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace tutti::on_fabric {

template <typename Key, typename Value>
struct Held {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Value>> all;

  // The caller has locked the mutex. Also removes entries that nobody owns any more.
  [[nodiscard]] std::shared_ptr<Value> find(const Key& key) {
    std::erase_if(all, [](const auto& each) { return each.second.expired(); });
    const auto found = all.find(key);
    return found == all.end() ? nullptr : found->second.lock();
  }
};

}  // namespace tutti::on_fabric
