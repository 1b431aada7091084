// Calls a collective twice: it refuses both times and says once why.
#include <stdio.h>

int HcclGetRootInfo(void* info);
int HcclAllReduce(void* send, void* receive, unsigned long long count, int type, int op, void* comm,
                  void* stream);
const char* HcclGetErrorString(int code);

int main(void) {
  if (HcclGetRootInfo(NULL) != 5 || HcclAllReduce(NULL, NULL, 0, 0, 0, NULL, NULL) != 5) return 1;
  puts(HcclGetErrorString(5));
  return 0;
}
