#include "interposer/cuda/interposer.hpp"

#include "interposer/driver/make_interposer.hpp"

namespace elbowroom::interposer::cuda {
namespace {

[[gnu::constructor]] void watch_from_start() { driver::watch_children<Driver>(); }

}  // namespace
}  // namespace elbowroom::interposer::cuda

template elbowroom::interposer::cuda::Interposer* elbowroom::interposer::driver::interposer<elbowroom::interposer::cuda::Driver>();
