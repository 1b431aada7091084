// SPEC 31 §5: device memory that a stream combines with device memory.
#include <cmath>
#include <limits>

#include "steering.h"

namespace conformance {
namespace {

constexpr auto kSum = ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, kMax = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX,
               kMin = ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN;
constexpr size_t kSize = 4096;

template <class T>
Bytes BytesOf(const std::vector<T>& values) {
  Bytes bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

class Reduce : public OnTwoDevices {
 protected:
  static aclError Go(void* dst, const void* src, uint64_t count, int kind, int type, aclrtStream stream) {
    return aclrtReduceAsync(dst, src, count, static_cast<aclrtReduceKind>(kind),
                            static_cast<aclDataType>(type), stream, nullptr);
  }
  template <class T>
  static std::vector<T> Combined(const std::vector<T>& dst, const std::vector<T>& src, int kind, int type) {
    DeviceBlock to(BytesOf(dst)), from(BytesOf(src));
    Stream stream;
    EXPECT_OK(Go(to.get(), from.get(), to.size(), kind, type, stream.get()));
    EXPECT_OK(aclrtSynchronizeStream(stream.get()));
    EXPECT_EQ(from.Read(), BytesOf(src)) << "the source stays";
    std::vector<T> result(dst.size());
    const Bytes bytes = to.Read();
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
  }
  template <class T>
  static void Check(const std::vector<T>& dst, const std::vector<T>& src, int type, const std::vector<T>& sum,
                    const std::vector<T>& greater, const std::vector<T>& less) {
    EXPECT_EQ(Combined(dst, src, kSum, type), sum) << type;
    EXPECT_EQ(Combined(dst, src, kMax, type), greater) << type;
    EXPECT_EQ(Combined(dst, src, kMin, type), less) << type;
  }
};

TEST_F(Reduce, IntegersWrap) {
  Check<int8_t>({1, -128, 127}, {2, -1, 1}, ACL_INT8, {3, 127, -128}, {2, -1, 127}, {1, -128, 1});
  Check<int16_t>({1, -32768, 32767}, {-3, -1, 1}, ACL_INT16, {-2, 32767, -32768}, {1, -1, 32767},
                 {-3, -32768, 1});
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kMost = std::numeric_limits<int32_t>::max();
  Check<int32_t>({1, kLeast, kMost}, {-3, -1, 1}, ACL_INT32, {-2, kMost, kLeast}, {1, -1, kMost},
                 {-3, kLeast, 1});
}

TEST_F(Reduce, FloatingPoint) {
  Check<float>({1.5F, -2, 1e30F}, {0.25F, 3, -1e30F}, ACL_FLOAT, {1.75F, 1, 0}, {1.5F, 3, 1e30F},
               {0.25F, -2, -1e30F});
  // As bits: 1.0 + 2^-11 lies between two halves and goes to the even one; 65504 + 65504 is infinite.
  Check<uint16_t>({0x3c00, 0x7bff, 0x4000}, {0x1000, 0x7bff, 0xc000}, ACL_FLOAT16, {0x3c00, 0x7c00, 0x0000},
                  {0x3c00, 0x7bff, 0x4000}, {0x1000, 0x7bff, 0xc000});
  Check<uint16_t>({0x3f80, 0x4000}, {0x3f80, 0xc040}, ACL_BF16, {0x4000, 0xbf80}, {0x3f80, 0x4000},
                  {0x3f80, 0xc040});
}

TEST_F(Reduce, WithNothingThatIsANumber) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (int kind : {kSum, kMax, kMin}) {
    for (float value : Combined<float>({nan, 1}, {1, nan}, kind, ACL_FLOAT)) EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(Reduce, OfLongRangesAndOfItself) {
  const size_t count = 3 * kMiB / sizeof(int32_t) + 5;
  std::vector<int32_t> dst(count), src(count), sum(count);
  for (size_t i = 0; i < count; ++i) {
    dst[i] = static_cast<int32_t>(i * 7);
    src[i] = static_cast<int32_t>(i * 11);
    sum[i] = static_cast<int32_t>(i * 18);
  }
  EXPECT_TRUE(Combined(dst, src, kSum, ACL_INT32) == sum);
  DeviceBlock block(BytesOf(std::vector<int32_t>{1, 2, 3}));
  EXPECT_OK(Go(block.at(4), block.at(4), 8, kSum, ACL_INT32, nullptr));
  EXPECT_OK(Go(block.get(), block.at(4), 4, kSum, ACL_INT32, nullptr)) << "side by side";
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
  EXPECT_EQ(block.Read(), BytesOf(std::vector<int32_t>{5, 4, 6}));
}

TEST_F(Reduce, RunsInItsStream) {
  DeviceBlock to(BytesOf(std::vector<int32_t>{1})), from(BytesOf(std::vector<int32_t>{2}));
  Stream stream;
  Hold hold(stream.get());
  for (int i = 0; i < 3; ++i) ASSERT_OK(Go(to.get(), from.get(), 4, kSum, ACL_INT32, stream.get()));
  EXPECT_EQ(Pending(stream.get()), 3u);
  EXPECT_TRUE(hold.Land());
  FailNext(stream.get(), ACL_ERROR_RT_AICORE_EXCEPTION);
  ASSERT_OK(Go(to.get(), from.get(), 4, kSum, ACL_INT32, stream.get()));
  hold.Release();
  EXPECT_ACL(ACL_ERROR_RT_AICORE_EXCEPTION, aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(to.Read(), BytesOf(std::vector<int32_t>{7})) << "the fourth failed and had no effect";
}

TEST_F(Reduce, FreedWhileQueued) {
  DeviceBlock to(BytesOf(std::vector<int32_t>{1}));
  DeviceBlock from(BytesOf(std::vector<int32_t>{2}));
  Stream stream;
  Hold hold(stream.get());
  ASSERT_OK(Go(to.get(), from.get(), 4, kSum, ACL_INT32, stream.get()));
  EXPECT_OK(aclrtFree(from.release()));
  hold.Release();
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  EXPECT_EQ(to.Read(), BytesOf(std::vector<int32_t>{3})) << "the block lives until its task is done";
}

TEST_F(Reduce, BadArguments) {
  DeviceBlock to(Pattern(kSize, 1)), from(Pattern(kSize, 2));
  PinnedBlock host(Pattern(kSize, 3));
  Stream stream, dead;
  const aclrtStream gone = dead.release(), s = stream.get();
  ASSERT_OK(aclrtDestroyStream(gone));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM,
             aclrtReduceAsync(to.get(), from.get(), 64, kSum, ACL_FLOAT, s, host.get()));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(nullptr, from.get(), 64, kSum, ACL_FLOAT, s));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(to.get(), nullptr, 64, kSum, ACL_FLOAT, s));
  for (int kind : {-1, 0, 9, 14}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(to.get(), from.get(), 64, kind, ACL_FLOAT, s)) << kind;
  }
  for (uint64_t count : {1, 2, 3, 63}) {
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, Go(to.get(), from.get(), count, kSum, ACL_FLOAT, s)) << count;
  }
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
             Go(to.get(), from.get(), 64, ACL_RT_MEMCPY_SDMA_AUTOMATIC_EQUAL, ACL_FLOAT, s));
  for (int type :
       std::initializer_list<int>{ACL_DOUBLE, ACL_INT64, ACL_UINT8, ACL_BOOL, ACL_STRING, -1, 99}) {
    EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(to.get(), from.get(), 64, kSum, type, s)) << type;
  }
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, Go(to.get(), from.get(), 64, kSum, ACL_UINT32, s))
      << "of this family's types";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(host.get(), from.get(), 64, kSum, ACL_FLOAT, s)) << "host memory";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(to.get(), host.get(), 64, kSum, ACL_FLOAT, s)) << "host memory";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(to.get(), FreedDeviceAddress(), 64, kSum, ACL_FLOAT, s));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(to.at(kSize - 32), from.get(), 64, kSum, ACL_FLOAT, s));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(to.at(32), to.get(), 64, kSum, ACL_FLOAT, s))
      << "overlap in part";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, Go(to.get(), from.get(), 64, kSum, ACL_FLOAT, gone));
  OnNewThread(
      [&] { EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, Go(to.get(), from.get(), 64, kSum, ACL_FLOAT, s)); });
  ASSERT_OK(aclrtSetDevice(1));
  EXPECT_ACL(ACL_ERROR_RT_STREAM_CONTEXT, Go(to.get(), from.get(), 64, kSum, ACL_FLOAT, s));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, Go(to.get(), from.get(), 64, kSum, ACL_FLOAT, nullptr))
      << "memory of another device";
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_OK(Go(to.get(), from.get(), 0, kSum, ACL_FLOAT, s));
  EXPECT_OK(aclrtSynchronizeStream(s));
  EXPECT_EQ(Pending(s), 0u);
  EXPECT_EQ(to.Read(), Pattern(kSize, 1)) << "no refused call changed anything";
}

