// SPDX-License-Identifier: Apache-2.0
#include "schedule/prove/happens_before.hpp"

#include <algorithm>

namespace tutti {

void Clock::join(const Moment& moment) {
  // Knowing a lane's moment is knowing all that the lane knew then.
  if (knows(moment.lane, moment.time)) return;
  if (moment.known != nullptr) join(moment.known);
  if (known_ == nullptr) {
    known_ = std::make_shared<std::vector<std::uint32_t>>(num_lanes_);
  } else if (known_.use_count() > 1) {
    known_ = std::make_shared<std::vector<std::uint32_t>>(*known_);
  }
  (*known_)[moment.lane] = std::max((*known_)[moment.lane], moment.time);
}

void Clock::join(const Known& known) {
  if (known == nullptr || known == joined_) return;
  joined_ = known;
  if (known_ == nullptr) {
    known_ = std::make_shared<std::vector<std::uint32_t>>(*known);
    return;
  }
  if (known_.use_count() > 1) known_ = std::make_shared<std::vector<std::uint32_t>>(*known_);
  std::vector<std::uint32_t>& mine = *known_;
  for (std::size_t lane = 0; lane < mine.size(); ++lane) mine[lane] = std::max(mine[lane], (*known)[lane]);
}

std::optional<Access> AccessHistory::read(const Clock& clock, Access access) {
  if (!clock.knows(write_.lane, write_.time)) return write_;
  if (clock.knows(read_.lane, read_.time)) {
    read_ = access;
  } else {
    std::erase_if(reads_, [&](const Access& old) { return clock.knows(old.lane, old.time); });
    reads_.push_back(access);
  }
  return std::nullopt;
}

std::optional<Access> AccessHistory::write(const Clock& clock, Access access) {
  if (!clock.knows(write_.lane, write_.time)) return write_;
  if (!clock.knows(read_.lane, read_.time)) return read_;
  for (const Access& old : reads_)
    if (!clock.knows(old.lane, old.time)) return old;
  reads_.clear();
  write_ = access;
  read_ = access;
  return std::nullopt;
}

}  // namespace tutti
