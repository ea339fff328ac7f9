// SPDX-License-Identifier: Apache-2.0
// Writes MSCCL programs for tests: an element a call, and generators of the families that the tools for MSCCL write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tutti::msccl_programs {

enum class Place : std::uint8_t { out, in, both };

struct Header {
  std::string_view collective = "allreduce";
  int ranks = 2;
  int chunks = 2;  // nchunksperloop
  int channels = 1;
  Place place = Place::in;
};

// Chunks of a buffer.
struct At {
  char buffer = 'i';
  int chunk = -1;
};

// Another step, of the same gpu.
struct Dep {
  int block = -1;
  int step = -1;
};

class Writer {
 public:
  explicit Writer(const Header& header) {
    text_ = fmt::format(
        "<algo name=\"generated\" proto=\"Simple\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
        "inplace=\"{}\" outofplace=\"{}\" minBytes=\"0\" maxBytes=\"0\">\n",
        header.channels, header.chunks, header.ranks, header.collective, header.place == Place::out ? 0 : 1,
        header.place == Place::in ? 0 : 1);
  }

  void gpu(int id, int inputs, int outputs, int scratch) {
    close_gpu();
    text_ += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", id, inputs, outputs,
                         scratch);
    in_gpu_ = true;
    next_block_ = 0;
  }

  // Its id.
  int block(int send, int recv, int channel = 0) {
    close_block();
    text_ += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", next_block_, send, recv, channel);
    in_block_ = true;
    next_step_ = 0;
    return next_block_++;
  }

  // Its number in the thread block. All steps announce themselves; that is what hasdep is for.
  int step(std::string_view type, At source, At destination, int count = 1, Dep dep = {}, bool has_dependents = true) {
    text_ += fmt::format(
        "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
        "depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
        next_step_, type, source.buffer, source.chunk, destination.buffer, destination.chunk, count, dep.block,
        dep.step, has_dependents ? 1 : 0);
    return next_step_++;
  }
  int nop(Dep dep) { return step("nop", {'i', -1}, {'o', -1}, 0, dep, false); }

  // A nop for each dependency but the last, which is for the next step.
  Dep wait_for(const std::vector<Dep>& deps) {
    for (std::size_t each = 0; each + 1 < deps.size(); ++each) nop(deps[each]);
    return deps.empty() ? Dep{} : deps.back();
  }

  std::string finish() {
    close_gpu();
    return text_ + "</algo>\n";
  }

 private:
  void close_block() {
    if (in_block_) text_ += "    </tb>\n";
    in_block_ = false;
  }
  void close_gpu() {
    close_block();
    if (in_gpu_) text_ += "  </gpu>\n";
    in_gpu_ = false;
  }

  std::string text_;
  bool in_gpu_ = false;
  bool in_block_ = false;
  int next_block_ = 0;
  int next_step_ = 0;
};

// In place, a ring on each channel: partial sums go on with rrs and are never stored.
inline std::string ring_all_reduce(int ranks, int channels) {
  Writer w({.ranks = ranks, .chunks = ranks * channels, .channels = channels});
  for (int rank = 0; rank < ranks; ++rank) {
    w.gpu(rank, ranks * channels, 0, 0);
    for (int channel = 0; channel < channels; ++channel) {
      w.block((rank + 1) % ranks, (rank + ranks - 1) % ranks, channel);
      const auto at = [&](int step) { return At{'i', (rank + 2 * ranks - step) % ranks * channels + channel}; };
      w.step("s", at(0), at(0));
      for (int step = 1; step < ranks - 1; ++step) w.step("rrs", at(step), at(step));
      w.step("rrcs", at(ranks - 1), at(ranks - 1));
      for (int step = ranks; step < 2 * ranks - 2; ++step) w.step("rcs", at(step), at(step));
      w.step("r", at(2 * ranks - 2), at(2 * ranks - 2));
    }
  }
  return w.finish();
}

