// C34: a copy between two devices, with the peer access that the argument says: none, wrong, right, both,
// far. "far" takes a pair without a path and runs where one exists.
#include <string>

#include "case.h"

namespace {

void* Block(int device, const char* text) {
  void* block = nullptr;
  EXPECT_OK(aclrtSetDevice(device));
  EXPECT_OK(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
  EXPECT_OK(aclrtMemcpy(block, 64, text, std::strlen(text) + 1, ACL_MEMCPY_HOST_TO_DEVICE));
  return block;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string access = argc > 1 ? argv[1] : "none";
  EXPECT_OK(aclInit(nullptr));
  int peer = 1;
  if (access == "far") {
    uint32_t count = 0;
    EXPECT_OK(aclrtGetDeviceCount(&count));
    int32_t can = 1;
    for (peer = 1; peer < static_cast<int>(count); ++peer) {
      EXPECT_OK(aclrtDeviceCanAccessPeer(&can, 0, peer));
      if (can == 0) break;
    }
    EXPECT_TRUE(can == 0);
  }
  void* from = Block(0, "from");
  void* to = Block(peer, "to");  // leaves the peer current, so the peer executes the copy and needs peer -> 0
  const aclError open = access == "far" ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_SUCCESS;
  if (access == "right" || access == "both" || access == "far")
    EXPECT_CODE(open, aclrtDeviceEnablePeerAccess(0, 0));
  if (access == "wrong" || access == "both") {
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtDeviceEnablePeerAccess(peer, 0));
    EXPECT_OK(aclrtSetDevice(peer));
  }
  const bool fine = access == "right" || access == "both";
  EXPECT_CODE(fine ? ACL_SUCCESS : ACL_ERROR_RT_PARAM_INVALID,
              aclrtMemcpy(to, 64, from, 64, ACL_MEMCPY_DEVICE_TO_DEVICE));
  char text[64] = {};
  EXPECT_OK(aclrtMemcpy(text, 64, to, 64, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT_TRUE(std::string(text) == (fine ? "from" : "to"));
  EXPECT_OK(aclrtFree(from));
  EXPECT_OK(aclrtFree(to));
  EXPECT_OK(aclFinalize());
  return Result();
}
