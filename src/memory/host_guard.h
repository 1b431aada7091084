// The guard of host memory: while an asynchronous copy may still run, the pages of its host source are
// read-only and those of its host target cannot be touched, so that an early access of the program faults
// (docs/design/guard.md).
//
// Guarantees: pages are closed while a range that was added and not released, taken or disarmed lies on them;
// every other page is as it was. What cannot be closed is left open and counted. Threading: everything may be
// called from any thread; what the fault handler calls says so. One lock, below all others; its holders
// allocate nothing and touch no memory of the program but what they found open. Cost: adding and releasing
// take a few nanoseconds a page, and a system call for each run of pages that change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/site.h"
#include "os/own_memory.h"
#include "os/own_storage.h"
#include "os/shared_lock.h"

namespace belay::memory {

class HostGuard {
 public:
  enum class Use : uint8_t { kSource, kTarget };

  // Rows of bytes that one task uses, a pitch apart, and who submitted it.
  struct Range {
    uintptr_t begin = 0;
    uint64_t width = 0, pitch = 0, rows = 1;  // pitch >= width > 0, rows > 0
    const void* stream = nullptr;
    uint64_t sequence = 0;
    Use use = Use::kSource;
    int32_t device = -1, stream_id = -1;
    uint32_t thread = 0;
    const char* api = nullptr;
    Site site;

    uintptr_t end() const { return begin + (rows - 1) * pitch + width; }
    uint64_t bytes() const { return rows * width; }
    bool Contains(uintptr_t address) const {
      uint64_t at = address - begin;
      return address >= begin && at / pitch < rows && at % pitch < width;
    }
    bool Overlaps(const Range& other) const;
  };

  // Whose pages are closed; the others are only remembered.
  struct Config {
    bool closes_sources = true;
    bool closes_targets = true;
  };
  explicit HostGuard(const Config& config) : config_(config) {}
  HostGuard(const HostGuard&) = delete;
  HostGuard& operator=(const HostGuard&) = delete;

  // Of one stream in the order of its tasks. False: it is left unguarded.
  bool Add(const Range& range);
  // The host knows that the stream's tasks up to `sequence` are done.
  void Release(const void* stream, uint64_t sequence);
  // Forgets everything.
  void ReleaseAll();

  // --- An access of the program, which may be a fault: signal context

  // Closed ranges that it does not go with, as many as fit; how many were written to `found`. Reads go with
  // sources.
  size_t FindTouched(const Range& access, bool is_write, Range* found, size_t most);
  // The range's pages open for good. False when somebody else was first.
  bool Disarm(const Range& range);
  // They open until TakeBack with the same `whom`.
  bool Lend(const Range& range, const void* whom);
  void TakeBack(const void* whom);
  // What a fault at this address met.
  enum class Page : uint8_t {
    kForeign,  // never closed
    kClosed,   // closed, and opened now until a range is added, or none is left
    kOpen,     // another thread was faster
  };
  Page OpenPage(uintptr_t address);
  // Whether writes to the page fault and reads do not: where the machine does not tell which it was.
  bool ReadOnly(uintptr_t address);
  // Whether the calling thread is inside: then nothing here may be called.
  static bool Inside() { return t_inside_ != 0; }

  // --- The memory goes away

  // Takes the ranges that lie in the linear range; at most so many at a time.
  size_t TakeWithin(uintptr_t begin, uint64_t bytes, Range* taken, size_t most);

  // --- For whoever moves bytes of the host

  // While it lives no page is closed.
  class Hold {
   public:
    explicit Hold(HostGuard& guard) : guard_(guard) {
      ++t_inside_;
      guard_.lock_.lock_shared();
    }
    ~Hold() {
      guard_.lock_.unlock_shared();
      --t_inside_;
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    bool MayRead(const void* from, size_t bytes) const {
      return guard_.MayTouch(from, bytes, State::kReadOnly);
    }
    bool MayWrite(const void* to, size_t bytes) const { return guard_.MayTouch(to, bytes, State::kOpen); }

   private:
    HostGuard& guard_;
  };
  // Past closed pages; opens them where the system has no way past.
  void Read(const void* from, void* to, size_t bytes);
  void Write(void* to, const void* from, size_t bytes);

  // --- Around a fork: the child's pages are open

  void BeforeFork();
  void AfterForkInParent();
  void AfterForkInChild();

  // Ranges added and not yet released.
  uint64_t live() const { return live_.load(std::memory_order_relaxed); }
  // Ranges that the system would not let us close.
  uint64_t unguarded() const { return unguarded_.load(std::memory_order_relaxed); }

 private:
  enum class State : uint8_t { kOpen, kReadOnly, kNone };

  // One page.
  struct Entry {
    uint32_t sources : 30;
    uint32_t state : 2;  // what the kernel was told
    uint32_t targets : 30;
    uint32_t opened : 1;  // it stays open until a range is added to it, or none is left
    uint32_t known : 1;   // it was closed once
  };
  static_assert(sizeof(Entry) == 8);
  static constexpr uint32_t kMostRanges = (1u << 30) - 1;
  static constexpr int kPageShift = 12, kLeafShift = 14;
  struct Leaf {
    Entry pages[1 << kLeafShift];
  };

  struct Node {
    Range range;
    bool armed = false;
    const void* lent_to = nullptr;
    Node* next_of_stream = nullptr;
    Node* previous = nullptr;  // in the list of the armed ones
    Node* next = nullptr;
  };
  struct PerStream {
    Node* first;  // by sequence
    Node* last;
    uint64_t count;
  };

  class Changes;
  class Exclusive;

  Entry* Find(uintptr_t page) const;
  Entry* At(uintptr_t page);
  State Wanted(const Entry& entry) const;
  bool MayTouch(const void* start, size_t bytes, State most) const;
  bool Arm(Node& node);
  void Disarm(Node& node, Changes& changes);
  bool DisarmFound(const Range& range, const void* whom);
  void Forget(Node* node, Node* before, PerStream& stream);
  void ForgetAll();
  void GiveUp(const void* start, size_t bytes);
  void OpenEverything();

  static constinit thread_local int t_inside_ __attribute__((tls_model("initial-exec")));
  // Between BeforeFork and its end, while the thread holds the lock anyway.
  static constinit thread_local bool t_forks_ __attribute__((tls_model("initial-exec")));
  // Of one stream. Beyond them the oldest is forgotten, so that a program that never waits does not grow.
  static constexpr uint64_t kMostLive = 1 << 16;

  const Config config_;
  os::SharedLock lock_;
  std::atomic<uint64_t> live_{0};
  std::atomic<uint64_t> lent_{0};
  std::atomic<uint64_t> unguarded_{0};
  os::OwnMap<Leaf*> leaves_;
  os::OwnMap<PerStream> streams_;
  os::OwnPool<Node> nodes_;
  Node* armed_ = nullptr;  // the latest one first
};

}  // namespace belay::memory
