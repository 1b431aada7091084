// SPEC 21 §7.1: callbacks around selecting and resetting devices, and around the life of streams.
#include "threads.h"

namespace conformance {
namespace {

struct Change {
  int who;
  uint32_t device;
  aclrtStream stream;
  int state;
  std::thread::id thread;
};
struct Watcher {
  int who;
  std::vector<Change>* log;
};

void WatchDevice(uint32_t device, aclrtDeviceState state, void* args) {
  const auto* watcher = static_cast<Watcher*>(args);
  watcher->log->push_back({watcher->who, device, nullptr, state, std::this_thread::get_id()});
}
void WatchStream(aclrtStream stream, aclrtStreamState state, void* args) {
  const auto* watcher = static_cast<Watcher*>(args);
  watcher->log->push_back({watcher->who, 0, stream, state, std::this_thread::get_id()});
}

std::vector<int> States(const std::vector<Change>& log) {
  std::vector<int> states;
  for (const Change& change : log) states.push_back(change.state);
  return states;
}

class DeviceStateCallback : public Clean {
 protected:
  void SetUp() override {
    Clean::SetUp();
    SKIP_UNLESS_BUILT(aclrtRegDeviceStateCallback("", &WatchDevice, nullptr));
    Take();
    Message();
  }
  static constexpr int kSetPre = ACL_RT_DEVICE_STATE_SET_PRE, kSetPost = ACL_RT_DEVICE_STATE_SET_POST,
                       kResetPre = ACL_RT_DEVICE_STATE_RESET_PRE, kResetPost = ACL_RT_DEVICE_STATE_RESET_POST;
  std::vector<Change> log_;
};

TEST_F(DeviceStateCallback, NamesAreChecked) {
  Watcher watcher{1, &log_};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback(nullptr, &WatchDevice, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback("", &WatchDevice, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback(nullptr, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegDeviceStateCallback("", nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegDeviceStateCallback("none", nullptr, nullptr));
  EXPECT_OK(aclrtRegDeviceStateCallback("one", &WatchDevice, &watcher)) << "without a context";
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegDeviceStateCallback("one", &WatchDevice, &watcher));
  EXPECT_OK(aclrtRegDeviceStateCallback("one", nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegDeviceStateCallback("one", nullptr, nullptr));
  EXPECT_OK(aclrtRegDeviceStateCallback("one", &WatchDevice, &watcher)) << "free again";
  EXPECT_OK(aclrtRegDeviceStateCallback("one", nullptr, nullptr));
  ASSERT_OK(aclrtSetDevice(0));
  EXPECT_TRUE(log_.empty());
}

TEST_F(DeviceStateCallback, AroundSelectingAndResetting) {
  Watcher watcher{1, &log_};
  ASSERT_OK(aclrtRegDeviceStateCallback("one", &WatchDevice, &watcher));
  for (auto set : {&aclrtSetDevice, &aclrtSetDeviceWithoutTsdVXX}) {
    for (auto reset : {&aclrtResetDevice, &aclrtResetDeviceForce}) {
      log_.clear();
      EXPECT_OK(set(1));
      EXPECT_EQ(States(log_), (std::vector<int>{kSetPre, kSetPost}));
      EXPECT_OK(reset(1));
      EXPECT_EQ(States(log_), (std::vector<int>{kSetPre, kSetPost, kResetPre, kResetPost}));
      for (const Change& change : log_) {
        EXPECT_EQ(change.device, 1u);
        EXPECT_EQ(change.thread, std::this_thread::get_id());
      }
    }
  }
  log_.clear();
  EXPECT_OK(aclrtRegDeviceStateCallback("one", nullptr, nullptr));
  EXPECT_OK(aclrtSetDevice(1));
  EXPECT_OK(aclrtResetDevice(1));
  EXPECT_TRUE(log_.empty());
}

TEST_F(DeviceStateCallback, OnTheCallingThread) {
  Watcher watcher{1, &log_};
  ASSERT_OK(aclrtRegDeviceStateCallback("one", &WatchDevice, &watcher));
  std::thread::id id;
  OnNewThread([&] {
    id = std::this_thread::get_id();
    EXPECT_OK(aclrtSetDevice(0));
  });
  EXPECT_OK(aclrtRegDeviceStateCallback("one", nullptr, nullptr));
  ASSERT_EQ(log_.size(), 2u);
  for (const Change& change : log_) EXPECT_EQ(change.thread, id);
}

TEST_F(DeviceStateCallback, InOrderOfRegistration) {
  Watcher first{1, &log_}, second{2, &log_}, third{3, &log_};
  ASSERT_OK(aclrtRegDeviceStateCallback("z", &WatchDevice, &first));
  ASSERT_OK(aclrtRegDeviceStateCallback("a", &WatchDevice, &second));
  ASSERT_OK(aclrtRegDeviceStateCallback("m", &WatchDevice, &third));
  ASSERT_OK(aclrtRegDeviceStateCallback("a", nullptr, nullptr));
  ASSERT_OK(aclrtRegDeviceStateCallback("a", &WatchDevice, &second));
  ASSERT_OK(aclrtSetDevice(0));
  for (const char* name : {"z", "a", "m"}) EXPECT_OK(aclrtRegDeviceStateCallback(name, nullptr, nullptr));
  ASSERT_EQ(log_.size(), 6u);
  const int who[] = {1, 3, 2, 1, 3, 2};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(log_[i].who, who[i]) << i;
}

TEST_F(DeviceStateCallback, StandsAroundTheChange) {
  struct Look {
    int32_t active[4] = {77, 77, 77, 77};
  } look;
  const auto ask = [](uint32_t device, aclrtDeviceState state, void* args) {
    uint32_t flags;
    aclrtGetPrimaryCtxState(static_cast<int32_t>(device), &flags, &static_cast<Look*>(args)->active[state]);
  };
  ASSERT_OK(aclrtRegDeviceStateCallback("look", ask, &look));
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclrtRegDeviceStateCallback("look", nullptr, nullptr));
  EXPECT_EQ(look.active[kSetPre], 0);
  EXPECT_EQ(look.active[kSetPost], 1);
  EXPECT_EQ(look.active[kResetPre], 1);
  EXPECT_EQ(look.active[kResetPost], 0);
}

class StreamStateCallback : public OnDevice0 {
 protected:
  void SetUp() override {
    OnDevice0::SetUp();
    SKIP_UNLESS_BUILT(aclrtRegStreamStateCallback("", &WatchStream, nullptr));
    Take();
    Message();
  }
  static constexpr int kCreated = ACL_RT_STREAM_STATE_CREATE_POST,
                       kDestroying = ACL_RT_STREAM_STATE_DESTROY_PRE;
  std::vector<Change> log_;
};

TEST_F(StreamStateCallback, NamesAreChecked) {
  Watcher watcher{1, &log_};
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback(nullptr, &WatchStream, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback("", &WatchStream, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtRegStreamStateCallback(nullptr, nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegStreamStateCallback("none", nullptr, nullptr));
  OnNewThread([&] { EXPECT_OK(aclrtRegStreamStateCallback("one", &WatchStream, &watcher)) << "no context"; });
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegStreamStateCallback("one", &WatchStream, &watcher));
  EXPECT_OK(aclrtRegStreamStateCallback("one", nullptr, nullptr));
  EXPECT_ACL(ACL_ERROR_RT_PARAM_INVALID, aclrtRegStreamStateCallback("one", nullptr, nullptr));
  Stream stream;
  EXPECT_TRUE(log_.empty());
}

TEST_F(StreamStateCallback, ExplicitStreams) {
  Watcher first{1, &log_}, second{2, &log_};
  ASSERT_OK(aclrtRegStreamStateCallback("one", &WatchStream, &first));
  ASSERT_OK(aclrtRegStreamStateCallback("another", &WatchStream, &second));
  for (int round = 0; round < 2; ++round) {
    log_.clear();
    aclrtStream stream = nullptr;
    ASSERT_OK(round == 0 ? aclrtCreateStream(&stream) : aclrtCreateStreamWithConfig(&stream, 0, 0));
    ASSERT_EQ(log_.size(), 2u);
    ASSERT_OK(aclrtDestroyStream(stream));
    ASSERT_EQ(log_.size(), 4u);
    for (int i = 0; i < 4; ++i) {
      EXPECT_EQ(log_[i].who, 1 + i % 2);
      EXPECT_EQ(log_[i].stream, stream);
      EXPECT_EQ(log_[i].state, i < 2 ? kCreated : kDestroying);
      EXPECT_EQ(log_[i].thread, std::this_thread::get_id());
    }
  }
  EXPECT_OK(aclrtRegStreamStateCallback("another", nullptr, nullptr));
  EXPECT_OK(aclrtRegStreamStateCallback("one", nullptr, nullptr));
}

TEST_F(StreamStateCallback, RefusedCallsSayNothing) {
  Watcher watcher{1, &log_};
  ASSERT_OK(aclrtRegStreamStateCallback("one", &WatchStream, &watcher));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtCreateStream(nullptr));
  EXPECT_ACL(ACL_ERROR_INVALID_PARAM, aclrtDestroyStream(nullptr));
  EXPECT_ACL(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(UntouchedPointer()));
  EXPECT_OK(aclrtRegStreamStateCallback("one", nullptr, nullptr));
  EXPECT_TRUE(log_.empty());
}

TEST_F(StreamStateCallback, StreamIsUsableInTheCallback) {
  struct Look {
    int32_t ids[3] = {-1, -1, -1};
    aclError codes[3] = {-1, -1, -1};
  } look;
  const auto ask = [](aclrtStream stream, aclrtStreamState state, void* args) {
    auto* self = static_cast<Look*>(args);
    self->codes[state] = aclrtStreamGetId(stream, &self->ids[state]);
  };
  ASSERT_OK(aclrtRegStreamStateCallback("look", ask, &look));
  int32_t id = -2;
  {
    Stream stream;
    ASSERT_OK(aclrtStreamGetId(stream.get(), &id));
  }
  EXPECT_OK(aclrtRegStreamStateCallback("look", nullptr, nullptr));
  for (int state : {kCreated, kDestroying}) {
    EXPECT_OK(look.codes[state]);
    EXPECT_EQ(look.ids[state], id);
  }
}

TEST_F(StreamStateCallback, DefaultStreams) {
  Watcher watcher{1, &log_};
  ASSERT_OK(aclrtRegStreamStateCallback("one", &WatchStream, &watcher));
  aclrtContext mine = CurrentContext(), context = nullptr;
  ASSERT_OK(aclrtCreateContext(&context, 0));
  aclrtStream stream = nullptr, left_over = nullptr;
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  ASSERT_EQ(States(log_), std::vector<int>{kCreated});
  EXPECT_EQ(log_[0].stream, stream);
  ASSERT_OK(aclrtCreateStream(&left_over));
  log_.clear();
  EXPECT_OK(aclrtDestroyContext(context));
  ASSERT_EQ(States(log_), (std::vector<int>{kDestroying, kDestroying}));
  EXPECT_TRUE((log_[0].stream == stream && log_[1].stream == left_over) ||
              (log_[1].stream == stream && log_[0].stream == left_over));
  ASSERT_OK(aclrtSetCurrentContext(mine));
  log_.clear();
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  EXPECT_OK(aclrtResetDevice(0));
  ASSERT_EQ(States(log_), std::vector<int>{kDestroying});
  EXPECT_EQ(log_[0].stream, stream);
  log_.clear();
  ASSERT_OK(aclrtSetDevice(0));
  ASSERT_OK(aclrtCtxGetCurrentDefaultStream(&stream));
  ASSERT_EQ(States(log_), std::vector<int>{kCreated});
  EXPECT_EQ(log_[0].stream, stream);
  EXPECT_OK(aclrtRegStreamStateCallback("one", nullptr, nullptr));
}

TEST_F(StreamStateCallback, MayCallTheRuntime) {
  // Outside every lock of the runtime: a callback that makes a stream itself comes back to itself.
  struct Depth {
    int now = 0, most = 0;
    aclError code = -1;
  } depth;
  const auto nest = [](aclrtStream, aclrtStreamState state, void* args) {
    auto* self = static_cast<Depth*>(args);
    self->most = std::max(self->most, ++self->now);
    if (state == ACL_RT_STREAM_STATE_CREATE_POST && self->now == 1) {
      aclrtStream inner = nullptr;
      self->code = aclrtCreateStream(&inner);
      if (self->code == ACL_SUCCESS) self->code = aclrtDestroyStream(inner);
    }
    --self->now;
  };
  ASSERT_OK(aclrtRegStreamStateCallback("nest", nest, &depth));
  { Stream stream; }
  EXPECT_OK(aclrtRegStreamStateCallback("nest", nullptr, nullptr));
  EXPECT_OK(depth.code);
  EXPECT_EQ(depth.most, 2);
}

}  // namespace
}  // namespace conformance
