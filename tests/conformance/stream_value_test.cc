// SPEC 34 §5, 20 §1.1 H10: 64-bit values that streams write and wait for.
#include "threads.h"

namespace conformance {
namespace {

constexpr size_t kSize = 4096;
constexpr uint64_t kTop = uint64_t{1} << 63, kAll = UINT64_MAX;
constexpr uint32_t kGeq = ACL_STREAM_WAIT_VALUE_GEQ, kEq = ACL_STREAM_WAIT_VALUE_EQ,
                   kAnd = ACL_STREAM_WAIT_VALUE_AND, kNor = ACL_STREAM_WAIT_VALUE_NOR;
static_assert(kGeq == ACL_VALUE_WAIT_GEQ && kEq == ACL_VALUE_WAIT_EQ && kAnd == ACL_VALUE_WAIT_AND &&
              kNor == ACL_VALUE_WAIT_NOR);

void Store(void* word, uint64_t value) {
  EXPECT_OK(aclrtMemcpy(word, 8, &value, 8, ACL_MEMCPY_HOST_TO_DEVICE));
}
uint64_t Load(const void* word) {
  uint64_t value = 0;
  EXPECT_OK(aclrtMemcpy(&value, 8, word, 8, ACL_MEMCPY_DEVICE_TO_HOST));
  return value;
}

class StreamValue : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtValueWrite(nullptr, 0, 0, nullptr));
    Take();
    Message();
  }
  static Bytes Filled(int value) { return Bytes(kSize, static_cast<uint8_t>(value)); }
  static void Set(const DeviceBlock& block, int value, aclrtStream stream) {
    ASSERT_OK(aclrtMemsetAsync(block.get(), kSize, value, kSize, stream));
  }
};

using Operation = aclError (*)(void*, uint64_t, uint32_t, aclrtStream);
class StreamValueCall : public StreamValue, public testing::WithParamInterface<Operation> {};
INSTANTIATE_TEST_SUITE_P(Both, StreamValueCall, testing::Values(&aclrtValueWrite, &aclrtValueWait));

TEST_P(StreamValueCall, ArgumentsAreChecked) {
  const bool write = GetParam() == &aclrtValueWrite;
  DeviceBlock block(Filled(0));
  PinnedBlock host(kSize);
  Stream stream, dead;
  const aclrtStream gone = dead.release();
  ASSERT_OK(aclrtDestroyStream(gone));
  // With these values a wait that was queued by mistake would pass.
  const auto go = [&](void* word, uint32_t flag, aclrtStream s) { return GetParam()(word, 0, flag, s); };
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, go(nullptr, 0, stream.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, go(nullptr, 4, stream.get()));
  for (uint32_t flag : {1u, 2u, 3u, 4u, 5u, UINT32_MAX}) {
    if (!write && flag < 4) continue;
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, go(block.get(), flag, stream.get())) << flag;
  }
  for (size_t offset : {1, 2, 4, 7, 12}) {
    EXPECT_ACL(ACL_ERROR_RT_ADDR_UNALIGNED, go(block.at(offset), 0, stream.get())) << offset;
  }
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, go(host.get(), 0, stream.get())) << "host memory";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, go(FreedDeviceAddress(), 0, stream.get()));
  OnNewThread([&] {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, go(nullptr, 0, stream.get())) << "comes first";
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, go(block.get(), 4, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, go(block.get(), 0, stream.get()));
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, go(block.get(), 0, nullptr));
  });
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, go(block.get(), 0, gone));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, go(block.get(), 0, UntouchedPointer()));
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, go(block.get(), 0, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, go(block.get(), 0, nullptr)) << "memory of another device";
  EXPECT_OK(aclrtSynchronizeDevice());
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(block.Read(), Filled(0));
}

TEST_F(StreamValue, WritesSixtyFourBits) {
  DeviceBlock block(Filled(0xaa));
  Stream stream;
  for (uint64_t value : {uint64_t{0}, uint64_t{1}, kTop, kAll, uint64_t{0x0123456789abcdef}}) {
    for (size_t offset : {size_t{0}, size_t{8}, kSize - 8}) {
      Bytes expected = block.Read();
      std::memcpy(&expected[offset], &value, 8);
      EXPECT_OK(aclrtValueWrite(block.at(offset), value, 0, stream.get()));
      EXPECT_OK(aclrtSynchronizeStream(stream.get()));
      EXPECT_EQ(block.Read(), expected) << value << " at " << offset;
    }
  }
  EXPECT_OK(aclrtValueWrite(block.get(), 42, 0, nullptr)) << "the default stream";
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(Load(block.get()), 42u);
}

