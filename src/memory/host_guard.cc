#include "memory/host_guard.h"

#include <algorithm>
#include <cstring>

namespace belay::memory {
namespace {

// Calls `visit(first, past)` with each run of neighbouring pages on which bytes of the range lie; no page
// comes twice.
template <class Visitor>
void ForEachRun(const HostGuard::Range& range, int page_shift, Visitor&& visit) {
  uintptr_t first = range.begin >> page_shift;
  if (range.rows == 1 || range.pitch - range.width < (uint64_t{1} << page_shift)) {
    return visit(first, ((range.end() - 1) >> page_shift) + 1);
  }
  uintptr_t past = first;
  for (uint64_t row = 0; row < range.rows; ++row) {
    const uintptr_t start = range.begin + row * range.pitch;
    if (start >> page_shift > past) {
      visit(first, past);
      first = start >> page_shift;
    }
    past = ((start + range.width - 1) >> page_shift) + 1;
  }
  visit(first, past);
}

bool SharesByte(const HostGuard::Range& many, uintptr_t lo, uintptr_t hi) {
  if (hi <= many.begin || lo >= many.end()) return false;
  const uint64_t row = lo <= many.begin ? 0 : (lo - many.begin) / many.pitch;
  const uintptr_t start = many.begin + row * many.pitch;
  if (std::max(lo, start) < std::min(hi, start + many.width)) return true;
  return row + 1 < many.rows && start + many.pitch < hi;
}

os::Protection ProtectionOf(bool reads, bool writes) {
  if (writes) return os::Protection::kReadWrite;
  return reads ? os::Protection::kReadOnly : os::Protection::kNone;
}
}  // namespace

constinit thread_local int HostGuard::t_inside_ = 0;
constinit thread_local bool HostGuard::t_forks_ = false;

bool HostGuard::Range::Overlaps(const Range& other) const {
  const Range& few = rows <= other.rows ? *this : other;
  const Range& many = rows <= other.rows ? other : *this;
  if (few.end() <= many.begin || many.end() <= few.begin) return false;
  for (uint64_t row = 0; row < few.rows; ++row) {
    const uintptr_t start = few.begin + row * few.pitch;
    if (SharesByte(many, start, start + few.width)) return true;
  }
  return false;
}

class HostGuard::Exclusive {
 public:
  explicit Exclusive(HostGuard& guard) : guard_(guard) {
    ++t_inside_;
    if (!t_forks_) guard_.lock_.lock();
  }
  ~Exclusive() {
    if (!t_forks_) guard_.lock_.unlock();
    --t_inside_;
  }
  Exclusive(const Exclusive&) = delete;
  Exclusive& operator=(const Exclusive&) = delete;

 private:
  HostGuard& guard_;
};

// Pages that get another protection: one system call for each run of neighbours.
class HostGuard::Changes {
 public:
  explicit Changes(HostGuard& guard) : guard_(guard) {}
  ~Changes() { Flush(); }
  Changes(const Changes&) = delete;
  Changes& operator=(const Changes&) = delete;

  void Set(uintptr_t page, Entry& entry, State state) {
    if (static_cast<State>(entry.state) == state) return;
    if (page != past_ || state != state_) {
      Flush();
      first_ = page;
      state_ = state;
    }
    past_ = page + 1;
    entry.state = static_cast<uint32_t>(state);
    if (state != State::kOpen) entry.known = 1;
  }

  // False when a page could not be closed.
  bool Flush() {
    if (first_ == past_) return !failed_;
    const uintptr_t address = first_ << kPageShift, bytes = (past_ - first_) << kPageShift;
    const bool done =
        os::Protect(address, bytes, ProtectionOf(state_ != State::kNone, state_ == State::kOpen));
    if (!done && state_ == State::kOpen) {
      // A part of a longer run cannot be opened alone when the address space has too many parts; the whole
      // can.
      guard_.OpenEverything();
      os::Protect(address, bytes, os::Protection::kReadWrite);
    } else if (!done) {
      failed_ = true;
      for (uintptr_t page = first_; page < past_; ++page) {
        Entry& entry = *guard_.Find(page);
        entry.opened = 1;
        entry.state = static_cast<uint32_t>(State::kOpen);
      }
      if (!os::Protect(address, bytes, os::Protection::kReadWrite)) guard_.OpenEverything();
    }
    first_ = past_;
    return !failed_;
  }

