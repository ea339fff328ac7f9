// SPDX-License-Identifier: Apache-2.0
// What `tutti tune` was asked for, looked up and checked: nothing has been started. Main thread only.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "base/variables/environment.hpp"
#include "bench/measure/runner.hpp"
#include "cli/bench/bench_world.hpp"
#include "data/type.hpp"
#include "table/machine_identity.hpp"
#include "tune/cells.hpp"
#include "workload/workload.hpp"

namespace CLI {
class App;
}  // namespace CLI

namespace tutti::cli {

struct TuneOptions {
  std::string collectives = "all_reduce";
  std::string ranks;
  std::string memory = "ordinary";
  std::string types;
  std::string bytes = "8:64M:x2";
  std::string peer = "tutti";
  std::string budget;  // empty: a minute; of a program, as long as its launches take
  std::string order = "uniform";
  std::string output;
  std::string explain;
  std::string workload;
  std::string from;
  std::string machine;
  std::string store;
  std::string seed = "1";
  HostWords hosts;
  bool exhaustive = false;
  bool only_faster = false;
  bool anyway = false;
  bool keeps_numbers = false;
  bool dry_run = false;
  bool resumes = false;
  bool no_store = false;
};
// The options must live as long as the application.
void add_tune_options(CLI::App& app, TuneOptions& options);

// What is tuned together.
struct TuneCase {
  tune::CaseKey key;
  std::vector<std::uint64_t> sizes;  // in ascending order
  double share = 1;                  // of the time for all of them
};

struct TuneRequest {
  std::vector<TuneCase> cases;
  std::map<TypeClass, Type> types;
  std::optional<Workload> workload;  // whose cases they are
  std::vector<std::string> notes;    // what of it is left out: a sentence each
  double seconds = 60;
  OrderClass order = OrderClass::uniform;
  harness::PeerProgram peer;
  std::map<int, harness::OverHosts> hosts;  // by number of ranks; empty: all are on this host
  bool is_own = true;                       // the peer is Tutti's runtime on processors
  bool is_on_devices = false;               // it is Tutti's on devices
  std::uint64_t seed = 1;
  MachineIdentity machine;
  std::uint32_t cores = 1;  // that ranks may run on
  std::string fingerprint;  // of the table: the machine's, or a simulated fabric's
  std::string path;         // where the table goes
  bool is_found = true;     // the runtime finds it there

  // Whether a table that is at that path already is of the same peer and machine, so that this one may be added to it.
  [[nodiscard]] Status check_old(const DecisionTable& old) const;
};

[[nodiscard]] Result<TuneRequest> read_request(const TuneOptions& options, const BenchWorld& world,
                                               const Environment& environment);

}  // namespace tutti::cli