TEST_F(StreamValue, MetConditionsDoNotBlock) {
  DeviceBlock block(kSize);
  Stream stream;
  Store(block.get(), 6);
  EXPECT_OK(aclrtValueWait(block.get(), 5, kGeq, stream.get()));
  EXPECT_OK(aclrtValueWait(block.get(), 6, kEq, stream.get()));
  EXPECT_OK(aclrtValueWait(block.get(), 2, kAnd, stream.get()));
  EXPECT_OK(aclrtValueWait(block.get(), 9, kNor, stream.get()));
  EXPECT_OK(aclrtValueWait(block.get(), 6, kEq, nullptr));
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(Load(block.get()), 6u) << "waiting changes nothing";
}

TEST_F(StreamValue, OwnStreamInOrder) {
  DeviceBlock block(Filled(0)), target(Filled(1));
  Stream stream;
  for (uint64_t i = 1; i < 50; ++i) {
    ASSERT_OK(aclrtValueWrite(block.get(), i, 0, stream.get()));
    ASSERT_OK(aclrtValueWait(block.get(), i, kEq, stream.get()));
    Set(target, static_cast<int>(i), stream.get());
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(target.Read(), Filled(49));
}

TEST_F(StreamValue, WaitSeesEverythingBeforeTheWrite) {
  DeviceBlock word(Filled(0)), data(kSize);
  PinnedBlock in(kSize), out(kSize);
  Stream producer, consumer;
  for (uint64_t i = 1; i <= 50; ++i) {
    const Bytes content = Pattern(kSize, static_cast<uint32_t>(i));
    std::memcpy(in.get(), content.data(), kSize);
    // The waiter comes first in every other round.
    const auto produce = [&] {
      ASSERT_OK(
          aclrtMemcpyAsync(data.get(), kSize, in.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, producer.get()));
      ASSERT_OK(aclrtValueWrite(word.get(), i, 0, producer.get()));
    };
    if (i % 2 == 0) produce();
    ASSERT_OK(aclrtValueWait(word.get(), i, kGeq, consumer.get()));
    ASSERT_OK(
        aclrtMemcpyAsync(out.get(), kSize, data.get(), kSize, ACL_MEMCPY_DEVICE_TO_HOST, consumer.get()));
    if (i % 2 == 1) produce();
    ASSERT_OK(aclrtSynchronizeStream(consumer.get()));
    ASSERT_TRUE(out.Read() == content) << i;
  }
}

TEST_F(StreamValue, PingPong) {
  DeviceBlock words(Filled(0)), block(Filled(0));
  Stream a, b;
  for (uint64_t i = 1; i <= 100; ++i) {
    ASSERT_OK(aclrtValueWrite(words.at(0), i, 0, a.get()));
    ASSERT_OK(aclrtValueWait(words.at(8), i, kGeq, a.get()));
    ASSERT_OK(aclrtValueWait(words.at(0), i, kGeq, b.get()));
    ASSERT_OK(aclrtValueWrite(words.at(8), i, 0, b.get()));
  }
  Set(block, 1, a.get());
  EXPECT_OK(aclrtSynchronizeStream(a.get()));
  EXPECT_OK(aclrtSynchronizeStream(b.get()));
  EXPECT_EQ(Load(words.at(0)), 100u);
  EXPECT_EQ(Load(words.at(8)), 100u);
}

TEST_F(StreamValue, ManyWaitersOnOneWord) {
  DeviceBlock word(Filled(0)), block(Filled(0));
  Stream waiters[4], producer;
  for (uint64_t i = 0; i < 4; ++i) {
    ASSERT_OK(aclrtValueWait(word.get(), i + 1, kGeq, waiters[i].get()));
    ASSERT_OK(aclrtMemsetAsync(block.at(64 * i), 64, 9, 64, waiters[i].get()));
  }
  Bytes expected = Filled(0);
  for (uint64_t i = 0; i < 4; ++i) {
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiters[i].get(), 1));
    EXPECT_EQ(block.Read(), expected);
    ASSERT_OK(aclrtValueWrite(word.get(), i + 1, 0, producer.get()));
    ASSERT_OK(aclrtSynchronizeStream(waiters[i].get()));
    std::fill_n(expected.begin() + static_cast<ptrdiff_t>(64 * i), 64, uint8_t{9});
    EXPECT_EQ(block.Read(), expected) << "the others still wait";
  }
}

