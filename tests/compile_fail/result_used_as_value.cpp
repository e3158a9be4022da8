// fails: cannot convert .*Result|no viable conversion from .*Result
#include "elbowroom/base/result.hpp"

using namespace elbowroom;

Result<int> answer() { return 42; }

#ifdef CONTROL
int main() {
  const Result<int> result = answer();
  const int value = result ? *result : 0;
  return value;
}
#else
int main() {
  const int value = answer();
  return value;
}
#endif
