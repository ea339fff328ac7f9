// SPDX-License-Identifier: Apache-2.0
// What `tutti web` answers, without the network: to the address of a request, a page, a file or a refusal. Who asks
// must know the token, which is the first part of each address, and must have asked for this machine by a name of its
// own (a page elsewhere whose name was made to mean this machine has asked by that name).
//
// Thread-safe: one page is made at a time, with a connection to the store of its own.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_id.hpp"
#include "cli/bench/bench_world.hpp"
#include "cli/web/report_folders.hpp"
#include "cli/web/store_watch.hpp"
#include "report/html/run_list.hpp"

namespace tutti::cli {

struct WebRequest {
  std::string method;
  std::string path;                           // without what is behind "?", decoded
  std::map<std::string, std::string> values;  // what is behind it
  std::vector<std::string> hosts;             // of its head
};

struct WebReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string policy = {};  // Content-Security-Policy
  // Instead of a body: events about these runs, or, where there are none, about all.
  bool is_events = false;
  std::vector<std::int64_t> followed = {};
};

class WebSite {
 public:
  struct Options {
    std::string store;  // the file
    std::vector<ReportFolder> folders;
    Token token{};
    std::uint16_t port = 0;
  };
  WebSite(Options options, const BenchWorld& world, const StoreWatch& watch);

  // Where it begins: http://127.0.0.1:PORT/TOKEN/
  [[nodiscard]] std::string address() const;
  [[nodiscard]] WebReply reply(const WebRequest& request) const;
  // The data of an event: JSON with a mark of what there is, words about it, and trouble.
  [[nodiscard]] static std::string event_of(const StoreState& state, const std::vector<std::int64_t>& followed);

 private:
  [[nodiscard]] bool is_own_name(std::string_view host) const;
  [[nodiscard]] bool has_token(std::string_view part) const;
  [[nodiscard]] std::string at(std::string_view path) const;
  [[nodiscard]] report::Served served(const StoreState& state, const std::vector<std::int64_t>& followed) const;
  [[nodiscard]] WebReply list() const;
  [[nodiscard]] std::vector<report::ListedFolder> listed_folders() const;
  [[nodiscard]] WebReply report_of(const std::vector<std::string_view>& runs) const;
  [[nodiscard]] WebReply comparison_of_two(std::string_view first, std::string_view second,
                                           const std::string& ignored) const;
  [[nodiscard]] WebReply file(std::string_view folder, std::string_view name) const;
  [[nodiscard]] WebReply trouble(int status, const std::string& title, const std::string& words,
                                 const std::vector<std::int64_t>& followed = {}) const;
  [[nodiscard]] WebReply trouble(const Status& error, const std::vector<std::int64_t>& followed = {}) const;

  const Options options_;
  const std::string token_text_;
  const BenchWorld& world_;
  const StoreWatch& watch_;
  mutable std::mutex making_;
};

}  // namespace tutti::cli