// Everything that may change the word wakes the waiter.
struct Change {
  const char* name;
  void (*make)(const DeviceBlock& words, const DeviceBlock& source, PinnedBlock& host, aclrtStream stream);
};
void PrintTo(const Change& change, std::ostream* out) {
  *out << change.name;
}
const Change kChanges[] = {
    {"ValueWrite",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock&, aclrtStream stream) {
       ASSERT_OK(aclrtValueWrite(words.get(), 0x0707070707070707, 0, stream));
     }},
    {"MemsetAsync",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock&, aclrtStream stream) {
       ASSERT_OK(aclrtMemsetAsync(words.get(), kSize, 7, kSize, stream));
     }},
    {"Memset", [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock&,
                  aclrtStream) { ASSERT_OK(aclrtMemset(words.get(), kSize, 7, kSize)); }},
    {"MemcpyFromHost",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock& host, aclrtStream) {
       ASSERT_OK(aclrtMemcpy(words.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE));
     }},
    {"MemcpyOnTheDevice",
     [](const DeviceBlock& words, const DeviceBlock& source, PinnedBlock&, aclrtStream) {
       ASSERT_OK(aclrtMemcpy(words.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE));
     }},
    {"MemcpyAsyncFromHost",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock& host, aclrtStream stream) {
       ASSERT_OK(aclrtMemcpyAsync(words.get(), kSize, host.get(), kSize, ACL_MEMCPY_HOST_TO_DEVICE, stream));
     }},
    {"MemcpyAsyncOnTheDevice",
     [](const DeviceBlock& words, const DeviceBlock& source, PinnedBlock&, aclrtStream stream) {
       ASSERT_OK(
           aclrtMemcpyAsync(words.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
     }},
    {"Memcpy2d",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock& host, aclrtStream) {
       ASSERT_OK(aclrtMemcpy2d(words.get(), 64, host.get(), 64, 64, 4, ACL_MEMCPY_HOST_TO_DEVICE));
     }},
    {"Memcpy2dAsync",
     [](const DeviceBlock& words, const DeviceBlock&, PinnedBlock& host, aclrtStream stream) {
       ASSERT_OK(
           aclrtMemcpy2dAsync(words.get(), 64, host.get(), 64, 64, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
     }},
};

class StreamValueWake : public StreamValue, public testing::WithParamInterface<Change> {};
INSTANTIATE_TEST_SUITE_P(Changes, StreamValueWake, testing::ValuesIn(kChanges),
                         [](const auto& change) { return std::string(change.param.name); });

TEST_P(StreamValueWake, PassesAfterIt) {
  DeviceBlock words(Filled(0)), source(Filled(7)), target(Filled(1));
  PinnedBlock host(Filled(7));
  Stream waiter, other;
  for (uint32_t flag : {kEq, kGeq, kAnd}) {
    ASSERT_OK(aclrtMemset(words.get(), kSize, 0, kSize));
    ASSERT_OK(aclrtMemset(target.get(), kSize, 1, kSize));
    ASSERT_OK(aclrtValueWait(words.get(), 0x0707070707070707, flag, waiter.get()));
    Set(target, 2, waiter.get());
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter.get(), 1))
        << "it has no limit of its own; the wait stays";
    GetParam().make(words, source, host, other.get());
    EXPECT_OK(aclrtSynchronizeStream(waiter.get()));
    EXPECT_OK(aclrtSynchronizeStream(other.get()));
    EXPECT_EQ(target.Read(), Filled(2));
  }
}

TEST_F(StreamValue, OtherChangesLeaveItWaiting) {
  DeviceBlock words(Filled(0)), target(Filled(1));
  Stream waiter, other;
  ASSERT_OK(aclrtValueWait(words.at(8), 5, kEq, waiter.get()));
  Set(target, 2, waiter.get());
  for (uint64_t value : {uint64_t{4}, uint64_t{6}, kAll}) {
    ASSERT_OK(aclrtValueWrite(words.at(0), 5, 0, other.get()));
    ASSERT_OK(aclrtValueWrite(words.at(16), 5, 0, other.get()));
    ASSERT_OK(aclrtValueWrite(words.at(8), value, 0, other.get()));
    ASSERT_OK(aclrtSynchronizeStream(other.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter.get(), 1));
    EXPECT_EQ(StatusOf(waiter.get()), ACL_STREAM_STATUS_NOT_READY);
  }
  ASSERT_OK(aclrtValueWrite(words.at(8), 5, 0, other.get()));
  EXPECT_OK(aclrtSynchronizeStream(waiter.get()));
  EXPECT_EQ(target.Read(), Filled(2));
}

