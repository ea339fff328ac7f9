#include "cli/simulated_peer.hpp"

#include <algorithm>
#include <functional>
#include <new>
#include <optional>

#include <fmt/format.h>

#include "algorithms/full_name.hpp"
#include "algorithms/registry.hpp"
#include "base/digest.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "cli/command.hpp"
#include "cli/counted.hpp"
#include "data/no_element.hpp"
#include "data/type.hpp"
#include "fabric/fabric_file.hpp"
#include "fabric/generate.hpp"
#include "fabric/load.hpp"
#include "fabric/request.hpp"
#include "runtime/selector.hpp"
#include "runtime/settings.hpp"
#include "schedule/message_size.hpp"
#include "simulate/simulate.hpp"

namespace tutti::cli {

namespace {

constexpr std::string_view kMemory = "BENCH_MEMORY";
constexpr std::string_view kSymmetric = "symmetric";

Status not_here(std::string words) { return {Code::unsupported, std::move(words)}; }

// --- what a case asks for, by the axes of the collectives' benches

struct SimulatedCase {
  Collective collective = Collective::all_reduce;
  std::uint64_t element_size = 1;
  std::uint64_t count = 0;          // elements of a block
  std::uint64_t message_bytes = 0;  // of all blocks, as nccl-tests counts
  std::uint32_t root = 0;
  bool in_place = false;
};

Result<std::int64_t> whole(const harness::Point& point, std::string_view axis, std::int64_t usual, std::int64_t most) {
  const harness::Value* value = point.find(axis);
  if (value == nullptr) return usual;
  if (value->is_integer() && value->integer() >= 0 && value->integer() <= most) return value->integer();
  return wrong_argument(fmt::format("axis {} is {}; it goes from 0 to {}", axis, in_quotes(value->text()), most));
}

Result<SimulatedCase> asked_in(const harness::Row& row) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
  const std::optional<Collective> collective = find_collective(row.bench);
  if (!collective) return wrong_argument(fmt::format("{} is no collective", in_quotes(row.bench)));
  SimulatedCase asked{.collective = *collective};
  if (asked.collective == Collective::barrier) return asked;
  const harness::Value* type_value = row.point.find("type");
  const std::optional<Type> type = type_from_name(type_value == nullptr ? "f32" : type_value->text());
  if (!type) return wrong_argument(fmt::format("axis type is {}, which is none", in_quotes(type_value->text())));
  const Result<std::int64_t> bytes = whole(row.point, "bytes", 0, kMostBytes);
  if (!bytes.ok()) return bytes.status();
  const Result<std::int64_t> root = whole(row.point, "root", 0, row.num_ranks - 1);
  if (!root.ok()) return root.status();
  const Result<std::int64_t> in_place = whole(row.point, "in_place", 0, 1);
  if (!in_place.ok()) return in_place.status();
  const auto num_ranks = static_cast<std::uint32_t>(row.num_ranks);
  const std::uint32_t blocks = num_blocks(*collective, num_ranks);
  asked.element_size = size_of(*type);
  asked.count = elements_of_block(*collective, num_ranks, static_cast<std::uint64_t>(*bytes), asked.element_size);
  asked.message_bytes = asked.count * blocks * asked.element_size;
  asked.root = static_cast<std::uint32_t>(*root);
  asked.in_place = *in_place != 0;
  if (asked.count == 0) return not_here(holds_no_element(static_cast<std::uint64_t>(*bytes), *type, blocks));
  return asked;
}

Traffic traffic_of(Collective collective) {
  switch (collective) {
    case Collective::all_gather: return Traffic::all_gather;
    case Collective::reduce_scatter: return Traffic::reduce_scatter;
    case Collective::broadcast: return Traffic::broadcast;
    case Collective::reduce: return Traffic::reduce;
    case Collective::all_to_all: return Traffic::all_to_all;
    case Collective::gather: return Traffic::gather;
    case Collective::scatter: return Traffic::scatter;
    case Collective::scan:
    case Collective::exclusive_scan: return Traffic::reduce;
    default: return Traffic::all_reduce;
  }
}

void tell_sizes(const SimulatedCase& asked, harness::Row& row) {
  if (asked.collective == Collective::barrier) return;
  row.message = harness::Message{static_cast<double>(asked.message_bytes), traffic_of(asked.collective)};
  row.counters["count"] = static_cast<double>(asked.count);
}

// --- how it is done

struct Chosen {
  Schedule schedule;
  bool staged = true;
  std::string why;
};

Chosen chosen(const Algorithm& algorithm, Request request, const SimulatedCase& asked, bool symmetric,
              std::string_view why) {
  request.root = asked.root;
  const bool by_name = symmetric && (asked.in_place ? algorithm.name_safe_in_place : algorithm.name_safe);
  return {algorithm.make(request), algorithm.channel == Channel::staged && !by_name, std::string(why)};
}

// A schedule of the user's own, proven as the library proves it.
Result<Chosen> own(const AlgorithmFile& file, const SimulatedCase& asked, const shm::RegionShape& shape) {
  Result<OwnAlgorithm> own = own_algorithm(file, asked.collective, shape);
  if (!own.ok()) return own.status();
  if (own->demands.root && *own->demands.root != asked.root)
    return not_here(fmt::format("{} is for root {}", file.path, *own->demands.root));
  return Chosen{std::move(own->schedule), !own->demands.needs_symmetric, "forced"};
}

// As the library would: what is forced, on whatever this fabric can do; else what it has by size, and for memory that
// is symmetric or not.
Result<Chosen> choose(const SimulatedCase& asked, std::uint32_t num_ranks, const Settings& settings, bool symmetric,
                      const std::function<bool()>& is_interrupted) {
  const ForcedAlgorithm& forced = settings.forced_of(asked.collective);
  if (forced.file) return own(*forced.file, asked, settings.region_for(num_ranks));
  if (!forced.name.empty()) {
    const Result<NamedAlgorithm> named = find_by_full_name(asked.collective, forced.name, num_ranks);
    if (!named.ok()) return named.status();
    return chosen(*named->algorithm, named->request, asked, symmetric, "forced");
  }
  Portfolio portfolio(0, settings.region_for(num_ranks));
  portfolio.end_when(is_interrupted);
  Selector selector(portfolio, num_ranks);
  selector.gather_both_ways_up_to(settings.ring_bidir_ag_max_size);
  const CallFacts call{.symmetric = symmetric, .in_place = asked.in_place, .root = asked.root};
  const Result<Choice> choice = selector.choose(asked.collective, asked.message_bytes, call);
  if (!choice.ok()) return choice.status();
  return chosen(*choice->way->algorithm, choice->way->request, asked, symmetric, choice->why);
}

std::optional<Collective> forced_by(std::string_view variable) {
  const VariableRow* row = find_variable(variable);  // which it may be an alias of
  for (int each = 0; each < kNumCollectives; ++each)
    if (row != nullptr && row->name == forcing_variable(static_cast<Collective>(each)))
      return static_cast<Collective>(each);
  return std::nullopt;
}

harness::Evidence evidence_of(const harness::Setting& setting, const SimulatedCase& asked, const std::string& ran) {
  using Obeyed = State::Obeyed;
  const std::optional<Collective> forced = forced_by(setting.name);
  if (forced && *forced != asked.collective)
    return {Obeyed::unverifiable, fmt::format("it concerns {}, not {}", name_of(*forced), name_of(asked.collective))};
  return {Obeyed::confirmed, fmt::format("{} was simulated", ran)};
}

// The environment with the settings of a group.
Environment changed(const Environment& environment, const std::vector<harness::Setting>& settings) {
  const auto is_set = [&](const std::string& name) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const harness::Setting& setting) { return setting.name == name; });
  };
  Environment all;
  for (const std::string& name : environment.names())
    if (!is_set(name)) all.set(name, *environment.lookup(name));
  for (const harness::Setting& setting : settings)
    if (setting.value) all.set(setting.name, *setting.value);
  return all;
}

