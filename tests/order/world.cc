#include "world.h"

namespace order {
namespace {

constexpr int kDevices = 2;
constexpr int kWordsOfDevice = 2;

alignas(4096) uint8_t g_pageable[kBlockBytes];

}  // namespace

uint64_t Random::Next() {
  uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

World::World(uint64_t seed) : random(~seed) {
  for (int i = random.Between(1, kDevices); i-- > 0;) devices.push_back(i);
  for (int device : devices) {
    Select(device);
    streams.push_back({nullptr, device, progress.NewStream()});
    int32_t id = 0;
    OK(aclrtStreamGetId(nullptr, &id));
    spare.push_back(MakeStream(device));
    events.push_back(MakeEvent(device, false));
    events.push_back(MakeEvent(device, true));
    FlagEvent flag{nullptr, device, progress.NewSignal(), {}, {}, {}};
    OK(aclrtCreateEventWithFlag(&flag.handle, ACL_EVENT_SYNC));
    flags.push_back(flag);
    for (int i = 0; i < 2; ++i) notifies.push_back(MakeNotify(device));
    void* words_of_device = nullptr;
    OK(aclrtMalloc(&words_of_device, kWordsOfDevice * sizeof(uint64_t), ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemset(words_of_device, kWordsOfDevice * sizeof(uint64_t), 0, kWordsOfDevice * sizeof(uint64_t)));
    word_blocks.push_back({Place::kDevice,
                           device,
                           static_cast<uint8_t*>(words_of_device),
                           kWordsOfDevice * sizeof(uint64_t),
                           {}});
    for (int i = 0; i < kWordsOfDevice; ++i) {
      words.push_back(
          {static_cast<uint64_t*>(words_of_device) + i, device, progress.NewSignal(), 8, {}, {}, false, {}});
    }
  }
  for (int n = random.Between(0, 3); n-- > 0;) streams.push_back(MakeStream(random.One(devices)));
  for (int n = random.Between(2, 4); n-- > 0;) {
    Block block{Place::kDevice, random.One(devices), nullptr, kBlockBytes, {}};
    Select(block.device);
    block.bytes = Allocate(block);
    blocks.push_back(block);
  }
  for (int i = 0; i < 2; ++i) {
    Block block{Place::kPinned, -1, nullptr, kBlockBytes, {}};
    block.bytes = Allocate(block);
    blocks.push_back(block);
  }
  blocks.push_back({Place::kPageable, -1, g_pageable, kBlockBytes, {}});
}

World::~World() {
  for (const std::vector<Stream>& list : {streams, spare}) {
    for (const Stream& stream : list) {
      if (stream.handle == nullptr) continue;
      Select(stream.device);
      OK(aclrtDestroyStream(stream.handle));
    }
  }
  for (const SnapshotEvent& event : events) OK(aclrtDestroyEvent(event.handle));
  for (const FlagEvent& flag : flags) OK(aclrtDestroyEvent(flag.handle));
  for (const Notify& notify : notifies) OK(aclrtDestroyNotify(notify.handle));
  for (const Block& block : word_blocks) OK(aclrtFree(block.bytes));
  for (const Block& block : blocks) Free(block);
}

void World::Select(int device) {
  if (current == device) return;
  OK(aclrtSetDevice(device));
  current = device;
}

Stream World::MakeStream(int device) {
  Select(device);
  Stream stream{nullptr, device, progress.NewStream()};
  OK(aclrtCreateStream(&stream.handle));
  int32_t id = 0;
  OK(aclrtStreamGetId(stream.handle, &id));
  return stream;
}

SnapshotEvent World::MakeEvent(int device, bool ex) {
  Select(device);
  SnapshotEvent event{nullptr, device, ex, {}};
  if (ex) {
    OK(aclrtCreateEventExWithFlag(&event.handle, ACL_EVENT_SYNC));
  } else {
    OK(aclrtCreateEvent(&event.handle));
  }
  return event;
}

Notify World::MakeNotify(int device) {
  Select(device);
  Notify notify{nullptr, device, progress.NewSignal(), {}, {}, false};
  OK(aclrtCreateNotify(&notify.handle, 0));
  return notify;
}

void World::Free(const Block& block) {
  if (block.place == Place::kDevice) OK(aclrtFree(block.bytes));
  if (block.place == Place::kPinned) OK(aclrtFreeHost(block.bytes));
}

uint8_t* World::Allocate(const Block& block) {
  void* memory = nullptr;
  if (block.place == Place::kDevice) {
    OK(aclrtMalloc(&memory, block.size, ACL_MEM_MALLOC_HUGE_FIRST));
  } else {
    OK(aclrtMallocHost(&memory, block.size));
  }
  return static_cast<uint8_t*>(memory);
}

}  // namespace order
