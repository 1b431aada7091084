// SPEC 10 §1, §2, §3.2, §7: the life of the process. Every test here needs a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace conformance {
namespace {

constexpr aclError kGone = ACL_ERROR_UNINITIALIZE;

// Runs the body in a child and gives its exit code; 0 = no failure in there.
template <typename Body>
int InChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

class ConfigFile {
 public:
  explicit ConfigFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("conformance-" + std::to_string(getpid()) + ".json")) {
    std::ofstream(path_) << text;
  }
  ~ConfigFile() { std::filesystem::remove(path_); }
  const char* path() const { return path_.c_str(); }

 private:
  std::filesystem::path path_;
};

TEST(Lifecycle, NeverInitialised) {
  uint64_t count = 77;
  EXPECT_ACL(kGone, aclFinalize());
  EXPECT_ACL(kGone, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(kGone, aclFinalizeReference(nullptr));
}

TEST(Lifecycle, RepeatedInitIsCounted) {
  uint64_t count = 77;
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  EXPECT_OK(aclFinalizeReference(&count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(aclrtSetDevice(0)) << "still alive";
  EXPECT_OK(aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(kGone, aclrtSetDevice(0));
  count = 77;
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&count));
  EXPECT_EQ(count, 0u);
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Lifecycle, FinalizeForgetsTheCount) {
  ASSERT_OK(aclInit(nullptr));
  for (int i = 0; i < 2; ++i) EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_OK(aclFinalize());
  EXPECT_ACL(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
}

TEST(Lifecycle, OlderVersionsDoNotCount) {
  if (Cann() != "8.1") GTEST_SKIP() << "needs profile 8.1";
  uint64_t count = 77;
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclFinalizeReference(&count));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, SecondLife) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void* old_block = nullptr;
  aclrtStream old_stream = nullptr;
  aclrtContext old_context = nullptr;
  ASSERT_OK(aclrtMalloc(&old_block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtCreateStream(&old_stream));
  ASSERT_OK(aclrtGetCurrentContext(&old_context));
  ASSERT_OK(aclFinalize());
  ASSERT_OK(aclInit(nullptr)) << "a new life, not a repetition";
  int32_t device = -7;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(old_stream));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(old_context));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(old_block));
  {
    DeviceBlock block(Pattern(4096, 1));
    EXPECT_EQ(block.Read(), Pattern(4096, 1));
  }
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, WorksBeforeInit) {
  int32_t device = -7;
  EXPECT_EQ(DeviceCount() > 0, true);
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock block(Pattern(64, 1));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
  ASSERT_OK(aclInit(nullptr));
  EXPECT_EQ(block.Read(), Pattern(64, 1));
}

