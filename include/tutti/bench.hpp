// SPDX-License-Identifier: Apache-2.0
// Declarations of benchmarks. A benchmark has named axes, whose combinations are the cases; environment variables,
// which are set before a backend begins; and a body, which sets up untimed and passes the timed call to exec().
//
//   auto sweep = tutti::bench("rccl_cta_sweep")
//                    .num_ranks({8})
//                    .axis("M", {1, 32, 128, 512, 2048, 8192})
//                    .env("NCCL_MIN_CTAS", {32, 64, 128, 256})
//                    .env("NCCL_MAX_CTAS", {32, 64, 128, 256})
//                    .run([](tutti::State& state, tutti::Context& context) {
//                      const auto m = state.integer("M");
//                      ...
//                      state.set_bytes(4.0 * m);
//                      state.exec([&] { ... });
//                    });
//
//   int main(int argc, char** argv) { return tutti::bench_main(argc, argv, {sweep}); }
//
// That program has the whole command line of `tutti run`, `list`, `show`, `compare`, `label` and `delete`. It starts
// itself once more for each rank of each group of cases; a body runs in those processes, once for each case, on every
// rank, in one thread. Link tutti::bench (CMake) or tutti-bench (pkg-config).
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Exports of the library libtutti_bench; everything else in it is hidden.
#define TUTTI_BENCH_API __attribute__((visibility("default")))

namespace tutti {

namespace harness {
class Session;
struct Declaration;
}  // namespace harness

// The traffic of a benchmark's message. It gives the factor from algorithm bandwidth to bus bandwidth, as in
// nccl-tests. `bytes` is the total for all-gather and reduce-scatter.
enum class Traffic : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  broadcast,
  reduce,
  all_to_all,
  gather,
  scatter,
  send_recv,
};

// One case, as the body of a benchmark sees it. Lives as long as the body runs.
class TUTTI_BENCH_API State {
 public:
  explicit State(harness::Session& session) : session_(session) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The case's value on an axis: as a whole number, a number, or a word as written. An unknown axis, or a value that is
  // no number, ends the case with an error.
  [[nodiscard]] std::int64_t integer(std::string_view axis) const;
  [[nodiscard]] double number(std::string_view axis) const;
  [[nodiscard]] std::string word(std::string_view axis) const;
  [[nodiscard]] bool has(std::string_view axis) const;

  // The work of one timed call, for rates: plain bytes; bytes of a message, which also give algorithm and bus
  // bandwidth; items; floating-point operations.
  void set_bytes(double bytes);
  void set_message(double bytes, Traffic traffic);
  void set_items(double items);
  void set_flops(double flops);
  // A figure of your own, a column of the results. The last value counts, and of several ranks rank 0's.
  void counter(std::string_view name, double value);
  // What really ran ("ring, 2 channels"); and whether a swept variable was obeyed, with the evidence.
  void set_ran(std::string_view what);
  enum class Obeyed : std::uint8_t { confirmed, ignored, unverifiable };
  void set_evidence(std::string_view variable, Obeyed obeyed, std::string_view how);

  // Skips a case that is not for this machine or backend. Return from the body afterwards. All ranks must call it.
  void skip(std::string_view reason);
  // Ends the case with an error that has the reason.
  [[noreturn]] void fail(std::string_view reason) const;
  // Checks the results of one more call, made after the timed ones. `after` returns what is wrong, or nothing. `before`
  // (may be null) poisons the outputs.
  void set_check(std::function<void()> before, std::function<std::string()> after);

  // Times `call` together with the other ranks, as often as the runner says. Returns when there are enough samples.
  void exec(const std::function<void()>& call);

 private:
  harness::Session& session_;
};

