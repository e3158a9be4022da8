#include <elbowroom/base/result.hpp>
#include <elbowroom/model/scenario.hpp>
#include <elbowroom/model/size.hpp>

int main() {
  const elbowroom::Result<elbowroom::Bytes> size = elbowroom::parse_size("512M");
  if (!size || *size != elbowroom::mebibytes(512)) { return 1; }
  return elbowroom::parse_scenario("{}", "empty").ok() ? 1 : 0;
}