TEST(Lifecycle, OneOfManyThreadsInitialises) {
  std::atomic<int> first{0}, repeated{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      const aclError code = aclInit(nullptr);
      first += code == ACL_SUCCESS;
      repeated += code == ACL_ERROR_REPEAT_INITIALIZE;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(repeated, 7);
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, AfterFinalise) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void *block = nullptr, *pinned = nullptr, *unused = UntouchedPointer();
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtContext context = nullptr;
  ASSERT_OK(aclrtGetCurrentContext(&context));
  ASSERT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtMallocHost(&pinned, 64));
  ASSERT_OK(aclrtCreateStream(&stream));
  ASSERT_OK(aclrtCreateEvent(&event));
  ASSERT_OK(aclFinalize());

  // Frees of memory that outlived the runtime are taken and do nothing; a null pointer stays an error.
  for (auto release : {&aclrtFree, &aclrtFreeWithDevSync}) {
    EXPECT_OK(release(block));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, release(nullptr));
  }
  for (auto release : {&aclrtFreeHost, &aclrtFreeHostWithDevSync}) {
    EXPECT_OK(release(pinned));
    EXPECT_ACL(ACL_ERROR_INVALID_PARAM, release(nullptr));
  }

  uint8_t host[64] = {};
  uint32_t count = 77;
  int32_t number = -7;
  size_t size = kUntouched;
  aclrtRunMode mode = ACL_HOST;
  aclrtStreamStatus stream_status = ACL_STREAM_STATUS_RESERVED;
  aclrtEventStatus event_status = ACL_EVENT_STATUS_RESERVED;
  auto recorded = static_cast<aclrtEventRecordedStatus>(77);
  aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
  const auto h2d = ACL_MEMCPY_HOST_TO_DEVICE;
  const auto policy = ACL_MEM_MALLOC_HUGE_FIRST;

  EXPECT_ACL(kGone, aclrtGetDeviceCount(&count));
  EXPECT_ACL(kGone, aclrtGetRunMode(&mode));
  EXPECT_ACL(kGone, aclrtSetDevice(0));
  EXPECT_ACL(kGone, aclrtSetDevice(99)) << "the state comes before the arguments";
  EXPECT_ACL(kGone, aclrtSetDeviceWithoutTsdVXX(0));
  EXPECT_ACL(kGone, aclrtResetDevice(0));
  EXPECT_ACL(kGone, aclrtResetDeviceForce(0));
  EXPECT_ACL(kGone, aclrtGetDevice(&number));
  EXPECT_ACL(kGone, aclrtGetDevice(nullptr));
  EXPECT_ACL(kGone, aclrtSynchronizeDevice());
  EXPECT_ACL(kGone, aclrtSynchronizeDeviceWithTimeout(1));
  EXPECT_ACL(kGone, aclrtCreateContext(&unused, 0));
  EXPECT_ACL(kGone, aclrtDestroyContext(context));
  EXPECT_ACL(kGone, aclrtSetCurrentContext(context));
  EXPECT_ACL(kGone, aclrtGetCurrentContext(&unused));
  EXPECT_ACL(kGone, aclrtCtxGetCurrentDefaultStream(&unused));
  EXPECT_ACL(kGone, aclrtGetPrimaryCtxState(0, nullptr, &number));
  EXPECT_ACL(kGone, aclrtCreateStream(&unused));
  EXPECT_ACL(kGone, aclrtCreateStreamWithConfig(&unused, 0, 0));
  EXPECT_ACL(kGone, aclrtDestroyStream(stream));
  EXPECT_ACL(kGone, aclrtSynchronizeStream(stream));
  EXPECT_ACL(kGone, aclrtSynchronizeStreamWithTimeout(stream, 1));
  EXPECT_ACL(kGone, aclrtStreamQuery(stream, &stream_status));
  EXPECT_ACL(kGone, aclrtStreamGetId(stream, &number));
  EXPECT_ACL(kGone, aclrtGetStreamAvailableNum(&count));
  EXPECT_ACL(kGone, aclrtStreamGetPriority(stream, &count));
  EXPECT_ACL(kGone, aclrtStreamGetFlags(stream, &count));
  EXPECT_ACL(kGone, aclrtCreateEvent(&unused));
  EXPECT_ACL(kGone, aclrtCreateEventExWithFlag(&unused, ACL_EVENT_SYNC));
  EXPECT_ACL(kGone, aclrtRecordEvent(event, nullptr));
  EXPECT_ACL(kGone, aclrtStreamWaitEvent(nullptr, event));
  EXPECT_ACL(kGone, aclrtQueryEvent(event, &event_status));
  EXPECT_ACL(kGone, aclrtQueryEventStatus(event, &recorded));
  EXPECT_ACL(kGone, aclrtQueryEventWaitStatus(event, &waited));
  EXPECT_ACL(kGone, aclrtSynchronizeEvent(event));
  EXPECT_ACL(kGone, aclrtSynchronizeEventWithTimeout(event, 1));
  EXPECT_ACL(kGone, aclrtDestroyEvent(event));
  EXPECT_ACL(kGone, aclrtGetMemInfo(ACL_HBM_MEM, &size, &size));
  EXPECT_ACL(kGone, aclrtMalloc(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocAlign32(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocCached(&unused, 64, policy));
  EXPECT_ACL(kGone, aclrtMallocWithCfg(&unused, 64, policy, nullptr));
  EXPECT_ACL(kGone, aclrtMallocForTaskScheduler(&unused, 64, policy, nullptr));
  EXPECT_ACL(kGone, aclrtMallocHost(&unused, 64));
  EXPECT_ACL(kGone, aclrtMallocHostWithCfg(&unused, 64, nullptr));
  EXPECT_ACL(kGone, aclrtHostRegister(pinned, 64, ACL_HOST_REGISTER_MAPPED, &unused));
  EXPECT_ACL(kGone, aclrtHostUnregister(pinned));
  EXPECT_ACL(kGone, aclrtMemFlush(block, 64));
  EXPECT_ACL(kGone, aclrtMemInvalidate(block, 64));
  EXPECT_ACL(kGone, aclrtMemGetAddressRange(block, &unused, &size));
  EXPECT_ACL(kGone, aclrtMemcpy(block, 64, host, 64, h2d));
  EXPECT_ACL(kGone, aclrtMemcpy(nullptr, 0, nullptr, 0, h2d));
  EXPECT_ACL(kGone, aclrtMemcpyAsync(block, 64, host, 64, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemcpyAsyncWithCondition(block, 64, host, 64, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemcpy2d(block, 8, host, 8, 8, 8, h2d));
  EXPECT_ACL(kGone, aclrtMemcpy2dAsync(block, 8, host, 8, 8, 8, h2d, stream));
  EXPECT_ACL(kGone, aclrtMemset(block, 64, 0, 64));
  EXPECT_ACL(kGone, aclrtMemsetAsync(block, 64, 0, 64, stream));
  EXPECT_ACL(kGone, aclrtDeviceCanAccessPeer(&number, 0, 1));
  EXPECT_ACL(kGone, aclrtDeviceEnablePeerAccess(1, 0));
  EXPECT_ACL(kGone, aclrtDeviceDisablePeerAccess(1));
  EXPECT_ACL(kGone, aclrtDevicePeerAccessStatus(0, 1, &number));
  EXPECT_ACL(kGone, aclrtMemP2PMap(block, 64, 1, 0));
  EXPECT_EQ(unused, UntouchedPointer());
  EXPECT_EQ(size, kUntouched);
  EXPECT_EQ(number, -7);
  EXPECT_EQ(count, 77u);

  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), kGone);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), kGone);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  int32_t major = 0, minor = 0, patch = 0;
  EXPECT_OK(aclrtGetVersion(&major, &minor, &patch));
}