// The runner says which family of products the process has.
class ReduceProfile : public OnDevice0 {
 protected:
  void SetUp() override {
    if (Variant().empty()) GTEST_SKIP() << "needs a family";
    OnDevice0::SetUp();
  }
  static bool Combines(int type, int kind) {
    const std::string family = Variant();
    const bool large = family == "A2" || family == "A3" || family == "950";
    if (Cann() == "8.1") return false;  // the function came later
    if ((family == "INF" || family == "TRN") && kind != kSum) return false;
    switch (type) {
      case ACL_FLOAT:
        return true;
      case ACL_FLOAT16:
      case ACL_INT16:
        return family != "TRN";
      case ACL_INT8:
      case ACL_INT32:
        return large || family == "200I";
      case ACL_BF16:
        return large;
      default:
        return type == ACL_UINT32 && family == "950";
    }
  }
};

TEST_F(ReduceProfile, TypesAndKinds) {
  DeviceBlock to(Bytes(64, 0)), from(Bytes(64, 0));
  for (int type : std::initializer_list<int>{ACL_FLOAT, ACL_FLOAT16, ACL_INT16, ACL_INT8, ACL_INT32, ACL_BF16,
                                             ACL_UINT32, ACL_INT64}) {
    for (int kind : {kSum, kMax, kMin}) {
      const aclError code = aclrtReduceAsync(to.get(), from.get(), 64, static_cast<aclrtReduceKind>(kind),
                                             static_cast<aclDataType>(type), nullptr, nullptr);
      EXPECT_EQ(code, Combines(type, kind) ? ACL_SUCCESS : ACL_ERROR_RT_FEATURE_NOT_SUPPORT)
          << Variant() << " type " << type << " kind " << kind;
    }
  }
  EXPECT_OK(aclrtSynchronizeStream(nullptr));
}

}  // namespace
}  // namespace conformance