// The rank that a body runs as.
class TUTTI_BENCH_API Context {
 public:
  Context(harness::Session& session, int rank, int num_ranks) : session_(session), rank_(rank), num_ranks_(num_ranks) {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int num_ranks() const { return num_ranks_; }
  // All ranks of the group meet. Not for timing: that is exec()'s.
  void barrier();
  // Returns root's bytes on all ranks. It is for data that ranks need before their library can communicate, such as an
  // ncclUniqueId. All ranks call it. The ranks of a group share a host.
  [[nodiscard]] std::string broadcast(std::string_view bytes, int root = 0);

 private:
  harness::Session& session_;
  int rank_;
  int num_ranks_;
};

using AxisValue = std::variant<std::int64_t, double, std::string>;
// A variable's value; without one it is unset.
using EnvValue = std::optional<std::string>;
inline constexpr std::nullopt_t unset = std::nullopt;  // NOLINT(readability-identifier-naming): as users write it

namespace bench_values {
// Conversions, so that lists can hold plain numbers and text.
struct Any {
  Any(int given) : value(static_cast<std::int64_t>(given)) {}            // NOLINT(google-explicit-constructor)
  Any(long given) : value(static_cast<std::int64_t>(given)) {}           // NOLINT(google-explicit-constructor)
  Any(long long given) : value(static_cast<std::int64_t>(given)) {}      // NOLINT(google-explicit-constructor)
  Any(unsigned given) : value(static_cast<std::int64_t>(given)) {}       // NOLINT(google-explicit-constructor)
  Any(unsigned long given) : value(static_cast<std::int64_t>(given)) {}  // NOLINT(google-explicit-constructor)
  Any(double given) : value(given) {}                                    // NOLINT(google-explicit-constructor)
  Any(const char* given) : value(std::string(given)) {}                  // NOLINT(google-explicit-constructor)
  Any(std::string given) : value(std::move(given)) {}                    // NOLINT(google-explicit-constructor)
  AxisValue value;
};
struct AnyEnv {
  AnyEnv(std::nullopt_t) {}                                  // NOLINT(google-explicit-constructor)
  AnyEnv(int given) : value(std::to_string(given)) {}        // NOLINT(google-explicit-constructor)
  AnyEnv(long given) : value(std::to_string(given)) {}       // NOLINT(google-explicit-constructor)
  AnyEnv(long long given) : value(std::to_string(given)) {}  // NOLINT(google-explicit-constructor)
  AnyEnv(const char* given) : value(given) {}                // NOLINT(google-explicit-constructor)
  AnyEnv(std::string given) : value(std::move(given)) {}     // NOLINT(google-explicit-constructor)
  AnyEnv(EnvValue given) : value(std::move(given)) {}        // NOLINT(google-explicit-constructor)
  EnvValue value;
};
}  // namespace bench_values

// A declaration. A value: copies share nothing.
class TUTTI_BENCH_API Bench {
 public:
  explicit Bench(std::string name);
  Bench(const Bench&);
  Bench(Bench&&) noexcept;
  Bench& operator=(const Bench&);
  Bench& operator=(Bench&&) noexcept;
  ~Bench();

  // Numbers of processes; each number starts groups of its own.
  Bench& num_ranks(std::vector<int> values);
  // An axis with its values, or as on the command line: axis("bytes", "8:64M:x2").
  Bench& axis(std::string name, std::initializer_list<bench_values::Any> values);
  Bench& axis(std::string name, std::vector<bench_values::Any> values);
  Bench& axis(std::string name, std::string_view values);
  // A variable that takes these values in turn. Each value starts groups of its own. tutti::unset removes it.
  Bench& env(std::string name, std::vector<bench_values::AnyEnv> values);
  // Several variables that change together, row by row.
  Bench& env_zip(std::vector<std::string> names, std::vector<std::vector<bench_values::AnyEnv>> rows);
  // Returns why a combination is skipped; empty if it runs. It must depend on its arguments alone.
  using Values = std::vector<std::pair<std::string, AxisValue>>;
  Bench& skip_if(std::function<std::string(const Values& values, int num_ranks)> rule);
  // Returns what is wrong with a value of the axis; empty if nothing is. Runs on every value, declared or given by -a,
  // before anything starts. A wrong value ends the program with these words and status 2. The check may rewrite the
  // value ("float" to "f32"); cases and rows have the result. It must depend on the value alone. A later check of the
  // same axis replaces an earlier one.
  using Check = std::function<std::string(AxisValue& value)>;
  Bench& check(std::string axis, Check objection);
  // Run on every rank before the first case of a group and after its last one.
  Bench& set_up(std::function<void(Context&)> once);
  Bench& tear_down(std::function<void(Context&)> once);
  Bench& run(std::function<void(State&, Context&)> body);

  [[nodiscard]] const harness::Declaration& declaration() const { return *declaration_; }

 private:
  std::unique_ptr<harness::Declaration> declaration_;
};

[[nodiscard]] inline Bench bench(std::string name) { return Bench(std::move(name)); }

// The whole program: the command line if a user starts it, a worker if the runner does. Returns the exit status.
TUTTI_BENCH_API int bench_main(int argc, char** argv, std::vector<Bench> benches);

}  // namespace tutti
