#include "runtime/report_board.h"

#include <pthread.h>

#include <algorithm>
#include <exception>

#include "engine/callback_scope.h"
#include "engine/engine.h"
#include "os/futex.h"
#include "os/thread.h"

namespace belay::runtime {
namespace {
constexpr int64_t kMs = 1'000'000;
}  // namespace

void ReportBoard::Changed() {
  changed_.fetch_add(1, std::memory_order_seq_cst);
  os::FutexWakeAll(changed_);
}

ReportBoard::Binding ReportBoard::Subscribe(uint64_t thread, engine::Stream& stream, int device,
                                            const Moment& by) {
  {
    MutexLock lock(mutex_);
    if (bindings_.contains(&stream)) return Binding::kStreamIsBound;
    auto found = threads_.find(thread);
    if (found == threads_.end()) {
      if (threads_.size() >= kMostThreads) return Binding::kTooManyThreads;
      found = threads_.emplace(thread, Thread()).first;
      found->second.device = device;
    }
    if (found->second.device != device) return Binding::kThreadHasOtherDevice;
    ++found->second.streams;
    bindings_.emplace(&stream, Bound{thread, by});
  }
  Changed();
  return Binding::kBound;
}

std::deque<ReportBoard::Item> ReportBoard::TakeItems(Thread& thread, engine::Stream& stream) {
  std::deque<Item> taken, left;
  for (Item& item : thread.items) (item.stream == &stream ? taken : left).push_back(item);
  thread.items = std::move(left);
  return taken;
}

void ReportBoard::Unbind(Bindings::iterator binding) {
  auto thread = threads_.find(binding->second.thread);
  if (--thread->second.streams == 0) threads_.erase(thread);
  bindings_.erase(binding);
}

// Callbacks that never run: those that block count as done (SPEC 21 §2).
void ReportBoard::Lose(engine::Engine& engine, const std::deque<Item>& items, Lost* lost) {
  lost->count = items.size();
  if (!items.empty()) lost->first = items.front().op;
  for (const Item& item : items) {
    if (engine.guard() != nullptr) engine.guard()->TakeBack(item.stream);
    if (item.op.host.blocks) engine.FinishAway(*item.stream, Status());
  }
}

ReportBoard::Ending ReportBoard::Unsubscribe(engine::Engine& engine, uint64_t thread, engine::Stream& stream,
                                             Lost* lost) {
  std::deque<Item> items;
  for (;;) {
    uint32_t seen = changed_.load(std::memory_order_seq_cst);
    {
      MutexLock lock(mutex_);
      auto binding = bindings_.find(&stream);
      if (binding == bindings_.end()) return Ending::kNotBound;
      if (binding->second.thread != thread) return Ending::kOtherThread;
      Thread& bound = threads_.at(thread);
      bool waits = std::any_of(bound.items.begin(), bound.items.end(),
                               [&](const Item& item) { return item.stream == &stream; });
      auto poller = pollers_.find(thread);
      uint32_t kernel_id = poller != pollers_.end() ? poller->second : 0;
      waits = waits || bound.running == &stream;
      if (!waits || kernel_id == os::ThreadId() || !os::ThreadLives(kernel_id)) {
        items = TakeItems(bound, stream);
        Unbind(binding);
        break;
      }
    }
    os::FutexWait(changed_, seen, 10 * kMs);  // a thread that ends says nothing
  }
  Lose(engine, items, lost);
  Changed();
  return Ending::kEnded;
}

bool ReportBoard::Forget(engine::Engine& engine, engine::Stream& stream, Lost* lost) {
  std::deque<Item> items;
  {
    MutexLock lock(mutex_);
    auto binding = bindings_.find(&stream);
    if (binding == bindings_.end()) return false;
    items = TakeItems(threads_.at(binding->second.thread), stream);
    Unbind(binding);
  }
  Lose(engine, items, lost);
  Changed();
  return true;
}

bool ReportBoard::IsBound(engine::Stream& stream, Moment* by) {
  MutexLock lock(mutex_);
  auto binding = bindings_.find(&stream);
  if (binding == bindings_.end()) return false;
  if (by != nullptr) *by = binding->second.by;
  return true;
}

bool ReportBoard::HandOver(engine::Stream& stream, const engine::Op& op) {
  {
    MutexLock lock(mutex_);
    auto binding = bindings_.find(&stream);
    if (binding == bindings_.end()) return false;
    threads_.at(binding->second.thread).items.push_back({&stream, op});
  }
  Changed();
  return true;
}

ReportBoard::Outcome ReportBoard::Process(engine::Engine& engine, int32_t timeout_ms) {
  uint64_t self = static_cast<uint64_t>(pthread_self());
  int64_t start = os::MonotonicNs();
  Item item{};
  for (bool found = false; !found;) {
    uint32_t seen = changed_.load(std::memory_order_seq_cst);
    bool bound = false;
    {
      MutexLock lock(mutex_);
      pollers_[self] = os::ThreadId();
      auto thread = threads_.find(self);
      if (thread != threads_.end()) {
        bound = true;
        if (!thread->second.items.empty()) {
          item = thread->second.items.front();
          thread->second.items.pop_front();
          thread->second.running = item.stream;
          found = true;
        }
      }
    }
    if (found) break;
    // SPEC 21 §2: a thread that polls before anything is subscribed is told so after a while, not at once.
    int64_t limit = timeout_ms < 0 ? -1 : timeout_ms * kMs;
    if (!bound) limit = limit < 0 ? 10 * kMs : std::min(limit, 10 * kMs);
    int64_t left = limit < 0 ? os::kForever : limit - (os::MonotonicNs() - start);
    if (limit >= 0 && left <= 0) {
      Outcome nothing;
      nothing.report = bound ? Report::kNothing : Report::kNotBound;
      return nothing;
    }
    engine::Engine::HostSleeps sleeps(engine, limit < 0);
    os::FutexWait(changed_, seen, left);
  }
  Outcome outcome;
  outcome.report = Report::kRan;
  outcome.op = item.op;
  outcome.stream = item.stream;
  {
    engine::CallbackScope scope(engine::CallbackScope::Kind::kCallback,
                                item.op.host.blocks ? item.stream : nullptr, item.op.api, item.op.thread,
                                item.op.site);
    if (engine.watched()) engine.observer().Started(*item.stream, item.op);
    try {
      item.op.host.function(item.op.host.argument);
    } catch (const std::exception& error) {
      outcome.threw = true;
      outcome.what.Append(error.what());
    } catch (...) {
      outcome.threw = true;
    }
  }
  if (item.op.host.blocks) engine.FinishAway(*item.stream, Status());
  {
    MutexLock lock(mutex_);
    auto thread = threads_.find(self);
    if (thread != threads_.end()) thread->second.running = nullptr;
  }
  Changed();  // who unsubscribes may wait for this one
  return outcome;
}

}  // namespace belay::runtime
