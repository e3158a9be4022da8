#include <headroom/base/result.hpp>
#include <headroom/model/scenario.hpp>
#include <headroom/model/size.hpp>

int main() {
  const headroom::Result<headroom::Bytes> size = headroom::parse_size("512M");
  if (!size || *size != headroom::mebibytes(512)) { return 1; }
  return headroom::parse_scenario("{}", "empty").ok() ? 1 : 0;
}
