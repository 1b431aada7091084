// SPEC 10 §1.3: initialise and finalise callbacks; 11 §§4.1, 6: what works in every state. Every test here
// needs a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "support.h"

namespace conformance {
namespace {

constexpr auto kType = ACL_REG_TYPE_ACL_MODEL;
constexpr aclError kBad = ACL_ERROR_INVALID_PARAM, kState = ACL_ERROR_RT_PARAM_INVALID,
                   kNested = ACL_ERROR_RT_INTERNAL_ERROR;

std::string g_story;
aclError g_answer = ACL_SUCCESS;

aclError First(const char* text, size_t length, void* data) {
  g_story += "first(" + std::string(text, length) + (data != nullptr ? "+" : "") + ")";
  EXPECT_EQ(text[length], '\0');
  return ACL_SUCCESS;
}
aclError Second(const char*, size_t, void*) {
  g_story += "second";
  return g_answer;
}
aclError End(void*) {
  g_story += "end";
  int32_t major = 0, minor = 0, patch = 0;
  EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
  EXPECT_OK(aclrtSetDevice(0)) << "the runtime still works";
  return g_answer;
}
aclError LaterEnd(void*) {
  g_story += "later";
  return g_answer == ACL_SUCCESS ? ACL_SUCCESS : g_answer + 1;
}

std::string Story() {
  return std::exchange(g_story, "");
}

TEST(Lifecycle, InitCallbacksRunInOrder) {
  int data = 0;
  ASSERT_OK(aclInitCallbackRegister(kType, First, &data));
  ASSERT_OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, Second, nullptr));
  ASSERT_OK(aclInit(nullptr));
  EXPECT_EQ(Story(), "first(+)second");
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_EQ(Story(), "") << "not again";
  ASSERT_OK(aclInitCallbackRegister(ACL_REG_TYPE_ACL_DVPP, First, nullptr));
  EXPECT_EQ(Story(), "first()") << "at once";
  ASSERT_OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, Second));
  ASSERT_OK(aclFinalize());
  ASSERT_OK(aclInit(nullptr));
  EXPECT_EQ(Story(), "first(+)first()") << "in the next life";
}

TEST(Lifecycle, InitCallbacksGetTheText) {
  const std::string path = "/tmp/conformance-callback-" + std::to_string(getpid()) + ".json";
  const std::string text = "{ \"err_msg_mode\": \"0\" }\n";
  std::ofstream(path) << text;
  ASSERT_OK(aclInitCallbackRegister(kType, First, nullptr));
  ASSERT_OK(aclInit(path.c_str()));
  EXPECT_EQ(Story(), "first(" + text + ")");
  std::filesystem::remove(path);
}

TEST(Lifecycle, ARefusingInitCallbackUndoesInit) {
  ASSERT_OK(aclInitCallbackRegister(kType, Second, nullptr));
  ASSERT_OK(aclInitCallbackRegister(kType, First, nullptr));
  g_answer = 4711;
  EXPECT_ACL(4711, aclInit(nullptr));
  EXPECT_EQ(Story(), "second") << "the next one does not run";
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclFinalize());
  g_answer = ACL_SUCCESS;
  ASSERT_OK(aclInit(nullptr));
  EXPECT_EQ(Story(), "secondfirst()");
  ASSERT_OK(aclFinalize());
  g_answer = 4711;
  EXPECT_ACL(4711, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclrtSetDevice(0)) << "as after the last finalise";
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Lifecycle, ARefusingCallbackIsNotKept) {
  ASSERT_OK(aclInit(nullptr));
  g_answer = 4711;
  EXPECT_ACL(4711, aclInitCallbackRegister(kType, Second, nullptr));
  EXPECT_ACL(kState, aclInitCallbackUnRegister(kType, Second));
}