// In place over nodes of `local` ranks: all pairs of a node reduce-scatter through scratch, all pairs of nodes exchange
// what they have, all pairs of a node gather. Each chunk is `width` chunks of the file, which travel together. Thread
// blocks that wait for several others do it by chains of nops. `forgets` leaves out one dependency of rank 0.
inline std::string hierarchical_all_reduce(int nodes, int local, int width, bool forgets = false) {
  const int chunks = local * width;
  Writer w({.ranks = nodes * local, .chunks = chunks});
  for (int rank = 0; rank < nodes * local; ++rank) {
    const int node = rank / local;
    const int own = rank % local;
    w.gpu(rank, chunks, 0, (local - 1 + nodes - 1) * width);
    const At mine{'i', own * width};
    const auto slot = [&](int number) { return At{'s', number * width}; };
    // Thread blocks: one that reduces, then one a peer of this node, then one a node.
    const int near = 1;
    const int far = near + local - 1;
    const auto second_steps = [](int first_block, int count) {
      std::vector<Dep> deps(static_cast<std::size_t>(count), {first_block, 1});
      for (Dep& dep : deps) dep.block = first_block++;
      return deps;
    };
    std::vector<Dep> from_near = second_steps(near, local - 1);
    const std::vector<Dep> from_far = second_steps(far, nodes - 1);
    if (forgets && rank == 0) from_near.front() = from_near.back();
    const int reducer = w.block(-1, -1, 0);
    Dep dep = w.wait_for(from_near);
    int near_done = -1;
    for (int each = 0; each < local - 1; ++each, dep = {}) near_done = w.step("re", slot(each), mine, width, dep);
    int all_done = near_done;
    dep = w.wait_for(from_far);
    for (int each = 0; each < nodes - 1; ++each, dep = {})
      all_done = w.step("re", slot(local - 1 + each), mine, width, dep);
    for (int each = 0; each < local - 1; ++each) {
      const int other = (own + 1 + each) % local;
      const int peer = node * local + other;
      // The slot that this rank has at the peer: how far it is behind it.
      const At theirs{'i', other * width};
      w.block(peer, peer);
      w.step("s", theirs, slot((own + local - other - 1) % local), width);
      w.step("r", mine, slot(each), width);
      w.step("s", mine, mine, width, {reducer, all_done});
      w.step("r", theirs, theirs, width);
    }
    for (int each = 0; each < nodes - 1; ++each) {
      const int peer = (node + 1 + each) % nodes * local + own;
      w.block(peer, peer);
      w.step("s", mine, slot(0), width, {reducer, near_done});
      w.step("r", mine, slot(local - 1 + each), width);
    }
  }
  return w.finish();
}

// In place, all pairs of a node, with the reducing shared out: each rank's part is as many chunks as there are ranks,
// they come from everyone in one message, and each thread block reduces one of them, out of everyone's scratch. Only
// the last of its steps announces itself. The shape of what msccl-tools writes for eight GPUs.
inline std::string shared_all_reduce(int ranks, int channels) {
  const int chunks = ranks * ranks;  // of a channel
  Writer w({.ranks = ranks, .chunks = channels * chunks, .channels = channels});
  for (int rank = 0; rank < ranks; ++rank) {
    w.gpu(rank, channels * chunks, 0, channels * (ranks - 1) * ranks);
    const auto block_of = [&](int each, int channel) { return (each + 1) * channels + channel; };
    const auto part = [&](int channel, int of, int chunk) { return At{'i', channel * chunks + of * ranks + chunk}; };
    const auto slot = [&](int channel, int each, int chunk) {
      return At{'s', (channel * (ranks - 1) + each) * ranks + chunk};
    };
    // What all thread blocks but `self` of the channel have received, or reduced; the first of them has no peer.
    const auto others = [&](int channel, int self, bool reduced) {
      std::vector<Dep> deps;
      for (int each = reduced ? -1 : 0; each < ranks - 1; ++each) {
        const int last = each < 0 ? 2 * ranks - 4 : 2 * ranks - 3;
        if (each != self) deps.push_back({block_of(each, channel), reduced ? last : 1});
      }
      return deps;
    };
    const auto reduce = [&](int channel, int self) {
      Dep dep = w.wait_for(others(channel, self, false));
      for (int each = 0; each < ranks - 1; ++each, dep = {})
        w.step("re", slot(channel, each, self + 1), part(channel, rank, self + 1), 1, dep, each == ranks - 2);
    };
    for (int channel = 0; channel < channels; ++channel) {
      w.block(-1, -1, channel);
      reduce(channel, -1);
    }
    for (int each = 0; each < ranks - 1; ++each) {
      const int peer = (rank + 1 + each) % ranks;
      for (int channel = 0; channel < channels; ++channel) {
        w.block(peer, peer, channel);
        w.step("s", part(channel, peer, 0), slot(channel, 0, 0), ranks, {}, false);
        w.step("r", part(channel, rank, 0), slot(channel, each, 0), ranks);
        reduce(channel, each);
        w.step("s", part(channel, rank, 0), part(channel, rank, 0), ranks, w.wait_for(others(channel, each, true)));
        w.step("r", part(channel, peer, 0), part(channel, peer, 0), ranks);
      }
    }
  }
  return w.finish();
}