 private:
  HostGuard& guard_;
  uintptr_t first_ = 0, past_ = 0;
  State state_ = State::kOpen;
  bool failed_ = false;
};

// --- Pages

HostGuard::Entry* HostGuard::Find(uintptr_t page) const {
  Leaf** leaf = leaves_.Find((page >> kLeafShift) + 1);
  if (leaf == nullptr || *leaf == nullptr) return nullptr;
  return &(*leaf)->pages[page & ((uintptr_t{1} << kLeafShift) - 1)];
}

HostGuard::Entry* HostGuard::At(uintptr_t page) {
  Leaf** leaf = leaves_.At((page >> kLeafShift) + 1);
  if (leaf == nullptr) return nullptr;
  if (*leaf == nullptr) *leaf = reinterpret_cast<Leaf*>(os::Reserve(0, sizeof(Leaf), os::Access::kReadWrite));
  if (*leaf == nullptr) return nullptr;
  return &(*leaf)->pages[page & ((uintptr_t{1} << kLeafShift) - 1)];
}

HostGuard::State HostGuard::Wanted(const Entry& entry) const {
  if (entry.opened != 0) return State::kOpen;
  if (entry.targets != 0) return State::kNone;
  return entry.sources != 0 ? State::kReadOnly : State::kOpen;
}

bool HostGuard::MayTouch(const void* start, size_t bytes, State most) const {
  if (bytes == 0) return true;
  const auto address = reinterpret_cast<uintptr_t>(start);
  const uintptr_t past = ((address + bytes - 1) >> kPageShift) + 1;
  for (uintptr_t page = address >> kPageShift; page < past;) {
    const uintptr_t leaf_end = std::min(past, ((page >> kLeafShift) + 1) << kLeafShift);
    const Entry* entry = Find(page);
    for (const Entry* end = entry + (leaf_end - page); entry != nullptr && entry < end; ++entry) {
      if (entry->state > static_cast<uint32_t>(most)) return false;
    }
    page = leaf_end;
  }
  return true;
}

void HostGuard::OpenEverything() {
  leaves_.ForEach([](uintptr_t key, Leaf* leaf) {
    if (leaf == nullptr) return;
    const uintptr_t base = (key - 1) << kLeafShift;
    constexpr size_t kPages = size_t{1} << kLeafShift;
    for (size_t at = 0; at < kPages;) {
      size_t end = at;
      const uint32_t state = leaf->pages[at].state;
      while (end < kPages && leaf->pages[end].state == state) {
        Entry& entry = leaf->pages[end++];
        if (state == static_cast<uint32_t>(State::kOpen)) continue;
        entry.state = static_cast<uint32_t>(State::kOpen);
        entry.opened = 1;
      }
      if (state != static_cast<uint32_t>(State::kOpen)) {
        os::Protect((base + at) << kPageShift, (end - at) << kPageShift, os::Protection::kReadWrite);
      }
      at = end;
    }
  });
}

// --- Ranges

// False when its pages could not be closed; they are open then.
bool HostGuard::Arm(Node& node) {
  const bool source = node.range.use == Use::kSource;
  if (!(source ? config_.closes_sources : config_.closes_targets)) return true;
  bool stored = true;
  ForEachRun(node.range, kPageShift, [&](uintptr_t first, uintptr_t past) {
    for (uintptr_t page = first; page < past; page = ((page >> kLeafShift) + 1) << kLeafShift) {
      stored = stored && At(page) != nullptr;
    }
  });
  if (!stored) return false;
  node.armed = true;
  node.previous = nullptr;
  node.next = armed_;
  if (armed_ != nullptr) armed_->previous = &node;
  armed_ = &node;
  Changes changes(*this);
  ForEachRun(node.range, kPageShift, [&](uintptr_t first, uintptr_t past) {
    Entry* entry = nullptr;
    for (uintptr_t page = first; page < past; ++page, ++entry) {
      if (entry == nullptr || (page & ((uintptr_t{1} << kLeafShift) - 1)) == 0) entry = Find(page);
      if (source) {
        ++entry->sources;
      } else {
        ++entry->targets;
      }
      entry->opened = 0;  // a neighbour may have opened it; what comes now is to be seen again
      changes.Set(page, *entry, Wanted(*entry));
    }
  });
  if (changes.Flush()) return true;
  Disarm(node, changes);
  return false;
}

void HostGuard::Disarm(Node& node, Changes& changes) {
  if (!node.armed) return;
  node.armed = false;
  (node.previous != nullptr ? node.previous->next : armed_) = node.next;
  if (node.next != nullptr) node.next->previous = node.previous;
  const bool source = node.range.use == Use::kSource;
  ForEachRun(node.range, kPageShift, [&](uintptr_t first, uintptr_t past) {
    Entry* entry = nullptr;
    for (uintptr_t page = first; page < past; ++page, ++entry) {
      if (entry == nullptr || (page & ((uintptr_t{1} << kLeafShift) - 1)) == 0) entry = Find(page);
      if (source) {
        --entry->sources;
      } else {
        --entry->targets;
      }
      if (entry->sources == 0 && entry->targets == 0) entry->opened = 0;
      changes.Set(page, *entry, Wanted(*entry));
    }
  });
}

bool HostGuard::Add(const Range& range) {
  Exclusive hold(*this);
  PerStream* stream = streams_.At(reinterpret_cast<uintptr_t>(range.stream));
  Node* node = stream != nullptr ? nodes_.Take() : nullptr;
  if (node == nullptr) {
    unguarded_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (stream->count >= kMostLive) {
    Changes changes(*this);
    Disarm(*stream->first, changes);
    Forget(stream->first, nullptr, *stream);
  }
  node->range = range;
  const bool closed = Arm(*node);
  if (!closed) unguarded_.fetch_add(1, std::memory_order_relaxed);
  (stream->last != nullptr ? stream->last->next_of_stream : stream->first) = node;
  stream->last = node;
  ++stream->count;
  live_.fetch_add(1, std::memory_order_relaxed);
  return closed;
}

// A disarmed range; `before` is the one before it in its stream.
void HostGuard::Forget(Node* node, Node* before, PerStream& stream) {
  (before != nullptr ? before->next_of_stream : stream.first) = node->next_of_stream;
  if (stream.last == node) stream.last = before;
  --stream.count;
  if (node->lent_to != nullptr) lent_.fetch_sub(1, std::memory_order_relaxed);
  live_.fetch_sub(1, std::memory_order_relaxed);
  nodes_.Return(node);
}

void HostGuard::Release(const void* stream, uint64_t sequence) {
  if (live() == 0) return;
  Exclusive hold(*this);
  PerStream* found = streams_.Find(reinterpret_cast<uintptr_t>(stream));
  if (found == nullptr) return;
  Changes changes(*this);
  while (found->first != nullptr && found->first->range.sequence <= sequence) {
    Disarm(*found->first, changes);
    Forget(found->first, nullptr, *found);
  }
}

void HostGuard::ForgetAll() {
  Changes changes(*this);
  streams_.ForEach([&](uintptr_t, PerStream& stream) {
    while (stream.first != nullptr) {
      Disarm(*stream.first, changes);
      Forget(stream.first, nullptr, stream);
    }
  });
}

void HostGuard::ReleaseAll() {
  Exclusive hold(*this);
  ForgetAll();
}

size_t HostGuard::TakeWithin(uintptr_t begin, uint64_t bytes, Range* taken, size_t most) {
  if (live() == 0 || bytes == 0) return 0;
  Range box;
  box.begin = begin;
  box.width = box.pitch = bytes;
  size_t count = 0;
  Exclusive hold(*this);
  Changes changes(*this);
  streams_.ForEach([&](uintptr_t, PerStream& stream) {
    Node* before = nullptr;
    for (Node* node = stream.first; node != nullptr && count < most;) {
      Node* next = node->next_of_stream;
      if (node->range.Overlaps(box)) {
        taken[count++] = node->range;
        Disarm(*node, changes);
        Forget(node, before, stream);
      } else {
        before = node;
      }
      node = next;
    }
  });
  return count;
}

// --- Accesses

size_t HostGuard::FindTouched(const Range& access, bool is_write, Range* found, size_t most) {
  if (live() == 0) return 0;
  size_t count = 0;
  Exclusive hold(*this);
  for (const Node* node = armed_; node != nullptr && count < most; node = node->next) {
    if (!is_write && node->range.use == Use::kSource) continue;
    if (node->range.Overlaps(access)) found[count++] = node->range;
  }
  return count;
}

bool HostGuard::DisarmFound(const Range& range, const void* whom) {
  Exclusive hold(*this);
  for (Node* node = armed_; node != nullptr; node = node->next) {
    const Range& its = node->range;
    if (its.stream != range.stream || its.sequence != range.sequence || its.use != range.use) continue;
    Changes changes(*this);
    Disarm(*node, changes);
    if (whom != nullptr) {
      node->lent_to = whom;
      lent_.fetch_add(1, std::memory_order_relaxed);
    }
    return true;
  }
  return false;
}

bool HostGuard::Disarm(const Range& range) {
  return DisarmFound(range, nullptr);
}

bool HostGuard::Lend(const Range& range, const void* whom) {
  return DisarmFound(range, whom);
}

void HostGuard::TakeBack(const void* whom) {
  if (lent_.load(std::memory_order_relaxed) == 0) return;
  Exclusive hold(*this);
  streams_.ForEach([&](uintptr_t, PerStream& stream) {
    for (Node* node = stream.first; node != nullptr; node = node->next_of_stream) {
      if (node->lent_to != whom) continue;
      node->lent_to = nullptr;
      lent_.fetch_sub(1, std::memory_order_relaxed);
      Arm(*node);
    }
  });
}

HostGuard::Page HostGuard::OpenPage(uintptr_t address) {
  Exclusive hold(*this);
  const uintptr_t page = address >> kPageShift;
  Entry* entry = Find(page);
  if (entry == nullptr || entry->known == 0) return Page::kForeign;
  if (static_cast<State>(entry->state) == State::kOpen) return Page::kOpen;
  entry->opened = 1;
  Changes changes(*this);
  changes.Set(page, *entry, State::kOpen);
  return Page::kClosed;
}

bool HostGuard::ReadOnly(uintptr_t address) {
  Exclusive hold(*this);
  const Entry* entry = Find(address >> kPageShift);
  return entry != nullptr && static_cast<State>(entry->state) == State::kReadOnly;
}

// --- Moving bytes

void HostGuard::GiveUp(const void* start, size_t bytes) {
  const auto address = reinterpret_cast<uintptr_t>(start);
  unguarded_.fetch_add(1, std::memory_order_relaxed);
  Exclusive hold(*this);
  Changes changes(*this);
  for (uintptr_t page = address >> kPageShift; page <= (address + bytes - 1) >> kPageShift; ++page) {
    Entry* entry = Find(page);
    if (entry == nullptr || (entry->sources == 0 && entry->targets == 0)) continue;
    entry->opened = 1;
    changes.Set(page, *entry, State::kOpen);
  }
}

void HostGuard::Read(const void* from, void* to, size_t bytes) {
  if (bytes == 0 || os::ReadPast(reinterpret_cast<uintptr_t>(from), to, bytes)) return;
  GiveUp(from, bytes);
  Hold hold(*this);
  memcpy(to, from, bytes);
}

void HostGuard::Write(void* to, const void* from, size_t bytes) {
  if (bytes == 0 || os::WritePast(reinterpret_cast<uintptr_t>(to), from, bytes)) return;
  GiveUp(to, bytes);
  Hold hold(*this);
  memcpy(to, from, bytes);
}

// --- Around a fork

// What runs between this and the end of the fork, in this thread, may fault: the handlers of others, the
// heap's own.
void HostGuard::BeforeFork() {
  lock_.lock();
  t_forks_ = true;
}

void HostGuard::AfterForkInParent() {
  t_forks_ = false;
  lock_.unlock();
}

void HostGuard::AfterForkInChild() {
  OpenEverything();
  ForgetAll();
  t_forks_ = false;
  lock_.Reset();
}

}  // namespace belay::memory
