// SPDX-License-Identifier: Apache-2.0
#include "cli/probe/probe_device.hpp"

#include <cmath>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "base/counted.hpp"
#include "calibrate/device/fit_device.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

// More than was measured.
constexpr int kDeviceDigits = 4;

Table empty_device_table() {
  std::vector<Column> columns = {{"of"}, {"bytes"}};
  for (const char* name : {"time_us", "memory_gbs", "of_memory_clock"})
    columns.push_back({.name = name, .digits = kDeviceDigits});
  columns.push_back({"in_place"});
  for (const char* name : {"predicted_us", "error_percent"}) columns.push_back({.name = name, .digits = kDeviceDigits});
  return Table(std::move(columns));
}

void add_latency(const char* of, double time, Table& table) {
  if (time > 0) table.add_row({of, Cell(), time / 1e3, Cell(), Cell(), Cell(), Cell(), Cell()});
}

// `ends` sources and destinations that differ, of all ranks together: a source that all read counts once.
void add_sweep(const std::string& of, const std::vector<calibrate::DeviceTime>& times, std::uint32_t ends,
               const calibrate::DeviceMeasurements& measured, Table& table) {
  for (const calibrate::DeviceTime& each : times) {
    // A launch takes no memory's time.
    const double moving = each.time - measured.launch;
    const double rate = moving > 0 ? static_cast<double>(ends) * static_cast<double>(each.bytes) / moving : 0;
    table.add_row({of, static_cast<std::int64_t>(each.bytes), each.time / 1e3, rate > 0 ? Cell(rate) : Cell(),
                   rate > 0 && measured.memory_rate > 0 ? Cell(rate / measured.memory_rate) : Cell(), Cell(), Cell(),
                   Cell()});
  }
}

void add_measured(const calibrate::DeviceMeasurements& measured, Table& table) {
  const std::uint32_t ranks = measured.num_ranks;
  add_latency("launch by the host", measured.stream_launch, table);
  add_latency("launch in a graph", measured.launch, table);
  add_latency("flags", measured.flags, table);
  add_latency("walked exchange", measured.walked, table);
  add_latency("walked signal", measured.walked_signal, table);
  add_latency("walked step", measured.walked_step, table);
  add_sweep("copy", measured.copies, 2 * ranks, measured, table);
  add_sweep("sum f32", measured.folds, ranks * (ranks + 1), measured, table);
  add_sweep("sum bf16", measured.folds_bf16, ranks * (ranks + 1), measured, table);
  add_sweep("shared sum f32", measured.shared_folds, 2 * ranks, measured, table);
}

void add_checked(const std::vector<calibrate::CheckedCase>& checked, Table& table) {
  for (const calibrate::CheckedCase& each : checked)
    table.add_row({fmt::format("{} {}", name_of(each.of.collective), each.of.algorithm),
                   static_cast<std::int64_t>(each.of.bytes), each.measured / 1e3, Cell(), Cell(), each.of.in_place,
                   each.predicted / 1e3, each.error() * 100});
}

}  // namespace

Table table_of_device(const calibrate::DeviceMeasurements& measured,
                      const std::vector<calibrate::CheckedCase>& checked) {
  Table table = empty_device_table();
  add_measured(measured, table);
  add_checked(checked, table);
  return table;
}

std::vector<Table> tables_of_device(const calibrate::DeviceMeasurements& measured,
                                    const std::vector<calibrate::CheckedCase>& checked) {
  std::vector<Table> tables = {empty_device_table(), empty_device_table()};
  add_measured(measured, tables[0]);
  add_checked(checked, tables[1]);
  return tables;
}

Exit probe_device(const DeviceProbe& options, const Context& context) {
  OutputOptions output;
  output.path = options.path;
  if (const Status status = check_output(output); !status.ok()) return failed(context, "probe", status);
  if (const Status status = calibrate::can_measure(options.what); !status.ok()) return failed(context, "probe", status);
  context.error << fmt::format("measuring launches, flags, copies and sums of {} that share device {}; some seconds\n",
                               counted(options.what.num_ranks, "rank"), options.what.device);
  const Result<calibrate::DeviceMeasurements> measured = calibrate::measure(options.what);
  if (!measured.ok()) return failed(context, "probe", measured.status());
  const fabric::Fabric fabric = calibrate::fabric_of(*measured);
  const Result<std::vector<calibrate::CheckedCase>> checked = calibrate::check(options.what, fabric);
  if (!checked.ok()) return failed(context, "probe", checked.status());
  OutputOptions of_table;
  of_table.format = options.format;
  if (options.format == Format::table) {
    for (const Table& each : tables_of_device(*measured, *checked)) context.out << rendered(each, of_table) << "\n";
  } else {
    context.out << rendered(table_of_device(*measured, *checked), of_table);
  }
  context.error << fmt::format("{}: {:.0f} GB/s by the memory's clock and width\n", measured->device,
                               measured->memory_rate);
  context.error << fmt::format(
      "the median error of the predictions of {} is {:.1f} %; predictions of one_shot out of place are almost "
      "measurements: they add up measured flags and a measured sum\n",
      counted(checked->size(), "call"), calibrate::median_error(*checked) * 100);
  if (options.path.empty()) {
    context.error << "-o FILE keeps it as a fabric\n";
    return Exit::done;
  }
  const Status status = write_output(calibrate::file_of(*measured), output, context);
  if (!status.ok()) return failed(context, "probe", status);
  context.error << fmt::format("{} simulate --fabric {} --collective all_reduce --algorithm two_shot takes it\n",
                               context.program, with_folder(options.path));
  return Exit::done;
}

}  // namespace tutti::cli
