// Proposes random calls and keeps what the interpreter accepts; mends a race by adding an edge.
//
// A call is kept only if the program can still be brought to an end from there: what was promised (the record of
// an event that a stream already waits for, for example) is then submitted, and nothing stays blocked.
#include "generator.h"

#include <algorithm>
#include <iterator>
#include <random>

#include "feature.h"
#include "interpreter.h"

namespace model {
namespace {

constexpr int kSignals = 8;
constexpr int64_t kLarge = 300 * 1024;  // too much to be copied inside a call

class Generator {
 public:
  Generator(uint64_t seed, unsigned features) : features_(features), random_(seed * 2 + 1) {
    program_.seed = seed;
    Shape();
  }

  Program Make() {
    Interpreter start(program_, false);
    sim_ = &start;
    Weigh();
    const size_t calls = 5 + Below(56);
    for (int tries = 0; program_.calls.size() < calls && tries < 200; ++tries) Step();
    Finish();
    return std::move(program_);
  }

 private:
  size_t Below(size_t bound) { return bound == 0 ? 0 : random_() % bound; }
  bool Chance(size_t percent) { return Below(100) < percent; }
  bool Has(unsigned feature) const { return (features_ & feature) != 0; }

  void Shape() {
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
    if (Chance(50)) add(kPageable, 0);
    most_threads_ = 1 + Below(kMostThreads);
  }

  // Each program likes some calls and leaves others out, so that rare combinations meet.
  using Propose = void (Generator::*)();
  void Weigh() {
    auto add = [&](Propose propose, size_t weight) {
      for (size_t i = weight * Below(4); i > 0; --i) menu_.push_back(propose);
    };
    for (int i = 0; i < 3; ++i) menu_.push_back(&Generator::CopyAsync);
    add(&Generator::CopyAsync, 3);
    add(&Generator::Copy, 1);
    add(&Generator::Copy2d, 2);
    add(&Generator::Fill, 2);
    add(&Generator::HostWrite, 1);
    add(&Generator::Read, 1);
    add(&Generator::Record, 2);
    add(&Generator::Wait, 2);
    add(&Generator::Look, 2);
    add(&Generator::Sync, 1);
    add(&Generator::Renew, 1);
    add(&Generator::Books, 1);
    add(&Generator::Wrong, 1);
    if (program_.devices > 1) add(&Generator::Peer, 2);
    if (most_threads_ > 1) add(&Generator::ForkOrJoin, 2);
    if (Has(kFlagEvents | kNotifies | kValues)) add(&Generator::WaitAhead, 3);
    if (Has(kFlagEvents | kNotifies | kValues)) add(&Generator::Keep, 3);
    if (Has(kFlagEvents)) add(&Generator::Reset, 1);
    if (Has(kValues)) add(&Generator::Value, 2);
    if (Has(kNotifies)) add(&Generator::Notify, 2);
    if (Has(kHostFuncs)) add(&Generator::HostFunc, 2);
    if (Has(kCallbacks)) add(&Generator::Callback, 2);
    if (Has(kControls)) add(&Generator::Control, 3);
  }

  void Step() { (this->*menu_[Below(menu_.size())])(); }

  // --- accepting

