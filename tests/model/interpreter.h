// What a program means, worked out one call at a time; nothing of the library is used.
//
// Guarantees: a program that Apply() accepts to its end has one outcome. Tasks run here as early as their
// order allows, so what has not run here has not run anywhere; and what a vector clock knows to have ended
// has ended everywhere. Two accesses that conflict and are not ordered by an edge of SPEC 20 §1 are refused
// as a race, a host call that would wait for ever as a hang. Statuses between the two bounds may be either.
// Threading: none.
#pragma once

#include <cstdint>
#include <vector>

#include "program.h"

namespace model {

enum class Reason : uint8_t { kNone, kRace, kHang, kNonsense };

struct Verdict {
  Reason reason = Reason::kNone;
  int actor = -1;  // of a race: who came first
  explicit operator bool() const { return reason == Reason::kNone; }
};

// What a call must do. Outputs are statuses, or books as the difference from the start of the program.
struct Expectation {
  int code = 0, other_code = -1;  // either, if the second is not -1
  bool has_output = false;
  int64_t low = 0, high = 0;
  std::vector<uint8_t> bytes;  // of a read
};

class Interpreter {
 public:
  // Without bytes only orders, codes and states are worked out, and copies of this object are cheap.
  Interpreter(const Program& program, bool with_bytes);

  Verdict Apply(const Call& call, Expectation* expected = nullptr);

  bool Idle() const;      // no task is pending
  bool Quiet() const;     // and no thread runs, and no stream is held
  bool Finished() const;  // and no stream is subscribed: another program may follow

  bool thread_lives(int64_t thread) const { return threads_[Index(thread)].lives; }
  bool stream_lives(int64_t stream) const { return streams_[Index(stream)].lives; }
  bool held(int64_t stream) const { return streams_[Index(stream)].held; }
  bool pending(int64_t stream) const { return !streams_[Index(stream)].queue.empty(); }
  bool subscribed(int64_t stream) const { return streams_[Index(stream)].subscribed; }
  bool event_lives(int64_t event) const { return events_[Index(event)].lives; }
  bool recorded(int64_t event) const { return events_[Index(event)].latest >= 0; }
  bool flag_set(int64_t event) const { return events_[Index(event)].set; }
  bool posted(int64_t notify) const { return notifies_[Index(notify)].set; }
  bool buffer_lives(int64_t buffer) const { return buffers_[Index(buffer)] >= 0; }
  bool open(int64_t from, int64_t to) const { return open_[Index(from)][Index(to)]; }
  uint64_t word(int64_t buffer, int64_t at) const;
  // Counts what changed a buffer, so that nobody looks at the same bytes twice.
  uint32_t changes(int64_t buffer) const { return changes_[Index(buffer)]; }

 private:
  enum class Mode : uint8_t { kRead, kWrite, kAdd };  // adds do not conflict with each other
  enum Object : int {
    kBytes,       // of a block
    kBuffer,      // which block a buffer is
    kPeer,        // a direction
    kQueue,       // the order of submissions to a stream, and whether it lives
    kControl,     // whether a stream is held
    kEventState,  // what the host has done with an event
    kBit,         // of a flag event
    kNotify,
    kWord,
    kDeviceStreams,  // books of a device
    kIds,
    kMemory,
  };

  struct Access {
    int object;
    int32_t low, high;
    uint16_t time;
    uint8_t actor;
    Mode mode;
  };
  struct Task {
    Call call;
    Clock submitted;
    int record = -1;         // the one it makes or is bound to
    int life = 0;            // of the event
    bool early = false;      // a wait for a record that was pending
    int dst = -1, src = -1;  // blocks
    uint16_t time = 0;
    std::vector<uint8_t> staged;
  };
  struct Thread {
    bool lives = false;
    Clock clock;
  };
  struct Stream {
    int64_t device = 0;
    bool lives = false, held = false, subscribed = false, host_funcs = false;
    uint16_t submitted = 0, bodies = 0;
    Clock last, last_body;
    std::vector<Task> queue;
  };
  struct Record {
    int event = 0;
    int64_t stream = 0;
    uint16_t time = 0;
    bool done = false;
    int waits = 0, waits_done = 0;
    int early = 0;  // pending waits that were submitted while the record was pending
    Clock clock;    // of what it captured
    Clock waited;   // the waits bound to it
  };
  struct Event {
    EventSpec spec;
    bool lives = true, set = false, reset_later = false;
    int latest = -1;
    int life = 0;
    int waits = 0, waits_done = 0;
    Clock waited;
    Clock first;  // the record that set the bit
    std::vector<Access> records, waits_ran, resets;
  };
  struct Notify {
    int64_t device = 0;
    bool set = false;
    Clock first;
    std::vector<Access> records, waits;
    size_t consumed = 0;  // records before this index were taken
  };
  struct WordWrite {
    uint64_t value;
    Access access;
    Clock clock;
  };
  struct WordWait {
    int64_t flag;
    uint64_t value;
    Access access;
  };
  struct Word {
    int64_t buffer, at;
    std::vector<WordWrite> writes;
    std::vector<WordWait> waits;
  };