// Around the ring: out of place it copies its own part, in place its part stands in the output already.
inline std::string ring_all_gather(int ranks, int width, Place place) {
  Writer w({"allgather", ranks, ranks * width, 1, place});
  for (int rank = 0; rank < ranks; ++rank) {
    const auto part = [&](int step) { return At{'o', (rank + ranks - step) % ranks * width}; };
    w.gpu(rank, place == Place::in ? 0 : width, ranks * width, 0);
    w.block((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    const At own = place == Place::in ? part(0) : At{'i', 0};
    w.step("s", own, part(0), width);
    if (place != Place::in) w.step("cpy", own, part(0), width);
    for (int step = 1; step < ranks - 1; ++step) w.step("rcs", part(step), part(step), width);
    w.step("r", part(ranks - 1), part(ranks - 1), width);
  }
  return w.finish();
}

// Everyone sends everyone's part at once, each chunk of a part on a channel of its own.
inline std::string direct_all_to_all(int ranks, int channels) {
  Writer w({"alltoall", ranks, ranks * channels, channels, Place::out});
  for (int rank = 0; rank < ranks; ++rank) {
    w.gpu(rank, ranks * channels, ranks * channels, 0);
    w.block(-1, -1);
    w.step("cpy", {'i', rank * channels}, {'o', rank * channels}, channels);
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      for (int channel = 0; channel < channels; ++channel) {
        w.block(other, other, channel);
        w.step("s", {'i', other * channels + channel}, {'o', rank * channels + channel});
        w.step("r", {'i', rank * channels + channel}, {'o', other * channels + channel});
      }
    }
  }
  return w.finish();
}

// Every pair exchanges through scratch, since what is to be sent stands where the other's part will be.
inline std::string in_place_all_to_all(int ranks, int width) {
  Writer w({"alltoall", ranks, ranks * width, 1, Place::in});
  for (int rank = 0; rank < ranks; ++rank) {
    w.gpu(rank, ranks * width, 0, ranks * width);
    for (int other = 0; other < ranks; ++other) {
      if (other == rank) continue;
      w.block(other, other);
      w.step("s", {'i', other * width}, {'s', rank * width}, width);
      w.step("r", {'i', rank * width}, {'s', other * width}, width);
      w.step("cpy", {'s', other * width}, {'i', other * width}, width);
    }
  }
  return w.finish();
}

// In two steps: within a node to whoever has the receiver's place there, through scratch; then between nodes, all that
// a node has for a rank in one message.
inline std::string two_step_all_to_all(int nodes, int local) {
  const int ranks = nodes * local;
  Writer w({"alltoall", ranks, ranks, 1, Place::out});
  for (int rank = 0; rank < ranks; ++rank) {
    const int node = rank / local;
    const int own = rank % local;
    w.gpu(rank, ranks, ranks, ranks);
    // Scratch is sorted by the node that it is for, then by the place of who it is from.
    const auto slot = [&](int for_node, int from) { return At{'s', for_node * local + from}; };
    w.block(-1, -1);
    for (int each = 0; each < nodes; ++each) w.step("cpy", {'i', each * local + own}, slot(each, own));
    std::vector<Dep> gathered{{0, nodes - 1}};
    for (int other = 0; other < local; ++other) {
      if (other == own) continue;
      const int peer = node * local + other;
      const int block = w.block(peer, peer);
      int last = 0;
      for (int each = 0; each < nodes; ++each) w.step("s", {'i', each * local + other}, slot(each, own));
      for (int each = 0; each < nodes; ++each) last = w.step("r", {'i', each * local + own}, slot(each, other));
      gathered.push_back({block, last});
    }
    w.block(-1, -1);
    w.step("cpy", slot(node, 0), {'o', node * local}, local, w.wait_for(gathered));
    for (int each = 0; each < nodes; ++each) {
      if (each == node) continue;
      w.block(each * local + own, each * local + own);
      w.step("s", slot(each, 0), {'o', node * local}, local, w.wait_for(gathered));
      w.step("r", slot(node, 0), {'o', each * local}, local);
    }
  }
  return w.finish();
}

// A ring that stores partial sums. In place they go into the input, over parts that are others' results; out of place
// into scratch, always the same chunks of it, whatever piece they hold.
inline std::string ring_reduce_scatter(int ranks, int width, Place place) {
  Writer w({"reducescatter", ranks, ranks * width, 1, place});
  for (int rank = 0; rank < ranks; ++rank) {
    w.gpu(rank, ranks * width, width, place == Place::in ? 0 : width);
    w.block((rank + 1) % ranks, (rank + ranks - 1) % ranks);
    const auto part = [&](int step) { return At{'i', (rank + 2 * ranks - step) % ranks * width}; };
    w.step("s", part(1), part(1), width);
    for (int step = 2; step < ranks; ++step) {
      const At kept = place == Place::in ? part(step) : At{'s', 0};
      w.step("rrc", part(step), kept, width);
      w.step("s", kept, kept, width);
    }
    w.step("rrc", part(ranks), {'o', 0}, width);
  }
  return w.finish();
}

}  // namespace tutti::msccl_programs
