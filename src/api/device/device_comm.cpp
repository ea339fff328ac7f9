// SPDX-License-Identifier: Apache-2.0
#include "api/device/device_comm.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "api/device/meeting.hpp"
#include "api/device/shipped_device_tables.hpp"
#include "api/init.hpp"
#include "base/system/file.hpp"
#include "device/cuda/cuda_status.hpp"
#include "runtime/selection/table_choice.hpp"
#include "table/table_file.hpp"

namespace tutti::api {

namespace {

constexpr std::chrono::milliseconds kLookEvery{10};

}  // namespace

Result<std::unique_ptr<DeviceComm>> DeviceComm::create(tuttiComm_t comm) {
  std::unique_ptr<DeviceComm> made(new DeviceComm(comm));
  const Status status = made->set_up();
  if (status.ok()) return made;
  // Ranks that still wait for this one hear of it.
  comm->communicator->abort(status.to_string());
  return status;
}

Result<device::DeviceRules> DeviceComm::read_rules() const {
  TUTTI_TRY_ASSIGN(const Reading reading, Reading::of(comm_->surroundings->environment));
  const std::string wanted = reading.variables.get<VariableId::device_algorithm>();
  const std::string table = reading.variables.get<VariableId::device_table>();
  std::string text(shipped_nvlink_table());
  std::string place = "the table that ships";
  if (table != kAutomaticTable) {
    TUTTI_TRY_ASSIGN(text, read_file(table, kMostTableBytes));
    place = table;
  }
  return device::DeviceRules::read(wanted, text, place);
}

Status DeviceComm::set_up() {
  Communicator& communicator = *comm_->communicator;
  if (communicator.hosts().are_several())
    return {Code::unsupported, "a device communicator of ranks on several hosts; they must be on one"};
  auto meeting = std::make_unique<DeviceMeeting>(communicator);
  Result<device::DeviceRules> rules = read_rules();
  TUTTI_TRY(device::agree(*meeting, rules.status()));
  const Result<Reading> reading = Reading::of(comm_->surroundings->environment);
  TUTTI_TRY(device::agree(*meeting, reading.status()));
  Status present = device::cuda_status(cudaGetDevice(&device_), "find a CUDA device");
  if (!present.ok()) present = {Code::unsupported, std::string(present.message())};
  TUTTI_TRY(device::agree(*meeting, present));
  const std::chrono::duration<double> timeout = communicator.settings().timeout;
  TUTTI_TRY_ASSIGN(ranks_,
                   device::DeviceRank::create(
                       {.device = device_,
                        .timeout = timeout.count(),
                        .channels = static_cast<std::uint32_t>(reading->variables.get<VariableId::device_channels>()),
                        .copies_by_engines = reading->variables.get<VariableId::p2p_use_memcpy>(),
                        .agreement = rules->digest},
                       std::move(meeting)));
  chooser_ = std::make_unique<device::Chooser>(*ranks_, std::move(*rules));
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  return {};
}

DeviceComm::~DeviceComm() {
  if (watcher_.joinable()) {
    watcher_.request_stop();
    watcher_.join();
  }
  chooser_.reset();
  ranks_.reset();
}

void DeviceComm::watch(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    Communicator& communicator = *comm_->communicator;
    // What has failed on this device ends the others' calls, too, and the other way round.
    tell_failure();
    if (communicator.async_error() != Code::ok) {
      ranks_->abort();
      return;
    }
    for (std::uint32_t rank = 0; rank < num_ranks(); ++rank)
      if (rank != this->rank() && communicator.region().has_left(rank)) ranks_->note_left(rank);
    woken_.wait_for(lock, stop, kLookEvery, [] { return false; });
  }
}

Status DeviceComm::check() const {
  const Status own = ranks_->check();
  // Why kernels were told to leave, where that is known.
  if (own.ok() || own.code() == Code::aborted) TUTTI_TRY(comm_->communicator->failure());
  return own;
}

void DeviceComm::tell_failure() {
  if (const Status own = ranks_->check(); !own.ok()) comm_->communicator->abort(own.to_string());
}

