/* Another library of the same name: what a program must not get instead of ours. */
#define EXPORT __attribute__((visibility("default")))
EXPORT int aclInit(const char* path) {
  return path != 0;
}
EXPORT int aclFinalize(void) {
  return 0;
}
EXPORT int aclrtSetDevice(int device) {
  return device < 0;
}
EXPORT int aclrtResetDevice(int device) {
  return device < 0;
}
EXPORT int aclrtGetDeviceCount(unsigned* count) {
  *count = 77;
  return 0;
}
