// SPDX-License-Identifier: Apache-2.0
// A request's buffers once more on the device: the harness fills and looks at those on the host, and calls work on
// these. In place there is one for both. One thread; the device outlives it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "peers/on_device/device.hpp"
#include "peers/peer.hpp"

namespace tutti::peers::on_device {

class Mirror {
 public:
  // Memory of the device, which goes with its last owner. It is asked for equal sizes in one order on all ranks.
  using Allocate = std::function<Result<std::shared_ptr<void>>(std::size_t bytes)>;
  [[nodiscard]] static Result<std::shared_ptr<Mirror>> make(const Request& request, int num_ranks, Device& device,
                                                            const Allocate& allocate);
  // Memory as a program's own: the platform's usual allocation.
  [[nodiscard]] static Allocate ordinary(Device& device);

  // The same with the buffers that are on the device.
  [[nodiscard]] const Request& request() const { return request_; }
  // Brings the contents there, and the output back. Both throw where the device fails.
  void load() const;
  void store() const;

 private:
  struct Buffer {
    void* on_host = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<void> on_device;
  };
  explicit Mirror(Device& device) : device_(device) {}
  [[nodiscard]] static void* on_device(const Buffer& buffer, const void* on_host);

  Device& device_;
  Request request_;
  std::vector<Buffer> buffers_;
};

}  // namespace tutti::peers::on_device