// What tells fabrics apart: the words that a generator was asked with say all; what a file holds may change.
std::uint32_t digest_of(std::string_view words, const fabric::Fabric& fabric) {
  const Result<fabric::Request> request = fabric::parse_request(words);
  const bool is_generated = request.ok() && fabric::find_generator(request->kind) != nullptr;
  return static_cast<std::uint32_t>(digest(is_generated ? request->text : fabric::write_fabric(fabric)));
}

class SimulatedPeer final : public harness::Reckoner {
 public:
  SimulatedPeer(std::string_view words, fabric::Fabric fabric, const Environment& environment)
      : fabric_(std::move(fabric)),
        environment_(environment),
        version_(fmt::format("Tutti {} on fabric {:08x}", TUTTI_VERSION, digest_of(words, fabric_))) {}

  [[nodiscard]] std::string version() const override { return version_; }
  [[nodiscard]] int num_ranks() const override { return static_cast<int>(fabric_.num_ranks()); }
  [[nodiscard]] bool obeys(std::string_view variable) const override {
    return variable == kMemory || forced_by(variable) ||
           find_variable(variable) == &row_of(VariableId::ring_bidir_ag_max_size);
  }

  void reckon(const harness::Group& group, const harness::MeasureOptions& options, harness::Row& row) const override {
    row.version = version_;
    row.sync = harness::Sync::virtual_time;
    const Status status = simulate_within_memory(group, options, row);
    if (status.ok()) return;
    row.outcome = status.code() == Code::unsupported ? harness::Outcome::skipped : harness::Outcome::error;
    row.note = status.message();
  }

