// SPEC 10 §1.1, §1.2, §4.3: the configuration file. Every test here needs a process of its own.
#include <unistd.h>
#include <filesystem>
#include <fstream>

#include "support.h"

namespace conformance {
namespace {

constexpr aclError kGone = ACL_ERROR_UNINITIALIZE;

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

TEST(Lifecycle, ConfigurationFiles) {
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit("/nowhere/acl.json"));
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit("/tmp"));
  for (const char* text : {"{", "[]", "", "nonsense"}) {
    ConfigFile file(text);
    EXPECT_ACL(ACL_ERROR_PARSE_FILE, aclInit(file.path())) << text;
  }
  {
    ConfigFile file(std::string(10 * kMiB + 1, ' '));
    EXPECT_ACL(ACL_ERROR_INVALID_FILE_SIZE, aclInit(file.path()));
  }
  EXPECT_ACL(kGone, aclFinalize()) << "a failed init counts nothing";
  ConfigFile file("{}");
  EXPECT_OK(aclInit(file.path()));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, ConfigurationKeys) {
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
      {"{}{}", ACL_ERROR_PARSE_FILE},
      {nest('{', '}', 11), ACL_ERROR_PARSE_FILE},
      {nest('[', ']', 11), ACL_ERROR_PARSE_FILE},
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
  for (const Row& row : rows) {
    ConfigFile file(row.text);
    const aclError code = aclInit(file.path());
    SKIP_UNLESS_BUILT(code);
    EXPECT_ACL(row.code, code) << row.text.substr(0, 80);
  }
  const std::string good[] = {R"({"unknown":[1,2]})", nest('{', '}', 10), nest('[', ']', 10),
                              R"({"max_opqueue_num":"100","err_msg_mode":"0"})"};
  for (const std::string& text : good) {
    ConfigFile file(text);
    EXPECT_OK(aclInit(file.path())) << text;
    EXPECT_OK(aclFinalize());
  }
}

TEST(Lifecycle, APathIsRelativeToThisFolderOrTheProgram) {
  namespace fs = std::filesystem;
  const std::string name = "conformance-relative-" + std::to_string(getpid()) + ".json";
  const fs::path beside = fs::read_symlink("/proc/self/exe").parent_path() / name;
  const fs::path here = fs::temp_directory_path() / name;
  fs::current_path(fs::temp_directory_path());
  EXPECT_ACL(ACL_ERROR_INVALID_FILE, aclInit(name.c_str()));
  std::ofstream(beside) << "{}";
  EXPECT_OK(aclInit(name.c_str())) << "beside the program";
  EXPECT_OK(aclFinalize());
  std::ofstream(here) << "{";
  EXPECT_ACL(ACL_ERROR_PARSE_FILE, aclInit(name.c_str())) << "the working directory comes first";
  fs::remove(beside);
  fs::remove(here);
}

TEST(Lifecycle, OtherCodeOfABadPath) {
  if (Variant() != "bad path") GTEST_SKIP() << "needs the quirk init.bad_path_code";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclInit("/nowhere/acl.json"));
  EXPECT_OK(aclInit(nullptr));
}

TEST(Lifecycle, ARepeatedInitDoesNotReadItsFile) {
  ConfigFile file(R"({"err_msg_mode":"1"})");
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit("/nowhere/acl.json"));
  EXPECT_ACL(ACL_ERROR_REPEAT_INITIALIZE, aclInit(file.path()));
  OnNewThread([] { EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS); });
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "the first configuration is in force: messages of the thread";
}

TEST(Lifecycle, DefaultDeviceComesBack) {
  ConfigFile file(R"({"defaultDevice":{"default_device":"1"}})");
  int32_t device = -7;
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)) << "not before aclInit";
  ASSERT_OK(aclInit(file.path()));
  ASSERT_OK(aclrtGetDevice(&device));
  OnNewThread([] {
    int32_t other = -7;
    EXPECT_OK(aclrtGetDevice(&other)) << "binds, and counts nothing";
  });
  ASSERT_OK(aclrtResetDevice(1));
  EXPECT_OK(aclrtGetDevice(&device)) << "bound again";
  EXPECT_OK(aclrtResetDevice(1)) << "with a new count of 1";
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1));
  EXPECT_OK(aclFinalize());
  ASSERT_OK(aclInit(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device)) << "of this life only";
}

TEST(Lifecycle, DefaultDevice) {
  ConfigFile file(R"({"defaultDevice":{"default_device":"1"}})");
  const aclError code = aclInit(file.path());
  SKIP_UNLESS_BUILT(code);
  ASSERT_OK(code);
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
  EXPECT_OK(aclrtFree(block));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtGetDevice(&device));
  EXPECT_EQ(device, 0) << "an explicit choice wins";
  EXPECT_OK(aclrtResetDevice(1)) << "the first implicit selection counted one";
  EXPECT_ACL(ACL_ERROR_RT_CONTEXT_RELEASE_ERROR, aclrtResetDevice(1));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, DefaultDeviceIsCheckedAtFirstUse) {
  ConfigFile file(R"({"defaultDevice":{"default_device":"99"}})");
  const aclError code = aclInit(file.path());
  SKIP_UNLESS_BUILT(code);
  ASSERT_OK(code);
  int32_t device = -7;
  aclrtContext context = nullptr;
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetDevice(&device));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_DEVICEID, aclrtGetCurrentContext(&context));
  EXPECT_OK(aclFinalize());
}

TEST(Lifecycle, MessagesOfTheWholeProcess) {
  ConfigFile file(R"({"err_msg_mode":"1"})");
  const aclError code = aclInit(file.path());
  SKIP_UNLESS_BUILT(code);
  ASSERT_OK(code);
  OnNewThread([] { EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS); });
  const char* text = aclGetRecentErrMsg();
  ASSERT_NE(text, nullptr);
  EXPECT_NE(std::string(text).find("aclrtFree"), std::string::npos);
  OnNewThread([] { EXPECT_EQ(aclGetRecentErrMsg(), nullptr) << "read by one, gone for all"; });
  EXPECT_OK(aclFinalize());
}

}  // namespace
}  // namespace conformance
