#pragma once
// One random program: a few calls of one host thread, which follow from its number alone.
#include <acl/acl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "world.h"

namespace order {

inline constexpr int kFewestSteps = 8, kMostSteps = 60;

struct Box {
  uint8_t* at;
  size_t pitch, width, rows;
};

inline void Empty(void*) {}

// Programs and their steps; step -1 is the whole program.
using Skipped = std::set<std::pair<uint64_t, int>>;

class Program {
 public:
  Program(World& world, uint64_t number, bool queries)
      : world_(world), progress_(world.progress), number_(number), random_(number), queries_(queries) {}

  void Run(const Skipped& skipped) {
    const int steps = random_.Between(kFewestSteps, kMostSteps);
    for (int step = 0; step < steps; ++step) {
      if (skipped.contains({number_, step})) continue;
      random_ = Random(number_ * kMostSteps + static_cast<uint64_t>(step) + 1);
      Step();
    }
    LetEverythingGoOn();
    for (int device : world_.devices) SynchroniseDevice(device);
    Renew();
  }

 private:
  // One call, perhaps preceded by the selection of its device; none where what was drawn may not be done.
  bool Step() {
    const int draw = random_.Below(100);
    if (draw < 22) return Copy(false, false);
    if (draw < 27) return Copy(false, true);
    if (draw < 31) return Copy(true, false);
    if (draw < 33) return Copy(true, true);
    if (draw < 40) return Fill(false);
    if (draw < 42) return Fill(true);
    if (draw < 50) return RecordSnapshot();
    if (draw < 58) return WaitSnapshot();
    if (draw < 61) return RecordFlag(AnyStream());
    if (draw < 64) return WaitFlag();
    if (draw < 65) return ResetFlag();
    if (draw < 68) return RecordNotify(AnyStream());
    if (draw < 71) return WaitNotify();
    if (draw < 74) return WriteWord(AnyStream());
    if (draw < 77) return WaitWord();
    if (draw < 80) return SynchroniseEvent();
    if (draw < 83) return SynchroniseStream();
    if (draw < 84) return SynchroniseDevice(random_.One(world_.devices));
    if (draw < 86) return DestroyOrMakeStream();
    if (draw < 87) return random_.Percent(50) ? RenewEvent() : OverwriteWord();
    if (draw < 88) return RenewBlock();
    if (draw < 89) return AbortStream();
    if (!queries_) return false;
    if (draw < 94) return QueryEvent();
    if (draw < 97) return QueryStream();
    return LaunchHostFunction();
  }

  Stream& AnyStream() { return random_.One(world_.streams); }

  // --- Copies and fills ---

  Box AnyBox(const Block& block, bool two_dimensional, size_t width, size_t rows) {
    const size_t unit = random_.Percent(70) ? 8 : 1;
    Box box{block.bytes, width, width, rows};
    if (two_dimensional) box.pitch += static_cast<size_t>(random_.Between(0, 3)) * unit;
    const size_t extent = (rows - 1) * box.pitch + width;
    box.at += static_cast<size_t>(random_.Below(static_cast<int>((block.size - extent) / unit) + 1)) * unit;
    return box;
  }

