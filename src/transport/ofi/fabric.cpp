// SPDX-License-Identifier: Apache-2.0
#include "transport/ofi/fabric.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

#include "base/system/file.hpp"
#include "transport/ofi/wire.hpp"

namespace tutti::transport::ofi {
namespace {

constexpr std::uint32_t kApiVersion = FI_VERSION(1, 14);
constexpr std::size_t kMostCompletions = 16;
// Receives of control messages, beside those of slots.
constexpr std::size_t kMostControls = 256;

// Whether the address is of the interface that is wanted: the port does not count.
bool is_of_interface(const fi_info& info, const Address& wanted) {
  if (info.src_addr == nullptr) return false;
  if (info.addr_format == FI_SOCKADDR_IN && wanted.family == Address::Family::ipv4) {
    sockaddr_in own{};
    std::memcpy(&own, info.src_addr, std::min(sizeof own, info.src_addrlen));
    return std::memcmp(&own.sin_addr, wanted.bytes.data(), 4) == 0;
  }
  if (info.addr_format == FI_SOCKADDR_IN6 && wanted.family == Address::Family::ipv6) {
    sockaddr_in6 own{};
    std::memcpy(&own, info.src_addr, std::min(sizeof own, info.src_addrlen));
    return std::memcmp(&own.sin6_addr, wanted.bytes.data(), 16) == 0;
  }
  return false;
}

bool has_ip_addresses(const fi_info& info) {
  return info.addr_format == FI_SOCKADDR || info.addr_format == FI_SOCKADDR_IN || info.addr_format == FI_SOCKADDR_IN6;
}

// The system that a provider without a network works within.
std::string this_system() {
  const Result<std::string> boot = read_file("/proc/sys/kernel/random/boot_id", 64);
  return boot.ok() ? boot->substr(0, boot->find('\n')) : "unknown";
}

}  // namespace

Result<std::unique_ptr<Door>> open_door(const DoorOptions& options) {
  TUTTI_TRY_ASSIGN(std::unique_ptr<Fabric> fabric, Fabric::open(options));
  return std::unique_ptr<Door>(std::move(fabric));
}

Result<std::unique_ptr<Fabric>> Fabric::open(const DoorOptions& options) {
  TUTTI_TRY_ASSIGN(const Library library, Library::open());
  std::unique_ptr<Fabric> fabric(new Fabric(library));
  TUTTI_TRY(fabric->find(options));
  const Status made = fabric->make_objects();
  if (!made.ok()) return made.with_context(fmt::format("libfabric's provider {}", fabric->provider_));
  return fabric;
}

Fabric::~Fabric() = default;

Status Fabric::error_of(std::int64_t result, std::string_view call) const {
  if (result >= 0) return {};
  return {Code::system, fmt::format("{}: {}", call, library_.words_of(result))};
}

// Which provider.

Status Fabric::find(const DoorOptions& options) {
  // With room for the receives of a queue from each rank, where the provider has so much.
  const std::size_t wanted = std::size_t{options.num_ranks} * options.shape.depth * kNumTraffics + kMostControls;
  Status outcome;
  // Interfaces of loopback do not count as a way to others. Nor do providers within a system, which are for who names
  // them.
  for (const std::uint64_t reach : {std::uint64_t{FI_REMOTE_COMM}, std::uint64_t{0}})
    for (const std::size_t receives : {wanted, std::size_t{0}}) {
      Info found{nullptr, FreeInfo{library_.free_info}};
      outcome = get_info(options, reach, receives, found);
      if (outcome.ok()) outcome = choose(options, found.get(), reach != 0);
      if (outcome.ok()) return {};
    }
  return outcome;
}

Status Fabric::get_info(const DoorOptions& options, std::uint64_t reach, std::size_t receives, Info& found) const {
  const Info hints(library_.dup_info(nullptr), FreeInfo{library_.free_info});
  if (hints == nullptr) return Status::from_errno("libfabric", ENOMEM);
  hints->caps = FI_TAGGED | FI_SEND | FI_RECV | reach;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_RDM;
  hints->rx_attr->size = receives;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
  hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_ENDPOINT;
  // free_info() frees it.
  if (!options.provider.empty()) hints->fabric_attr->prov_name = ::strdup(options.provider.c_str());
  fi_info* all = nullptr;
  const int result = library_.get_info(kApiVersion, nullptr, nullptr, 0, hints.get(), &all);
  found.reset(all);
  if (result == 0) return {};
  const std::string who =
      options.provider.empty() ? "libfabric has no provider" : fmt::format("libfabric's provider {}", options.provider);
  if (result == -FI_ENODATA)
    return {Code::unsupported,
            fmt::format("{}{} with reliable datagrams and tagged messages; `fi_info -t FI_EP_RDM -c FI_TAGGED` lists "
                        "those that there are",
                        who, options.provider.empty() ? "" : " is not there, or not")};
  return {Code::system, fmt::format("{}: {}", who, library_.words_of(result))};
}

// libfabric lists the best first.
Status Fabric::choose(const DoorOptions& options, const fi_info* all, bool reaches_others) {
  const fi_info* chosen = nullptr;
  for (const fi_info* each = all; each != nullptr && chosen == nullptr; each = each->next)
    if (has_ip_addresses(*each) ? is_of_interface(*each, options.address) : reaches_others || !options.provider.empty())
      chosen = each;
  const std::string provider = all->fabric_attr->prov_name;
  if (chosen == nullptr)
    return {Code::unsupported,
            fmt::format("libfabric's provider {} has no interface with this rank's address {}; TUTTI_SOCKET_IFNAME "
                        "names another interface, TUTTI_OFI_PROVIDER another provider",
                        options.provider.empty() ? provider : options.provider, to_text(options.address))};
  provider_ = chosen->fabric_attr->prov_name;
  is_within_system_ = !has_ip_addresses(*chosen) && !reaches_others;
  const std::uint64_t tags = chosen->ep_attr->mem_tag_format;
  if (std::bit_width(tags) < kTagBits)
    return {Code::unsupported, fmt::format("libfabric's provider {} has tags of {} bits; the transport needs {}",
                                           provider_, std::bit_width(tags), kTagBits)};
  if (chosen->ep_attr->max_msg_size < options.shape.slot + kHeaderBytes)
    return {Code::unsupported,
            fmt::format("libfabric's provider {} takes messages of {} bytes at most; the transport needs {}", provider_,
                        chosen->ep_attr->max_msg_size, options.shape.slot + kHeaderBytes)};
  info_ = Info(library_.dup_info(chosen), FreeInfo{library_.free_info});
  if (info_ == nullptr) return Status::from_errno("libfabric", ENOMEM);
  info_->next = nullptr;
  return {};
}

// The objects.

Status Fabric::make_objects() {
  fid_fabric* fabric = nullptr;
  TUTTI_TRY(error_of(library_.fabric(info_->fabric_attr, &fabric, nullptr), "fi_fabric"));
  fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  TUTTI_TRY(error_of(fi_domain(fabric, info_.get(), &domain, nullptr), "fi_domain"));
  domain_.reset(domain);
  fi_av_attr of_peers{};
  of_peers.type = FI_AV_TABLE;
  fid_av* peers = nullptr;
  TUTTI_TRY(error_of(fi_av_open(domain, &of_peers, &peers, nullptr), "fi_av_open"));
  peers_.reset(peers);
  TUTTI_TRY(make_queue());
  fid_ep* endpoint = nullptr;
  TUTTI_TRY(error_of(fi_endpoint(domain, info_.get(), &endpoint, nullptr), "fi_endpoint"));
  endpoint_.reset(endpoint);
  TUTTI_TRY(error_of(fi_ep_bind(endpoint, &peers->fid, 0), "fi_ep_bind"));
  TUTTI_TRY(error_of(fi_ep_bind(endpoint, &queue_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind"));
  TUTTI_TRY(error_of(fi_enable(endpoint), "fi_enable"));
  return make_name();
}

// With a descriptor to wait for, where the provider can.
Status Fabric::make_queue() {
  fi_cq_attr attributes{};
  attributes.size = info_->tx_attr->size + info_->rx_attr->size;
  attributes.format = FI_CQ_FORMAT_MSG;
  attributes.wait_obj = FI_WAIT_FD;
  fid_cq* queue = nullptr;
  std::int64_t result = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  if (result == 0) {
    queue_.reset(queue);
    if (fi_control(&queue->fid, FI_GETWAIT, &wait_descriptor_) != 0) wait_descriptor_ = -1;
    return {};
  }
  attributes.wait_obj = FI_WAIT_NONE;
  result = fi_cq_open(domain_.get(), &attributes, &queue, nullptr);
  queue_.reset(queue);
  return error_of(result, "fi_cq_open");
}

Status Fabric::make_name() {
  std::array<char, kMostNameBytes> address{};
  std::size_t length = address.size();
  TUTTI_TRY(error_of(fi_getname(&endpoint_->fid, address.data(), &length), "fi_getname"));
  name_ = provider_;
  // Ranks of two systems with such a provider have different ones.
  if (is_within_system_) name_ += fmt::format(" within the system {}", this_system());
  name_ += '\n';
  name_.append(address.data(), std::min(length, address.size()));
  if (name_.size() <= kMostNameBytes) return {};
  return {Code::unsupported, fmt::format("its address has {} bytes", length)};
}

Result<fi_addr_t> Fabric::insert(std::string_view name) {
  const std::string address(name.substr(name.find('\n') + 1));
  fi_addr_t inserted = FI_ADDR_NOTAVAIL;
  const int count = fi_av_insert(peers_.get(), address.c_str(), 1, &inserted, 0, nullptr);
  if (count == 1) return inserted;
  return Status(Code::system,
                fmt::format("fi_av_insert: {}", count < 0 ? library_.words_of(count) : "no such address"));
}

Result<Registration> Fabric::register_memory(std::span<std::byte> memory) {
  if ((info_->domain_attr->mr_mode & FI_MR_LOCAL) == 0) return Registration();
  fid_mr* made = nullptr;
  TUTTI_TRY(error_of(
      fi_mr_reg(domain_.get(), memory.data(), memory.size(), FI_SEND | FI_RECV, 0, next_key_++, 0, &made, nullptr),
      "fi_mr_reg"));
  Registration registered(made);
  if ((info_->domain_attr->mr_mode & FI_MR_ENDPOINT) != 0) {
    TUTTI_TRY(error_of(fi_mr_bind(made, &endpoint_->fid, 0), "fi_mr_bind"));
    TUTTI_TRY(error_of(fi_mr_enable(made), "fi_mr_enable"));
  }
  return registered;
}

// Messages.

Begun Fabric::outcome(std::int64_t result, std::int64_t& error) const {
  if (result == 0) return Begun::yes;
  if (result == -FI_EAGAIN) return Begun::later;
  error = -result;
  return Begun::failed;
}

Begun Fabric::send(std::span<const std::byte> bytes, void* descriptor, fi_addr_t to, std::uint64_t tag,
                   Operation& operation, std::int64_t& error) {
  return outcome(fi_tsend(endpoint_.get(), bytes.data(), bytes.size(), descriptor, to, tag, &operation.context), error);
}

Begun Fabric::receive(std::span<std::byte> bytes, void* descriptor, std::uint64_t tag, std::uint64_t ignore,
                      Operation& operation, std::int64_t& error) {
  return outcome(fi_trecv(endpoint_.get(), bytes.data(), bytes.size(), descriptor, FI_ADDR_UNSPEC, tag, ignore,
                          &operation.context),
                 error);
}

std::size_t Fabric::read(std::span<Completion> done) {
  std::array<fi_cq_msg_entry, kMostCompletions> entries{};
  std::size_t count = 0;
  while (count < done.size()) {
    const std::size_t most = std::min(entries.size(), done.size() - count);
    const ssize_t got = fi_cq_read(queue_.get(), entries.data(), most);
    if (got == -FI_EAVAIL) {
      if (!read_error(done[count])) return count;
      if (done[count].operation != nullptr) ++count;
      continue;
    }
    if (got <= 0) return count;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i)
      done[count++] = {.operation = static_cast<Operation*>(entries[i].op_context), .bytes = entries[i].len};
    if (static_cast<std::size_t>(got) < most) return count;
  }
  return count;
}

bool Fabric::read_error(Completion& done) {
  fi_cq_err_entry entry{};
  if (fi_cq_readerr(queue_.get(), &entry, 0) != 1) return false;
  done = {.operation = static_cast<Operation*>(entry.op_context),
          .bytes = 0,
          .error = entry.err == 0 ? FI_EOTHER : entry.err};
  return true;
}

bool Fabric::may_wait() {
  fid* const waited = &queue_->fid;
  fid* all[] = {waited};
  return fi_trywait(fabric_.get(), all, 1) == FI_SUCCESS;
}

}  // namespace tutti::transport::ofi