  static size_t Index(int64_t i) { return static_cast<size_t>(i); }
  static int Key(Object object, int64_t i) { return static_cast<int>(object) * 65536 + static_cast<int>(i); }
  static int PeerKey(int64_t from, int64_t to) { return Key(kPeer, from * 16 + to); }

  // interpreter.cc: calls of the host
  void Dispatch(const Call& call, Expectation& out);
  bool HostCall(const Call& call, Expectation& out);
  bool StreamCall(const Call& call, Expectation& out);
  bool EventCall(const Call& call, Expectation& out);
  bool BookCall(const Call& call, Expectation& out);
  bool ControlCall(const Call& call, Expectation& out);
  void Land(const Call& call, Expectation& out);
  void EventStatus(const Call& call, Expectation& out, int64_t ready, int64_t not_ready);
  int64_t IdsHeld(const Call& call, bool most) const;
  int StreamRefusal(const Call& call) const;

  // submit.cc: bytes and submissions
  bool BytesCall(const Call& call, Expectation& out);
  bool TaskCall(const Call& call, Expectation& out);
  int CopyRefusal(const Call& call, bool asynchronous, int64_t executor);
  int TaskRefusal(const Call& call);

  // tasks.cc: what runs in streams, and orders
  void Run();
  bool TryRun(int64_t stream, Task& task);
  bool RunWait(Task& task, Clock& clock);
  bool RunFlagTask(Task& task, Clock& clock, int actor);
  bool RunNotifyTask(Task& task, Clock& clock, int actor);
  bool RunValueTask(Task& task, Clock& clock, int actor);
  void RunBytes(const Task& task, const Clock& clock, int actor);
  bool WouldPass(const Task& task, int64_t thread, bool& certain);
  void ProbeBlocker(int64_t stream, const Clock& clock, int actor, int depth = 0);
  void Touch(int key, int64_t low, int64_t high, Mode mode, const Clock& clock, int actor);
  void TouchRows(int block, int64_t at, int64_t pitch, const Call& call, Mode mode, const Clock& clock,
                 int actor);
  bool After(const Access& access, const Clock& clock);
  bool AfterAll(const std::vector<Access>& accesses, const Clock& clock);
  static Access Mark(const Clock& clock, int actor);
  void HostTouch(int key, Mode mode, const Call& call);
  void Refuse(Reason reason, int actor = -1);
  bool Knows(int64_t thread, int actor, uint16_t time) const {
    return threads_[Index(thread)].clock[actor] >= time;
  }
  Clock& clock_of(const Call& call) { return threads_[Index(call.thread)].clock; }
  Word& WordAt(int64_t buffer, int64_t at);
  void MoveBytes(const Task& task);
  int NewBlock(size_t buffer);

  const Program* program_;
  bool with_bytes_;
  Verdict verdict_;
  std::array<Thread, kMostThreads> threads_;
  std::vector<Stream> streams_;
  std::vector<Event> events_;
  std::vector<Notify> notifies_;
  std::vector<Record> records_;
  std::vector<Word> words_;
  std::vector<Clock> signals_;
  std::vector<uint8_t> signalled_;
  std::vector<int> buffers_;       // the block that each has now, or -1
  std::vector<int> block_buffer_;  // whose a block is or was
  std::vector<uint32_t> changes_;
  std::vector<Access> accesses_;
  std::vector<std::vector<uint8_t>> bytes_;  // by block
  bool open_[kMostDevices][kMostDevices] = {};
};

bool Holds(int64_t flag, uint64_t word, uint64_t value);
int64_t Charge(int64_t size);

}  // namespace model