  bool Copy(bool synchronous, bool two_dimensional) {
    // The words are never written by a copy: waits need their values.
    const bool words = !two_dimensional && random_.Percent(8);
    Block& from = random_.One(words ? world_.word_blocks : world_.blocks);
    Block& to = random_.One(world_.blocks);
    const bool from_device = from.place == Place::kDevice, to_device = to.place == Place::kDevice;
    if (!from_device && !to_device && (!synchronous || two_dimensional)) return false;
    if (from_device && to_device && two_dimensional) return false;
    const aclrtMemcpyKind kind = from_device
                                     ? (to_device ? ACL_MEMCPY_DEVICE_TO_DEVICE : ACL_MEMCPY_DEVICE_TO_HOST)
                                 : to_device ? ACL_MEMCPY_HOST_TO_DEVICE
                                             : ACL_MEMCPY_HOST_TO_HOST;
    const bool inferred = !two_dimensional && random_.Percent(10);
    // The call takes the bytes.
    const bool staged =
        kind == ACL_MEMCPY_HOST_TO_DEVICE && !synchronous && !two_dimensional && random_.Percent(20);
    Stream& stream = AnyStream();
    const bool waits =
        !synchronous && !staged && (from.place == Place::kPageable || to.place == Place::kPageable);
    if (waits && !progress_.Ends(stream.progress)) return false;

    const size_t unit = random_.Percent(70) ? 8 : 1;
    const size_t rows = two_dimensional ? static_cast<size_t>(random_.Between(1, 5)) : 1;
    const size_t width = static_cast<size_t>(random_.Between(1, words ? 2 : two_dimensional ? 3 : 12)) * unit;
    const Box source = AnyBox(from, two_dimensional, width, rows);
    const Box target = AnyBox(to, two_dimensional, width, rows);
    world_.Select(synchronous ? random_.One(world_.devices) : stream.device);
    if (synchronous && two_dimensional) {
      OK(aclrtMemcpy2d(target.at, target.pitch, source.at, source.pitch, width, rows, kind));
    } else if (synchronous) {
      OK(aclrtMemcpy(target.at, width, source.at, width, inferred ? ACL_MEMCPY_DEFAULT : kind));
    } else if (two_dimensional) {
      OK(aclrtMemcpy2dAsync(target.at, target.pitch, source.at, source.pitch, width, rows, kind,
                            stream.handle));
    } else {
      const aclrtMemcpyKind asked = staged     ? ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE
                                    : inferred ? ACL_MEMCPY_DEFAULT
                                               : kind;
      OK(aclrtMemcpyAsync(target.at, width, source.at, width, asked, stream.handle));
    }
    if (!synchronous) {
      const Mark task = progress_.Add(stream.progress);
      from.uses.push_back(task);
      to.uses.push_back(task);
    }
    if (waits) progress_.Waited(stream.progress);
    return true;
  }

  bool Fill(bool synchronous) {
    Block& block = random_.One(world_.blocks);
    if (block.place == Place::kPageable) return false;
    const size_t width = static_cast<size_t>(random_.Between(1, 100));
    const Box target = AnyBox(block, false, width, 1);
    if (synchronous) {
      OK(aclrtMemset(target.at, width, 1, width));
      return true;
    }
    Stream& stream = AnyStream();
    world_.Select(stream.device);
    OK(aclrtMemsetAsync(target.at, width, 1, width, stream.handle));
    block.uses.push_back(progress_.Add(stream.progress));
    return true;
  }

  // Another block in its place. Its tasks are over.
  bool RenewBlock() {
    Block& block = random_.One(world_.blocks);
    if (block.place == Place::kPageable) return false;
    const auto over = [&](const Mark& use) { return progress_.Over(use); };
    if (!std::all_of(block.uses.begin(), block.uses.end(), over)) {
      for (int device : world_.devices) SynchroniseDevice(device);
      if (!std::all_of(block.uses.begin(), block.uses.end(), over)) return false;
    }
    const uint8_t* before = block.bytes;
    if (block.place == Place::kPinned) {
      World::Free(block);
    } else {
      if (random_.Percent(70)) WriteByTheWay(block);
      world_.Select(block.device);
      if (EverythingEnds(block.device) && random_.Percent(50)) {
        OK(aclrtFreeWithDevSync(block.bytes));
        EverythingKnown(block.device);
      } else {
        World::Free(block);
      }
    }
    block.bytes = World::Allocate(block);
    // A freed address rests until many others were freed.
    const int attempts = random_.Percent(20) ? kMostThatRest : 0;
    for (int i = 0; i < attempts && block.bytes != before; ++i) {
      World::Free(block);
      block.bytes = World::Allocate(block);
    }
    block.uses.clear();
    return true;
  }

  // A copy that is over when its call returns, though no rule says so.
  void WriteByTheWay(Block& block) {
    Stream& stream = AnyStream();
    if (!progress_.Ends(stream.progress)) return;
    const Block& source = world_.blocks.back();
    world_.Select(stream.device);
    OK(aclrtMemcpyAsync(block.bytes, block.size, source.bytes, block.size, ACL_MEMCPY_HOST_TO_DEVICE,
                        stream.handle));
    block.uses.push_back(progress_.Add(stream.progress));
    progress_.Waited(stream.progress);
  }

