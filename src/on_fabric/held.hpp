// SPDX-License-Identifier: Apache-2.0
// What ranks of one process share as long as one of them has it.
#pragma once

#include <map>
#include <memory>
#include <mutex>

namespace tutti::on_fabric {

template <typename Key, typename Value>
struct Held {
  std::mutex mutex;
  std::map<Key, std::weak_ptr<Value>> all;

  // With the mutex held. Forgets what nobody holds any more.
  [[nodiscard]] std::shared_ptr<Value> find(const Key& key) {
    std::erase_if(all, [](const auto& each) { return each.second.expired(); });
    const auto found = all.find(key);
    return found == all.end() ? nullptr : found->second.lock();
  }
};

}  // namespace tutti::on_fabric
