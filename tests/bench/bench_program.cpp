// SPDX-License-Identifier: Apache-2.0
// A program that declares benchmarks, for the tests of the runner: what is measured is known, and some of it
// misbehaves.
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include "tutti/bench.hpp"

namespace {

using tutti::Context;
using tutti::State;

void spin(std::int64_t nanos) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(nanos);
  while (std::chrono::steady_clock::now() < end) continue;
}

tutti::Bench work() {
  return tutti::bench("work")
      .num_ranks({2})
      .axis("nanos", {1000, 20000})
      .axis("mode", {"plain"})
      .skip_if([](const tutti::Bench::Values& values, int) {
        return std::get<std::int64_t>(values[0].second) == 13 ? std::string("thirteen is out") : std::string();
      })
      .run([](State& state, Context& context) {
        const std::int64_t nanos = state.integer("nanos");
        state.set_message(static_cast<double>(nanos), tutti::Traffic::all_reduce);
        state.counter("rank", context.rank());
        state.set_ran("spinning");
        int calls = 0;
        state.set_check([&] { calls = 0; }, [&] { return calls == 1 ? std::string() : std::string("not one call"); });
        state.exec([&] {
          spin(nanos);
          ++calls;
        });
      });
}

tutti::Bench nothing() {
  return tutti::bench("nothing").num_ranks({2}).axis("number", "0:9:+1").run([](State& state, Context&) {
    state.exec([] {});
  });
}

// Variables as they arrive, told through counters; a delay that a variable sets.
tutti::Bench environment() {
  return tutti::bench("environment")
      .num_ranks({1})
      .env("COLOUR", {"red", tutti::unset})
      .axis("number", {1, 2})
      .run([](State& state, Context&) {
        const char* colour = std::getenv("COLOUR");
        const char* slower = std::getenv("SLOWER");
        state.set_ran(colour == nullptr ? "no colour" : colour);
        state.counter("pid", static_cast<double>(::getpid()));
        state.counter("prepared",
                      std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
        const std::int64_t nanos = slower == nullptr ? 20000 : std::atoi(slower);
        state.exec([&] { spin(nanos); });
      });
}

// On how many hardware threads a rank may run.
tutti::Bench threads() {
  return tutti::bench("threads").num_ranks({2}).run([](State& state, Context&) {
    cpu_set_t allowed;
    ::sched_getaffinity(0, sizeof(allowed), &allowed);
    state.set_ran(std::to_string(CPU_COUNT(&allowed)));
    state.exec([] {});
  });
}

void misbehave(const std::string& how, State& state, Context& context) {
  const bool is_last = context.rank() == context.num_ranks() - 1;
  if (how == "throws" || (how == "throws_alone" && is_last)) throw std::runtime_error("no mood");
  if (how == "skips" || (how == "skips_alone" && is_last)) return state.skip("not today");
  if (how == "forgets") return;
  if (how == "asks") static_cast<void>(state.integer("nobody"));
  if (how == "wrong")
    state.set_check(nullptr, [&] { return std::string(is_last ? "element 3 is 4, expected 5" : ""); });
  int calls = 0;
  state.exec([&] {
    if (++calls < 3 || !is_last) return;
    if (how == "crashes") {
      std::signal(SIGSEGV, SIG_DFL);  // the sanitizers have a handler of their own
      std::raise(SIGSEGV);
    }
    if (how == "exits") std::_Exit(7);
    if (how == "hangs") std::this_thread::sleep_for(std::chrono::hours(1));
  });
}

tutti::Bench misbehaviour() {
  return tutti::bench("misbehaviour")
      .num_ranks({2})
      .axis("how", {"nothing", "throws", "throws_alone", "skips", "skips_alone", "forgets", "asks", "wrong", "crashes",
                    "exits", "hangs", "well"})
      .run([](State& state, Context& context) { misbehave(state.word("how"), state, context); });
}

}  // namespace

int main(int argc, char** argv) {
  return tutti::bench_main(argc, argv, {work(), nothing(), environment(), misbehaviour(), threads()});
}
