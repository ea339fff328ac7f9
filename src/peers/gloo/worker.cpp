// SPDX-License-Identifier: Apache-2.0
// The worker of Gloo, over TCP: on the loopback interface between processes of one host, on several hosts at
// the address from which each reaches the runner.
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gloo/barrier.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include "base/text.hpp"
#include "base/variables/environment.hpp"
#include "peers/gloo/call.hpp"
#include "peers/meeting.hpp"

namespace tutti::peers {

namespace {

constexpr std::string_view kAlgorithmVariable = "TUTTI_GLOO_ALLREDUCE_ALGORITHM";

// Gloo wants a store to meet in, and takes exceptions from it.
class MeetingStore final : public gloo::rendezvous::Store {
 public:
  explicit MeetingStore(Meeting& meeting) : meeting_(meeting) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    const Status status = meeting_.put(key, {data.data(), data.size()});
    if (!status.ok()) throw std::runtime_error(status.to_string());
  }
  std::vector<char> get(const std::string& key) override {
    const Result<std::string> value = meeting_.get(key);
    if (!value.ok()) throw std::runtime_error(value.status().to_string());
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }

 private:
  Meeting& meeting_;
};

class GlooPeer final : public Peer {
 public:
  explicit GlooPeer(const Environment& environment) : environment_(environment) {}

  Status begin(int rank, int num_ranks) override {
    TUTTI_TRY(read_algorithm());
    gloo::transport::tcp::attr attributes;
    if (hosts()) {
      TUTTI_TRY_ASSIGN(meeting_, Meeting::join(*hosts(), rank));
      attributes.hostname = without_port(hosts()->own);
    } else {
      TUTTI_TRY_ASSIGN(meeting_, Meeting::join(environment_, rank));
      attributes.hostname = "127.0.0.1";
    }
    try {
      std::shared_ptr<gloo::transport::Device> device = gloo::transport::tcp::CreateDevice(attributes);
      const auto context = std::make_shared<gloo::rendezvous::Context>(rank, num_ranks);
      MeetingStore store(*meeting_);
      context->connectFullMesh(store, device);
      context_ = context;
      barrier_ = std::make_unique<gloo::BarrierOptions>(context_);
    } catch (const std::exception& thrown) {
      return {Code::system, fmt::format("Gloo cannot connect: {}", thrown.what())};
    }
    return {};
  }
  [[nodiscard]] int rank() const override { return context_->rank; }
  [[nodiscard]] int num_ranks() const override { return context_->size; }
  [[nodiscard]] std::string version() const override {
    return fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
  }
  [[nodiscard]] bool has_barrier() const override { return true; }
  void barrier() override { gloo::barrier(*barrier_); }
  // A rank that hung up while another still reads would be an error to that one.
  void end() override { gloo::barrier(*barrier_); }

  Result<Operation> prepare(const Request& request) override { return to_gloo(request, context_, algorithm_); }

  [[nodiscard]] std::string ran(const Request& request) const override {
    switch (request.collective) {
      case Collective::all_reduce: return algorithm_ == GlooAlgorithm::bcube ? "allreduce bcube" : "allreduce ring";
      case Collective::reduce_scatter:
        return request.in_place ? "halving_doubling" : "halving_doubling on a copy of the input";
      default: return "";
    }
  }
  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const override {
    if (setting.name == kAlgorithmVariable) return confirmed("the worker hands it to gloo::AllreduceOptions");
    return unverifiable("Gloo reads nothing back");
  }

 private:
  Status read_algorithm() {
    const std::string word = environment_.lookup(kAlgorithmVariable).value_or("unspecified");
    if (same_name(word, "unspecified")) return {};
    if (!same_name(word, "ring") && !same_name(word, "bcube"))
      return {Code::invalid_argument,
              fmt::format("{} is {}; it takes unspecified, ring or bcube", kAlgorithmVariable, in_quotes(word))};
    algorithm_ = same_name(word, "ring") ? GlooAlgorithm::ring : GlooAlgorithm::bcube;
    return {};
  }

  const Environment& environment_;
  GlooAlgorithm algorithm_ = GlooAlgorithm::unspecified;
  std::unique_ptr<Meeting> meeting_;
  std::shared_ptr<gloo::Context> context_;
  std::unique_ptr<gloo::BarrierOptions> barrier_;
};

}  // namespace

}  // namespace tutti::peers

int main() {
  const tutti::Environment environment = tutti::Environment::of_this_process();
  tutti::peers::GlooPeer peer(environment);
  return tutti::peers::run_worker(peer, environment);
}