TEST_F(StreamValue, AThreadInTheWaitIsWoken) {
  DeviceBlock word(Filled(0));
  Stream waiter;
  ASSERT_OK(aclrtValueWait(word.get(), 3, kEq, waiter.get()));
  BlockedCall call(CurrentContext(), [&] { return aclrtSynchronizeStream(waiter.get()); });
  EXPECT_FALSE(call.returned());
  Store(word.get(), 3);
  EXPECT_OK(call.Join());
}

TEST_F(StreamValue, AcrossDevices) {
  DeviceBlock word(Filled(0)), target(Filled(1));
  Stream here;
  ASSERT_OK(aclrtSetDevice(1));
  {
    Stream there;
    DeviceBlock far_target(Filled(1));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(word.get(), 1, 0, there.get()));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWait(word.get(), 0, kEq, there.get()));
    ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
    ASSERT_OK(aclrtSetDevice(0));
    ASSERT_OK(aclrtValueWait(word.get(), 1, kGeq, here.get()));
    Set(target, 2, here.get());
    ASSERT_OK(aclrtValueWrite(word.at(8), 1, 0, here.get()));
    ASSERT_OK(aclrtSetDevice(1));
    ASSERT_OK(aclrtValueWait(word.at(8), 1, kEq, there.get())) << "waits for device 0";
    Set(far_target, 3, there.get());
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(there.get(), 1));
    ASSERT_OK(aclrtValueWrite(word.get(), 1, 0, nullptr)) << "releases device 0";
    EXPECT_OK(aclrtSynchronizeStream(there.get()));
    EXPECT_EQ(far_target.Read(), Filled(3));
    ASSERT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtSynchronizeStream(here.get()));
    EXPECT_EQ(target.Read(), Filled(2));
    ASSERT_OK(aclrtSetDevice(1));
    ASSERT_OK(aclrtDeviceDisablePeerAccess(0));
    EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtValueWrite(word.get(), 1, 0, there.get()));
  }
  ASSERT_OK(aclrtSetDevice(0));
}

TEST_F(StreamValue, PeerCopiesWakeToo) {
  DeviceBlock word(Filled(0));
  Stream waiter;
  ASSERT_OK(aclrtValueWait(word.get(), 0x0505050505050505, kEq, waiter.get()));
  ASSERT_OK(aclrtSetDevice(1));
  {
    DeviceBlock source(Filled(5));
    ASSERT_OK(aclrtDeviceEnablePeerAccess(0, 0));
    ASSERT_OK(aclrtMemcpyAsync(word.get(), kSize, source.get(), kSize, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr));
    EXPECT_OK(aclrtSynchronizeStream(nullptr));
  }
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtSynchronizeStream(waiter.get()));
}

TEST_F(StreamValue, MappedHostMemory) {
  PinnedBlock host(Filled(0));
  void* alias = nullptr;
  ASSERT_OK(aclrtHostRegister(host.get(), kSize, ACL_HOST_REGISTER_MAPPED, &alias));
  auto* words = reinterpret_cast<uint64_t*>(host.get());
  {
    Stream waiter, writer;
    ASSERT_OK(aclrtValueWait(alias, 7, kEq, waiter.get()));
    EXPECT_ACL(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiter.get(), 1));
    __atomic_store_n(&words[0], 7, __ATOMIC_RELEASE);
    EXPECT_OK(aclrtSynchronizeStream(waiter.get())) << "the host wrote it";
    ASSERT_OK(aclrtValueWrite(static_cast<uint8_t*>(alias) + 8, 9, 0, writer.get()));
    EXPECT_OK(aclrtSynchronizeStream(writer.get()));
    EXPECT_EQ(__atomic_load_n(&words[1], __ATOMIC_ACQUIRE), 9u);
  }
  EXPECT_OK(aclrtHostUnregister(host.get()));
}

class StreamValueHeld : public OnTwoDevices {
 protected:
  void SetUp() override {
    OnTwoDevices::SetUp();
    SKIP_UNLESS_BUILT(aclrtValueWrite(nullptr, 0, 0, nullptr));
  }
};

