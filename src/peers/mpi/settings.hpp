// SPDX-License-Identifier: Apache-2.0
// What an MPI has made of the variables of its environment, read back through its tools interface (MPI_T control
// variables). After MPI_Init; one thread.
#pragma once

#include <optional>
#include <string>

#include "peers/peer.hpp"

namespace tutti::peers {

class MpiSettings {
 public:
  MpiSettings();
  MpiSettings(const MpiSettings&) = delete;
  MpiSettings& operator=(const MpiSettings&) = delete;
  ~MpiSettings();

  // A control variable's value: as text, and as the word that the MPI has for it, if any.
  struct Held {
    std::string value;
    std::string word;
  };
  [[nodiscard]] std::optional<Held> held(const std::string& name) const;
  [[nodiscard]] bool is_on(const std::string& name) const;

  // The same question for either MPI.
  [[nodiscard]] harness::Evidence evidence(const harness::Setting& setting) const;
  // The algorithm that a setting has chosen, and which one that hands the request on to; empty where the MPI chose by
  // itself.
  [[nodiscard]] std::string ran(const Request& request, int num_ranks) const;

 private:
  [[nodiscard]] harness::Evidence compared(const harness::Setting& setting, const std::string& name) const;
  // Of a variable that was to be unset: whether what it holds is the MPI's own choice.
  [[nodiscard]] static harness::Evidence without(const std::string& name, const Held& held, std::string how);
  // Of a variable that holds what was ordered: whether another one keeps it from having an effect.
  [[nodiscard]] harness::Evidence effect(const std::string& name, std::string how) const;
  // Open MPI: why collectives of a communicator are, or may be, another component's than coll/tuned. Empty where all
  // are its own.
  [[nodiscard]] std::string why_not_tuned() const;
  bool works_ = false;
};

}  // namespace tutti::peers
