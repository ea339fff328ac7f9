// SPDX-License-Identifier: Apache-2.0
#include "cli/web/site.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/counted.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "cli/bench/bench_store.hpp"
#include "cli/report/report_page.hpp"

namespace tutti::cli {

namespace {

constexpr std::size_t kMostListedRuns = 500;
constexpr std::size_t kMostReportedRuns = 16;
constexpr std::size_t kMostFollowedRuns = 64;

constexpr std::string_view kPlainPolicy = "default-src 'none'; frame-ancestors 'none'";
// Files of folders may be anybody's: they are shown as if they came from nowhere, so that they can ask for nothing
// here.
constexpr std::string_view kFilePolicy =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
constexpr std::string_view kPageFilePolicy =
    "sandbox allow-scripts allow-downloads allow-modals; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string hexadecimal(const Token& token) {
  std::string text;
  for (const std::byte each : token) text += fmt::format("{:02x}", std::to_integer<unsigned>(each));
  return text;
}

std::optional<unsigned> digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<unsigned>(letter - 'a') + 10U;
  return std::nullopt;
}

std::optional<Token> token_in(std::string_view text) {
  Token token{};
  if (text.size() != 2 * token.size()) return std::nullopt;
  for (std::size_t each = 0; each < token.size(); ++each) {
    const std::optional<unsigned> high = digit_of(text[2 * each]);
    const std::optional<unsigned> low = digit_of(text[2 * each + 1]);
    if (!high || !low) return std::nullopt;
    token.at(each) = static_cast<std::byte>(*high << 4U | *low);
  }
  return token;
}

bool is_token(std::string_view part, const Token& token) {
  const std::optional<Token> given = token_in(part);
  return same_token(given.value_or(Token{}), token) && given.has_value();
}

// A part of an address that means these bytes. Slashes stay.
std::string in_address(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const bool is_plain = (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z') ||
                          (letter >= 'A' && letter <= 'Z') ||
                          std::string_view("-_.~/").find(letter) != std::string::npos;
    result += is_plain ? std::string(1, letter) : fmt::format("%{:02X}", static_cast<unsigned char>(letter));
  }
  return result;
}

// "/a/b" has the parts "a" and "b"; an address may end with a slash.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/' ? 1 : 0);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) parts.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return parts;
}

std::vector<std::int64_t> ids_in(std::string_view text) {
  std::vector<std::int64_t> ids;
  for (const std::string_view part : split(text, ',')) {
    const Result<std::int64_t> id = parse_integer(part);
    if (id.ok() && ids.size() < kMostFollowedRuns) ids.push_back(*id);
  }
  return ids;
}

std::string mark_of(const harness::StoredRun& run) {
  const std::uint64_t labels = digest(run.note, digest("|", digest(run.name)));
  return fmt::format("{}:{}:{}:{:x};", run.id, run.num_rows, run.is_complete ? 1 : 0, labels);
}

const harness::StoredRun* run_in(const StoreState& state, std::int64_t id) {
  const auto found =
      std::find_if(state.runs.begin(), state.runs.end(), [&](const WatchedRun& each) { return each.run.id == id; });
  return found == state.runs.end() ? nullptr : &found->run;
}

std::string mark_of(const StoreState& state, const std::vector<std::int64_t>& followed) {
  std::string mark;
  for (const std::int64_t id : followed) {
    const harness::StoredRun* run = run_in(state, id);
    mark += run != nullptr ? mark_of(*run) : fmt::format("{}:none;", id);
  }
  if (!followed.empty()) return mark;
  std::uint64_t all = digest(state.trouble);
  for (const WatchedRun& each : state.runs) all = digest(mark_of(each.run), all);
  return fmt::format("{:016x}", all);
}

std::string words_about(const StoreState& state, const std::vector<std::int64_t>& followed) {
  if (followed.empty()) {
    std::uint64_t rows = 0;
    for (const WatchedRun& each : state.runs) rows += each.run.num_rows;
    return fmt::format("{} with {}", counted(state.runs.size(), "run"), counted(rows, "row"));
  }
  std::string words;
  for (const std::int64_t id : followed) {
    const harness::StoredRun* run = run_in(state, id);
    const std::string has = run == nullptr ? std::string("is not there")
                                           : fmt::format("has {}{}", counted(run->num_rows, "row"),
                                                         run->is_complete ? "" : " and is not complete");
    words += fmt::format("{}run {} {}", words.empty() ? "" : ", ", id, has);
  }
  return words;
}

std::string state_of(const harness::StoredRun& run) {
  if (run.is_complete) return "";
  return living_owner(run) ? "running" : "not complete";
}

report::ListedRun listed(const WatchedRun& each, std::string address) {
  const harness::StoredRun& run = each.run;
  std::string peers;
  for (const std::string& peer : each.peers) peers += (peers.empty() ? "" : ", ") + peer;
  return {.number = std::to_string(run.id),
          .name = run.name,
          .begun = run.begun,
          .bench = run.bench,
          .peers = std::move(peers),
          .rows = std::to_string(run.num_rows),
          .state = state_of(run),
          .machine = run.machine,
          .note = run.note,
          .address = std::move(address)};
}