// Armed by the test; its destructor runs after main has returned.
struct Late {
  ~Late() {
    if (stream == nullptr) return;
    const bool fine = aclrtDestroyStream(stream) == kGone && aclrtFree(block) == ACL_SUCCESS &&
                      aclrtSetDevice(0) == kGone && aclGetRecentErrMsg() != nullptr;
    if (!fine) _exit(3);
  }
  aclrtStream stream = nullptr;
  void* block = nullptr;
} late;

TEST(Lifecycle, StaticDestructorsMayCall) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtCreateStream(&late.stream));
  ASSERT_OK(aclrtMalloc(&late.block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclFinalize());
}

TEST(Lifecycle, ExitWithEverythingOpen) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  void* block = nullptr;
  aclrtStream stream = nullptr;
  ASSERT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_OK(aclrtCreateStream(&stream));
  ASSERT_OK(aclrtMemsetAsync(block, 64, 0, 64, stream));
}

TEST(Lifecycle, ConfigurationFailures) {
  const auto nest = [](char open, char close, int depth) {
    std::string text = R"({"x":)";
    text.append(depth - (open == '{' ? 1 : 0), open == '{' ? ' ' : '[');
    if (open == '{') {
      for (int i = 1; i < depth; ++i) text += R"({"x":)";
      text += "1";
      for (int i = 1; i < depth; ++i) text += close;
    } else {
      text.append(depth, close);
    }
    return text + "}";
  };
  struct Row {
    std::string text;
    aclError code;
  };
  const Row rows[] = {
      {"{", ACL_ERROR_PARSE_FILE},
      {"[]", ACL_ERROR_PARSE_FILE},
      {"", ACL_ERROR_PARSE_FILE},
      {nest('{', '}', 11), ACL_ERROR_PARSE_FILE},
      {nest('[', ']', 11), ACL_ERROR_PARSE_FILE},
      {std::string(10 * kMiB + 1, ' '), ACL_ERROR_INVALID_FILE_SIZE},
      {R"({"defaultDevice":{}})", ACL_ERROR_FILE_MISSING_ATTR},
      {R"({"dump":{"dump_op_switch":"on"}})", ACL_ERROR_FILE_MISSING_ATTR},
      {R"({"defaultDevice":{"default_device":1}})", ACL_ERROR_FILE_ATTR_INVALID},
      {R"({"defaultDevice":{"default_device":"x"}})", ACL_ERROR_FILE_ATTR_INVALID},
      {R"({"err_msg_mode":"2"})", ACL_ERROR_FILE_ATTR_INVALID},
      {R"({"dump":{"dump_path":"/tmp","dump_op_switch":"maybe"}})", ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"dump":{"dump_path":"/tmp","dump_debug":"on","dump_op_switch":"on"}})",
       ACL_ERROR_INVALID_DUMP_CONFIG},
      {R"({"profiler":1})", ACL_ERROR_INVALID_PROFILING_CONFIG},
      {R"({"max_opqueue_num":"0"})", ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG},
      {R"({"max_opqueue_num":7})", ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG},
  };
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit("/nowhere/acl.json"));
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit("/tmp"));
  for (const Row& row : rows) {
    ConfigFile file(row.text);
    EXPECT_ACL(row.code, aclInit(file.path())) << row.text.substr(0, 80);
  }
  EXPECT_ACL(kGone, aclFinalize()) << "a failed init counts nothing";
  const std::string good[] = {"{}", R"({"unknown":[1,2]})", nest('{', '}', 10), nest('[', ']', 10),
                              R"({"max_opqueue_num":"100","err_msg_mode":"0"})"};
  for (const std::string& text : good) {
    ConfigFile file(text);
    EXPECT_OK(aclInit(file.path())) << text;
    EXPECT_OK(aclFinalize());
  }
}

