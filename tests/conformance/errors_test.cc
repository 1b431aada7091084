// SPEC 11 §2, §3: the last error and the recent message.
#include <algorithm>
#include <regex>

#include "support.h"

namespace conformance {
namespace {

aclError Peek() {
  return aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
}
aclError Take() {
  return aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

// The text, or "" for none.
std::string Message() {
  const char* text = aclGetRecentErrMsg();
  return text == nullptr ? "" : text;
}

class LastError : public OnDevice0 {};

TEST_F(LastError, HoldsTheNewestFailure) {
  EXPECT_EQ(Peek(), ACL_SUCCESS);
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  EXPECT_EQ(Peek(), ACL_ERROR_INVALID_PARAM);
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(Peek(), ACL_ERROR_INVALID_PARAM) << "success does not touch it";
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
  EXPECT_EQ(Peek(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID);
  EXPECT_EQ(Take(), ACL_SUCCESS) << "taken";
  EXPECT_EQ(Peek(), ACL_SUCCESS);
}

TEST_F(LastError, BelongsToTheThread) {
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtFree(nullptr));
  OnNewThread([] {
    EXPECT_EQ(Peek(), ACL_SUCCESS);
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    EXPECT_EQ(Peek(), ACL_ERROR_RT_CONTEXT_NULL) << "works without a device";
  });
  EXPECT_EQ(Take(), ACL_ERROR_INVALID_PARAM);
}

TEST_F(LastError, OtherLevelsDoNothing) {
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(99));
  for (int level : {1, 2, -1}) {
    EXPECT_EQ(aclrtPeekAtLastError(static_cast<aclrtLastErrLevel>(level)), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclrtGetLastError(static_cast<aclrtLastErrLevel>(level)), ACL_ERROR_INVALID_PARAM);
  }
  EXPECT_EQ(Take(), ACL_ERROR_RT_INVALID_DEVICEID) << "neither read, cleared nor set";
}

TEST_F(LastError, RepeatedInitIsNoError) {
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_EQ(Peek(), ACL_SUCCESS);
  EXPECT_EQ(Message(), "");
}

class RecentMessage : public OnDevice0 {};

TEST_F(RecentMessage, IsClearedByReading) {
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(Message().find("aclrtFree"), std::string::npos) << "names the failing function";
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_OK(aclrtSynchronizeDevice());
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
}

TEST_F(RecentMessage, NewestFirst) {
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(aclrtSetDevice(99), ACL_SUCCESS);
  EXPECT_NE(aclrtDestroyStream(nullptr), ACL_SUCCESS);
  const std::string text = Message();
  const size_t first = text.find("aclrtDestroyStream"), second = text.find("aclrtSetDevice"),
               third = text.find("aclrtFree");
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  ASSERT_NE(third, std::string::npos) << text;
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
}

TEST_F(RecentMessage, BelongsToTheThread) {
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  OnNewThread([] {
    EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
    int32_t device = 0;
    EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    EXPECT_NE(Message(), "") << "works without a device";
  });
  EXPECT_NE(Message(), "");
}

TEST_F(RecentMessage, IsIndependentOfTheLastError) {
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(Take(), ACL_SUCCESS);
  EXPECT_NE(Message(), "");
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(Message(), "");
  EXPECT_EQ(Take(), ACL_ERROR_INVALID_PARAM);
}

TEST_F(RecentMessage, KeepsThirtyTwo) {
  for (int i = 0; i < 40; ++i) EXPECT_NE(aclrtSetDevice(1000 + i), ACL_SUCCESS);
  const std::string text = Message();
  EXPECT_NE(text.find("1039"), std::string::npos);
  EXPECT_EQ(text.find("1007"), std::string::npos) << "the oldest eight are gone";
  const size_t last_line = text.find_last_of('\n', text.size() - 2);
  EXPECT_NE(text.substr(last_line).find("8"), std::string::npos) << "the last line says how many: " << text;
}

// SPEC 11 §3.2, the layout of the newer versions.
TEST_F(RecentMessage, Layout) {
  if (Cann() < "9.0") GTEST_SKIP() << "older layout";
  const std::regex head(
      R"(^\[PID: \d+\] \d{4}-\d{2}-\d{2}-\d{2}:\d{2}:\d{2}\.\d{3}\.\d{3} \w+\((E[A-Z]\w{4})\): .+)");
  EXPECT_NE(aclrtSetDevice(99), ACL_SUCCESS);
  const std::string text = Message();
  EXPECT_TRUE(std::regex_search(text, head)) << text;
  EXPECT_NE(text.find("TraceBack (most recent call last):\n"), std::string::npos) << text;
  EXPECT_NE(text.find("99"), std::string::npos) << "the offending value";
  EXPECT_TRUE(std::all_of(text.begin(), text.end(),
                          [](unsigned char c) { return c == '\n' || (c >= 32 && c < 127); }));
}

// SPEC 11 §3.3
TEST_F(RecentMessage, ClassCodes) {
  if (Cann() != "9.0") GTEST_SKIP() << "checked for one version";
  DeviceBlock block(64);
  uint8_t byte = 0;
  void* ptr = nullptr;
  const auto expect = [](const std::string& classes, aclError code) {
    EXPECT_NE(code, ACL_SUCCESS);
    const std::string text = Message();
    EXPECT_TRUE(std::regex_search(text, std::regex("\\((" + classes + ")\\): "))) << code << ": " << text;
  };
  expect("EL0003", aclrtMemcpy(block.get(), 4096, &byte, 4096, ACL_MEMCPY_HOST_TO_DEVICE));
  expect("EL0004", aclrtMalloc(&ptr, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_ONLY));
  expect("EL0014", aclrtMemcpyAsync(&byte, 1, &byte, 1, ACL_MEMCPY_HOST_TO_HOST, nullptr));
  expect("EE1011", aclrtMalloc(&ptr, 0, ACL_MEM_MALLOC_HUGE_FIRST));
  expect("EE1001", aclrtSetDevice(99));
  OnNewThread([&] { expect("EE1001", aclrtSynchronizeDevice()); });
  EXPECT_NE(aclrtMalloc(&ptr, SIZE_MAX / 2, ACL_MEM_MALLOC_HUGE_ONLY), ACL_SUCCESS);
  EXPECT_NE(Message().find("EL0004"), std::string::npos) << "clients search for it";
}

TEST_F(RecentMessage, NeverBlank) {
  aclrtEventRecordedStatus status;
  void* ptr = nullptr;
  size_t size = 0;
  const auto said = [](aclError code) {
    EXPECT_NE(code, ACL_SUCCESS);
    EXPECT_EQ(Peek(), code);
    EXPECT_GT(Message().size(), 40u);
  };
  said(aclrtMemcpy(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE));
  said(aclrtMemset(nullptr, 0, 0, 0));
  said(aclrtGetMemInfo(static_cast<aclrtMemAttr>(500), &size, &size));
  said(aclrtQueryEventStatus(UntouchedPointer(), &status));
  said(aclrtSetCurrentContext(UntouchedPointer()));
  said(aclrtDeviceEnablePeerAccess(0, 0));
  said(aclrtHostUnregister(&size));
  said(aclrtMemGetAddressRange(&size, &ptr, &size));
  said(aclrtDestroyStream(UntouchedPointer()));
  said(aclrtResetDevice(1));
}

}  // namespace
}  // namespace conformance