std::string made_by() { return fmt::format("Tutti {}", TUTTI_VERSION); }

}  // namespace

WebSite::WebSite(Options options, const BenchWorld& world, const StoreWatch& watch)
    : options_(std::move(options)), token_text_(hexadecimal(options_.token)), world_(world), watch_(watch) {}

std::string WebSite::at(std::string_view path) const { return fmt::format("/{}/{}", token_text_, path); }

std::string WebSite::address() const { return fmt::format("http://127.0.0.1:{}{}", options_.port, at("")); }

std::string WebSite::event_of(const StoreState& state, const std::vector<std::int64_t>& followed) {
  const nlohmann::ordered_json event = {
      {"mark", mark_of(state, followed)}, {"words", words_about(state, followed)}, {"trouble", state.trouble}};
  return event.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// --- who may ask

bool WebSite::is_own_name(std::string_view host) const {
  constexpr std::array<std::string_view, 3> kNames = {"localhost", "127.0.0.1", "[::1]"};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) {
    if (host.size() < name.size() || !same_name(host.substr(0, name.size()), name)) return false;
    const std::string_view port = host.substr(name.size());
    return port.empty() || port == fmt::format(":{}", options_.port);
  });
}

const ReportFolder* WebSite::folder_behind(std::string_view part) const {
  const ReportFolder* found = nullptr;
  for (const ReportFolder& each : options_.folders)
    if (is_token(part, each.token)) found = &each;
  return found;
}

WebReply WebSite::reply(const WebRequest& request) const {
  const auto refused = [](int status, std::string_view words) {
    return WebReply{.status = status, .body = fmt::format("{}\n", words), .policy = std::string(kPlainPolicy)};
  };
  if (request.hosts.size() != 1 || !is_own_name(request.hosts.front()))
    return refused(403, "tutti web answers only requests for localhost or 127.0.0.1 with its port");
  const std::vector<std::string_view> parts = parts_of(request.path);
  const ReportFolder* const folder = parts.empty() ? nullptr : folder_behind(parts.front());
  if (parts.empty() || (folder == nullptr && !is_token(parts.front(), options_.token)))
    return refused(403, "this address is not the one that tutti web printed: the token in it is wrong or missing");
  if (request.method != "GET" && request.method != "HEAD")
    return refused(405, "nothing can be changed here: tutti web takes GET and HEAD only");
  if (folder != nullptr) {
    if (parts.size() < 2) return refused(404, "there is no page here");
    return file(*folder,
                std::string_view(request.path).substr(static_cast<std::size_t>(parts[1].data() - request.path.data())));
  }
  const auto value = [&](const char* name) {
    const auto found = request.values.find(name);
    return found == request.values.end() ? std::string() : found->second;
  };
  const std::string_view kind = parts.size() > 1 ? parts[1] : std::string_view();
  if (kind.empty()) return list();
  if (kind == "run" && parts.size() > 2) return report_of({parts.begin() + 2, parts.end()});
  if (kind == "compare" && parts.size() == 4) return comparison_of_two(parts[2], parts[3], value("ignore"));
  if (kind == "events" && parts.size() == 2)
    return {.type = "text/event-stream",
            .policy = std::string(kPlainPolicy),
            .is_events = true,
            .followed = ids_in(value("runs"))};
  return trouble(404, "Not there", fmt::format("There is no page {} here.", in_quotes(kind)));
}

// --- pages

report::Served WebSite::served(const StoreState& state, const std::vector<std::int64_t>& followed) const {
  std::string runs;
  for (const std::int64_t id : followed) runs += fmt::format("{}{}", runs.empty() ? "?runs=" : ",", id);
  return {.home = at(""), .events = at("events") + runs, .mark = mark_of(state, followed)};
}

WebReply WebSite::list() const {
  const std::shared_ptr<const StoreState> state = watch_.state();
  report::RunList list{.where = options_.store,
                       .runs = {},
                       .remark = {},
                       .trouble = state->trouble,
                       .compare = at("compare"),
                       .folders = listed_folders(),
                       .made_by = made_by()};
  for (const WatchedRun& each : state->runs) {
    if (list.runs.size() == kMostListedRuns) break;
    list.runs.push_back(listed(each, at(fmt::format("run/{}", each.run.id))));
  }
  if (state->runs.size() > kMostListedRuns)
    list.remark =
        fmt::format("The last {} of {} runs; 'tutti list runs' has all.", kMostListedRuns, state->runs.size());
  else if (state->runs.empty() && state->trouble.empty())
    list.remark = "There are no runs yet; 'tutti run' and 'tutti compare' keep them.";
  return {.type = "text/html; charset=utf-8",
          .body = to_html(list, served(*state, {})),
          .policy = report::policy_of_served_pages() + "; frame-ancestors 'none'"};
}

