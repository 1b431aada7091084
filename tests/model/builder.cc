#include "builder.h"

#include <algorithm>
#include <iterator>

namespace model {
namespace {

constexpr int kSignals = 8;
constexpr int64_t kLarge = 300 * 1024;  // too much to be copied inside a call

}  // namespace

Builder::Builder(uint64_t seed, unsigned features)
    : features_(features), random_(seed * 2 + 1), sim_(Start(seed)) {}

Interpreter Builder::Start(uint64_t seed) {
  program_.seed = seed;
  Shape();
  return Interpreter(program_, false);
}

void Builder::Shape() {
  program_.devices = 1 + static_cast<int>(Below(kMostDevices));
  program_.signals = kSignals;
  const int devices = program_.devices;
  for (int d = 0; d < devices; ++d) program_.streams.push_back(d);
  for (int d = 0; d < devices; ++d) {
    for (size_t i = Below(4); i > 0; --i) program_.streams.push_back(d);
  }
  const bool large = Chance(20);
  constexpr int64_t kSizes[] = {64, 96, 256, 1000, 4096};
  auto add = [&](int64_t place, int64_t words) {
    int64_t size = words != 0 ? 64 : large && Chance(50) ? kLarge : kSizes[Below(std::size(kSizes))];
    program_.buffers.push_back({place, size, words});
  };
  for (int d = 0; d < devices; ++d) {
    for (size_t i = 2 + Below(2); i > 0; --i) add(d, 0);
    if (Has(kValues)) add(d, 1);
    for (size_t i = 1 + Below(2); i > 0; --i) program_.events.push_back({d, EventKind::kPlain});
    for (size_t i = 1 + Below(2); i > 0; --i) program_.events.push_back({d, EventKind::kEx});
    for (size_t i = Has(kFlagEvents) ? 1 + Below(2) : 0; i > 0; --i) {
      program_.events.push_back({d, EventKind::kFlag});
    }
    for (size_t i = Has(kNotifies) ? 1 + Below(2) : 0; i > 0; --i) program_.notifies.push_back(d);
  }
  for (size_t i = 2 + Below(2); i > 0; --i) add(kPinned, 0);
  if (Chance(50) && Has(kPageableMemory)) add(kPageable, 0);
  most_threads_ = 1 + Below(kMostThreads);
}

Verdict Builder::End(Interpreter& sim, const std::vector<Call>& promises, std::vector<Call>* calls) {
  Verdict verdict;
  auto apply = [&](const Call& call) {
    if (calls != nullptr) calls->push_back(call);
    verdict = sim.Apply(call);
    return static_cast<bool>(verdict);
  };
  for (int64_t t = 1; t < kMostThreads; ++t) {
    if (sim.thread_lives(t) && !apply(MakeCall(Kind::kJoin, 0, 0, -1, t))) return verdict;
  }
  for (size_t s = 0; s < program_.streams.size(); ++s) {
    auto stream = static_cast<int64_t>(s);
    if (sim.held(stream) && !apply(MakeCall(Kind::kRelease, 0, program_.streams[s], stream))) return verdict;
  }
  for (Call promise : promises) {
    promise.thread = 0;
    if (!apply(promise)) return verdict;
  }
  return sim.Quiet() ? Verdict{} : Verdict{Reason::kHang};
}

bool Builder::Submits(Kind kind) {
  switch (kind) {
    case Kind::kCopyAsync:
    case Kind::kCopy2dAsync:
    case Kind::kFillAsync:
    case Kind::kReset:
    case Kind::kRecordNotify:
    case Kind::kValueWrite:
    case Kind::kHostFunc:
    case Kind::kCallback:
      return true;
    default:
      return false;
  }
}

Verdict Builder::Try(const Call& call, const Call* promise) {
  Interpreter next = sim_;
  Verdict verdict = next.Apply(call);
  if (!verdict) return verdict;
  if (promise != nullptr) promises_.push_back(*promise);
  if (!next.Idle() || !promises_.empty()) {
    Interpreter ended = next;
    verdict = End(ended, promises_, nullptr);
    if (!verdict) {
      if (promise != nullptr) promises_.pop_back();
      return verdict;
    }
  }
  sim_ = std::move(next);
  program_.calls.push_back(call);
  return {};
}

bool Builder::Attempt(const Call& call, const Call* promise) {
  for (int repairs = 3;; --repairs) {
    Verdict verdict = Try(call, promise);
    if (verdict) return true;
    if (repairs == 0 || verdict.reason != Reason::kRace || verdict.actor < 0) return false;
    if (!AddEdge(call, verdict.actor)) return false;
  }
}

// Orders what `actor` did before what `call` will do.
bool Builder::AddEdge(const Call& call, int actor) {
  if (actor < kMostThreads) {
    int64_t from = sim_.thread_lives(actor) ? actor : 0;
    if (from == call.thread || signals_ == kSignals) return false;
    Call signal = MakeCall(Kind::kSignal, from, call.device, -1, signals_);
    Call await = MakeCall(Kind::kAwait, call.thread, call.device, -1, signals_);
    if (!Try(signal)) return false;
    ++signals_;
    return static_cast<bool>(Try(await));
  }
  if (actor >= kMostThreads + kMostStreams) {
    int64_t stream = actor - kMostThreads - kMostStreams;
    int64_t device = DeviceOf(stream);
    if (!sim_.subscribed(stream) || Chance(50)) return false;
    return Try(MakeCall(Kind::kSyncStream, call.thread, device, stream)) &&
           Try(MakeCall(Kind::kUnsubscribe, call.thread, device, stream)) &&
           Try(MakeCall(Kind::kSubscribe, call.thread, device, stream));
  }
  int64_t other = actor - kMostThreads, device = DeviceOf(other);
  if (!sim_.stream_lives(other)) return false;
  if (call.stream >= 0 && call.stream != other && Submits(call.kind) && Chance(70)) {
    int64_t notify = PickNotify(DeviceOf(call.stream));
    if (notify >= 0 && (device != DeviceOf(call.stream) || Chance(30)) && !sim_.posted(notify)) {
      return Attempt(MakeCall(Kind::kRecordNotify, call.thread, device, other, notify)) &&
             Attempt(MakeCall(Kind::kWaitNotify, call.thread, call.device, call.stream, notify));
    }
    int64_t event = PickEvent(device, /*snapshot=*/true);
    if (event >= 0 && device == DeviceOf(call.stream)) {
      return Try(MakeCall(Kind::kRecord, call.thread, device, other, event)) &&
             Try(MakeCall(Kind::kWait, call.thread, call.device, call.stream, event));
    }
  }
  if (Chance(30)) {
    int64_t event = PickEvent(device, true);
    return event >= 0 && Try(MakeCall(Kind::kRecord, call.thread, device, other, event)) &&
           Try(MakeCall(Kind::kSyncEvent, call.thread, device, -1, event));
  }
  return static_cast<bool>(Try(MakeCall(Kind::kSyncStream, call.thread, device, other)));
}

int64_t Builder::PickThread() {
  for (;;) {
    auto thread = static_cast<int64_t>(Below(kMostThreads));
    if (sim_.thread_lives(thread)) return thread;
  }
}

// Mostly one that lives and that the thread used before: submissions to one stream have an order.
int64_t Builder::PickStream(int64_t thread) {
  for (int tries = 0;; ++tries) {
    auto stream = static_cast<int64_t>(Below(program_.streams.size()));
    if (tries > 20) return stream;
    if (!sim_.stream_lives(stream)) continue;
    if (most_threads_ > 1 && stream % static_cast<int64_t>(most_threads_) != thread && Chance(80)) continue;
    return stream;
  }
}

int64_t Builder::PickEvent(int64_t device, bool snapshot) {
  for (int tries = 0; tries < 10; ++tries) {
    size_t e = Below(program_.events.size());
    bool is_snapshot = program_.events[e].kind != EventKind::kFlag;
    if (program_.events[e].device == device && is_snapshot == snapshot &&
        sim_.event_lives(static_cast<int64_t>(e))) {
      return static_cast<int64_t>(e);
    }
  }
  return -1;
}

int64_t Builder::PickNotify(int64_t device) {
  for (int tries = 0; tries < 10 && !program_.notifies.empty(); ++tries) {
    size_t n = Below(program_.notifies.size());
    if (program_.notifies[n] == device) return static_cast<int64_t>(n);
  }
  return -1;
}

int64_t Builder::PickWords(int64_t device) {
  for (size_t b = 0; b < program_.buffers.size(); ++b) {
    if (program_.buffers[b].words != 0 && program_.buffers[b].place == device) return static_cast<int64_t>(b);
  }
  return -1;
}

}  // namespace model