  // --- Events ---

  bool RecordSnapshot() {
    SnapshotEvent& event = random_.One(world_.events);
    Stream& stream = AnyStream();
    if (event.device != stream.device) return false;
    world_.Select(stream.device);
    OK(aclrtRecordEvent(event.handle, stream.handle));
    event.record = progress_.Record(stream.progress);
    return true;
  }

  bool WaitSnapshot() {
    SnapshotEvent& event = random_.One(world_.events);
    Stream& stream = AnyStream();
    if (event.device != stream.device) return false;
    world_.Select(stream.device);
    OK(aclrtStreamWaitEvent(stream.handle, event.handle));
    if (event.record) {
      progress_.WaitForTask(stream.progress, *event.record);
    } else {
      progress_.Add(stream.progress);
    }
    return true;
  }

  bool RecordFlag(Stream& stream) { return RecordFlag(random_.One(world_.flags), stream); }

  bool RecordFlag(FlagEvent& flag, Stream& stream) {
    if (flag.device != stream.device) return false;
    if (flag.reset && flag.reset->stream != stream.progress && !progress_.Known(*flag.reset)) return false;
    world_.Select(stream.device);
    OK(aclrtRecordEvent(flag.handle, stream.handle));
    flag.record = progress_.Set(stream.progress, flag.signal);
    flag.uses.push_back(*flag.record);
    return true;
  }

  bool WaitFlag() {
    FlagEvent& flag = random_.One(world_.flags);
    Stream& stream = AnyStream();
    if (flag.device != stream.device) return false;
    // Else the record that this wait needs may find no stream that is behind the reset and not behind the
    // wait.
    if (flag.reset && !progress_.Known(*flag.reset) && !flag.record) return false;
    world_.Select(stream.device);
    OK(aclrtStreamWaitEvent(stream.handle, flag.handle));
    flag.uses.push_back(progress_.Wait(stream.progress, flag.signal));
    return true;
  }

  bool ResetFlag() {
    FlagEvent& flag = random_.One(world_.flags);
    Stream& stream = AnyStream();
    if (flag.device != stream.device || !progress_.Ends(stream.progress)) return false;
    if (flag.reset && flag.reset->stream != stream.progress && !progress_.Known(*flag.reset)) return false;
    if (!std::all_of(flag.uses.begin(), flag.uses.end(), [&](const Mark& use) {
          return use.stream == stream.progress || progress_.Known(use);
        })) {
      return false;
    }
    world_.Select(stream.device);
    OK(aclrtResetEvent(flag.handle, stream.handle));
    flag.reset = progress_.Clear(stream.progress, flag.signal);
    flag.record.reset();
    flag.uses.clear();
    return true;
  }

  bool RenewEvent() {
    SnapshotEvent& event = random_.One(world_.events);
    OK(aclrtDestroyEvent(event.handle));
    event = world_.MakeEvent(event.device, event.ex);
    return true;
  }

  // --- Notifies and words ---

  bool RecordNotify(Stream& stream) { return RecordNotify(random_.One(world_.notifies), stream); }

  bool RecordNotify(Notify& notify, Stream& stream) {
    CloseRound(notify);
    world_.Select(stream.device);
    OK(aclrtRecordNotify(notify.handle, stream.handle));
    notify.used_up |= notify.record.has_value();
    notify.record = progress_.Set(stream.progress, notify.signal);
    return true;
  }

  bool WaitNotify() {
    Notify& notify = random_.One(world_.notifies);
    Stream& stream = AnyStream();
    CloseRound(notify);
    if (notify.wait || notify.device != stream.device) return false;
    world_.Select(stream.device);
    OK(aclrtWaitAndResetNotify(notify.handle, stream.handle, 0));
    notify.wait = progress_.WaitAndClear(stream.progress, notify.signal);
    return true;
  }

  void CloseRound(Notify& notify) {
    if (notify.used_up || !notify.wait || !notify.record) return;
    if (!progress_.Known(*notify.wait) || !progress_.Known(*notify.record)) return;
    notify.wait.reset();
    notify.record.reset();
  }

  bool WriteWord(Stream& stream) { return WriteWord(random_.One(world_.words), stream); }

