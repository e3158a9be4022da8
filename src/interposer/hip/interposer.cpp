#include "interposer/hip/interposer.hpp"

#include "interposer/driver/make_interposer.hpp"

namespace elbowroom::interposer::hip {
namespace {

[[gnu::constructor]] void watch_from_start() { driver::watch_children<Driver>(); }

}  // namespace
}  // namespace elbowroom::interposer::hip

template elbowroom::interposer::hip::Interposer* elbowroom::interposer::driver::interposer<elbowroom::interposer::hip::Driver>();