std::vector<report::ListedFolder> WebSite::listed_folders() const {
  std::vector<report::ListedFolder> folders;
  for (const ReportFolder& shown : options_.folders) {
    const std::vector<ReportFile> files = files_in(shown);
    report::ListedFolder folder{.name = shown.name, .files = {}, .remark = {}};
    for (const ReportFile& file : files)
      folder.files.push_back({.name = file.name,
                              .size = fmt::format("{} KB", (file.bytes + 1023) / 1024),
                              .address = fmt::format("/{}/{}", hexadecimal(shown.token), in_address(file.name))});
    if (files.empty()) folder.remark = "There are no files in it.";
    if (files.size() == kMostReportFiles) folder.remark = fmt::format("The first {} files.", kMostReportFiles);
    folders.push_back(std::move(folder));
  }
  return folders;
}

WebReply WebSite::report_of(const std::vector<std::string_view>& runs) const {
  if (runs.size() > kMostReportedRuns)
    return trouble(404, "Too many runs", fmt::format("A page has at most {} runs.", kMostReportedRuns));
  const std::lock_guard lock(making_);
  Result<harness::Store> store = harness::Store::open_to_read(options_.store, StoreWatch::kPatience);
  if (!store.ok()) return trouble(store.status());
  std::vector<RunWithRows> read;
  std::vector<std::int64_t> followed;
  std::string mark;
  for (const std::string_view name : runs) {
    Result<RunWithRows> run = read_run(*store, std::string(name));
    if (!run.ok()) return trouble(run.status(), ids_in(name));
    run->run.num_rows = run->rows.size();
    followed.push_back(run->run.id);
    mark += mark_of(run->run);
    read.push_back(std::move(*run));
  }
  report::Served live = served(*watch_.state(), followed);
  live.mark = mark;
  return {.type = "text/html; charset=utf-8",
          .body = page_of_runs(read, world_, &live),
          .policy = report::policy_of_served_pages() + "; frame-ancestors 'none'"};
}

WebReply WebSite::comparison_of_two(std::string_view first, std::string_view second, const std::string& ignored) const {
  const std::lock_guard lock(making_);
  Result<harness::Store> store = harness::Store::open_to_read(options_.store, StoreWatch::kPatience);
  if (!store.ok()) return trouble(store.status());
  RunPair pair;
  std::vector<std::int64_t> followed;
  std::string mark;
  for (const auto& [name, place] : {std::pair(first, pair.data()), std::pair(second, pair.data() + 1)}) {
    Result<RunWithRows> run = read_run(*store, std::string(name));
    if (!run.ok()) return trouble(run.status(), ids_in(name));
    *place = std::move(*run);
    place->run.num_rows = place->rows.size();
    followed.push_back(place->run.id);
    mark += mark_of(place->run);
  }
  report::Served live = served(*watch_.state(), followed);
  live.mark = mark;
  const Result<std::string> page = page_of_change(pair, ignored, world_, &live);
  if (!page.ok()) return trouble(page.status(), followed);
  return {.type = "text/html; charset=utf-8",
          .body = *page,
          .policy = report::policy_of_served_pages() + "; frame-ancestors 'none'"};
}

// No page of ours below the folder's token: those know the site's.
WebReply WebSite::file(const ReportFolder& folder, std::string_view name) {
  Result<std::string> text = read_report_file(folder, name);
  if (!text.ok())
    return {.status = text.status().code() == Code::system ? 503 : 404,
            .body = fmt::format("{}\n", text.status().to_string()),
            .policy = std::string(kPlainPolicy)};
  const std::string_view type = content_type_of(name);
  return {.type = std::string(type),
          .body = std::move(*text),
          .policy = std::string(type.starts_with("text/html") ? kPageFilePolicy : kFilePolicy)};
}

WebReply WebSite::trouble(int status, const std::string& title, const std::string& words,
                          const std::vector<std::int64_t>& followed) const {
  report::Page page{.title = "Tutti", .where = options_.store, .made_by = made_by(), .sections = {}};
  page.sections.push_back({.title = title,
                           .answer = {words},
                           .cautions = {},
                           .summaries = {},
                           .facts = {},
                           .lines = {},
                           .bars = {},
                           .tables = {}});
  return {.status = status,
          .type = "text/html; charset=utf-8",
          .body = to_html(page, served(*watch_.state(), followed)),
          .policy = report::policy_of_served_pages() + "; frame-ancestors 'none'"};
}

WebReply WebSite::trouble(const Status& error, const std::vector<std::int64_t>& followed) const {
  const bool is_passing = error.code() == Code::system;
  return trouble(is_passing ? 503 : 404, is_passing ? "Cannot be read now" : "Not there", error.to_string(), followed);
}

}  // namespace tutti::cli