TEST(Lifecycle, DefaultDevice) {
  ConfigFile file(R"({"defaultDevice":{"default_device":"1"}})");
  ASSERT_OK(aclInit(file.path()));
  void* block = nullptr;
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST)) << "selects the device implicitly";
  int32_t device = -7;
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 1);
  OnNewThread([] {
    int32_t other = -7;
    EXPECT_OK(aclrtGetDevice(&other)) << "in each thread";
    EXPECT_EQ(other, 1);
  });
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 0) << "an explicit choice wins";
  EXPECT_OK(aclrtResetDevice(1)) << "the first implicit selection counted one";
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, DefaultDeviceIsCheckedAtFirstUse) {
  ConfigFile file(R"({"defaultDevice":{"default_device":"99"}})");
  ASSERT_OK(aclInit(file.path()));
  int32_t device = -7;
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetCurrentContext(&context));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, MessagesOfTheWholeProcess) {
  ConfigFile file(R"({"err_msg_mode":"1"})");
  ASSERT_OK(aclInit(file.path()));
  OnNewThread([] { EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS); });
  const char* text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::string(text).find("aclrtFree"), std::string::npos);
  OnNewThread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "read by one, gone for all"; });
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, ChildOfAnOpenDevice) {
  ASSERT_OK(aclInit(nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  DeviceBlock block(Pattern(64, 1));
  EXPECT_EQ(InChild([&] {
              uint32_t count = 0;
              void* ptr = nullptr;
              EXPECT_EQ(aclrtGetDeviceCount(&count), ACL_ERROR_RT_INTERNAL_ERROR);
              EXPECT_EQ(aclrtMalloc(&ptr, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_ERROR_RT_INTERNAL_ERROR);
              EXPECT_EQ(aclrtFree(block.get()), ACL_ERROR_RT_INTERNAL_ERROR);
              EXPECT_EQ(aclFinalize(), ACL_ERROR_RT_INTERNAL_ERROR);
              EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_ERROR_RT_INTERNAL_ERROR);
              EXPECT_NE(aclGetRecentErrMsg(), nullptr);
            }),
            0);
  EXPECT_EQ(block.Read(), Pattern(64, 1)) << "the parent goes on";
}

TEST(Lifecycle, ChildOfAnInitialisedParent) {
  ASSERT_OK(aclInit(nullptr));
  EXPECT_GT(DeviceCount(), 0);
  EXPECT_EQ(InChild([] {
              EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE) << "it has the parent's state";
              EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
              EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
            }),
            0);
  EXPECT_OK(aclrtSetDevice(0));
}

// SPEC 10 §3.2; the process runs with four devices.
TEST(Lifecycle, VisibleDevices) {
  if (Variant() != "four devices") GTEST_SKIP() << "needs a host of four devices";
  struct Row {
    const char* list;
    uint32_t count;
  };
  const Row rows[] = {{nullptr, 4}, {"2", 1},     {"0,1,3,4", 3}, {"4", 0},     {"1,0", 0},    {"2,2", 0},
                      {"", 0},      {" 1", 0},    {"-1", 0},      {"a", 0},     {"1, 2,3", 1}, {"0,,1", 1},
                      {"1,9,0", 1}, {"00,01", 2}, {"0,1,2,3", 4}, {"1,3,8", 2}, {"0,1,", 2}};
  for (const Row& row : rows) {
    EXPECT_EQ(InChild([&] {
                if (row.list == nullptr) {
                  unsetenv("ASCEND_RT_VISIBLE_DEVICES");
                } else {
                  setenv("ASCEND_RT_VISIBLE_DEVICES", row.list, 1);
                }
                uint32_t count = 77;
                EXPECT_EQ(aclrtGetDeviceCount(&count), row.count > 0 ? ACL_SUCCESS : ACL_ERROR_RT_NO_DEVICE);
                EXPECT_EQ(count, row.count);
                EXPECT_EQ(aclrtSetDevice(0), row.count > 0 ? ACL_SUCCESS : ACL_ERROR_RT_INVALID_DEVICEID);
                EXPECT_EQ(aclrtSetDevice(static_cast<int32_t>(row.count)), ACL_ERROR_RT_INVALID_DEVICEID);
                EXPECT_NE(aclrtGetSocName(), nullptr) << "masking does not change it";
              }),
              0)
        << (row.list == nullptr ? "unset" : row.list);
  }
}

}  // namespace
}  // namespace conformance
