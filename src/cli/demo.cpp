// SPDX-License-Identifier: Apache-2.0
// `tutti demo`: a first look. Proves the algorithms, then starts two ranks of itself and times all-reduce beside what a
// copy of the same bytes costs here.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "algorithms/cases.hpp"
#include "algorithms/registry.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bench/views/table.hpp"
#include "cli/commands.hpp"
#include "cli/output.hpp"
#include "data/exact.hpp"
#include "launch/process_group.hpp"
#include "runtime/bootstrap/rendezvous.hpp"
#include "runtime/communicator/communicator.hpp"
#include "schedule/prove/prove.hpp"

namespace tutti::cli {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostProvenRanks = 9;
constexpr int kNumRanks = 2;
constexpr OperatorHandle kSum{static_cast<std::uint32_t>(Op::sum)};
constexpr Bytes kLeast{8};
constexpr Bytes kMost{std::uint64_t{1} << 30};

struct DemoArguments {
  bool as_rank = false;  // how the command starts its own ranks
  std::string most = "64M";
  OutputOptions output;
};

// The proven all-reduce algorithms, and those without a case for some numbers of ranks.
struct Proven {
  std::size_t num_algorithms = 0;
  std::size_t num_cases = 0;
  std::vector<std::string> left_out;  // a line each
};

// Every case of one algorithm; false where one is wrong, which is told.
bool prove_cases(const Algorithm& algorithm, Proven& proven, const Context& context) {
  std::size_t num_cases = 0;
  std::vector<std::string> without_case;  // numbers of ranks
  std::string why;
  for (std::uint32_t ranks = 1; ranks <= kMostProvenRanks; ++ranks) {
    const Cases cases = find_cases(algorithm, ranks);
    for (const Request& request : cases.requests) {
      const Proof proof = prove(algorithm.make(request));
      if (!proof.ok()) {
        context.error << fmt::format("{} of {} ranks: {}\n", full_name(algorithm, request), ranks,
                                     proof.failure->to_string());
        return false;
      }
    }
    num_cases += cases.requests.size();
    if (!cases.requests.empty()) continue;
    without_case.push_back(std::to_string(ranks));
    if (why.empty()) why = cases.objection;
  }
  proven.num_cases += num_cases;
  if (num_cases > 0) ++proven.num_algorithms;
  if (!without_case.empty())
    proven.left_out.push_back(fmt::format("{} on {} ranks: {}", algorithm.name, fmt::join(without_case, ", "), why));
  return true;
}

bool prove_slice(const Context& context) {
  Proven proven;
  for (const Algorithm* algorithm : algorithms_of(Collective::all_reduce))
    if (!prove_cases(*algorithm, proven, context)) return false;
  context.error << fmt::format(
      "proven: {} all-reduce algorithms in {} cases on 1 to {} ranks ('tutti prove' shows more)\n",
      proven.num_algorithms, proven.num_cases, kMostProvenRanks);
  for (const std::string& line : proven.left_out) context.error << "left out: " << line << "\n";
  return true;
}

// One way of moving `count` floats, and how long each round of it took.
struct Timed {
  std::vector<double> microseconds;

