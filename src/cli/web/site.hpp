// SPDX-License-Identifier: Apache-2.0
// The answers of `tutti web`, without the network: a page, a file or a refusal for each request. A request must have
// the token, which is the first part of each address, and must name this machine as its host. The latter protects
// against DNS rebinding: a page of another site asks by that site's name.
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
  std::string path;                           // without "?" and what follows, decoded
  std::map<std::string, std::string> values;  // what follows "?"
  std::vector<std::string> hosts;             // its Host headers
};

struct WebReply {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body = {};
  std::string policy = {};  // Content-Security-Policy
  // Instead of a body: events about these runs, or about all if there are none here.
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

  // The address of the first page: http://127.0.0.1:PORT/TOKEN/
  [[nodiscard]] std::string address() const;
  [[nodiscard]] WebReply reply(const WebRequest& request) const;
  // The data of an event: JSON with a mark that changes with the rows, words for the reader, and any trouble.
  [[nodiscard]] static std::string event_of(const StoreState& state, const std::vector<std::int64_t>& followed);

 private:
  [[nodiscard]] bool is_own_name(std::string_view host) const;
  // Whose token that is; null: no folder's.
  [[nodiscard]] const ReportFolder* folder_behind(std::string_view part) const;
  [[nodiscard]] std::string at(std::string_view path) const;
  [[nodiscard]] report::Served served(const StoreState& state, const std::vector<std::int64_t>& followed) const;
  [[nodiscard]] WebReply list() const;
  [[nodiscard]] std::vector<report::ListedFolder> listed_folders() const;
  [[nodiscard]] WebReply report_of(const std::vector<std::string_view>& runs) const;
  [[nodiscard]] WebReply comparison_of_two(std::string_view first, std::string_view second,
                                           const std::string& ignored) const;
  [[nodiscard]] static WebReply file(const ReportFolder& folder, std::string_view name);
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