 private:
  // Too little memory costs the case, not the sweep: what the case had is given back by then.
  Status simulate_within_memory(const harness::Group& group, const harness::MeasureOptions& options,
                                harness::Row& row) const try {
    return simulate(group, options, row);
  } catch (const std::bad_alloc&) {
    return {Code::system, "there is not enough memory for this"};
  }

  Status simulate(const harness::Group& group, const harness::MeasureOptions& options, harness::Row& row) const {
    if (group.num_ranks > num_ranks())
      return not_here(fmt::format("{} has {}", fabric_.name, counted(num_ranks(), "rank")));
    const Result<SimulatedCase> asked = asked_in(row);
    if (!asked.ok()) return asked.status();
    const std::vector<harness::Setting> settings = group.all_settings();
    const Environment environment = changed(environment_, settings);
    const std::string memory = environment.lookup(kMemory).value_or("ordinary");
    const bool symmetric = same_name(memory, kSymmetric);
    if (!symmetric && !same_name(memory, "ordinary"))
      return wrong_argument(fmt::format("{} is {}; it takes ordinary or symmetric", kMemory, in_quotes(memory)));
    const Result<Variables> variables = Variables::load(environment, ConfPaths::standard(environment));
    if (!variables.ok()) return variables.status();
    const Result<Chosen> way = choose(*asked, static_cast<std::uint32_t>(group.num_ranks), Settings::from(*variables),
                                      symmetric, options.is_interrupted);
    if (!way.ok()) return way.status();
    if (!(asked->in_place ? way->schedule.allows_in_place : way->schedule.allows_out_of_place))
      return not_here(
          fmt::format("{} is not for calls {} place", way->schedule.name, asked->in_place ? "in" : "out of"));
    const Result<simulate::Answer> answer = simulate::simulate(way->schedule, fabric_,
                                                               {.count = asked->count,
                                                                .element_size = asked->element_size,
                                                                .staged = way->staged,
                                                                .check = options.check,
                                                                .in_place = asked->in_place,
                                                                .is_interrupted = options.is_interrupted});
    if (!answer.ok()) return answer.status();
    tell_sizes(*asked, row);
    row.samples = {answer->time};
    row.rounds = {1};
    row.stop = harness::Stop::precise;
    row.is_checked = answer->checked;
    row.ran = fmt::format("{} {} ({})", name_of(asked->collective), way->schedule.name, way->why);
    for (const harness::Setting& setting : settings)
      row.evidence[setting.name] = evidence_of(setting, *asked, way->schedule.name);
    return {};
  }

  fabric::Fabric fabric_;
  const Environment& environment_;
  std::string version_;
};

}  // namespace

Result<std::shared_ptr<const harness::Reckoner>> simulated_peer(std::string_view fabric,
                                                                const Environment& environment) {
  Result<fabric::Fabric> loaded = fabric::load_fabric(fabric);
  if (!loaded.ok()) return loaded.status();
  return std::shared_ptr<const harness::Reckoner>(
      std::make_shared<const SimulatedPeer>(fabric, *std::move(loaded), environment));
}

std::vector<harness::ForcedAlgorithm> simulated_algorithms(std::string_view bench) {
  std::vector<harness::ForcedAlgorithm> algorithms;
  const std::optional<Collective> collective = find_collective(bench);
  if (!collective) return algorithms;
  for (const Algorithm* algorithm : algorithms_of(*collective)) {
    const std::string name(algorithm->name);
    algorithms.push_back({.name = name, .settings = {{std::string(forcing_variable(*collective)), name}}});
  }
  return algorithms;
}

}  // namespace tutti::cli
