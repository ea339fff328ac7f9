// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/network_output.hpp"

#include <fmt/format.h>

#include "base/units.hpp"

namespace tutti::cli {

namespace {

constexpr int kShown = 4;

double in_microseconds(double nanos) { return nanos / 1e3; }
double in_megabytes(double rate) { return rate * 1e3; }
Cell or_null(double value) { return value > 0 ? Cell(value) : Cell(); }
Cell name_of(const calibrate::NetworkMeasurements& measured) {
  return measured.interface.empty() ? Cell() : Cell(measured.interface);
}

}  // namespace

Table table_of_pairs(const std::vector<calibrate::NetworkMeasurements>& measured) {
  Table table({{"interface"},
               {"from"},
               {"to"},
               {.name = "half_round_trip_us", .digits = kShown},
               {.name = "one_way_mbs", .digits = kShown},
               {.name = "both_ways_mbs", .digits = kShown}});
  for (const calibrate::NetworkMeasurements& one : measured) {
    for (std::size_t from = 0; from < one.num_hosts(); ++from) {
      for (std::size_t to = 0; to < one.num_hosts(); ++to) {
        if (from == to) continue;
        const calibrate::PairTimes& pair = one.pair(from, to);
        table.add_row({name_of(one), one.names[from], one.names[to], in_microseconds(pair.half_round_trip),
                       in_megabytes(pair.one_way), in_megabytes(pair.both_ways)});
      }
    }
  }
  return table;
}

Table table_of_hosts(const std::vector<calibrate::NetworkMeasurements>& measured) {
  Table table({{"interface"},
               {"host"},
               {.name = "measured_ranks"},
               {.name = "to_all_mbs", .digits = kShown},
               {.name = "from_all_mbs", .digits = kShown},
               {.name = "send_us", .digits = kShown},
               {.name = "receive_us", .digits = kShown},
               {.name = "own_fold_gbs", .digits = kShown},
               {.name = "near_us", .digits = kShown},
               {.name = "near_mbs", .digits = kShown}});
  for (const calibrate::NetworkMeasurements& one : measured) {
    for (std::size_t host = 0; host < one.num_hosts(); ++host) {
      const calibrate::HostTimes& of = one.hosts[host];
      table.add_row({name_of(one), one.names[host], static_cast<std::int64_t>(of.ranks), or_null(in_megabytes(of.out)),
                     or_null(in_megabytes(of.in)), in_microseconds(of.send), in_microseconds(of.receive), of.fold,
                     or_null(in_microseconds(of.near_hop)), or_null(in_megabytes(of.near_rate))});
    }
  }
  return table;
}

std::string words_of_all(const calibrate::NetworkMeasurements& measured) {
  return fmt::format(
      "{}{}while all hosts send: a step of 8 bytes {:.4g} us, of {} {:.4g} us; a stream {:.4g} MB/s each way of a "
      "host\n",
      measured.interface, measured.interface.empty() ? "" : ", ", in_microseconds(measured.steps.front().time),
      to_text(Bytes(measured.steps.back().bytes)), in_microseconds(measured.steps.back().time),
      in_megabytes(measured.all));
}

}  // namespace tutti::cli