  Verdict End(Interpreter& sim, const std::vector<Call>& promises, std::vector<Call>* calls) {
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

  Verdict Try(const Call& call, const Call* promise = nullptr) {
    Interpreter next = *sim_;
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
    *sim_ = std::move(next);
    program_.calls.push_back(call);
    return {};
  }

  bool Attempt(const Call& call, const Call* promise = nullptr) {
    for (int repairs = 3;; --repairs) {
      Verdict verdict = Try(call, promise);
      if (verdict) return true;
      if (repairs == 0 || verdict.reason != Reason::kRace || verdict.actor < 0) return false;
      if (!AddEdge(call, verdict.actor)) return false;
    }
  }

  // Orders what `actor` did before what `call` will do.
  bool AddEdge(const Call& call, int actor) {
    if (actor < kMostThreads) {
      int64_t from = sim_->thread_lives(actor) ? actor : 0;
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
      if (!sim_->subscribed(stream) || Chance(50)) return false;
      return Try(MakeCall(Kind::kSyncStream, call.thread, device, stream)) &&
             Try(MakeCall(Kind::kUnsubscribe, call.thread, device, stream)) &&
             Try(MakeCall(Kind::kSubscribe, call.thread, device, stream));
    }
    int64_t other = actor - kMostThreads, device = DeviceOf(other);
    if (!sim_->stream_lives(other)) return false;
    if (call.stream >= 0 && call.stream != other && Submits(call.kind) && Chance(70)) {
      int64_t notify = PickNotify(DeviceOf(call.stream));
      if (notify >= 0 && (device != DeviceOf(call.stream) || Chance(30)) && !sim_->posted(notify)) {
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

  static bool Submits(Kind kind) {
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

  // --- choosing

  static Call MakeCall(Kind kind, int64_t thread, int64_t device, int64_t stream = -1, int64_t object = -1) {
    Call call;
    call.kind = kind;
    call.thread = thread;
    call.device = device;
    call.stream = stream;
    call.object = object;
    return call;
  }

  int64_t DeviceOf(int64_t stream) const { return program_.streams[static_cast<size_t>(stream)]; }
  int64_t PlaceOf(int64_t buffer) const { return program_.buffers[static_cast<size_t>(buffer)].place; }
  int64_t SizeOf(int64_t buffer) const { return program_.buffers[static_cast<size_t>(buffer)].size; }

  int64_t PickThread() {
    for (;;) {
      auto thread = static_cast<int64_t>(Below(kMostThreads));
      if (sim_->thread_lives(thread)) return thread;
    }
  }

  // Mostly one that lives and that the thread used before: submissions to one stream have an order.
  int64_t PickStream(int64_t thread) {
    for (int tries = 0;; ++tries) {
      auto stream = static_cast<int64_t>(Below(program_.streams.size()));
      if (tries > 20) return stream;
      if (!sim_->stream_lives(stream)) continue;
      if (most_threads_ > 1 && stream % static_cast<int64_t>(most_threads_) != thread && Chance(80)) continue;
      return stream;
    }
  }

  // A task for a stream of a random thread.
  Call OnStream(Kind kind) {
    int64_t thread = PickThread(), stream = PickStream(thread);
    return MakeCall(kind, thread, DeviceOf(stream), stream);
  }

  int64_t PickEvent(int64_t device, bool snapshot) {
    for (int tries = 0; tries < 10; ++tries) {
      size_t e = Below(program_.events.size());
      bool is_snapshot = program_.events[e].kind != EventKind::kFlag;
      if (program_.events[e].device == device && is_snapshot == snapshot &&
          sim_->event_lives(static_cast<int64_t>(e))) {
        return static_cast<int64_t>(e);
      }
    }
    return -1;
  }

  int64_t PickNotify(int64_t device) {
    for (int tries = 0; tries < 10 && !program_.notifies.empty(); ++tries) {
      size_t n = Below(program_.notifies.size());
      if (program_.notifies[n] == device) return static_cast<int64_t>(n);
    }
    return -1;
  }

  template <class Fits>
  int64_t PickBuffer(Fits fits) {
    for (int tries = 0; tries < 30; ++tries) {
      auto buffer = static_cast<int64_t>(Below(program_.buffers.size()));
      if (program_.buffers[static_cast<size_t>(buffer)].words == 0 && sim_->buffer_lives(buffer) &&
          fits(PlaceOf(buffer))) {
        return buffer;
      }
    }
    return -1;
  }

  int64_t PickWords(int64_t device) {
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].words != 0 && program_.buffers[b].place == device) return static_cast<int64_t>(b);
    }
    return -1;
  }

  // Ranges are often whole halves, so that they meet often.
  void PickRange(int64_t size, int64_t width, int64_t& at) {
    at = Chance(50) ? 0 : static_cast<int64_t>(Below(static_cast<size_t>(size - width + 1)));
  }
  int64_t PickWidth(int64_t most) {
    return Chance(40) ? most : 1 + static_cast<int64_t>(Below(static_cast<size_t>(most)));
  }

  static int64_t CopyKind(int64_t to, int64_t from) {
    return from < 0 ? (to < 0 ? 0 : 1) : (to < 0 ? 2 : 3);
  }

  // --- proposals

  bool Sides(Call& call, bool across) {
    auto near = [&](int64_t place) { return place < 0 || across || place == call.device; };
    call.dst = PickBuffer(near);
    call.src = PickBuffer(near);
    if (call.dst < 0 || call.src < 0 || call.dst == call.src) return false;
    call.width = PickWidth(std::min(SizeOf(call.dst), SizeOf(call.src)));
    PickRange(SizeOf(call.dst), call.width, call.dst_at);
    PickRange(SizeOf(call.src), call.width, call.src_at);
    call.dst_pitch = call.src_pitch = call.width;
    call.room = SizeOf(call.dst) - call.dst_at;
    call.flag = CopyKind(PlaceOf(call.dst), PlaceOf(call.src));
    return true;
  }

  void CopyAsync() {
    Call call = OnStream(Kind::kCopyAsync);
    if (!Sides(call, Chance(25))) return;
    if (call.flag == 0 && Chance(90)) return;  // between host buffers: always refused
    if (call.flag == 1 && Chance(20)) call.flag = 5;
    if (call.flag != 5 && call.flag != 0 && Chance(20)) call.flag = 4;
    Attempt(call);
  }

  void Copy() {
    Call call = MakeCall(Kind::kCopy, PickThread(), PickDevice());
    if (Sides(call, Chance(30))) Attempt(call);
  }

  void Copy2d() {
    bool asynchronous = Chance(80);
    Call call = asynchronous ? OnStream(Kind::kCopy2dAsync) : MakeCall(Kind::kCopy2d, PickThread(), PickDevice());
    if (!Sides(call, false) || call.flag == 0 || call.flag == 3) return;
    const int64_t most = std::min(SizeOf(call.dst), SizeOf(call.src));
    call.width = 1 + static_cast<int64_t>(Below(static_cast<size_t>(std::min<int64_t>(most, 80))));
    call.height = 1 + static_cast<int64_t>(Below(static_cast<size_t>(std::min<int64_t>(most / call.width, 24))));
    auto pitch = [&](int64_t buffer, int64_t& at, int64_t& out) {
      int64_t gap = call.height == 1 ? 0 : (SizeOf(buffer) - call.width * call.height) / (call.height - 1);
      out = call.width + static_cast<int64_t>(Below(static_cast<size_t>(std::min<int64_t>(gap, 40) + 1)));
      PickRange(SizeOf(buffer), (call.height - 1) * out + call.width, at);
    };
    pitch(call.dst, call.dst_at, call.dst_pitch);
    pitch(call.src, call.src_at, call.src_pitch);
    call.room = call.width;
    Attempt(call);
  }

  void Fill() {
    bool asynchronous = Chance(80);
    Call call = asynchronous ? OnStream(Kind::kFillAsync) : MakeCall(Kind::kFill, PickThread(), PickDevice());
    call.dst = PickBuffer([&](int64_t place) { return place == call.device || place == kPinned; });
    if (call.dst < 0) return;
    call.width = PickWidth(SizeOf(call.dst));
    PickRange(SizeOf(call.dst), call.width, call.dst_at);
    call.dst_pitch = call.width;
    call.room = SizeOf(call.dst) - call.dst_at;
    call.value = static_cast<int64_t>(Below(256));
    Attempt(call);
  }

  void HostWrite() {
    Call call = MakeCall(Kind::kHostWrite, PickThread(), 0);
    call.dst = PickBuffer([](int64_t place) { return place < 0; });
    if (call.dst < 0) return;
    call.width = PickWidth(SizeOf(call.dst));
    PickRange(SizeOf(call.dst), call.width, call.dst_at);
    call.dst_pitch = call.width;
    call.value = static_cast<int64_t>(Below(256));
    Attempt(call);
  }

  Call MakeRead(int64_t thread, int64_t buffer) {
    Call call = MakeCall(Kind::kRead, thread, std::max<int64_t>(PlaceOf(buffer), 0));
    call.src = buffer;
    call.width = SizeOf(buffer);
    return call;
  }

  void Read() {
    int64_t buffer = PickBuffer([](int64_t) { return true; });
    if (buffer >= 0) Attempt(MakeRead(PickThread(), buffer));
  }

  // After a wait, everything that is known to be final is looked at.
  void ReadChanged(int64_t thread) {
    seen_.resize(program_.buffers.size());
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      auto buffer = static_cast<int64_t>(b);
      if (seen_[b] == sim_->changes(buffer) || !sim_->buffer_lives(buffer)) continue;
      if (Try(MakeRead(thread, buffer))) seen_[b] = sim_->changes(buffer);
    }
  }

  int64_t PickDevice() { return static_cast<int64_t>(Below(static_cast<size_t>(program_.devices))); }

  int64_t EventOn(const Call& call) {
    bool snapshot = !Has(kFlagEvents) || Chance(75);
    return PickEvent(DeviceOf(call.stream), snapshot);
  }

  void Record() {
    Call call = OnStream(Kind::kRecord);
    call.object = EventOn(call);
    if (call.object >= 0) Attempt(call);
  }

  void Wait() {
    Call call = OnStream(Kind::kWait);
    call.object = EventOn(call);
    if (call.object >= 0) Attempt(call);
  }

  void Reset() {
    Call call = OnStream(Kind::kReset);
    call.object = PickEvent(DeviceOf(call.stream), false);
    if (call.object < 0 || !Attempt(call) || sim_->flag_set(call.object)) return;
    // What comes after the reset waits for another record.
    Call promise = MakeCall(Kind::kRecord, call.thread, call.device, PickStream(call.thread), call.object);
    call.kind = Kind::kWait;
    if (promise.stream != call.stream && DeviceOf(promise.stream) == call.device) Promise(call, promise);
  }

  // A wait for what another stream, or this one, will do later.
  void WaitAhead() {
    Call call = OnStream(Kind::kWait);
    Call promise = call;
    int64_t device = DeviceOf(call.stream);
    promise.stream = PickStream(call.thread);
    promise.device = DeviceOf(promise.stream);
    if (promise.stream == call.stream) return;
    switch (Below(3)) {
      case 0:
        promise.kind = Kind::kRecord;
        call.object = promise.object = PickEvent(device, false);
        if (call.object < 0 || promise.device != device || sim_->flag_set(call.object)) return;
        break;
      case 1:
        call.kind = Kind::kWaitNotify;
        promise.kind = Kind::kRecordNotify;
        call.object = promise.object = PickNotify(device);
        if (call.object < 0 || sim_->posted(call.object)) return;
        break;
      default: {
        call.kind = Kind::kValueWait;
        promise.kind = Kind::kValueWrite;
        call.object = promise.object = -1;
        call.dst = promise.dst = PickWords(device);
        if (call.dst < 0 || promise.device != device) return;
        call.dst_at = promise.dst_at = 8 * static_cast<int64_t>(Below(2));
        uint64_t now = sim_->word(call.dst, call.dst_at);
        promise.value = static_cast<int64_t>(now + 1);
        call.value = promise.value;
        call.flag = static_cast<int64_t>(Below(3));
        if (Holds(call.flag, now, now + 1)) return;
      }
    }
    for (const Call& other : promises_) {
      if (other.object == promise.object && other.dst == promise.dst && other.kind == promise.kind &&
          promise.kind != Kind::kRecord) {
        return;
      }
    }
    Promise(call, promise);
  }

  void Promise(const Call& wait, const Call& promise) {
    if (Attempt(wait, &promise) && Chance(60)) {
      // Give it something to hold up, and look at it.
      Call look = MakeCall(Chance(70) ? Kind::kQueryStream : Kind::kPollStream, wait.thread, wait.device, wait.stream);
      CopyAsync();
      Try(look);
    }
  }

  // Submits one of the things that were promised.
  void Keep() {
    if (promises_.empty()) return;
    size_t index = Below(promises_.size());
    Call call = promises_[index];
    call.thread = PickThread();
    promises_.erase(promises_.begin() + static_cast<long>(index));
    Call kept = call;
    if (!Try(call)) promises_.insert(promises_.begin() + static_cast<long>(index), kept);
  }

  void Value() {
    Call call = OnStream(Chance(60) ? Kind::kValueWrite : Kind::kValueWait);
    call.dst = PickWords(DeviceOf(call.stream));
    if (call.dst < 0) return;
    call.dst_at = 8 * static_cast<int64_t>(Below(2));
    uint64_t now = sim_->word(call.dst, call.dst_at);
    if (call.kind == Kind::kValueWrite) {
      for (const Call& promise : promises_) {
        if (promise.dst == call.dst && promise.dst_at == call.dst_at) return;
      }
      call.value = static_cast<int64_t>(now + 1);
    } else {
      call.flag = static_cast<int64_t>(Below(4));
      call.value = static_cast<int64_t>(call.flag == 0 && now > 0 ? now - Below(2) : now);
    }
    Attempt(call);
  }

  void Notify() {
    Call call = OnStream(Chance(50) ? Kind::kRecordNotify : Kind::kWaitNotify);
    call.object = call.kind == Kind::kWaitNotify ? PickNotify(DeviceOf(call.stream))
                                                 : static_cast<int64_t>(Below(program_.notifies.size()));
    if (call.object < 0) return;
    for (const Call& promise : promises_) {
      if (promise.kind == Kind::kRecordNotify && promise.object == call.object) return;
    }
    Attempt(call);
  }

  bool Body(Call& call) {
    auto host = [](int64_t place) { return place < 0; };
    call.dst = PickBuffer(host);
    call.src = PickBuffer(host);
    if (call.dst < 0 || call.src < 0 || call.dst == call.src) return false;
    call.width = PickWidth(std::min(SizeOf(call.dst), SizeOf(call.src)));
    PickRange(SizeOf(call.dst), call.width, call.dst_at);
    PickRange(SizeOf(call.src), call.width, call.src_at);
    call.dst_pitch = call.src_pitch = call.width;
    call.value = static_cast<int64_t>(1 + Below(255));
    return true;
  }

  void HostFunc() {
    Call call = OnStream(Kind::kHostFunc);
    if (Body(call)) Attempt(call);
  }

  void Callback() {
    Call call = OnStream(Kind::kCallback);
    if (!sim_->subscribed(call.stream) && Chance(95)) {
      Attempt(MakeCall(Kind::kSubscribe, call.thread, call.device, call.stream));
    }
    call.flag = Chance(50) ? 1 : 0;
    if (Body(call)) Attempt(call);
    if (Chance(10)) Attempt(MakeCall(Kind::kUnsubscribe, call.thread, call.device, call.stream));
  }

  void Look() {
    Call call = OnStream(Kind::kQueryStream);
    switch (Below(5)) {
      case 0:
        Attempt(call);
        return;
      case 1:
        call.kind = Kind::kPollStream;
        Attempt(call);
        return;
      default: {
        constexpr Kind kKinds[] = {Kind::kQueryEvent, Kind::kQueryWaits, Kind::kPollEvent};
        auto event = static_cast<int64_t>(Below(program_.events.size()));
        Attempt(MakeCall(kKinds[Below(3)], call.thread, PickDevice(), -1, event));
      }
    }
  }

  void Sync() {
    Call call = OnStream(Kind::kSyncStream);
    switch (Below(4)) {
      case 0:
        call = MakeCall(Kind::kSyncDevice, call.thread, call.device);
        break;
      case 1:
        call = MakeCall(Kind::kSyncEvent, call.thread, PickDevice(), -1,
                        static_cast<int64_t>(Below(program_.events.size())));
        break;
      default:
        break;
    }
    if (Attempt(call)) ReadChanged(call.thread);
  }

  // Streams, events and blocks are given back and made again.
  void Renew() {
    int64_t thread = PickThread();
    switch (Below(4)) {
      case 0: {
        auto event = static_cast<int64_t>(Below(program_.events.size()));
        int64_t device = program_.events[static_cast<size_t>(event)].device;
        for (const Call& promise : promises_) {
          if (promise.kind == Kind::kRecord && promise.object == event) return;
        }
        if (sim_->event_lives(event) && !Attempt(MakeCall(Kind::kDestroyEvent, thread, device, -1, event))) return;
        if (Chance(80)) Attempt(MakeCall(Kind::kCreateEvent, thread, device, -1, event));
        return;
      }
      case 1: {
        int64_t buffer = PickBuffer([](int64_t place) { return place >= 0; });
        if (buffer < 0) return;
        Call call = MakeCall(Kind::kFree, thread, PlaceOf(buffer));
        call.dst = buffer;
        if (!Attempt(call)) return;
        if (Chance(30)) Books();
        call.kind = Kind::kMalloc;
        Attempt(call);
        return;
      }
      default: {
        auto stream = static_cast<int64_t>(Below(program_.streams.size()));
        if (stream < program_.devices) return;
        if (sim_->stream_lives(stream) &&
            !Attempt(MakeCall(Kind::kDestroyStream, thread, DeviceOf(stream), stream))) {
          return;
        }
        ReadChanged(thread);
        if (Chance(80)) Attempt(MakeCall(Kind::kCreateStream, thread, DeviceOf(stream), stream));
      }
    }
  }

  void Books() {
    constexpr Kind kKinds[] = {Kind::kStreamsLeft, Kind::kMemoryLeft, Kind::kEventsLeft};
    Kind kind = kKinds[Below(Has(kEventBooks) ? 3 : 2)];
    Attempt(MakeCall(kind, PickThread(), PickDevice()));
  }

  void Peer() {
    constexpr Kind kKinds[] = {Kind::kPeerOpen, Kind::kPeerOpen, Kind::kPeerOpen, Kind::kPeerClose,
                               Kind::kPeerStatus};
    Call call = MakeCall(kKinds[Below(5)], PickThread(), PickDevice(), -1, PickDevice());
    Attempt(call);
  }

  void ForkOrJoin() {
    auto other = static_cast<int64_t>(1 + Below(most_threads_ - 1));
    Attempt(MakeCall(sim_->thread_lives(other) && Chance(50) ? Kind::kJoin : Kind::kFork, 0, 0, -1, other));
  }

  void Control() {
    Call call = OnStream(Kind::kHold);
    for (int tries = 0; tries < 4 && !sim_->held(call.stream); ++tries) call.stream = PickStream(call.thread);
    call.device = DeviceOf(call.stream);
    if (sim_->held(call.stream)) {
      constexpr Kind kKinds[] = {Kind::kRelease, Kind::kLand, Kind::kLand, Kind::kPending, Kind::kQueryStream};
      call.kind = kKinds[Below(5)];
    }
    Attempt(call);
  }

  // A mistake, whose code is known and which changes nothing.
  void Wrong() {
    Call call = OnStream(Kind::kCopyAsync);
    switch (Below(4)) {
      case 0:
        if (!Sides(call, false)) return;
        call.device = PickDevice();
        break;
      case 1:
        if (!Sides(call, false) || call.width < 2) return;
        call.room = call.width - 1;
        break;
      case 2:
        call.kind = Chance(50) ? Kind::kSyncStream : Kind::kQueryStream;
        call.device = PickDevice();
        break;
      default:
        call.kind = Chance(50) ? Kind::kRecord : Kind::kWait;
        call.object = static_cast<int64_t>(Below(program_.events.size()));
    }
    Interpreter next = *sim_;
    Expectation expected;
    if (next.Apply(call, &expected) && expected.code != 0) Try(call);
  }

  // --- the end

  void Finish() {
    std::vector<Call> calls;
    End(*sim_, promises_, &calls);
    promises_.clear();
    program_.calls.insert(program_.calls.end(), calls.begin(), calls.end());
    for (int d = 0; d < program_.devices; ++d) {
      if (Chance(50)) Try(MakeCall(Kind::kSyncDevice, 0, d));
    }
    for (size_t s = 0; s < program_.streams.size(); ++s) {
      auto stream = static_cast<int64_t>(s);
      if (!sim_->stream_lives(stream)) continue;
      Try(MakeCall(Kind::kSyncStream, 0, DeviceOf(stream), stream));
      Try(MakeCall(Kind::kQueryStream, 0, DeviceOf(stream), stream));
      if (sim_->subscribed(stream)) Try(MakeCall(Kind::kUnsubscribe, 0, DeviceOf(stream), stream));
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (sim_->buffer_lives(static_cast<int64_t>(b))) Try(MakeRead(0, static_cast<int64_t>(b)));
    }
    for (size_t e = 0; e < program_.events.size(); ++e) {
      if (Chance(30)) Try(MakeCall(Kind::kQueryEvent, 0, 0, -1, static_cast<int64_t>(e)));
    }
    for (int d = 0; d < program_.devices; ++d) {
      Try(MakeCall(Kind::kStreamsLeft, 0, d));
      Try(MakeCall(Kind::kMemoryLeft, 0, d));
      if (Has(kEventBooks)) Try(MakeCall(Kind::kEventsLeft, 0, d));
    }
  }

  const unsigned features_;
  std::mt19937_64 random_;
  Program program_;
  Interpreter* sim_ = nullptr;
  size_t most_threads_ = 1;
  int64_t signals_ = 0;
  std::vector<Call> promises_;
  std::vector<uint32_t> seen_;
  std::vector<Propose> menu_;
};

}  // namespace

Program Generate(uint64_t seed, unsigned features) {
  return Generator(seed, features).Make();
}

}  // namespace model
