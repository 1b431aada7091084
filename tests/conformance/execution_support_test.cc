// Which versions and products have the functions of SPEC 21 and 34 §5, by the function index.
#include "threads.h"

namespace conformance {
namespace {

constexpr aclError kNone = ACL_ERROR_RT_FEATURE_NOT_SUPPORT;

// A function that this version of Belay lacks answers 207000 everywhere and is not judged.
void ExpectSupport(aclError expected, const std::function<aclError()>& call, const char* name) {
  const aclError code = call();
  if (NotBuiltYet(code)) return;
  EXPECT_EQ(code, expected) << name;
}

class ExecutionSupport : public OnTwoDevices {
 protected:
  // Where every product has the function since `version`.
  static aclError Since(const char* version) { return Cann() >= version ? ACL_SUCCESS : kNone; }
  // Where the inference family lacks it.
  static aclError NotInference(const char* version) { return OnSoc("Ascend310P") ? kNone : Since(version); }
};

TEST_F(ExecutionSupport, Callbacks) {
  Counter count = 0;
  Stream stream;
  const auto device_state = [](uint32_t, aclrtDeviceState, void*) {};
  const auto stream_state = [](aclrtStream, aclrtStreamState, void*) {};
  const auto abort_stage = [](int32_t, aclrtDeviceTaskAbortStage, uint32_t, void*) -> int32_t { return 0; };
  ExpectSupport(
      Since("8.5"), [&] { return aclrtLaunchHostFunc(stream.get(), &CountUp, &count); }, "LaunchHostFunc");
  ExpectSupport(
      Since("8.5"), [&] { return aclrtRegDeviceStateCallback("s", device_state, nullptr); }, "device state");
  ExpectSupport(
      Since("8.5"), [&] { return aclrtRegDeviceStateCallback("s", nullptr, nullptr); }, "device state");
  ExpectSupport(
      Since("8.5"), [&] { return aclrtRegStreamStateCallback("s", stream_state, nullptr); }, "stream state");
  ExpectSupport(
      Since("8.5"), [&] { return aclrtRegStreamStateCallback("s", nullptr, nullptr); }, "stream state");
  for (bool set : {true, false}) {
    ExpectSupport(
        NotInference("8.5"),
        [&] { return aclrtSetDeviceTaskAbortCallback("s", set ? +abort_stage : nullptr, nullptr); },
        "abort callback");
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
}

TEST_F(ExecutionSupport, OldestFunctions) {
  Counter count = 0;
  Stream stream;
  const aclError subscribed = aclrtSubscribeReport(ReportId(), stream.get());
  SKIP_UNLESS_BUILT(subscribed);
  EXPECT_OK(aclrtLaunchCallback(&CountUp, &count, ACL_CALLBACK_BLOCK, stream.get()));
  EXPECT_OK(aclrtProcessReport(-1));
  EXPECT_OK(aclrtUnSubscribeReport(ReportId(), stream.get()));
  EXPECT_EQ(count, 1);
  EXPECT_OK(aclrtSetExceptionInfoCallback(nullptr));
  uint32_t groups = 77;
  EXPECT_OK(aclrtGetGroupCount(&groups));
}

TEST_F(ExecutionSupport, AbortAndRepair) {
  size_t count = 0;
  aclrtMemUceInfo entry;
  aclrtErrorInfo info;
  std::memset(&info, 0, sizeof info);
  ExpectSupport(
      NotInference("8.1"), [] { return aclrtDeviceTaskAbort(0, 0); }, "DeviceTaskAbort");
  ExpectSupport(
      NotInference("8.1"), [&] { return aclrtGetMemUceInfo(0, &entry, 1, &count); }, "GetMemUceInfo");
  ExpectSupport(
      NotInference("9.1"), [&] { return aclrtGetErrorVerbose(0, &info); }, "GetErrorVerbose");
  const aclError nothing = ACL_ERROR_RT_PARAM_INVALID;
  ExpectSupport(
      NotInference("8.1") == kNone ? kNone : nothing, [&] { return aclrtMemUceRepair(0, &entry, 1); },
      "MemUceRepair");
  ExpectSupport(
      NotInference("9.1") == kNone ? kNone : nothing, [&] { return aclrtRepairError(0, &info); },
      "RepairError");
  // What the profile lacks comes after null pointers and before everything else.
  if (OnSoc("Ascend310P")) {
    ExpectSupport(
        kNone, [] { return aclrtDeviceTaskAbort(99, UINT32_MAX); }, "DeviceTaskAbort");
    ExpectSupport(
        ACL_ERROR_INVALID_PARAM, [&] { return aclrtGetMemUceInfo(0, nullptr, 1, &count); }, "GetMemUceInfo");
    ExpectSupport(
        kNone, [&] { return aclrtGetMemUceInfo(99, &entry, 1, &count); }, "GetMemUceInfo");
  }
  if (Cann() < "9.1") {
    ExpectSupport(
        ACL_ERROR_INVALID_PARAM, [] { return aclrtGetErrorVerbose(0, nullptr); }, "GetErrorVerbose");
    ExpectSupport(
        kNone, [&] { return aclrtGetErrorVerbose(99, &info); }, "GetErrorVerbose");
  }
}

TEST_F(ExecutionSupport, Values) {
  DeviceBlock block(Bytes(64, 0));
  Stream stream;
  ExpectSupport(
      NotInference("8.5"), [&] { return aclrtValueWrite(block.get(), 1, 0, stream.get()); }, "ValueWrite");
  ExpectSupport(
      NotInference("8.5"),
      [&] { return aclrtValueWait(block.get(), 0, ACL_STREAM_WAIT_VALUE_GEQ, stream.get()); }, "ValueWait");
  if (NotInference("8.5") == kNone) {
    ExpectSupport(
        kNone, [&] { return aclrtValueWrite(block.at(1), 1, 9, UntouchedPointer()); }, "ValueWrite");
    ExpectSupport(
        ACL_ERROR_INVALID_PARAM, [&] { return aclrtValueWait(nullptr, 0, 0, stream.get()); }, "ValueWait");
  }
  EXPECT_OK(aclrtSynchronizeStream(stream.get()));
  const uint64_t value = NotInference("8.5") == kNone ? 0 : 1;
  uint64_t word = 77;
  EXPECT_OK(aclrtMemcpy(&word, 8, block.get(), 8, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(word == value || NotBuiltYet(aclrtValueWrite(block.get(), 1, 0, stream.get()))) << word;
}

TEST_F(ExecutionSupport, FailureModeOfTheDefaultStream) {
  Stream stream;
  ExpectSupport(
      ACL_SUCCESS, [&] { return aclrtSetStreamFailureMode(stream.get(), ACL_CONTINUE_ON_FAILURE); },
      "explicit");
  ExpectSupport(
      NotInference("9.0"), [] { return aclrtSetStreamFailureMode(nullptr, ACL_CONTINUE_ON_FAILURE); },
      "default");
}

TEST_F(ExecutionSupport, NumbersOfTasks) {
  uint32_t id = 77;
  ExpectSupport(
      Since("8.5"), [&] { return aclrtGetThreadLastTaskId(&id); }, "GetThreadLastTaskId");
}

}  // namespace
}  // namespace conformance
