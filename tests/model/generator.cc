// Proposes random calls; the builder keeps those that leave the program one outcome.
#include "generator.h"

#include <algorithm>
#include <iterator>

#include "builder.h"

namespace model {
namespace {

int64_t CopyKind(int64_t to, int64_t from) {
  return from < 0 ? (to < 0 ? 0 : 1) : (to < 0 ? 2 : 3);
}

class Generator : private Builder {
 public:
  Generator(uint64_t seed, unsigned features) : Builder(seed, features) {}

  Program Make() {
    Weigh();
    const size_t calls = 5 + Below(56);
    for (int tries = 0; program_.calls.size() < calls && tries < 200; ++tries) Step();
    Finish();
    return std::move(program_);
  }

 private:
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
    Call call =
        asynchronous ? OnStream(Kind::kCopy2dAsync) : MakeCall(Kind::kCopy2d, PickThread(), PickDevice());
    if (!Sides(call, false) || call.flag == 0 || call.flag == 3) return;
    const int64_t most = std::min(SizeOf(call.dst), SizeOf(call.src));
    call.width = 1 + static_cast<int64_t>(Below(static_cast<size_t>(std::min<int64_t>(most, 80))));
    call.height =
        1 + static_cast<int64_t>(Below(static_cast<size_t>(std::min<int64_t>(most / call.width, 24))));
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
      if (seen_[b] == sim_.changes(buffer) || !sim_.buffer_lives(buffer)) continue;
      if (Try(MakeRead(thread, buffer))) seen_[b] = sim_.changes(buffer);
    }
  }

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
    if (call.object < 0 || !Attempt(call) || sim_.flag_set(call.object)) return;
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
        if (call.object < 0 || promise.device != device || sim_.flag_set(call.object)) return;
        break;
      case 1:
        call.kind = Kind::kWaitNotify;
        promise.kind = Kind::kRecordNotify;
        call.object = promise.object = PickNotify(device);
        if (call.object < 0 || sim_.posted(call.object)) return;
        break;
      default: {
        call.kind = Kind::kValueWait;
        promise.kind = Kind::kValueWrite;
        call.object = promise.object = -1;
        call.dst = promise.dst = PickWords(device);
        if (call.dst < 0 || promise.device != device) return;
        call.dst_at = promise.dst_at = 8 * static_cast<int64_t>(Below(2));
        uint64_t now = sim_.word(call.dst, call.dst_at);
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
      Call look = MakeCall(Chance(70) ? Kind::kQueryStream : Kind::kPollStream, wait.thread, wait.device,
                           wait.stream);
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
    uint64_t now = sim_.word(call.dst, call.dst_at);
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
    if (!sim_.subscribed(call.stream) && Chance(95)) {
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
        if (sim_.event_lives(event) && !Attempt(MakeCall(Kind::kDestroyEvent, thread, device, -1, event)))
          return;
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
        if (sim_.stream_lives(stream) &&
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
    Attempt(MakeCall(sim_.thread_lives(other) && Chance(50) ? Kind::kJoin : Kind::kFork, 0, 0, -1, other));
  }

  void Control() {
    Call call = OnStream(Kind::kHold);
    for (int tries = 0; tries < 4 && !sim_.held(call.stream); ++tries) call.stream = PickStream(call.thread);
    call.device = DeviceOf(call.stream);
    if (sim_.held(call.stream)) {
      constexpr Kind kKinds[] = {Kind::kRelease, Kind::kLand, Kind::kLand, Kind::kPending,
                                 Kind::kQueryStream};
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
    Interpreter next = sim_;
    Expectation expected;
    if (next.Apply(call, &expected) && expected.code != 0) Try(call);
  }

  // --- the end

  void Finish() {
    std::vector<Call> calls;
    End(sim_, promises_, &calls);
    promises_.clear();
    program_.calls.insert(program_.calls.end(), calls.begin(), calls.end());
    for (int d = 0; d < program_.devices; ++d) {
      if (Chance(50)) Try(MakeCall(Kind::kSyncDevice, 0, d));
    }
    for (size_t s = 0; s < program_.streams.size(); ++s) {
      auto stream = static_cast<int64_t>(s);
      if (!sim_.stream_lives(stream)) continue;
      Try(MakeCall(Kind::kSyncStream, 0, DeviceOf(stream), stream));
      Try(MakeCall(Kind::kQueryStream, 0, DeviceOf(stream), stream));
      if (sim_.subscribed(stream)) Try(MakeCall(Kind::kUnsubscribe, 0, DeviceOf(stream), stream));
    }
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (sim_.buffer_lives(static_cast<int64_t>(b))) Try(MakeRead(0, static_cast<int64_t>(b)));
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

  std::vector<uint32_t> seen_;
  std::vector<Propose> menu_;
};

}  // namespace

Program Generate(uint64_t seed, unsigned features) {
  return Generator(seed, features).Make();
}

}  // namespace model
