// Random programs against a sequential interpreter.
//
// A program submits copies, fills, records and waits to a few streams and now and then looks or waits. Before
// it touches bytes that an unordered task uses it adds an edge, so its meaning does not depend on the
// schedule: the interpreter runs each call to its end at once and must find the same bytes. Orders are
// tracked with vector clocks, as SPEC 20 §1 has them.
#include <algorithm>
#include <array>
#include <random>

#include "engine/engine_test.h"
#include "os/thread.h"

namespace belay::engine {
namespace {

constexpr size_t kMostStreams = 24, kEvents = 4;
using Clock = std::array<uint64_t, kMostStreams>;  // per stream: its tasks up to here are known to be done

void Join(Clock& into, const Clock& from) {
  for (size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], from[i]);
}

struct Access {
  size_t stream;
  uint64_t task;  // from 1
  uint64_t lo, hi;
  bool write;
};

struct Buffer {
  OpSide side;
  int device = -1;  // -1: host
  std::vector<uint8_t> plain;
  uint8_t* bytes = nullptr;
  std::vector<uint8_t> model;
  std::vector<Access> accesses;
};

struct Recorded {
  EventRecord* record = nullptr;
  size_t stream = 0;
  uint64_t task = 0;
  Clock clock{};
};

struct Lane {
  Stream* stream = nullptr;
  uint64_t before = 0;  // tasks of earlier lives
  Clock known{};
  std::vector<Clock> clocks;  // of each task
  uint64_t tasks() const { return clocks.size(); }
};

class ModelTest : public EngineTest {
 protected:
  void RunProgram(uint32_t seed) {
    random_.seed(seed);
    queue_all_ = random_() % 2 == 0;
    Begin();
    int calls = 5 + static_cast<int>(Below(56));
    for (int call = 0; call < calls && !HasFailure(); ++call) {
      Step();
      CheckStates();
    }
    End();
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  void Begin() {
    host_ = {};
    lanes_.clear();
    size_t streams = 1 + Below(6);
    for (size_t i = 0; i < streams; ++i) AddLane();
    for (size_t i = 0; i < 6; ++i) {
      Buffer& buffer = buffers_.emplace_back();
      buffer.device = static_cast<int>(i) % 5 - 2;
      Renew(buffer);
    }
    for (Recorded& event : records_) event = {};
    for (Event*& event : events_) event = NewEvent();
  }

  void End() {
    while (!lanes_.empty()) {
      Lane& lane = lanes_.back();
      if (lane.stream != nullptr) {
        if (Below(2) == 0) {
          EXPECT_TRUE(engine_->Wait(*lane.stream, lane.stream->submitted()));
        }
        EngineFixture::DestroyStream(lane.stream);
      }
      lanes_.pop_back();
    }
    for (Buffer& buffer : buffers_) {
      ExpectBytes(buffer, 0, buffer.model.size());
      Drop(buffer);
    }
    buffers_.clear();
    for (Recorded& recorded : records_) {
      if (recorded.record == nullptr) continue;
      EXPECT_TRUE(recorded.record->complete());
      recorded.record->Drop();
    }
    for (Event* event : events_) DestroyEvent(event);
  }

  void AddLane() {
    Lane& lane = lanes_.emplace_back();
    lane.stream = NewStream(static_cast<int>(Below(kDevices)));
    lane.before = lane.stream->submitted();
    lane.known = host_;
  }

  // A fresh block in place of what the buffer was.
  void Renew(Buffer& buffer) {
    constexpr uint64_t kSizes[] = {100, 4096, 20'000, 300 * 1024};
    uint64_t size = kSizes[Below(4)];
    buffer.side = {};
    buffer.accesses.clear();
    if (buffer.device >= 0) {
      buffer.side = DeviceSide(NewBlock(size, buffer.device), buffer.device);
      buffer.bytes = EngineBytes(buffer.side.block, buffer.device);
      buffer.model.assign(size, 0);  // unwritten bytes read as zero, whoever had them before
    } else if (buffer.device == -1) {
      buffer.side.block = memory_->host().Allocate(size, false, Site{}, 0);
      buffer.bytes = reinterpret_cast<uint8_t*>(memory_->host().Address(*buffer.side.block));
      memset(buffer.bytes, 0x11, size);
      buffer.model.assign(size, 0x11);
    } else {
      buffer.plain.assign(size, 0x22);
      buffer.bytes = buffer.plain.data();
      buffer.model = buffer.plain;
    }
  }

  void Drop(Buffer& buffer) {
    if (buffer.device >= 0) {
      buffer.side.memory->Free(buffer.side.block, Site{}, 0);
    } else if (buffer.side.block != nullptr) {
      memory_->host().Free(buffer.side.block, Site{}, 0);
    }
  }

  Lane& RandomLane() {
    for (;;) {
      Lane& lane = lanes_[Below(lanes_.size())];
      if (lane.stream != nullptr) return lane;
    }
  }
  size_t IndexOf(const Lane& lane) const { return static_cast<size_t>(&lane - lanes_.data()); }

  // What every submission does to the clocks. Returns the task's number.
  uint64_t Submitted(Lane& lane) {
    Join(lane.known, host_);
    lane.known[IndexOf(lane)] = lane.tasks() + 1;
    lane.clocks.push_back(lane.known);
    EXPECT_EQ(lane.stream->submitted(), lane.before + lane.tasks());
    return lane.tasks();
  }

  void Submit(Lane& lane, Op& op, uint64_t bytes) {
    // As if it were large: then it does not run inside the call.
    engine_->Submit(*lane.stream, op, queue_all_ ? Policy::kSmall + 1 : bytes);
    Submitted(lane);
  }

  void RecordOn(Lane& lane, size_t index) {
    Record(*lane.stream, *events_[index]);
    Recorded& recorded = records_[index];
    if (recorded.record != nullptr) recorded.record->Drop();
    recorded.record = events_[index]->Latest();
    recorded.stream = IndexOf(lane);
    recorded.task = Submitted(lane);
    recorded.clock = lane.clocks.back();
    recorded.clock[recorded.stream] = recorded.task - 1;  // SPEC 20 §1.1, H8: it tells of the tasks before it
    EXPECT_EQ(recorded.record->sequence(), lane.before + recorded.task);
  }

  void WaitOn(Lane& lane, size_t index) {
    WaitFor(*lane.stream, *records_[index].record);
    Submitted(lane);
    Join(lane.known, records_[index].clock);
    lane.clocks.back() = lane.known;
  }

  void HostLearns(const Lane& lane, uint64_t task) {
    if (task != 0) Join(host_, lane.clocks[task - 1]);
  }

  void HostWait(Lane& lane, uint64_t task) {
    bool bounded = Below(2) == 0;
    int64_t deadline = bounded ? os::MonotonicNs() + 60'000'000'000 : Engine::kNoDeadline;
    ASSERT_TRUE(engine_->Wait(*lane.stream, lane.before + task, deadline));
    ASSERT_GE(lane.stream->done(), lane.before + task);
    HostLearns(lane, task);
  }

  // Adds edges until every conflicting access comes before the next task of `lane`, or before the host if it
  // is null.
  void Order(Lane* lane, Buffer& buffer, uint64_t lo, uint64_t hi, bool write) {
    for (const Access& access : buffer.accesses) {
      if (access.hi <= lo || hi <= access.lo || (!write && !access.write)) continue;
      if (host_[access.stream] >= access.task) continue;
      if (lane != nullptr && (IndexOf(*lane) == access.stream || lane->known[access.stream] >= access.task))
        continue;
      Lane& other = lanes_[access.stream];
      if (lane == nullptr || Below(3) == 0) {
        HostWait(other, access.task);
      } else {
        size_t event = Below(kEvents);
        RecordOn(other, event);
        WaitOn(*lane, event);
      }
    }
  }

  void Note(Lane& lane, Buffer& buffer, uint64_t lo, uint64_t hi, bool write) {
    buffer.accesses.push_back({IndexOf(lane), lane.tasks(), lo, hi, write});
  }

  void ExpectBytes(Buffer& buffer, uint64_t lo, uint64_t hi) {
    if (buffer.device >= 0) buffer.side.memory->PrepareRead(*buffer.side.block, lo, hi - lo);
    if (memcmp(buffer.bytes + lo, &buffer.model[lo], hi - lo) == 0) return;
    auto different =
        std::mismatch(buffer.bytes + lo, buffer.bytes + hi, buffer.model.begin() + static_cast<long>(lo));
    EXPECT_EQ(different.first, buffer.bytes + hi) << "byte " << different.first - buffer.bytes << " of "
                                                  << buffer.model.size() << " on device " << buffer.device;
  }

  struct Rows {
    uint64_t at, pitch, width, height;
    uint64_t end() const { return at + (height - 1) * pitch + width; }
  };

  void DoCopy() {
    Lane& lane = RandomLane();
    Buffer &dst = buffers_[Below(buffers_.size())], &src = buffers_[Below(buffers_.size())];
    if (&dst == &src) return;
    uint64_t room = std::min(dst.model.size(), src.model.size());
    Rows to{0, 0, 1 + Below(room), 1}, from{};
    if (Below(3) == 0) {
      to.width = 1 + Below(std::min<uint64_t>(room, 80));
      to.height = 1 + Below(std::min<uint64_t>(room / to.width, 40));
    }
    from = to;
    for (auto [rows, size] : {std::pair{&to, dst.model.size()}, std::pair{&from, src.model.size()}}) {
      uint64_t gap = rows->height == 1 ? 0 : (size - rows->width * rows->height) / (rows->height - 1);
      rows->pitch = rows->width + (gap == 0 ? 0 : Below(std::min<uint64_t>(gap, 64) + 1));
      rows->at = Below(size - (rows->end() - rows->at) + 1);
    }
    Order(&lane, dst, to.at, to.end(), true);
    Order(&lane, src, from.at, from.end(), false);
    Op op;
    op.kind = OpKind::kCopy;
    op.copy.shape = {dst.bytes + to.at, src.bytes + from.at, to.pitch, from.pitch, to.width, to.height};
    op.copy.dst = dst.side;
    op.copy.src = src.side;
    op.copy.executor = static_cast<int16_t>(lane.stream->device);
    Submit(lane, op, op.copy.shape.Bytes());
    Note(lane, dst, to.at, to.end(), true);
    Note(lane, src, from.at, from.end(), false);
    for (uint64_t row = 0; row < to.height; ++row) {
      memcpy(&dst.model[to.at + row * to.pitch], &src.model[from.at + row * from.pitch], to.width);
    }
  }

  void DoFill() {
    Lane& lane = RandomLane();
    Buffer& buffer = buffers_[Below(buffers_.size())];
    if (buffer.device < 0) return;
    uint64_t lo = Below(buffer.model.size()), hi = lo + 1 + Below(buffer.model.size() - lo);
    Order(&lane, buffer, lo, hi, true);
    auto value = static_cast<uint8_t>(Below(256));
    Op op;
    op.kind = OpKind::kFill;
    op.fill = {buffer.bytes + lo, hi - lo, buffer.side, value};
    Submit(lane, op, hi - lo);
    Note(lane, buffer, lo, hi, true);
    memset(&buffer.model[lo], value, hi - lo);
  }

  void DoHostAccess(bool write) {
    Buffer& buffer = buffers_[Below(buffers_.size())];
    if (write && buffer.device >= 0) return;
    uint64_t lo = Below(buffer.model.size()), hi = lo + 1 + Below(buffer.model.size() - lo);
    Order(nullptr, buffer, lo, hi, write);
    if (!write) return ExpectBytes(buffer, lo, hi);
    auto value = static_cast<int>(Below(256));
    memset(buffer.bytes + lo, value, hi - lo);
    memset(&buffer.model[lo], value, hi - lo);
  }

  // With tasks that still use the old block, or without.
  void DoRenew() {
    Buffer& buffer = buffers_[Below(buffers_.size())];
    if (buffer.device == -2) Order(nullptr, buffer, 0, buffer.model.size(), true);
    Drop(buffer);
    Renew(buffer);
  }

  void DoEvent() {
    size_t index = Below(kEvents);
    if (records_[index].record == nullptr || Below(2) == 0) return RecordOn(RandomLane(), index);
    if (Below(2) == 0) return WaitOn(RandomLane(), index);
    EventRecord& record = *records_[index].record;
    if (Below(2) == 0) {
      ASSERT_TRUE(engine_->WaitRecord(record));
    } else if (!engine_->QueryRecord(record)) {
      return;
    }
    Join(host_, records_[index].clock);  // a query that answers "complete" is an edge too
  }

  void DoLook() {
    Lane& lane = RandomLane();
    if (lane.tasks() == 0) return;
    uint64_t task = 1 + Below(lane.tasks());
    switch (Below(3)) {
      case 0:
        return HostWait(lane, task);
      case 1:
        if (engine_->Wait(*lane.stream, lane.before + task, 0)) HostLearns(lane, task);
        return;
      default:
        if (engine_->Query(*lane.stream)) HostLearns(lane, lane.tasks());
    }
  }

  void DoReplaceStream() {
    if (lanes_.size() == kMostStreams) return;
    Lane& lane = RandomLane();
    EngineFixture::DestroyStream(lane.stream);
    HostLearns(lane, lane.tasks());
    lane.stream = nullptr;
    AddLane();
  }

  void Step() {
    switch (Below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return DoCopy();
      case 5:
      case 6:
        return DoFill();
      case 7:
        return DoHostAccess(true);
      case 8:
        return DoHostAccess(false);
      case 9:
      case 10:
      case 11:
      case 12:
        return DoEvent();
      case 13:
        return Below(3) == 0 ? DoReplaceStream() : DoRenew();
      default:
        return DoLook();
    }
  }

  void CheckStates() {
    for (const Recorded& recorded : records_) {
      if (recorded.record == nullptr) continue;
      const Lane& lane = lanes_[recorded.stream];
      bool complete = recorded.record->complete();
      if (complete && lane.stream != nullptr) {
        EXPECT_GE(lane.stream->done(), lane.before + recorded.task - 1)
            << "nothing of its stream comes after a record";
      }
      if (host_[recorded.stream] >= recorded.task) {
        EXPECT_TRUE(complete) << "known to be done";
      }
      EXPECT_TRUE(complete || !eager());
    }
    for (size_t i = 0; i < lanes_.size(); ++i) {
      if (lanes_[i].stream == nullptr) continue;
      EXPECT_GE(lanes_[i].stream->done(), lanes_[i].before + host_[i]);
      EXPECT_TRUE(lanes_[i].stream->Idle() || !eager()) << "lands inside the call";
    }
  }

  std::mt19937_64 random_;
  bool queue_all_ = false;
  Clock host_{};
  std::vector<Lane> lanes_;
  std::vector<Buffer> buffers_;
  Recorded records_[kEvents];
  Event* events_[kEvents] = {};
};

INSTANTIATE_TEST_SUITE_P(, ModelTest, testing::ValuesIn(kModes), ModeName);

TEST_P(ModelTest, RandomProgramsMeanWhatTheySay) {
  for (uint32_t seed = 1; seed <= 150; ++seed) {
    RunProgram(seed);
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace belay::engine