TEST(Lifecycle, FinaliseCallbacksRunBackwards) {
  ASSERT_OK(aclFinalizeCallbackRegister(kType, End, nullptr));
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclFinalizeCallbackRegister(kType, LaterEnd, nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  uint64_t left = 77;
  EXPECT_OK(aclFinalizeReference(&left));
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(Story(), "") << "not yet";
  g_answer = 4711;
  EXPECT_ACL(4712, aclFinalize()) << "the first code that is not 0";
  EXPECT_EQ(Story(), "laterend");
  EXPECT_ACL(ACL_ERROR_UNINITIALIZE, aclrtSetDevice(0)) << "finalised all the same";
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
  EXPECT_EQ(Story(), "");
}

TEST(Lifecycle, CallbackArguments) {
  for (int type : {-1, 8, 65534, 65536}) {
    const auto bad = static_cast<aclRegisterCallbackType>(type);
    EXPECT_ACL(kBad, aclInitCallbackRegister(bad, First, nullptr)) << type;
    EXPECT_ACL(kBad, aclInitCallbackUnRegister(bad, First));
    EXPECT_ACL(kBad, aclFinalizeCallbackRegister(bad, End, nullptr));
    EXPECT_ACL(kBad, aclFinalizeCallbackUnRegister(bad, End));
  }
  EXPECT_ACL(kBad, aclInitCallbackRegister(kType, nullptr, nullptr));
  EXPECT_ACL(kBad, aclInitCallbackUnRegister(kType, nullptr));
  EXPECT_ACL(kBad, aclFinalizeCallbackRegister(kType, nullptr, nullptr));
  EXPECT_ACL(kBad, aclFinalizeCallbackUnRegister(kType, nullptr));
  ASSERT_OK(aclInitCallbackRegister(kType, First, nullptr));
  EXPECT_ACL(kState, aclInitCallbackRegister(kType, First, nullptr)) << "twice";
  EXPECT_ACL(kState, aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_RETR, First)) << "another pair";
  ASSERT_OK(aclInitCallbackUnRegister(kType, First));
  EXPECT_ACL(kState, aclInitCallbackUnRegister(kType, First));
  ASSERT_OK(aclFinalizeCallbackRegister(kType, End, nullptr));
  EXPECT_ACL(kState, aclFinalizeCallbackRegister(kType, End, nullptr));
  EXPECT_ACL(kState, aclFinalizeCallbackUnRegister(kType, LaterEnd));
  ASSERT_OK(aclFinalizeCallbackUnRegister(kType, End));
}

aclError Nesting(const char*, size_t, void*) {
  uint64_t left = 77;
  EXPECT_ACL(kNested, aclInit(nullptr));
  EXPECT_ACL(kNested, aclFinalize());
  EXPECT_ACL(kNested, aclFinalizeReference(&left));
  EXPECT_ACL(kNested, aclInitCallbackRegister(kType, First, nullptr));
  EXPECT_ACL(kNested, aclInitCallbackUnRegister(kType, First));
  EXPECT_ACL(kNested, aclFinalizeCallbackRegister(kType, End, nullptr));
  EXPECT_ACL(kNested, aclFinalizeCallbackUnRegister(kType, End));
  EXPECT_OK(aclrtSetDevice(0)) << "other calls work";
  return ACL_SUCCESS;
}

TEST(Lifecycle, CallbacksDoNotNest) {
  ASSERT_OK(aclInitCallbackRegister(kType, Nesting, nullptr));
  ASSERT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, DataFunctionsWorkInEveryState) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  const pid_t child = fork();
  if (child == 0) {
    aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 3);
    const bool fine = aclFloat16ToFloat(0x3c00) == 1.0f && aclDataTypeSize(ACL_BF16) == 2 &&
                      aclGetDataBufferSizeV2(buffer) == 3 && aclDestroyDataBuffer(buffer) == ACL_SUCCESS;
    _exit(fine ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "in a child of an open device";
  ASSERT_OK(aclrtResetDevice(0));
  ASSERT_OK(aclFinalize());
  EXPECT_EQ(aclFloatToFloat16(1.0f), 0x3c00);
  EXPECT_EQ(aclDataTypeSize(ACL_DOUBLE), 8u);
  aclDataBuffer* buffer = aclCreateDataBuffer(nullptr, 5);
  EXPECT_EQ(aclGetDataBufferSizeV2(buffer), 5u);
  EXPECT_OK(aclDestroyDataBuffer(buffer));
  char name[] = "runtime", room[128] = "";
  EXPECT_OK(aclsysGetVersionStr(name, room));
}