  bool WriteWord(Word& word, Stream& stream) {
    CloseRound(word);
    const uint64_t value = word.equal.value_or(word.base + static_cast<uint64_t>(random_.Below(4)));
    world_.Select(stream.device);
    OK(aclrtValueWrite(word.at, value, 0, stream.handle));
    word.uses.push_back(progress_.Set(stream.progress, word.signal));
    // Writes of two values forbid waits for one.
    word.written = word.written.value_or(value) == value ? value : word.base + kNeverEqual;
    return true;
  }

  bool WaitWord() {
    Word& word = random_.One(world_.words);
    Stream& stream = AnyStream();
    CloseRound(word);
    const bool equal = word.equal || random_.Percent(20);
    if (equal && word.written == word.base + kNeverEqual) return false;
    if (equal && !word.equal) word.equal = word.written.value_or(word.base + 1);
    world_.Select(stream.device);
    OK(aclrtValueWait(word.at, equal ? *word.equal : word.base,
                      equal ? ACL_STREAM_WAIT_VALUE_EQ : ACL_STREAM_WAIT_VALUE_GEQ, stream.handle));
    word.uses.push_back(progress_.Wait(stream.progress, word.signal));
    return true;
  }

  // Satisfies the waits of the word, but by no task: they pass without an order.
  bool OverwriteWord() {
    Word& word = random_.One(world_.words);
    if (word.equal) return false;
    OK(aclrtMemset(word.at, sizeof(*word.at), kLarge, sizeof(*word.at)));
    word.overwritten = true;
    word.written = word.base + kNeverEqual;
    progress_.SetByHost(word.signal, true);
    return true;
  }

  void CloseRound(Word& word) {
    if (word.uses.empty() || word.overwritten) return;
    if (!std::all_of(word.uses.begin(), word.uses.end(),
                     [&](const Mark& use) { return progress_.Known(use); }))
      return;
    NextRound(word);
  }

  void NextRound(Word& word) {
    word.base += kRoundStep;
    word.equal.reset();
    word.written.reset();
    word.uses.clear();
    progress_.SetByHost(word.signal, false);
  }

  // --- The host waits or asks ---

  bool SynchroniseEvent() {
    const int draw = random_.Below(static_cast<int>(world_.events.size() + world_.flags.size()));
    const auto index = static_cast<size_t>(draw);
    const bool snapshot = index < world_.events.size();
    const auto& record =
        snapshot ? world_.events[index].record : world_.flags[index - world_.events.size()].record;
    aclrtEvent handle =
        snapshot ? world_.events[index].handle : world_.flags[index - world_.events.size()].handle;
    if (!record || !progress_.Ends(*record)) return false;
    if (random_.Percent(80)) {
      OK(aclrtSynchronizeEvent(handle));
    } else {
      OK(aclrtSynchronizeEventWithTimeout(handle, -1));
    }
    return true;
  }

  bool SynchroniseStream() {
    Stream& stream = AnyStream();
    if (!progress_.Ends(stream.progress)) return false;
    world_.Select(stream.device);
    if (random_.Percent(80)) {
      OK(aclrtSynchronizeStream(stream.handle));
    } else {
      OK(aclrtSynchronizeStreamWithTimeout(stream.handle, -1));
    }
    progress_.Synchronised(stream.progress);
    return true;
  }

  bool SynchroniseDevice(int device) {
    if (!EverythingEnds(device)) return false;
    world_.Select(device);
    OK(aclrtSynchronizeDevice());
    EverythingKnown(device);
    return true;
  }

  bool EverythingEnds(int device) const {
    for (const std::vector<Stream>& list : {world_.streams, world_.spare}) {
      for (const Stream& stream : list) {
        if (stream.device == device && !progress_.Ends(stream.progress)) return false;
      }
    }
    return true;
  }

  void EverythingKnown(int device) {
    for (const std::vector<Stream>& list : {world_.streams, world_.spare}) {
      for (const Stream& stream : list) {
        if (stream.device == device) progress_.Synchronised(stream.progress);
      }
    }
  }

  bool AbortStream() {
    Stream& stream = AnyStream();
    if (stream.handle == nullptr || !progress_.MayAbort(stream.progress)) return false;
    world_.Select(stream.device);
    OK(aclrtStreamAbort(stream.handle));
    progress_.Abort(stream.progress);
    return true;
  }