TEST_F(StreamValueHeld, Conditions) {
  const struct {
    uint32_t flag;
    uint64_t word, value;
    int met;
  } rows[] = {
      {kGeq, 5, 5, 1},
      {kGeq, 6, 5, 1},
      {kGeq, 4, 5, 0},
      {kGeq, 0, 0, 1},
      {kGeq, uint64_t{1} << 40, (uint64_t{1} << 40) + 1, 0},
      {kGeq, (uint64_t{1} << 40) + 1, uint64_t{1} << 40, 1},
      {kGeq, 2, kAll - 1, 1},  // wrapped around: four ahead
      {kGeq, kAll - 1, 2, 0},
      {kGeq, 0, kAll, 1},
      {kGeq, kAll, 0, 0},
      {kGeq, kTop - 1, 0, 1},  // as far ahead as there is
      {kGeq, kTop, 0, 0},
      {kGeq, 0, kTop, 0},
      {kGeq, kTop, 1, 1},
      {kGeq, kTop, kTop, 1},
      {kEq, 5, 5, 1},
      {kEq, 5, 6, 0},
      {kEq, 6, 5, 0},
      {kEq, uint64_t{1} << 32, 0, 0},
      {kEq, kAll, kAll, 1},
      {kAnd, 6, 2, 1},
      {kAnd, 4, 2, 0},
      {kAnd, kAll, 0, 0},
      {kAnd, kTop, kTop, 1},
      {kAnd, kTop, kTop - 1, 0},
      {kNor, 0, 0, 1},
      {kNor, kAll, 0, 0},
      {kNor, 0, kAll, 0},
      {kNor, kAll - 1, 0, 1},
      {kNor, kAll - 1, 1, 0},
      {kNor, kTop - 1, 0, 1},
      {kNor, kTop - 1, kTop, 0},
  };
  DeviceBlock block(kSize);
  SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));  // some conditions can never be met: it clears the stream
  Stream stream;
  Hold held(stream.get());
  for (const auto& row : rows) {
    Store(block.get(), row.word);
    ASSERT_OK(aclrtValueWait(block.get(), row.value, row.flag, stream.get()));
    EXPECT_EQ(held.Land(), row.met == 1) << row.flag << ": " << row.word << " against " << row.value;
    EXPECT_EQ(held.Pending(), 1u - static_cast<size_t>(row.met));
    ASSERT_OK(aclrtDeviceTaskAbort(0, 0));
    ASSERT_OK(belay_hold_stream(stream.get()));  // whether an abort releases it is not specified
  }
}

TEST_F(StreamValueHeld, WriteLandsInStreamOrder) {
  DeviceBlock block(Bytes(kSize, 0));
  Stream stream;
  Hold held(stream.get());
  for (uint64_t i = 1; i <= 3; ++i) ASSERT_OK(aclrtValueWrite(block.get(), i, 0, stream.get()));
  for (uint64_t i = 0; i <= 3; ++i) {
    EXPECT_EQ(Load(block.get()), i);
    EXPECT_EQ(held.Land(), i < 3);
  }
}

TEST_F(StreamValueHeld, FailedOperationsHaveNoEffect) {
  DeviceBlock block(Bytes(kSize, 0)), target(Bytes(kSize, 1));
  Stream stream;
  FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
  ASSERT_OK(aclrtValueWrite(block.get(), 5, 0, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(Load(block.get()), 0u);
  FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
  ASSERT_OK(aclrtValueWait(block.get(), 5, kEq, stream.get()));
  ASSERT_OK(aclrtMemsetAsync(target.get(), kSize, 2, kSize, stream.get()));
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get())) << "it does not block";
  EXPECT_EQ(target.Read(), Bytes(kSize, 2));
}

TEST_F(StreamValueHeld, AbortedWaitsAreGone) {
  DeviceBlock block(Bytes(kSize, 0)), target(Bytes(kSize, 1));
  Stream stream;
  SKIP_UNLESS_BUILT(aclrtDeviceTaskAbort(0, 0));
  ASSERT_OK(aclrtValueWait(block.get(), 5, kEq, stream.get()));
  ASSERT_OK(aclrtMemsetAsync(target.get(), kSize, 2, kSize, stream.get()));
  EXPECT_OK(aclrtDeviceTaskAbort(0, 0));
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  Store(block.get(), 5);
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(target.Read(), Bytes(kSize, 1));
}

}  // namespace
}  // namespace conformance
