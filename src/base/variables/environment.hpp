// SPDX-License-Identifier: Apache-2.0
// The environment variables of a process as a value that is passed in: code under test gets one made of pairs, the
// program takes its own once, in main. A copy, not a view: later changes by setenv are not seen. Who passes it on may
// set others over them, and says where those are from. Reading is thread-safe.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti {

class Environment {
 public:
  using Pair = std::pair<std::string, std::string>;
  static constexpr std::string_view kPlace = "environment";

  Environment() = default;
  Environment(std::initializer_list<Pair> pairs);
  explicit Environment(const std::vector<Pair>& pairs);

  // The calling process's own. Where a name stands twice the first counts, as it does for getenv.
  [[nodiscard]] static Environment of_this_process();

  [[nodiscard]] std::optional<std::string> lookup(std::string_view name) const;
  // `place` is what messages call where it was set.
  void set(std::string name, std::string value, std::string_view place = kPlace);
  // Where a name that is there was set.
  [[nodiscard]] std::string_view place_of(std::string_view name) const;

  // In alphabetical order.
  [[nodiscard]] std::vector<std::string> names() const;
  // Where the user's data of Tutti is: $XDG_DATA_HOME/tutti, or ~/.local/share/tutti; empty where neither variable is
  // set.
  [[nodiscard]] std::string data_folder() const;
  // NAME=VALUE of all of them, in alphabetical order: what a child is given.
  [[nodiscard]] std::vector<std::string> block() const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> places_;  // where that is not the process's environment
};

}  // namespace tutti
