#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/core/report_writer.hpp"

/// What an interposer does with a vendor's driver, written once over what every driver has. That is the timer, the hooks of
/// streams, events, the host and captures, and the object that holds it all. CUDA's driver and the HIP runtime are such drivers.
namespace elbowroom::interposer::driver {

/// The driver's handles and structures, and the numbers it gives a meaning to.
template <class D>
concept Vocabulary = requires {
  typename D::Stream;
  typename D::Event;
  typename D::GraphExec;
  { D::kSuccess } -> std::convertible_to<int>;
  { D::kErrorNotReady } -> std::convertible_to<int>;
  // Handles up to kStreamPerThread are of default streams, those up to kStreamLegacy of the legacy one.
  { D::kStreamLegacy } -> std::convertible_to<std::uintptr_t>;
  { D::kStreamPerThread } -> std::convertible_to<std::uintptr_t>;
};

/// The table of the driver's functions that the interposer calls for itself, found in the loaded driver. None of them passes a
/// hook, and a null one is missing in this driver: what needs it is left out.
template <class D>
concept Callable = requires(const typename D::Calls& calls, typename D::Event event, typename D::Stream stream, int number) {
  /// Nothing where the driver is not loaded or lacks what nothing can be done without.
  { D::find() } -> std::same_as<std::optional<typename D::Calls>>;
  { calls.event_record(event, stream) } -> std::same_as<int>;
  { calls.device_get_name(static_cast<char*>(nullptr), number, number) } -> std::same_as<int>;
  { calls.device_get_bus_id(static_cast<char*>(nullptr), number, number) } -> std::same_as<int>;
  /// A scope of calls of ours: what the program asks the driver about its last error stays as it was.
  typename D::OwnCalls;
  requires std::constructible_from<typename D::OwnCalls, const typename D::Calls&>;
  /// A scope in which a stream capture of another thread does not forbid this thread's calls.
  typename D::RelaxedCapture;
  requires std::constructible_from<typename D::RelaxedCapture, const typename D::Calls&>;
};

/// A place is what streams and events belong to and go with: a context of CUDA, a device of HIP.
template <class D>
concept HasPlaces = requires(D driver, const D& constant, typename D::Place place, typename D::Stream stream, int priority) {
  { D::kNowhere } -> std::convertible_to<typename D::Place>;
  { D::context_id(place) } -> std::same_as<ContextId>;
  { D::place_of(ContextId{}) } -> std::same_as<typename D::Place>;  ///< of which that is the id
  { constant.current_place() } -> std::same_as<typename D::Place>;  ///< of the calling thread
  { constant.place_of(stream) } -> std::same_as<typename D::Place>;
  { constant.is_captured(stream) } -> std::same_as<bool>;  ///< by whoever; where the driver does not say, what its launches assume
  { driver.device(place) } -> std::same_as<int>;           ///< the ordinal; below 0 where it is not known
  { driver.sms(place) } -> std::same_as<std::uint32_t>;    ///< of its device's; 0: not known
  { constant.devices_seen() } -> std::same_as<int>;        ///< how many device() has told
  { driver.greatest_priority(place, priority) } -> std::same_as<bool>;  ///< false: there is but one, or the driver does not say
  { driver.forget(place) } -> std::same_as<void>;                       ///< it is gone, with all that was made in it
};

/// Events of our own, in a place whichever one is current, also while a stream is captured.
template <class D>
concept HasEvents = requires(const D& driver, typename D::Place place, typename D::Event event, float milliseconds) {
  { driver.can_time() } -> std::same_as<bool>;                    ///< every function that an event with a time needs is there
  { driver.make_event(place, event) } -> std::same_as<bool>;      ///< with a time
  { driver.make_end_event(place, event) } -> std::same_as<bool>;  ///< for has_passed() alone
  { driver.destroy_event(place, event) } -> std::same_as<void>;
  // Neither breaks a capture in a RelaxedCapture, also one that another thread begins now.
  { driver.has_passed(event) } -> std::same_as<bool>;
  { driver.elapsed(milliseconds, event, event) } -> std::same_as<int>;  ///< kErrorNotReady before the later one has passed
};

/// What is to be known of functions and devices.
template <class D>
concept Describes = requires(D driver) {
  /// Its launch would load it, and wait for what runs. So may this, and handlers come meanwhile.
  { driver.load_function(FunctionId{}) } -> std::same_as<void>;
  { driver.describe_function(FunctionId{}) } -> std::same_as<FunctionInfo>;  ///< of one that is loaded
  { driver.describe_device(int{}) } -> std::same_as<DeviceInfo>;             ///< without its name
  { driver.blocks_per_sm(FunctionId{}, std::uint32_t{}, std::uint32_t{}) } -> std::same_as<std::uint32_t>;
};

/// A vendor's driver: the functions found in it, and what is kept of its handles. It has one object in a process, made in its
/// place, and shared by all threads.
template <class D>
concept Driver = Vocabulary<D> && Callable<D> && HasPlaces<D> && HasEvents<D> && Describes<D> &&
                 std::constructible_from<D, const typename D::Calls&> && requires(D driver, Rules rules) {
                   { D::leave_possible(rules) } -> std::same_as<void>;  ///< takes away what this driver has no means for
                   { D::kFinder } -> std::convertible_to<const char*>;  ///< ReportSource::finder
                   { D::kWriteMore } -> std::convertible_to<void (*)(ReportWriter&)>;  ///< ReportSource::write_more
                   { D::kRanks() } -> std::same_as<RankAgreement>;                     ///< Platform::ranks
                 };

}  // namespace elbowroom::interposer::driver