void DeviceComm::abort() {
  comm_->communicator->abort("tuttiDeviceCommAbort was called");
  ranks_->abort();
}

Result<bool> DeviceComm::settle() { return ranks_->settle(); }

bool DeviceComm::is_of_this_process() const { return comm_->communicator->is_of_this_process(); }

std::uint32_t DeviceComm::add_operator(const Operator& made) {
  const auto free = std::find(operators_.begin(), operators_.end(), std::nullopt);
  const auto index = static_cast<std::uint32_t>(free - operators_.begin());
  if (free == operators_.end())
    operators_.emplace_back(made);
  else
    *free = made;
  return OperatorHandle::kFirstCustom + index;
}

Status DeviceComm::remove_operator(std::uint32_t op) {
  const std::uint32_t index = op - OperatorHandle::kFirstCustom;
  if (op < OperatorHandle::kFirstCustom || index >= operators_.size() || !operators_[index])
    return wrong_argument(fmt::format("{} is no operator of this device communicator", op));
  operators_[index].reset();
  return {};
}

Result<Operator> DeviceComm::operator_of(const Invocation& asked) const {
  if (!facts_of(asked.collective).folds) return Operator{.op = Op::sum, .type = asked.type};
  if (asked.op.value < kNumOps) {
    const Op op = static_cast<Op>(asked.op.value);
    if (op != Op::user && op != Op::premultiplied_sum) {
      if (!is_defined(op, asked.type))
        return wrong_argument(fmt::format("the operator {} is not defined on {}", name_of(op), name_of(asked.type)));
      return Operator{.op = op, .type = asked.type, .divisor = num_ranks()};
    }
  }
  const std::uint32_t index = asked.op.value - OperatorHandle::kFirstCustom;
  if (asked.op.value < OperatorHandle::kFirstCustom || index >= operators_.size() || !operators_[index])
    return wrong_argument(fmt::format("{} is no operator of this device communicator", asked.op.value));
  if (operators_[index]->type != asked.type)
    return wrong_argument(
        fmt::format("the operator was made for {}, not for {}", name_of(operators_[index]->type), name_of(asked.type)));
  return *operators_[index];
}

Result<DeviceComm::Prepared> DeviceComm::prepare(const Invocation& asked) const {
  TUTTI_TRY_ASSIGN(const Buffers buffers, find_buffers(asked, rank(), num_ranks()));
  TUTTI_TRY_ASSIGN(const Operator op, operator_of(asked));
  Prepared made;
  // Of a collective with a root, only the root knows. A schedule's form that is right in place is right out of place.
  made.call = {.count = asked.count, .op = op, .in_place = facts_of(asked.collective).has_root || buffers.in_place};
  // What a rank does not have is not looked at.
  made.part = {.input = buffers.input_bytes > 0 ? asked.input : nullptr,
               .output = buffers.output_bytes > 0 ? asked.output : nullptr,
               .scalar = op.scalar,
               .integer_scalar = op.integer_scalar};
  made.bytes = {buffers.input_bytes, buffers.output_bytes};
  made.message_bytes = buffers.message_bytes;
  TUTTI_TRY_ASSIGN(made.is_symmetric, ranks_->is_symmetric(made.part, made.bytes));
  return made;
}

Result<device::DeviceChoice> DeviceComm::choose(const Invocation& asked) {
  TUTTI_TRY_ASSIGN(const Prepared made, prepare(asked));
  return choose(asked, made);
}

Result<device::DeviceChoice> DeviceComm::choose(const Invocation& asked, const Prepared& made) {
  return chooser_->choose(asked.collective, asked.root, made.call, made.message_bytes, made.is_symmetric);
}

Status DeviceComm::call(const Invocation& asked, cudaStream_t stream) {
  TUTTI_TRY(check());
  TUTTI_TRY_ASSIGN(Prepared made, prepare(asked));
  if (asked.count == 0) return {};
  TUTTI_TRY_ASSIGN(const device::DeviceChoice choice, choose(asked, made));
  made.call.schedule = choice.schedule;
  return ranks_->call(made.call, made.part, made.bytes, stream);
}

}  // namespace tutti::api
