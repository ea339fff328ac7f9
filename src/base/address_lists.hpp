// SPDX-License-Identifier: Apache-2.0
// The addresses of each of many ranks, without an allocation for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "base/unique_id.hpp"

namespace tutti {

class AddressLists {
 public:
  AddressLists() = default;
  AddressLists(std::initializer_list<std::vector<Address>> lists) {
    for (const std::vector<Address>& list : lists) add(list);
  }

  void reserve(std::size_t num_lists, std::size_t num_addresses) {
    ends_.reserve(num_lists);
    all_.reserve(num_addresses);
  }
  // For a list for each of `others`, with one of so many equal parts of it.
  void reserve_as(const AddressLists& others, std::size_t num_parts) {
    reserve(others.size(), others.all_.size() / num_parts);
  }
  void add(std::span<const Address> list) {
    all_.insert(all_.end(), list.begin(), list.end());
    ends_.push_back(static_cast<std::uint32_t>(all_.size()));
  }

  [[nodiscard]] std::size_t size() const { return ends_.size(); }
  [[nodiscard]] bool empty() const { return ends_.empty(); }
  [[nodiscard]] std::span<const Address> operator[](std::size_t number) const {
    const std::size_t begin = number == 0 ? 0 : ends_[number - 1];
    return std::span(all_).subspan(begin, ends_[number] - begin);
  }

  bool operator==(const AddressLists&) const = default;

 private:
  std::vector<Address> all_;
  std::vector<std::uint32_t> ends_;
};

}  // namespace tutti
