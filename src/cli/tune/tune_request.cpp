// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/tune_request.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/counted.hpp"
#include "base/system/file.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/axes/value.hpp"
#include "bench/process/cores.hpp"
#include "cli/bench/sweep/peer_options.hpp"
#include "cli/number.hpp"
#include "cli/tune/tune_workload.hpp"
#include "fabric/files/load.hpp"
#include "on_fabric/way.hpp"
#include "runtime/selection/table_choice.hpp"

namespace tutti::cli {

namespace {

constexpr std::uint32_t kMostRanks = 1024;

std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  for (const std::string_view each : split(text, ','))
    if (!trim(each).empty()) words.emplace_back(trim(each));
  return words;
}

Result<std::vector<Collective>> read_collectives(const std::string& text) {
  std::vector<Collective> collectives;
  for (const std::string& word : words_in(text)) {
    const std::optional<Collective> found = find_collective(word);
    std::vector<std::string_view> names;
    for (int each = 0; each < kNumRegular; ++each) names.push_back(name_of(static_cast<Collective>(each)));
    if (!found || facts_of(*found).varies || *found == Collective::barrier)
      return wrong_argument(fmt::format("--collective is {}; it takes {}{}", in_quotes(word),
                                        "a collective with sizes, such as all_reduce", nearest_hint(word, names)));
    collectives.push_back(*found);
  }
  if (collectives.empty()) return wrong_argument("--collective names none");
  return collectives;
}

// Two, and as many as there are cores; and twice as many where that are two, since programs do not ask.
Result<std::vector<std::uint32_t>> read_ranks(const std::string& text, std::uint32_t cores, std::uint32_t most) {
  std::vector<std::uint32_t> ranks;
  if (text.empty()) {
    ranks = {2};
    for (std::uint32_t each = 4; each <= std::max(cores, 4U) && each <= most; each *= 2) ranks.push_back(each);
    return ranks;
  }
  for (const std::string& word : words_in(text)) {
    const std::optional<std::uint32_t> number = read_number<std::uint32_t>(word, 2, most);
    if (!number)
      return wrong_argument(fmt::format("--ranks is {}; it takes numbers from 2 to {}", in_quotes(word), most));
    ranks.push_back(*number);
  }
  if (ranks.empty()) return wrong_argument("--ranks has no number");
  return ranks;
}

Result<std::vector<TableMemory>> read_memory(const std::string& text) {
  if (same_name(text, "both")) return std::vector<TableMemory>{TableMemory::ordinary, TableMemory::symmetric};
  for (const TableMemory memory : {TableMemory::ordinary, TableMemory::symmetric})
    if (same_name(text, name_of(memory))) return std::vector<TableMemory>{memory};
  return wrong_argument(fmt::format("--memory is {}; it takes ordinary, symmetric or both", in_quotes(text)));
}

// By class; without any said, f32 stands for all.
Result<std::map<TypeClass, Type>> read_types(const std::string& text) {
  std::map<TypeClass, Type> types;
  for (const std::string& word : words_in(text)) {
    const std::optional<Type> type = type_from_name(word);
    if (!type) return wrong_argument(fmt::format("--types is {}; it takes {}", in_quotes(word), all_type_names()));
    const auto [place, is_new] = types.emplace(class_of(*type), *type);
    if (!is_new)
      return wrong_argument(fmt::format("--types has {} and {}, which tables do not tell apart: both are {}",
                                        name_of(place->second), word, name_of(class_of(*type))));
  }
  if (types.empty()) types.emplace(TypeClass::any, Type::f32);
  return types;
}

Result<std::vector<std::uint64_t>> read_sizes(const std::string& text) {
  const Result<std::vector<harness::Value>> values = harness::parse_values(text);
  if (!values.ok()) return values.status().with_context("--bytes");
  std::vector<std::uint64_t> sizes;
  for (const harness::Value& value : *values) {
    if (!value.is_integer() || value.integer() < 1)
      return wrong_argument(fmt::format("--bytes has {}; it takes sizes such as 8:64M:x2", in_quotes(value.text())));
    sizes.push_back(static_cast<std::uint64_t>(value.integer()));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

Result<OrderClass> read_order(const std::string& text) {
  for (const OrderClass order : {OrderClass::ordered, OrderClass::rank_order, OrderClass::uniform, OrderClass::free})
    if (same_name(text, name_of(order))) return order;
  return wrong_argument(fmt::format("--order is {}; it takes ordered, rank_order, uniform or free", in_quotes(text)));
}

Result<harness::PeerProgram> read_peer(const std::string& text, const BenchWorld& world) {
  TUTTI_TRY_ASSIGN(const std::vector<std::string> names, find_peers(text, world));
  if (names.size() != 1) return wrong_argument("--peer names several; a table is of one");
  if (const Result<std::string> found = world.look_for(names.front()); !found.ok()) return found.status();
  harness::PeerProgram program = world.program_of(names.front());
  if (program.reckoner == nullptr && program.program.empty())
    return wrong_argument(fmt::format("peer {} cannot be tuned", names.front()));
  return program;
}

Result<std::string> fingerprint_of_fabric(std::string_view peer) {
  const std::string_view words = peer.substr(kFabricPeers.size());
  TUTTI_TRY_ASSIGN(const fabric::Fabric fabric, fabric::load_fabric(words));
  return on_fabric::fingerprint_of(words, fabric);
}

// Of a workload's table: beside it. Of the peer's table: what a folder of tables has for the runtime, or a file here.
Result<std::string> usual_path(const TuneRequest& request, const TuneOptions& options, const Environment& environment) {
  if (request.workload) {
    constexpr std::string_view kSuffix = ".toml";
    std::string name = options.workload;
    if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
    return name + ".table.toml";
  }
  if (!request.is_own) {
    std::string name = request.peer.name;
    for (char& c : name)
      if (c == ':' || c == '/') c = '_';
    return name + ".toml";
  }
  const std::string folder = environment.data_folder();
  if (folder.empty()) return wrong_argument("neither HOME nor XDG_DATA_HOME is set; -o says where the table goes");
  return table_of_machine(folder + "/tables", request.fingerprint);
}

// The numbers of ranks; without any said, all that the hosts have room for.
Result<std::vector<std::uint32_t>> place_on_hosts(TuneRequest& request, const TuneOptions& options,
                                                  const BenchWorld& world, std::uint32_t most_ranks) {
  if (request.peer.reckoner != nullptr) return wrong_argument("--hosts is for peers with processes");
  std::vector<int> counts;
  if (!options.ranks.empty()) {
    TUTTI_TRY_ASSIGN(const std::vector<std::uint32_t> said, read_ranks(options.ranks, request.cores, most_ranks));
    counts.assign(said.begin(), said.end());
  }
  TUTTI_TRY_ASSIGN(request.hosts, world.place_on_hosts(options.hosts, counts));
  std::vector<std::uint32_t> ranks;
  for (const auto& [num_ranks, hosts] : request.hosts) {
    if (harness::ranks_by_host(hosts.entries).size() < 2)
      return wrong_argument(fmt::format("--hosts {} puts {} on one host; --ranks says how many there are",
                                        in_quotes(options.hosts.hosts), counted(num_ranks, "rank")));
    ranks.push_back(static_cast<std::uint32_t>(num_ranks));
  }
  return ranks;
}

std::uint32_t num_hosts(const TuneRequest& request, std::uint32_t ranks) {
  const auto placed = request.hosts.find(static_cast<int>(ranks));
  if (placed == request.hosts.end()) return 1;
  return static_cast<std::uint32_t>(harness::ranks_by_host(placed->second.entries).size());
}

// Every collective with every number of ranks, memory and class of types, all alike.
Status add_cases(TuneRequest& request, const TuneOptions& options, const BenchWorld& world, std::uint32_t most_ranks) {
  TUTTI_TRY_ASSIGN(const std::vector<Collective> collectives, read_collectives(options.collectives));
  TUTTI_TRY_ASSIGN(const std::vector<TableMemory> memories, read_memory(options.memory));
  TUTTI_TRY_ASSIGN(request.types, read_types(options.types));
  TUTTI_TRY_ASSIGN(const std::vector<std::uint64_t> sizes, read_sizes(options.bytes));
  std::vector<std::uint32_t> ranks;
  if (request.peer.reckoner != nullptr && options.ranks.empty()) {
    ranks = {most_ranks};
  } else if (!options.hosts.hosts.empty()) {
    TUTTI_TRY_ASSIGN(ranks, place_on_hosts(request, options, world, most_ranks));
  } else {
    TUTTI_TRY_ASSIGN(ranks, read_ranks(options.ranks, request.cores, most_ranks));
  }
  if (!request.hosts.empty() && memories != std::vector<TableMemory>{TableMemory::ordinary})
    return wrong_argument("--memory symmetric does not go with several hosts: a rank reaches no memory on another one");
  for (const Collective collective : collectives)
    for (const std::uint32_t each : ranks)
      for (const TableMemory memory : memories)
        for (const auto& [types, type] : request.types)
          request.cases.push_back({.key = {.collective = collective,
                                           .ranks = each,
                                           .memory = memory,
                                           .types = types,
                                           .hosts = num_hosts(request, each)},
                                   .sizes = sizes});
  for (TuneCase& each : request.cases) each.share = 1 / static_cast<double>(request.cases.size());
  return {};
}

Status add_workload(TuneRequest& request, const TuneOptions& options, std::uint32_t most_ranks) {
  const TuneOptions usual;
  if (options.collectives != usual.collectives || !options.ranks.empty() || !options.types.empty() ||
      options.bytes != usual.bytes || !options.hosts.hosts.empty())
    return wrong_argument(
        "--workload says what is tuned; --collective, --ranks, --types, --bytes and --hosts do not go with it");
  TUTTI_TRY_ASSIGN(const std::string text, read_file(options.workload, kMostWorkloadBytes));
  TUTTI_TRY_ASSIGN(request.workload, read_workload(text, options.workload));
  TUTTI_TRY_ASSIGN(const std::vector<TableMemory> memories, read_memory(options.memory));
  if (memories.size() != 1) return wrong_argument("--memory both does not go with --workload, which has one");
  WorkloadCases made = cases_of(*request.workload, memories.front(), most_ranks);
  if (made.cases.empty())
    return wrong_argument(fmt::format("{} has nothing to tune: {}", options.workload, fmt::join(made.notes, "; ")));
  request.cases = std::move(made.cases);
  request.types = std::move(made.types);
  request.notes = std::move(made.notes);
  return {};
}

}  // namespace

void add_tune_options(CLI::App& app, TuneOptions& options) {
  app.add_option("--collective", options.collectives, "Collectives, with commas between [all_reduce]")
      ->type_name("LIST");
  app.add_option("-n,--ranks", options.ranks, "Numbers of ranks [2, 4 and on to as many as there are cores]")
      ->type_name("LIST");
  app.add_option("--memory", options.memory, "Memory of the buffers [ordinary]")->type_name("ordinary|symmetric|both");
  app.add_option("--types", options.types, "A type for each class, such as f32,bf16 [f32, for all types]")
      ->type_name("LIST");
  app.add_option("--bytes", options.bytes, "Sizes [8:64M:x2]")->type_name("LIST");
  app.add_option("--peer", options.peer, "The library to tune; simulate:FABRIC is a fabric in virtual time [tutti]")
      ->type_name("PEER");
  add_host_words(app, options.hosts);
  app.add_option("--budget", options.budget, "Total time [60s; a program: as long as its launches take]")
      ->type_name("TIME");
  app.add_option("--order", options.order, "The reduction-order class that every way keeps at least [uniform]")
      ->type_name("ordered|rank_order|uniform|free");
  app.add_option("-o,--output", options.output,
                 "Where the table goes [for Tutti: where the runtime finds it; else PEER.toml]")
      ->type_name("FILE");
  app.add_option("--workload", options.workload,
                 "Tune what this program calls, which tutti record has written, and say how much faster it would be")
      ->type_name("FILE");
  app.add_option("--from", options.from,
                 "Measure nothing: make the table of results: a run of the store, a CSV file, published references")
      ->type_name("RESULTS");
  app.add_option("--machine", options.machine, "With --from: the machine whose results count, if there are several")
      ->type_name("NAME");
  app.add_option("--store", options.store, "The SQLite file that keeps results (docs/formats/store.md)")
      ->type_name("FILE");
  app.add_option("--explain", options.explain, "Measure nothing; tell how the table has decided for this size")
      ->type_name("BYTES");
  app.add_option("--seed", options.seed, "Seed of the random order of races [1]")->type_name("N");
  app.add_flag("--keep-numbers", options.keeps_numbers, "Leave the numbers of the machine profile as they are");
  app.add_flag("--exhaustive", options.exhaustive, "Race everything at every size, as a reference; takes long");
  app.add_flag("--only-faster", options.only_faster,
               "Leave every size as it runs now where the score does not show the table to be surely faster");
  app.add_flag("--anyway", options.anyway, "Write the table even if other programs kept the machine busy");
  app.add_flag("--no-store", options.no_store, "Keep no results but the table");
  app.add_flag("--resume", options.resumes, "Go on with the same tuning where it was interrupted");
  app.add_flag("--dry-run", options.dry_run, "List what would be tried, and start nothing");
}

Status TuneRequest::check_old(const DecisionTable& old) const {
  const bool is_of_fabric = peer.reckoner != nullptr;
  if (old.measured_peer() != peer.name)
    return wrong_argument(fmt::format("{} is a table of {}; -o says where else", in_quotes(path), old.measured_peer()));
  // Former versions wrote `any` for every fabric.
  if (old.fingerprint == fingerprint || (is_of_fabric && old.fingerprint == kAnyMachine)) return {};
  return wrong_argument(fmt::format("{} is a table of another {}; -o says where else", in_quotes(path),
                                    is_of_fabric ? "fabric" : "machine"));
}

Result<TuneRequest> read_request(const TuneOptions& options, const BenchWorld& world, const Environment& environment) {
  TuneRequest request;
  TUTTI_TRY_ASSIGN(request.order, read_order(options.order));
  TUTTI_TRY_ASSIGN(request.peer, read_peer(options.peer, world));
  request.is_own = same_name(request.peer.name, kOwnPeer);
  request.is_on_devices = same_name(request.peer.name, kDevicePeer);
  request.machine = identity_of_machine();
  request.cores = static_cast<std::uint32_t>(harness::allowed_whole_cores().size());
  const bool is_reckoned = request.peer.reckoner != nullptr;
  request.fingerprint = fingerprint_of(request.machine);
  if (is_reckoned) {
    TUTTI_TRY_ASSIGN(request.fingerprint, fingerprint_of_fabric(request.peer.name));
  }
  const std::uint32_t most = is_reckoned ? static_cast<std::uint32_t>(request.peer.reckoner->num_ranks()) : kMostRanks;
  if (options.workload.empty()) {
    TUTTI_TRY(add_cases(request, options, world, most));
  } else {
    TUTTI_TRY(add_workload(request, options, most));
  }
  const Result<Nanos> budget = parse_duration(options.budget.empty() ? "60s" : options.budget);
  if (!budget.ok() || budget->value() <= 0)
    return wrong_argument(fmt::format("--budget is {}; it takes a time such as 60s", in_quotes(options.budget)));
  request.seconds = static_cast<double>(budget->value()) / 1e9;
  const std::optional<std::uint64_t> seed = read_number<std::uint64_t>(options.seed);
  if (!seed) return wrong_argument(fmt::format("--seed is {}; it takes a number", in_quotes(options.seed)));
  request.seed = *seed;
  request.path = options.output;
  if (request.path.empty()) {
    TUTTI_TRY_ASSIGN(request.path, usual_path(request, options, environment));
  }
  request.is_found = request.is_own && options.output.empty() && options.workload.empty();
  return request;
}

}  // namespace tutti::cli
