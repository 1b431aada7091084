#include "feature.h"

#include <acl/acl.h>

#include <iterator>

#include "control.h"

namespace model {
namespace {

constexpr const char* kNames[] = {"flag-events", "notifies",    "values",   "host-functions",
                                  "callbacks",   "event-books", "controls", "pageable"};

void Nothing(void*) {}

bool Built(aclError code) {
  return code != ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
}

}  // namespace

unsigned ProbeFeatures() {
  unsigned features = kPageableMemory;
  aclrtStream stream = nullptr;
  aclrtEvent event = nullptr;
  aclrtNotify notify = nullptr;
  void* block = nullptr;
  uint32_t count = 0;
  aclrtCreateStream(&stream);
  if (aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC) == ACL_SUCCESS) {
    if (Built(aclrtResetEvent(event, stream))) features |= kFlagEvents;
    aclrtSynchronizeStream(stream);
    aclrtDestroyEvent(event);
  }
  if (aclrtCreateNotify(&notify, 0) == ACL_SUCCESS) {
    if (Built(aclrtRecordNotify(notify, stream))) features |= kNotifies;
    aclrtSynchronizeStream(stream);
    aclrtDestroyNotify(notify);
  }
  aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST);
  if (Built(aclrtValueWrite(block, 1, 0, stream))) features |= kValues;
  if (Built(aclrtLaunchHostFunc(stream, Nothing, nullptr))) features |= kHostFuncs;
  if (Built(aclrtLaunchCallback(Nothing, nullptr, ACL_CALLBACK_BLOCK, stream))) features |= kCallbacks;
  if (Built(aclrtGetEventAvailNum(&count))) features |= kEventBooks;
  if (Controls::Get().Complete()) features |= kControls;
  aclrtSynchronizeStream(stream);
  aclrtFree(block);
  aclrtDestroyStream(stream);
  return features;
}

std::string FeatureNames(unsigned features) {
  std::string names;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if ((features >> i & 1u) != 0) names += (names.empty() ? "" : ",") + std::string(kNames[i]);
  }
  return names.empty() ? "none" : names;
}

unsigned ParseFeatures(const std::string& names) {
  unsigned features = 0;
  for (size_t i = 0; i < std::size(kNames); ++i) {
    if (("," + names + ",").find("," + std::string(kNames[i]) + ",") != std::string::npos)
      features |= 1u << i;
  }
  return features;
}

}  // namespace model