  bool DestroyOrMakeStream() {
    if (world_.streams.size() < 4 && random_.Percent(50)) {
      world_.streams.push_back(world_.MakeStream(random_.One(world_.devices)));
      return true;
    }
    Stream& stream = AnyStream();
    if (stream.handle == nullptr || !progress_.Ends(stream.progress)) return false;
    world_.Select(stream.device);
    OK(aclrtDestroyStream(stream.handle));
    progress_.Synchronised(stream.progress);
    world_.streams.erase(world_.streams.begin() + (&stream - world_.streams.data()));
    return true;
  }

  bool QueryEvent() {
    if (random_.Percent(25)) {
      aclrtEventRecordedStatus status;
      OK(aclrtQueryEventStatus(random_.One(world_.flags).handle, &status));
      return true;
    }
    SnapshotEvent& event = random_.One(world_.events);
    if (!event.ex && random_.Percent(20)) {
      aclrtEventWaitStatus status;
      OK(aclrtQueryEventWaitStatus(event.handle, &status));
      return true;
    }
    if (!event.ex && random_.Percent(30)) {
      aclrtEventStatus status;
      OK(aclrtQueryEvent(event.handle, &status));
      return true;
    }
    aclrtEventRecordedStatus status;
    OK(aclrtQueryEventStatus(event.handle, &status));
    return true;
  }

  bool QueryStream() {
    Stream& stream = AnyStream();
    world_.Select(stream.device);
    aclrtStreamStatus status;
    OK(aclrtStreamQuery(stream.handle, &status));
    return true;
  }

  bool LaunchHostFunction() {
    Stream& stream = AnyStream();
    world_.Select(stream.device);
    OK(aclrtLaunchHostFunc(stream.handle, Empty, nullptr));
    progress_.Add(stream.progress);
    return true;
  }

  // --- The end ---

  // Gives every wait what it still lacks, from a stream that does not wait itself.
  void LetEverythingGoOn() {
    for (bool blocked = true; blocked;) {
      blocked = false;
      bool helped = false;
      for (const Stream& stream : world_.streams) {
        const std::optional<int> signal = progress_.BlockedBy(stream.progress);
        blocked |= signal.has_value();
        if (signal && (helped = Satisfy(*signal, stream.device))) break;
      }
      if (blocked && !helped) {
        std::fprintf(stderr, "random_programs: a wait that nothing may satisfy\n");
        std::_Exit(1);
      }
    }
  }

  bool Satisfy(int signal, int device) {
    Stream* from = nullptr;
    for (Stream& stream : world_.streams) {
      if (stream.device == device && progress_.Ends(stream.progress)) from = &stream;
    }
    for (Stream& stream : world_.spare) {
      if (from == nullptr && stream.device == device) from = &stream;
    }
    for (Notify& notify : world_.notifies) {
      if (notify.signal == signal) return RecordNotify(notify, *from);
    }
    for (FlagEvent& flag : world_.flags) {
      if (flag.signal == signal) return RecordFlag(flag, *from);
    }
    for (Word& word : world_.words) {
      if (word.signal == signal) return WriteWord(word, *from);
    }
    return false;
  }

  // The log does not tell which notifies aclrtNotifyBatchReset clears, so those that may be set are replaced.
  void Renew() {
    for (Notify& notify : world_.notifies) {
      CloseRound(notify);
      if (!notify.record) continue;
      OK(aclrtDestroyNotify(notify.handle));
      notify = world_.MakeNotify(notify.device);
    }
    for (Word& word : world_.words) {
      if (word.overwritten) OK(aclrtMemset(word.at, sizeof(*word.at), 0, sizeof(*word.at)));
      word.overwritten = false;
      NextRound(word);
    }
    for (FlagEvent& flag : world_.flags) flag.uses.clear();
  }

  static constexpr uint64_t kNeverEqual = 7, kRoundStep = 8;
  static constexpr int32_t kLarge = 0x7f;
  static constexpr int kMostThatRest = 200;

  World& world_;
  Progress& progress_;
  const uint64_t number_;
  Random random_;
  const bool queries_;
};

}  // namespace order
