// SPDX-License-Identifier: Apache-2.0
// The interface behind which every peer does a collective. A worker program has one peer, its Backend, and the benches
// of collectives.hpp, which know nothing but this.
//
// One thread. A peer may throw in an operation that fails: the harness makes an error row of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/process/worker.hpp"
#include "bench/results/result.hpp"
#include "data/collective.hpp"
#include "data/type.hpp"

namespace tutti::peers {

// What is asked for, alike on all ranks but for the buffers.
struct Request {
  Collective collective = Collective::all_reduce;
  Type type = Type::f32;
  Op op = Op::sum;        // of those that reduce
  std::size_t count = 0;  // elements; of one block where there are blocks
  int root = 0;           // of those that have one
  // In place, the smaller one lies within the larger: the rank's own block, or the same elements. Of a reduce and a
  // gather only the root's output is written, of a broadcast and a scatter only the root's input is read.
  bool in_place = false;
  void* input = nullptr;
  void* output = nullptr;
};

// Of this rank; none where nothing is moved.
struct BufferBytes {
  std::size_t input = 0;
  std::size_t output = 0;
};
[[nodiscard]] BufferBytes bytes_of_buffers(const Request& request, int num_ranks);

struct Operation {
  // The call that is timed: it blocks until the rank's part is done, and everything that can be done before is.
  std::function<void()> run;
  // Where the result then lies, where the peer leaves it elsewhere than in the request's output.
  const void* output = nullptr;
  // Where the call works on other memory than the request's: they bring that as the request's is, and back. Null where
  // it does not.
  std::function<void()> load = nullptr;
  std::function<void()> store = nullptr;
  // What a call takes on another clock than the host's, and the counter that has it; all ranks call it together, after
  // the timed ones. Null where there is none.
  std::function<double()> other_microseconds = nullptr;
  std::string_view other_counter = "device_us";
  // False where the peer may round as it likes, so that results are not compared.
  bool is_exact = true;
};

// A call that is started and waited for, as often as one likes, one at a time.
struct Pending {
  std::function<void()> start;
  std::function<void()> wait;
};

[[nodiscard]] Status unsupported(std::string reason);

class Peer : public harness::Backend {
 public:
  // Code::unsupported becomes a skipped row, any other error an error row. On all ranks alike.
  virtual Result<Operation> prepare(const Request& request) = 0;
  // The same as two halves, with other work between them.
  virtual Result<Pending> prepare_pending(const Request& request) {
    static_cast<void>(request);
    return unsupported("this peer's collectives are only measured as blocking calls");
  }
  // False where outputs are not what the collective says, on purpose: nothing is checked then.
  [[nodiscard]] virtual bool gives_results() const { return true; }

  // After it has run: what really ran, empty where that cannot be told; and whether a variable was obeyed.
  [[nodiscard]] virtual std::string ran(const Request& request) const {
    static_cast<void>(request);
    return "";
  }
  [[nodiscard]] virtual harness::Evidence evidence(const harness::Setting& setting) const = 0;

  void take_settings(const std::vector<harness::Setting>& settings) final { settings_ = settings; }
  void take_hosts(harness::AcrossHosts hosts) final { hosts_ = std::move(hosts); }
  // Nothing where all ranks are on one host.
  [[nodiscard]] const std::optional<harness::AcrossHosts>& hosts() const { return hosts_; }
  // The variables that the runner sweeps.
  [[nodiscard]] const std::vector<harness::Setting>& settings() const { return settings_; }

 private:
  std::vector<harness::Setting> settings_;
  std::optional<harness::AcrossHosts> hosts_;
};

// --- for those who implement it

[[nodiscard]] inline harness::Evidence confirmed(std::string how) { return {State::Obeyed::confirmed, std::move(how)}; }
[[nodiscard]] inline harness::Evidence ignored(std::string how) { return {State::Obeyed::ignored, std::move(how)}; }
[[nodiscard]] inline harness::Evidence unverifiable(std::string how) {
  return {State::Obeyed::unverifiable, std::move(how)};
}

// The whole of a worker program's main; the exit status.
[[nodiscard]] int run_worker(Peer& peer, const Environment& environment);

}  // namespace tutti::peers
