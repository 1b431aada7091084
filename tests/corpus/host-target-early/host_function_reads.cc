// A host function behind the copy reads the result.
// expect: none
// check: full
#include "../corpus.h"

void Sum(void* argument) {
  char* const result = static_cast<char*>(argument);
  for (size_t i = 1; i < kBytes; ++i) result[0] = static_cast<char>(result[0] + result[i]);
}

int main() {
  Device device;
  Stream stream;
  DeviceMemory output;
  PinnedMemory result;
  OK(aclrtMemcpyAsync(result, kBytes, output, kBytes, kToHost, stream));
  OK(aclrtLaunchHostFunc(stream, Sum, static_cast<char*>(result)));
  OK(aclrtMemcpyAsync(output, kBytes, result, kBytes, kToDevice, stream));
  OK(aclrtSynchronizeStream(stream));
  return result[0];
}
