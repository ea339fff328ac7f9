// SPDX-License-Identifier: Apache-2.0
// The options that put ranks on several hosts, as they were given: of `tutti launch`, and of commands that measure.
// Values; main thread only.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct HostWords {
  std::string hosts;  // empty: this host alone
  std::string agent;  // empty: the usual one
  std::string address;
  std::string tutti;
};

// They must live as long as the application.
void add_host_words(CLI::App& app, HostWords& hosts);

}  // namespace tutti::cli
