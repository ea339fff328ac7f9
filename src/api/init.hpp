// SPDX-License-Identifier: Apache-2.0
// How the C API makes communicators: what is read from the environment, and joining.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "api/handle.hpp"
#include "base/log.hpp"
#include "base/unique_id.hpp"
#include "base/variables/environment.hpp"
#include "base/variables/variables.hpp"
#include "runtime/bootstrap/bootstrap.hpp"
#include <tutti/tutti.h>

namespace tutti::api {

struct Reading {
  Environment environment;
  Variables variables;
  std::unique_ptr<Log> log;
  bool has_news = true;  // false where whoever reads the log has been told of all warnings

  // All ranks mostly read the same, so one of them tells of it.
  void tell_warnings() const;

  [[nodiscard]] static Result<Reading> of(Environment environment);
};

// With what the config, which may be null, puts in front of the environment.
[[nodiscard]] Result<Environment> with_config(Environment environment, const tuttiConfig_t* config);

// Asked before anything is begun that others hear of.
[[nodiscard]] Status check_no_group();

struct Membership {
  UniqueId id;
  int num_ranks = 1;
  int rank = 0;
  Attempt* attempt = nullptr;            // see JoinRequest
  const Surroundings* parent = nullptr;  // of the communicator that it is split from
};
// For `in_vain` see JoinOptions.
[[nodiscard]] Status init(tuttiComm_t* comm, Reading reading, const Membership& place,
                          std::function<Status()> in_vain = {});

// The settings of a communicator that is made from another: that one's variables, overridden by the config.
[[nodiscard]] Result<Reading> read_as_of(const tuttiComm& parent, const tuttiConfig_t* config);

// Why this rank does not take part: it ran out of memory before.
[[nodiscard]] Status no_memory();

// Tells the others, who would wait for this rank, why it does not come. Returns that.
[[nodiscard]] Status decline(const Membership& place, Status why);

}  // namespace tutti::api
