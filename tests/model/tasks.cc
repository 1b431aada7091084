// What happens when a task reaches the head of its stream, and which accesses are ordered.
#include <algorithm>

#include "interpreter.h"

namespace model {
namespace {

bool IsHostPlace(int64_t place) {
  return place < 0;
}

}  // namespace

// SPEC 34 §5
bool Holds(int64_t flag, uint64_t word, uint64_t value) {
  switch (flag) {
    case 0:
      return static_cast<int64_t>(word - value) >= 0;
    case 1:
      return word == value;
    case 2:
      return (word & value) != 0;
    default:
      return ~(word | value) != 0;
  }
}

void Interpreter::Refuse(Reason reason, int actor) {
  if (verdict_) verdict_ = {reason, actor};
}

Interpreter::Access Interpreter::Mark(const Clock& clock, int actor) {
  return {0, 0, 0, clock[actor], static_cast<uint8_t>(actor), Mode::kWrite};
}

bool Interpreter::After(const Access& access, const Clock& clock) {
  if (clock[access.actor] >= access.time) return true;
  Refuse(Reason::kRace, access.actor);
  return false;
}

bool Interpreter::AfterAll(const std::vector<Access>& accesses, const Clock& clock) {
  return std::all_of(accesses.begin(), accesses.end(), [&](const Access& a) { return After(a, clock); });
}

void Interpreter::Touch(int key, int64_t low, int64_t high, Mode mode, const Clock& clock, int actor) {
  for (const Access& access : accesses_) {
    if (access.object != key || access.high <= low || high <= access.low) continue;
    if (access.mode == mode && mode != Mode::kWrite) continue;
    if (!After(access, clock)) return;
  }
  accesses_.push_back({key, static_cast<int32_t>(low), static_cast<int32_t>(high), clock[actor],
                       static_cast<uint8_t>(actor), mode});
  int block = key - Key(kBytes, 0);
  if (mode == Mode::kWrite && block >= 0 && block < static_cast<int>(block_buffer_.size())) {
    ++changes_[Index(block_buffer_[Index(block)])];
  }
}

void Interpreter::HostTouch(int key, Mode mode, const Call& call) {
  Touch(key, 0, 1, mode, clock_of(call), ThreadActor(call.thread));
}

// Rows that are far apart are separate accesses: what lies between them belongs to others.
void Interpreter::TouchRows(int block, int64_t at, int64_t pitch, const Call& call, Mode mode,
                            const Clock& clock, int actor) {
  if (call.height == 1 || pitch == call.width) {
    return Touch(Key(kBytes, block), at, at + call.width * call.height, mode, clock, actor);
  }
  for (int64_t row = 0; row < call.height && verdict_; ++row) {
    Touch(Key(kBytes, block), at + row * pitch, at + row * pitch + call.width, mode, clock, actor);
  }
}

Interpreter::Word& Interpreter::WordAt(int64_t buffer, int64_t at) {
  for (Word& word : words_) {
    if (word.buffer == buffer && word.at == at) return word;
  }
  return words_.emplace_back(Word{buffer, at, {}, {}});
}

uint64_t Interpreter::word(int64_t buffer, int64_t at) const {
  for (const Word& word : words_) {
    if (word.buffer == buffer && word.at == at && !word.writes.empty()) return word.writes.back().value;
  }
  return 0;
}

void Interpreter::Run() {
  bool progress = true;
  while (progress && verdict_) {
    progress = false;
    for (size_t s = 0; s < streams_.size() && verdict_; ++s) {
      Stream& stream = streams_[s];
      size_t ran = 0;
      if (stream.held) continue;
      while (ran < stream.queue.size() && verdict_ && TryRun(static_cast<int64_t>(s), stream.queue[ran]))
        ++ran;
      stream.queue.erase(stream.queue.begin(), stream.queue.begin() + static_cast<long>(ran));
      progress = progress || ran != 0;
    }
  }
}

// False when it has to wait.
bool Interpreter::TryRun(int64_t index, Task& task) {
  Stream& stream = streams_[Index(index)];
  const int actor = StreamActor(index);
  Clock clock = stream.last;
  clock.Join(task.submitted);
  clock[actor] = task.time;
  switch (task.call.kind) {
    case Kind::kWait:
      if (!RunWait(task, clock)) return false;
      break;
    case Kind::kRecord:
    case Kind::kReset:
      if (!RunFlagTask(task, clock, actor)) return false;
      break;
    case Kind::kRecordNotify:
    case Kind::kWaitNotify:
      if (!RunNotifyTask(task, clock, actor)) return false;
      break;
    case Kind::kValueWrite:
    case Kind::kValueWait:
      if (!RunValueTask(task, clock, actor)) return false;
      break;
    case Kind::kCallback:
      if (task.call.flag == 0) {  // the body runs beside the stream
        const int body = BodyActor(index);
        Clock own = clock;
        own.Join(stream.last_body);
        own[body] = ++stream.bodies;
        RunBytes(task, own, body);
        stream.last_body = own;
        break;
      }
      RunBytes(task, clock, actor);
      break;
    default:
      RunBytes(task, clock, actor);
  }
  stream.last = clock;
  return true;
}

// SPEC 20 §4.2
bool Interpreter::RunWait(Task& task, Clock& clock) {
  const int actor = StreamActor(task.call.stream);
  Event& event = events_[Index(task.call.object)];
  if (event.spec.kind == EventKind::kFlag) {
    if (!event.set) return false;
    // Whether it saw this setting of the bit or an earlier one must not depend on the schedule.
    if (!AfterAll(event.resets, clock)) return true;
    clock.Join(event.first);
    event.waits_ran.push_back(Mark(clock, actor));
    ++event.waits_done;
    event.waited[actor] = std::max(event.waited[actor], clock[actor]);
    return true;
  }
  if (task.record < 0) return true;
  Record& record = records_[Index(task.record)];
  if (!record.done) return false;
  clock.Join(record.clock);
  ++record.waits_done;
  if (task.early) --record.early;
  record.waited[actor] = std::max(record.waited[actor], clock[actor]);
  if (task.life != event.life) return true;  // destroyed in the meantime
  ++event.waits_done;
  event.waited[actor] = std::max(event.waited[actor], clock[actor]);
  return true;
}

bool Interpreter::RunFlagTask(Task& task, Clock& clock, int actor) {
  Event& event = events_[Index(task.call.object)];
  if (task.call.kind == Kind::kRecord) {
    Record& record = records_[Index(task.record)];
    record.done = true;
    record.clock = clock;
    record.clock[actor] = static_cast<uint16_t>(task.time - 1);  // H7: it tells of the tasks before it
    if (event.spec.kind != EventKind::kFlag) return true;
    if (!AfterAll(event.resets, clock)) return true;
    // Whoever set the bit is what its waits are ordered after, so a second record comes after the first.
    if (!event.records.empty() && !After(event.records.front(), clock)) return true;
    if (!event.set) event.first = record.clock;
    event.set = true;
    event.records.push_back(Mark(clock, actor));
    Touch(Key(kBit, task.call.object), 0, 1, Mode::kAdd, clock, actor);
    return true;
  }
  if (!AfterAll(event.records, clock) || !AfterAll(event.waits_ran, clock) ||
      !AfterAll(event.resets, clock)) {
    return true;
  }
  Touch(Key(kBit, task.call.object), 0, 1, Mode::kAdd, clock, actor);
  event.set = false;
  event.records.clear();
  event.waits_ran.clear();
  event.resets.assign(1, Mark(clock, actor));
  return true;
}

// SPEC 20 §5: one record releases one wait.
bool Interpreter::RunNotifyTask(Task& task, Clock& clock, int actor) {
  Notify& notify = notifies_[Index(task.call.object)];
  if (task.call.kind == Kind::kRecordNotify) {
    if (!AfterAll(notify.records, clock) || !AfterAll(notify.waits, clock)) return true;
    if (!notify.set) {
      notify.first = clock;
      notify.first[actor] = static_cast<uint16_t>(task.time - 1);
    }
    notify.set = true;
    notify.records.push_back(Mark(clock, actor));
    Touch(Key(kNotify, task.call.object), 0, 1, Mode::kAdd, clock, actor);
    return true;
  }
  if (!notify.set) return false;
  // It takes the first record; later ones that it might take instead must be ordered before it.
  for (size_t i = 0; i < notify.records.size(); ++i) {
    if (i != notify.consumed && !After(notify.records[i], clock)) return true;
  }
  if (!AfterAll(notify.waits, clock)) return true;
  clock.Join(notify.first);
  notify.set = false;
  notify.consumed = notify.records.size();
  notify.waits.push_back(Mark(clock, actor));
  return true;
}

bool Interpreter::RunValueTask(Task& task, Clock& clock, int actor) {
  const Call& call = task.call;
  Word& word = WordAt(call.dst, call.dst_at);
  if (call.kind == Kind::kValueWrite) {
    for (const WordWrite& write : word.writes) {
      if (!After(write.access, clock)) return true;
    }
    auto value = static_cast<uint64_t>(call.value);
    for (const WordWait& wait : word.waits) {
      if (!Holds(wait.flag, value, wait.value) && !After(wait.access, clock)) return true;
    }
    Touch(Key(kBytes, task.dst), call.dst_at, call.dst_at + 8, Mode::kWrite, clock, actor);
    Touch(Key(kWord, call.dst * 64 + call.dst_at / 8), 0, 1, Mode::kAdd, clock, actor);
    if (!verdict_) return true;
    WordWrite write{value, Mark(clock, actor), clock};
    write.clock[actor] = static_cast<uint16_t>(task.time - 1);
    word.writes.push_back(write);
    if (with_bytes_) MoveBytes(task);
    return true;
  }
  auto value = static_cast<uint64_t>(call.value);
  uint64_t now = word.writes.empty() ? 0 : word.writes.back().value;
  if (!Holds(call.flag, now, value)) return false;
  // The writes are in one order. Of those that this wait may see, one makes it pass and none after it may
  // undo that.
  size_t known = word.writes.size();
  while (known > 0 && clock[word.writes[known - 1].access.actor] < word.writes[known - 1].access.time)
    --known;
  uint64_t seen = known == 0 ? 0 : word.writes[known - 1].value;
  bool passed = Holds(call.flag, seen, value);
  for (size_t i = known; i < word.writes.size(); ++i) {
    bool holds = Holds(call.flag, word.writes[i].value, value);
    if (passed && !holds) {
      Refuse(Reason::kRace, word.writes[i].access.actor);
      return true;
    }
    if (!passed && holds) clock.Join(word.writes[i].clock);
    passed = passed || holds;
  }
  word.waits.push_back({call.flag, value, Mark(clock, actor)});
  return true;
}

void Interpreter::RunBytes(const Task& task, const Clock& clock, int actor) {
  const Call& call = task.call;
  const int64_t executor = streams_[Index(call.stream)].device;
  if (task.src >= 0 && task.staged.empty()) {
    TouchRows(task.src, call.src_at, call.src_pitch, call, Mode::kRead, clock, actor);
  }
  TouchRows(task.dst, call.dst_at, call.dst_pitch, call, Mode::kWrite, clock, actor);
  // SPEC 32 §2.3: a direction is looked at again when the task runs.
  for (int block : {task.dst, task.src}) {
    if (block < 0) continue;
    int64_t owner = program_->buffers[Index(block_buffer_[Index(block)])].place;
    if (IsHostPlace(owner) || owner == executor) continue;
    Touch(PeerKey(executor, owner), 0, 1, Mode::kRead, clock, actor);
  }
  if (with_bytes_ && verdict_) MoveBytes(task);
}

void Interpreter::MoveBytes(const Task& task) {
  const Call& call = task.call;
  std::vector<uint8_t>& to = bytes_[Index(task.dst)];
  for (int64_t row = 0; row < call.height; ++row) {
    uint8_t* out = &to[Index(call.dst_at + row * call.dst_pitch)];
    const uint8_t* in = nullptr;
    if (!task.staged.empty()) {
      in = task.staged.data();
    } else if (task.src >= 0) {
      in = &bytes_[Index(task.src)][Index(call.src_at + row * call.src_pitch)];
    }
    switch (call.kind) {
      case Kind::kValueWrite:
        for (int i = 0; i < 8; ++i)
          out[i] = static_cast<uint8_t>(static_cast<uint64_t>(call.value) >> (8 * i));
        return;
      case Kind::kFill:
      case Kind::kFillAsync:
      case Kind::kHostWrite:
        std::fill(out, out + call.width, static_cast<uint8_t>(call.value));
        break;
      case Kind::kHostFunc:
      case Kind::kCallback:
        for (int64_t i = 0; i < call.width; ++i) out[i] = static_cast<uint8_t>(in[i] + call.value);
        break;
      default:
        std::copy(in, in + call.width, out);
    }
  }
}

// Whether the task at the head of a held stream can go on. Not certain: that depends on the schedule.
bool Interpreter::WouldPass(const Task& task, int64_t thread, bool& certain) {
  certain = true;
  const Call& call = task.call;
  auto known = [&](const Access& access) { return Knows(thread, access.actor, access.time); };
  switch (call.kind) {
    case Kind::kWait: {
      const Event& event = events_[Index(call.object)];
      if (event.spec.kind == EventKind::kFlag) {
        if (!event.set) return false;
        certain = !event.records.empty() && known(event.records.front());
        return true;
      }
      if (task.record < 0) return true;
      const Record& record = records_[Index(task.record)];
      if (!record.done) return false;
      certain = Knows(thread, StreamActor(record.stream), record.time);
      return true;
    }
    case Kind::kWaitNotify: {
      const Notify& notify = notifies_[Index(call.object)];
      if (!notify.set) return false;
      certain = known(notify.records[notify.consumed]);
      return true;
    }
    case Kind::kValueWait: {
      const Word& word = WordAt(call.dst, call.dst_at);
      bool holds = Holds(call.flag, this->word(call.dst, call.dst_at), static_cast<uint64_t>(call.value));
      certain = std::all_of(word.writes.begin(), word.writes.end(),
                            [&](const WordWrite& write) { return known(write.access); });
      if (!holds && !word.writes.empty()) {
        certain = std::none_of(word.writes.begin(), word.writes.end(), [&](const WordWrite& write) {
          return !known(write.access) && Holds(call.flag, write.value, static_cast<uint64_t>(call.value));
        });
      }
      return holds;
    }
    default:
      return true;
  }
}

// A status "not ready" is certain only if what would end the blocking comes after the question.
void Interpreter::ProbeBlocker(int64_t index, const Clock& clock, int actor, int depth) {
  const Stream& stream = streams_[Index(index)];
  if (stream.held) return Touch(Key(kControl, index), 0, 1, Mode::kRead, clock, actor);
  if (stream.queue.empty() || depth > kMostStreams) return Refuse(Reason::kHang);
  const Task& task = stream.queue.front();
  const Call& call = task.call;
  switch (call.kind) {
    case Kind::kWait:
      if (events_[Index(call.object)].spec.kind != EventKind::kFlag) {
        return ProbeBlocker(records_[Index(task.record)].stream, clock, actor, depth + 1);
      }
      return Touch(Key(kBit, call.object), 0, 1, Mode::kRead, clock, actor);
    case Kind::kWaitNotify:
      return Touch(Key(kNotify, call.object), 0, 1, Mode::kRead, clock, actor);
    default:
      return Touch(Key(kWord, call.dst * 64 + call.dst_at / 8), 0, 1, Mode::kRead, clock, actor);
  }
}

}  // namespace model