  template <typename Body>
  void add(const Body& body) {
    const Clock::time_point start = Clock::now();
    body();
    microseconds.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  [[nodiscard]] double median() {
    const auto middle = microseconds.begin() + static_cast<std::ptrdiff_t>(microseconds.size() / 2);
    std::nth_element(microseconds.begin(), middle, microseconds.end());
    return *middle;
  }
};

struct Buffers {
  std::vector<float> input, output, copy;
  float* shared_input = nullptr;
  float* shared_output = nullptr;
};

constexpr ExactInput kInput{.type = Type::f32, .op = Op::sum, .num_ranks = kNumRanks, .seed = 1};

// Whether a call gives every element its exact sum. Sums vary from element to element, and the output held no numbers
// before.
Result<bool> is_right(Communicator& communicator, const float* input, float* output, std::uint64_t count) {
  std::fill_n(output, count, std::numeric_limits<float>::quiet_NaN());
  TUTTI_TRY(communicator.all_reduce(input, output, count, Type::f32, kSum));
  std::array<float, kExactPeriod> expected{};
  exact_expected(kInput, 0, expected.size(), expected.data());
  for (std::uint64_t element = 0; element < count; ++element)
    if (output[element] != expected[element % kExactPeriod]) return false;
  return true;
}

// The rounds alternate between the ways, so that a machine that drifts drifts for all of them.
Result<std::vector<Cell>> measure(Communicator& communicator, Buffers& buffers, std::uint64_t bytes) {
  const std::uint64_t count = bytes / sizeof(float);
  const auto reduce = [&](const float* input, float* output) {
    return communicator.all_reduce(input, output, count, Type::f32, kSum);
  };
  Timed copy, ordinary, symmetric;
  const std::uint64_t rounds = std::clamp<std::uint64_t>((std::uint64_t{256} << 20) / bytes, 9, 3000);
  Status status;
  // Without looking at the status in between: the ranks must do the same number of calls.
  const auto keep = [&status](Status next) {
    if (status.ok()) status = std::move(next);
  };
  for (std::uint64_t round = 0; round < rounds; ++round) {
    copy.add([&] { std::memcpy(buffers.copy.data(), buffers.input.data(), bytes); });
    // Leaves both ranks at the same point, so that neither way pays for waiting for a late peer.
    keep(reduce(buffers.input.data(), buffers.output.data()));
    ordinary.add([&] { keep(reduce(buffers.input.data(), buffers.output.data())); });
    symmetric.add([&] { keep(reduce(buffers.shared_input, buffers.shared_output)); });
  }
  TUTTI_TRY(status);
  const Result<bool> ordinary_right = is_right(communicator, buffers.input.data(), buffers.output.data(), count);
  if (!ordinary_right.ok()) return ordinary_right.status();
  const Result<bool> symmetric_right = is_right(communicator, buffers.shared_input, buffers.shared_output, count);
  if (!symmetric_right.ok()) return symmetric_right.status();
  const double base = copy.median();
  return std::vector<Cell>{to_text(Bytes(bytes)),
                           base,
                           ordinary.median(),
                           ordinary.median() / base,
                           symmetric.median(),
                           symmetric.median() / base,
                           std::string(*ordinary_right && *symmetric_right ? "right" : "WRONG")};
}

Result<Table> measure_all(Communicator& communicator, Buffers& buffers, std::uint64_t most) {
  Table table({{"bytes"},
               {"memcpy_us"},
               {"all_reduce_us"},
               {"per_memcpy"},
               {"symmetric_us"},
               {"symmetric_per_memcpy"},
               {"data"}});
  for (std::uint64_t bytes = kLeast.value(); bytes <= most;
       bytes = bytes < most ? std::min(bytes * 8, most) : bytes + 1) {
    const Result<std::vector<Cell>> row = measure(communicator, buffers, bytes);
    if (!row.ok()) return row.status();
    table.add_row(*row);
  }
  return table;
}

// People read hundredths, machines all digits.
Table for_people(const Table& table) {
  Table rounded(table.columns());
  for (std::vector<Cell> cells : table.rows()) {
    for (Cell& cell : cells)
      if (double* number = std::get_if<double>(&cell)) *number = std::round(*number * 100) / 100;
    rounded.add_row(std::move(cells));
  }
  return rounded;
}

Result<std::uint64_t> read_most(const std::string& text) {
  const Result<Bytes> bytes = parse_bytes(text);
  if (!bytes.ok()) return bytes.status().with_context(fmt::format("--most is {}", in_quotes(text)));
  if (*bytes < kLeast || *bytes > kMost || bytes->value() % sizeof(float) != 0)
    return Status(Code::invalid_argument,
                  fmt::format("--most is {}; it takes whole f32 elements of {} to {} bytes together", in_quotes(text),
                              to_text(kLeast), to_text(kMost)));
  return bytes->value();
}

Status run_rank(const DemoArguments& options, std::uint64_t most, const Context& context) {
  const Result<Variables> variables = Variables::load(context.environment, ConfPaths::standard(context.environment));
  if (!variables.ok()) return variables.status();
  const Result<std::unique_ptr<Log>> log = Log::create(*variables, LogWriter::of_this_process());
  if (!log.ok()) return log.status();
  const Result<UniqueId> id = UniqueId::from_text(variables->get<VariableId::unique_id>());
  const auto rank = variables->get<VariableId::rank>();
  const auto num_ranks = variables->get<VariableId::num_ranks>();
  if (!id.ok() || !rank || num_ranks != kNumRanks)
    return {Code::invalid_usage, "--as-rank is how the command starts its own ranks; leave it out"};
  const Result<std::unique_ptr<Communicator>> joined =
      Communicator::join(*id, static_cast<int>(*num_ranks), static_cast<int>(*rank), nullptr, *variables, **log);
  if (!joined.ok()) return joined.status();
  Communicator& communicator = **joined;

  const std::uint64_t count = most / sizeof(float);
  Buffers buffers{std::vector<float>(count), std::vector<float>(count), std::vector<float>(count)};
  exact_fill(kInput, static_cast<int>(*rank), 0, count, buffers.input.data());
  const Result<void*> shared = communicator.allocate(2 * most);
  if (!shared.ok()) return shared.status();
  buffers.shared_input = static_cast<float*>(*shared);
  buffers.shared_output = buffers.shared_input + count;
  std::copy(buffers.input.begin(), buffers.input.end(), buffers.shared_input);

  const Result<Table> table = measure_all(communicator, buffers, most);
  if (!table.ok()) return table.status();
  TUTTI_TRY(communicator.free(*shared));
  const bool is_for_people = options.output.format == Format::table || options.output.format == Format::md;
  if (*rank == 0)
    TUTTI_TRY(write_output(render(is_for_people ? for_people(*table) : *table, options.output.format), options.output,
                           context));
  for (const std::vector<Cell>& row : table->rows())
    if (row.back() != Cell(std::string("right")))
      return {Code::internal, "an all-reduce gave a wrong result: see the table"};
  return {};
}

Result<int> run_ranks(const DemoArguments& options, const Context& context) {
  const Result<std::unique_ptr<RendezvousServer>> server = RendezvousServer::start({.most_generations = 1});
  if (!server.ok()) return server.status();
  context.error << "timing f32 sums on 2 ranks; medians, 1.00 is what memcpy of the same bytes takes\n";
  launch::GroupOptions group{.num_ranks = kNumRanks,
                             .command = {"/proc/self/exe", "demo", "--as-rank", "--most", options.most, "--format",
                                         std::string(name_of(options.output.format))},
                             .environment = context.environment};
  if (!options.output.path.empty()) {
    group.command.emplace_back("-o");
    group.command.push_back(options.output.path);
  }
  group.environment.set("TUTTI_UNIQUE_ID", (*server)->id().to_text());
  return launch::run_group(group, context.out, context.error);
}

Exit run(const DemoArguments& options, const Context& context) {
  const Result<std::uint64_t> most = read_most(options.most);
  if (!most.ok()) return failed(context, "demo", most.status());
  if (options.as_rank) {
    const Status status = run_rank(options, *most, context);
    if (status.ok()) return Exit::done;
    context.error << "tutti demo: " << status.to_string() << "\n";
    return Exit::found_wrong;
  }
  if (!prove_slice(context)) return Exit::found_wrong;
  context.out.flush();
  const Result<int> code = run_ranks(options, context);
  if (!code.ok()) {
    context.error << "tutti demo: " << code.status().to_string() << "\n";
    return Exit::found_wrong;
  }
  return *code == 0 ? Exit::done : Exit::found_wrong;
}

Run define_demo(CLI::App& app) {
  const auto options = std::make_shared<DemoArguments>();
  app.add_flag("--as-rank", options->as_rank)->group("");
  app.add_option("--most", options->most, "The largest size to time; each rank needs five times as much memory")
      ->type_name("SIZE")
      ->capture_default_str();
  add_output_options(app, options->output);
  return [options](const Context& context) { return run(*options, context); };
}

}  // namespace

Command demo_command() {
  return {.name = "demo",
          .summary = "Prove the algorithms and time all-reduce on two ranks beside memcpy",
          .examples = "tutti demo\ntutti demo --most 1M\ntutti demo --format md -o demo.md",
          .define = define_demo};
}

}  // namespace tutti::cli
