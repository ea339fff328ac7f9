// SPDX-License-Identifier: Apache-2.0
#include "transport/faulty/outgoing.hpp"

#include <cstring>
#include <utility>

#include "base/assert.hpp"

namespace tutti::transport::faulty {

std::byte* FaultyOutgoing::slot(std::uint64_t bytes) {
  draft_.resize(bytes);
  return draft_.data();
}

void FaultyOutgoing::publish(std::uint64_t description) {
  TUTTI_ASSERT(has_credit(), "a message needs a credit");
  ++published_;
  chance_.count_message();
  held_.push_back({std::exchange(draft_, {}), description, chance_.due(chance_.faults().delayed)});
  static_cast<void>(pass_on());
}

bool FaultyOutgoing::pass_on() {
  bool any = false;
  for (; !held_.empty() && held_.front().due <= chance_.now(); held_.pop_front()) {
    const Held& first = held_.front();
    TUTTI_ASSERT(real_.has_credit(), "what was granted has a credit");
    if (!first.bytes.empty()) std::memcpy(real_.slot(first.bytes.size()), first.bytes.data(), first.bytes.size());
    real_.publish(first.description);
    any = true;
  }
  return any;
}

// The real queue says only whether it has any credit: then one, and all once nothing is in flight.
std::uint64_t FaultyOutgoing::could_grant() {
  if (!held_.empty()) return granted_;
  if (real_.is_drained()) return published_ + depth_;
  return granted_ == published_ && real_.has_credit() ? granted_ + 1 : granted_;
}

void FaultyOutgoing::cut() {
  is_cut_ = true;
  held_.clear();
  credits_due_.reset();
}

bool FaultyOutgoing::step() {
  if (is_cut_) return false;
  const bool any = pass_on();
  const std::uint64_t granted = could_grant();
  if (granted == granted_) return any;
  if (!credits_due_) credits_due_ = chance_.due(chance_.faults().withheld);
  if (*credits_due_ > chance_.now()) return any;
  credits_due_.reset();
  granted_ = granted;
  return true;
}

}  // namespace tutti::transport::faulty
