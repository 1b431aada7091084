// A message travels round all devices of the machine: each device fetches it from its neighbour over the peer
// link.
//
// The flow: ask whether two devices can reach each other, open each direction by itself, allocate, fill from
// the host, copy device to device, read back, compare, close, free, reset. Exit code 0 means that every call
// and every byte was right.
//
//   cross_device [--forget-enable]
//
// --forget-enable leaves out one enable, device 1 -> device 0. The copy that needed it is refused.
#include <acl/acl.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr size_t kMessageBytes = 4u << 20;

bool Ok(aclError code, const char* call) {
  if (code == ACL_SUCCESS) return true;
  std::printf("%s returned %d\n", call, static_cast<int>(code));
  return false;
}

#define OK(call) Ok((call), #call)

struct Device {
  int32_t id = 0;
  std::vector<int32_t> peers;  // devices whose memory this one wants to access
  void* message = nullptr;
};

// Opens `from` -> `to`: afterwards `from` may access memory of `to`. The other direction is a call of its
// own.
bool Open(int32_t from, int32_t to) {
  int32_t reachable = 0;
  if (!OK(aclrtDeviceCanAccessPeer(&reachable, from, to))) return false;
  if (reachable != 1) {
    std::printf("device %d has no peer path to device %d on this product\n", from, to);
    return false;
  }
  return OK(aclrtSetDevice(from)) && OK(aclrtDeviceEnablePeerAccess(to, 0));
}

bool Prepare(std::vector<Device>& ring) {
  for (Device& device : ring) {
    if (!OK(aclrtSetDevice(device.id))) return false;
    // On some products only peer-to-peer memory may be reached from another device, so this policy is right
    // everywhere.
    if (!OK(aclrtMalloc(&device.message, kMessageBytes, ACL_MEM_MALLOC_HUGE_FIRST_P2P))) return false;
    for (const int32_t peer : device.peers) {
      if (!Open(device.id, peer)) return false;
    }
  }
  return true;
}

bool Fetch(const Device& to, const Device& from) {
  // The copy runs on the current device, which reads its neighbour: the direction it needs is `to` -> `from`.
  if (!OK(aclrtSetDevice(to.id))) return false;
  return OK(aclrtMemcpy(to.message, kMessageBytes, from.message, kMessageBytes, ACL_MEMCPY_DEVICE_TO_DEVICE));
}

// Takes the message round; `trail` tells how far it came.
bool Travel(const std::vector<Device>& ring, std::string& trail) {
  std::vector<uint8_t> sent(kMessageBytes);
  for (size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<uint8_t>(i * 2654435761u >> 24);
  std::vector<uint8_t> received(kMessageBytes);

  const Device& first = ring.front();
  if (!OK(aclrtSetDevice(first.id))) return false;
  if (!OK(aclrtMemcpy(first.message, kMessageBytes, sent.data(), kMessageBytes, ACL_MEMCPY_HOST_TO_DEVICE)))
    return false;
  trail = "host -> " + std::to_string(first.id);
  for (size_t i = 1; i < ring.size(); ++i) {
    if (!Fetch(ring[i], ring[i - 1])) return false;
    trail += " -> " + std::to_string(ring[i].id);
  }
  // Device 0 starts from other bytes, so that what arrives can only have come round.
  if (!OK(aclrtSetDevice(first.id)) || !OK(aclrtMemset(first.message, kMessageBytes, 0, kMessageBytes)))
    return false;
  if (!Fetch(first, ring.back())) return false;
  trail += " -> " + std::to_string(first.id);
  if (!OK(aclrtMemcpy(received.data(), kMessageBytes, first.message, kMessageBytes,
                      ACL_MEMCPY_DEVICE_TO_HOST)))
    return false;
  trail += " -> host";
  if (std::memcmp(sent.data(), received.data(), kMessageBytes) != 0) {
    std::printf("the message came back changed\n");
    return false;
  }
  return true;
}

bool CleanUp(std::vector<Device>& ring) {
  bool good = true;
  for (Device& device : ring) {
    if (device.message == nullptr) continue;
    good &= OK(aclrtSetDevice(device.id));
    for (const int32_t peer : device.peers) good &= OK(aclrtDeviceDisablePeerAccess(peer));
    good &= OK(aclrtFree(device.message));
    good &= OK(aclrtResetDeviceForce(device.id));
  }
  return good;
}

bool Run(bool forget_enable) {
  uint32_t count = 0;
  if (!OK(aclrtGetDeviceCount(&count))) return false;
  std::printf("%u devices\n", count);
  if (count < 2) {
    std::printf("a journey needs two devices at least\n");
    return false;
  }
  std::vector<Device> ring(count);
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t next = (i + 1) % count;
    const uint32_t previous = (i + count - 1) % count;
    ring[i].id = static_cast<int32_t>(i);
    ring[i].peers.push_back(static_cast<int32_t>(next));
    if (previous != next) ring[i].peers.push_back(static_cast<int32_t>(previous));
  }
  std::vector<int32_t>& reads = ring[1].peers;
  if (forget_enable) reads.erase(std::find(reads.begin(), reads.end(), 0));
  std::string trail;
  const bool arrived = Prepare(ring) && Travel(ring, trail);
  std::printf("%s%s\n", trail.c_str(), arrived ? "" : " -x");
  if (!CleanUp(ring) || !arrived) return false;
  std::printf("verified: %zu bytes came back unchanged after %zu copies between devices\n", kMessageBytes,
              ring.size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const bool forget_enable = argc > 1 && std::strcmp(argv[1], "--forget-enable") == 0;
  if (argc > 2 || (argc == 2 && !forget_enable)) {
    std::printf("usage: %s [--forget-enable]\n", argv[0]);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // stays in order with what the runtime writes to stderr
  if (!OK(aclInit(nullptr))) return 1;
  const bool good = Run(forget_enable);
  return OK(aclFinalize()) && good ? 0 : 1;
}