TEST(Lifecycle, TheProgramsLog) {
  const std::string folder = "/tmp/conformance-log-" + std::to_string(getpid());
  setenv("ASCEND_PROCESS_LOG_PATH", folder.c_str(), 1);
  setenv("ASCEND_GLOBAL_LOG_LEVEL", "1", 1);
  aclAppLog(ACL_DEBUG, "f", "file.cc", 1, "not %s", "written");
  EXPECT_FALSE(std::filesystem::exists(folder));
  aclAppLog(ACL_INFO, "Load", "file.cc", 12, "%d of %s, %.2f", 3, "ten", 0.5);
  aclAppLog(static_cast<aclLogLevel>(9), nullptr, nullptr, 0, "odd");
  aclAppLog(ACL_ERROR, "f", "file.cc", 1, nullptr);
  std::ostringstream all;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/debug/plog"))
    all << std::ifstream(entry.path()).rdbuf();
  const std::string text = all.str();
  EXPECT_NE(text.find("[INFO] APP(" + std::to_string(getpid()) + ","), std::string::npos) << text;
  EXPECT_NE(text.find(" [file.cc:12]"), std::string::npos) << text;
  EXPECT_NE(text.find(" Load:3 of ten, 0.50\n"), std::string::npos) << text;
  EXPECT_NE(text.find("[ERROR]"), std::string::npos) << text;
  EXPECT_NE(text.find(" (null):odd\n"), std::string::npos) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2) << text;
  std::filesystem::remove_all(folder);
}

// SPEC 10 §3.1 under ASCEND_RT_VISIBLE_DEVICES=1,2.
void CheckIds(const std::vector<int32_t>& physical) {
  const aclError bad = ACL_ERROR_RT_INVALID_DEVICEID;
  int32_t id = -7;
  EXPECT_OK(aclrtGetLogicDevIdByUserDevId(0, &id));
  EXPECT_EQ(id, 1);
  EXPECT_ACL(bad, aclrtGetLogicDevIdByUserDevId(2, &id));
  EXPECT_OK(aclrtGetUserDevIdByLogicDevId(2, &id));
  EXPECT_EQ(id, 1);
  EXPECT_ACL(bad, aclrtGetUserDevIdByLogicDevId(0, &id)) << "masked";
  EXPECT_ACL(bad, aclrtGetUserDevIdByLogicDevId(99, &id));
  for (int logical = 0; logical < 3; ++logical) {
    EXPECT_OK(aclrtGetLogicDevIdByPhyDevId(physical[logical], &id)) << "masked or not";
    EXPECT_EQ(id, logical);
  }
  EXPECT_ACL(bad, aclrtGetLogicDevIdByPhyDevId(99, &id));
  EXPECT_OK(aclrtGetPhyDevIdByLogicDevId(0, &id));
  EXPECT_EQ(id, physical[1]) << "the argument is a user id";
  EXPECT_ACL(bad, aclrtGetPhyDevIdByLogicDevId(2, &id));
  EXPECT_OK(aclrtGetPhyDevIdByUserDevId(1, &id));
  EXPECT_EQ(id, physical[2]);
}

TEST(Lifecycle, IdsUnderAMask) {
  setenv("ASCEND_RT_VISIBLE_DEVICES", "1,2", 1);
  CheckIds({0, 1, 2});
}

TEST(Lifecycle, IdsInAContainer) {
  if (Variant() != "container") GTEST_SKIP() << "needs a container";
  setenv("ASCEND_RT_VISIBLE_DEVICES", "1,2", 1);
  CheckIds({1, 6, 9});
}

TEST(Lifecycle, IdsByLogic) {
  if (Variant() != "by logic") GTEST_SKIP() << "needs the quirk phyid_by_logic";
  setenv("ASCEND_RT_VISIBLE_DEVICES", "1,2", 1);
  int32_t id = -7;
  EXPECT_OK(aclrtGetPhyDevIdByLogicDevId(7, &id));
  EXPECT_EQ(id, 7);
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetPhyDevIdByLogicDevId(8, &id));
}

}  // namespace
}  // namespace conformance
