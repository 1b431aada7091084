// SPEC 10 §3.2, §7.4: child processes and the visible devices. Every test here needs a process of its own.
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

namespace conformance {
namespace {

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
