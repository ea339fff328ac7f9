// SPDX-License-Identifier: Apache-2.0
// libfabric's objects of one endpoint, and what the transport does with them: send and receive tagged messages, see
// what is done, wait. The provider completes operations in any order, each once, through read(). One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include "base/status.hpp"
#include "transport/ofi/endpoint.hpp"
#include "transport/ofi/library.hpp"

namespace tutti::transport::ofi {

class Owner;

// An operation in flight. It must stay where it is until the provider has completed it.
struct Operation {
  fi_context2 context{};  // the provider's; first, since its address is what completions name
  Owner* owner = nullptr;
  // These are the owner's. Of a control record, `traffic` is its kind.
  std::uint32_t traffic = 0;
  std::uint32_t slot = 0;
  bool is_control = false;
};

struct Completion {
  Operation* operation = nullptr;
  std::size_t bytes = 0;   // of what was received
  std::int64_t error = 0;  // FI_E...; 0 where all is well
};

// Who is told of what is done.
class Owner {
 public:
  Owner() = default;
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  virtual void on_completion(const Completion& completion) = 0;

 protected:
  ~Owner() = default;
};

template <typename Object>
struct CloseFid {
  void operator()(Object* object) const { fi_close(&object->fid); }
};
template <typename Object>
using Fid = std::unique_ptr<Object, CloseFid<Object>>;

// Memory that the provider knows; it must not outlive the fabric.
using Registration = Fid<fid_mr>;

// The outcome of send() and receive().
enum class Begun : std::uint8_t { yes, later, failed };

class Fabric final : public Door {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Fabric>> open(const DoorOptions& options);
  ~Fabric() override;

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] const std::string& provider() const { return provider_; }
  [[nodiscard]] std::string words_of(std::int64_t error) const { return library_.words_of(error); }

  // The rank whose door has that name.
  [[nodiscard]] Result<fi_addr_t> insert(std::string_view name);
  // Nothing where the provider does not ask for it.
  [[nodiscard]] Result<Registration> register_memory(std::span<std::byte> memory);
  [[nodiscard]] static void* descriptor_of(const Registration& memory) {
    return memory == nullptr ? nullptr : fi_mr_desc(memory.get());
  }

  // `error` is why, where it failed.
  [[nodiscard]] Begun send(std::span<const std::byte> bytes, void* descriptor, fi_addr_t to, std::uint64_t tag,
                           Operation& operation, std::int64_t& error);
  // Of any rank, with a tag that is this one but for the bits of `ignore`.
  [[nodiscard]] Begun receive(std::span<std::byte> bytes, void* descriptor, std::uint64_t tag, std::uint64_t ignore,
                              Operation& operation, std::int64_t& error);
  // Goes on with what is under way, and says what is done; as many as fit.
  [[nodiscard]] std::size_t read(std::span<Completion> done);
  // Of the completion queue; -1 where the provider has none.
  [[nodiscard]] int wait_descriptor() const { return wait_descriptor_; }
  // Whether the descriptor will become readable when there is something to read.
  [[nodiscard]] bool may_wait();
  // No operation is under way any more; send() and receive() are over.
  void close_endpoint() { endpoint_.reset(); }

 private:
  struct FreeInfo {
    void (*free_info)(fi_info*) = nullptr;
    void operator()(fi_info* info) const { free_info(info); }
  };
  using Info = std::unique_ptr<fi_info, FreeInfo>;

  explicit Fabric(const Library& library) : library_(library) {}
  [[nodiscard]] Status find(const DoorOptions& options);
  [[nodiscard]] Status get_info(const DoorOptions& options, std::uint64_t reach, std::size_t receives,
                                Info& found) const;
  [[nodiscard]] Status choose(const DoorOptions& options, const fi_info* all, bool reaches_others);
  [[nodiscard]] Status make_objects();
  [[nodiscard]] Status make_queue();
  [[nodiscard]] Status make_name();
  [[nodiscard]] Status error_of(std::int64_t result, std::string_view call) const;
  [[nodiscard]] Begun outcome(std::int64_t result, std::int64_t& error) const;
  [[nodiscard]] bool read_error(Completion& done);

  Library library_;
  Info info_{nullptr, FreeInfo{}};
  std::string provider_{};
  std::string name_{};
  bool is_within_system_ = false;  // it reaches no other
  int wait_descriptor_ = -1;
  std::uint64_t next_key_ = 0;  // of registrations, where the provider does not choose it
  // Each before what is closed before it.
  Fid<fid_fabric> fabric_{};
  Fid<fid_domain> domain_{};
  Fid<fid_av> peers_{};
  Fid<fid_cq> queue_{};
  Fid<fid_ep> endpoint_{};
};

}  // namespace tutti::transport::ofi
