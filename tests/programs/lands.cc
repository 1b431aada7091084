// lands SCHEDULE: when the bytes of a copy to pinned memory are there, with nobody waiting and nobody asking.
//
// on-wait: not before the program synchronises or asks, so that a program that forgot to wait sees it; each
// way of waiting and asking lands them. eager: when the submitting call returns.
#include "program.h"

namespace program {
namespace {

enum class Schedule { kEager, kOnWait };

// Work elsewhere that the program can notice without a call, so that it runs: time passes, and workers are
// awake.
void KeepOthersBusy(aclrtStream stream) {
  Signal done;
  OK(aclrtLaunchHostFunc(stream, Signal::Body, &done));
  done.Wait();
}

void SynchronizeStream(aclrtStream stream, aclrtEvent) {
  OK(aclrtSynchronizeStream(stream));
}
void SynchronizeDevice(aclrtStream, aclrtEvent) {
  OK(aclrtSynchronizeDevice());
}
void SynchronizeEvent(aclrtStream, aclrtEvent event) {
  OK(aclrtSynchronizeEvent(event));
}
void AskStream(aclrtStream stream, aclrtEvent) {
  for (auto status = ACL_STREAM_STATUS_NOT_READY; status != ACL_STREAM_STATUS_COMPLETE;)
    OK(aclrtStreamQuery(stream, &status));
}
void AskEvent(aclrtStream, aclrtEvent event) {
  for (auto status = ACL_EVENT_RECORDED_STATUS_NOT_READY; status != ACL_EVENT_RECORDED_STATUS_COMPLETE;)
    OK(aclrtQueryEventStatus(event, &status));
}
void CallBack(aclrtStream stream, aclrtEvent) {
  KeepOthersBusy(stream);
}

void Lands(Schedule schedule, size_t size, void (*wait)(aclrtStream, aclrtEvent)) {
  aclrtStream stream = NewStream(), other = NewStream();
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  {
    RoundTrip trip(size, 1);
    trip.Out(stream);
    trip.Back(stream);
    OK(aclrtRecordEvent(event, stream));
    if (schedule == Schedule::kEager) {
      CHECK(trip.Arrived());
    } else {
      CHECK(trip.Untouched());
      KeepOthersBusy(other);
      CHECK(trip.Untouched());
      // A synchronous copy waits for no stream.
      uint8_t* block = OnDevice(64, 3);
      OK(aclrtFree(block));
      CHECK(trip.Untouched());
    }
    wait(stream, event);
    CHECK(trip.Arrived());
  }
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(other));
  OK(aclrtDestroyStream(stream));
}

// What others can notice without a call is ahead of a host function only: behind it, and behind a record that
// one waits for, all stays where it is.
void StaysBehind() {
  aclrtStream stream = NewStream(), other = NewStream();
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC));
  {
    RoundTrip ahead(size_t{1} << 20, 1), behind_function(size_t{1} << 20, 2),
        behind_record(size_t{1} << 20, 3);
    Signal first, second;
    ahead.Out(stream);
    ahead.Back(stream);
    OK(aclrtLaunchHostFunc(stream, Signal::Body, &first));
    behind_function.Out(stream);
    behind_function.Back(stream);
    first.Wait();
    KeepOthersBusy(other);
    CHECK(ahead.Arrived());
    CHECK(behind_function.Untouched());
    OK(aclrtRecordEvent(event, stream));
    behind_record.Out(stream);
    behind_record.Back(stream);
    OK(aclrtStreamWaitEvent(other, event));
    OK(aclrtLaunchHostFunc(other, Signal::Body, &second));
    second.Wait();
    KeepOthersBusy(other);
    CHECK(behind_function.Arrived());
    CHECK(behind_record.Untouched());
    OK(aclrtSynchronizeStream(stream));
    CHECK(behind_record.Arrived());
  }
  OK(aclrtDestroyEvent(event));
  OK(aclrtDestroyStream(other));
  OK(aclrtDestroyStream(stream));
}

}  // namespace
}  // namespace program

int main(int argc, char** argv) {
  using namespace program;
  CHECK(argc == 2);
  const std::string name = argv[1];
  CHECK(name == "eager" || name == "on-wait");
  Begin();
  for (size_t size : {size_t{64}, size_t{300} << 10, size_t{3} << 20}) {
    for (auto* wait : {SynchronizeStream, SynchronizeDevice, SynchronizeEvent, AskStream, AskEvent, CallBack})
      Lands(name == "eager" ? Schedule::kEager : Schedule::kOnWait, size, wait);
  }
  if (name == "on-wait") StaysBehind();
  End();
  return 0;
}
