/**
 * @file backend.hpp
 * Backends that the program implements itself: a class that reads and writes records of any service, file or database.
 * docs/backends.md describes each request and answer.
 */
#ifndef KVSTORE_BACKEND_HPP
#define KVSTORE_BACKEND_HPP

#include <kvstore/callback.hpp>
#include <kvstore/handle.hpp>
#include <kvstore/result.hpp>
#include <kvstore/text.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace kvstore {

/**
 * One request to a backend. It is a small value: copy it to complete the request later, from any thread.
 *
 * Only the first completion counts. A second one, or one whose request has no waiter any more, returns KV_NOT_FOUND and has
 * no effect.
 */
class BackendRequest {
 public:
  explicit BackendRequest(std::uint64_t number) noexcept : number_(number) {}

  /** Returns the number of the request. It is never 0, and unique within this process. */
  std::uint64_t number() const noexcept { return number_; }

  /** Returns whether anybody still waits for the request. A function that works for long may ask from time to time. */
  bool is_waiting() const noexcept { return kv_backend_is_waiting(number_) != 0; }

  /** Completes the request with a JSON object, which is copied. */
  Result<void> complete(std::string_view json) const { return end(KV_OK, json); }

  /**
   * Completes the request with an error, one of the statuses that kv_backend_complete() accepts. `details` is empty or
   * `{"message":…,"after":seconds}`.
   */
  Result<void> fail(kv_status status, std::string_view details = {}) const { return end(status, details); }

 private:
  Result<void> end(kv_status status, std::string_view json) const {
    kv_error *error = nullptr;
    kv_status came = kv_backend_complete(number_, status, json.empty() ? nullptr : json.data(), json.size(), &error);
    if (came == KV_OK) return {};
    return Error::take(came, error);
  }

  std::uint64_t number_;
};

/**
 * The base class of backends. The library calls its functions on its own threads, several at the same time. Each of
 * them completes its request, at once or later. The JSON is valid until the function returns. The functions must not
 * throw: the exception would cross C, so the program is terminated.
 */
class Backend {
 public:
  virtual ~Backend() = default;

  /** Reads a page of a collection. */
  virtual void fetch(BackendRequest request, std::string_view json) = 0;
  /** Reads records by their ids. */
  virtual void fetch_ids(BackendRequest request, std::string_view json) = 0;
  /** Carries out a batch of writes. */
  virtual void write(BackendRequest request, std::string_view json) = 0;

  /** Returns true if changes() is implemented. Without it, every pull reads everything. */
  virtual bool has_changes() const { return false; }
  /** Reads the changes since a token. */
  virtual void changes(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /** Returns true if live() is implemented. */
  virtual bool has_live() const { return false; }
  /** Waits for changes by other clients. */
  virtual void live(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /**
   * Reports that a request has no waiter any more. The request may still be running, may be completed meanwhile, and may
   * be about to begin: `is_waiting` then says so.
   */
  virtual void cancel(BackendRequest) {}
};

namespace detail {

using KeptBackend = std::shared_ptr<Backend>;

template <void (Backend::*function)(BackendRequest, std::string_view)>
void carry_out(void *kept, std::uint64_t request, const char *json, std::size_t length) noexcept {
  ((**static_cast<KeptBackend *>(kept)).*function)(BackendRequest(request), std::string_view(json, length));
}

inline void cancel_request(void *kept, std::uint64_t request) noexcept {
  (*static_cast<KeptBackend *>(kept))->cancel(BackendRequest(request));
}

}  // namespace detail

/**
 * Registers a backend under a name of this process, for clients with the option `"backend":"<name>"`. The library
 * releases the object when it is unregistered, its last client is closed and its functions have returned. The
 * description is a JSON object or empty: see kv_backend_register().
 */
inline Result<void> register_backend(Parameter name, std::shared_ptr<Backend> backend,
                                     std::string_view description = "{}") {
  kv_backend functions = {};
  functions.size = sizeof functions;
  if (backend) {
    functions.fetch = detail::carry_out<&Backend::fetch>;
    functions.fetch_ids = detail::carry_out<&Backend::fetch_ids>;
    functions.write = detail::carry_out<&Backend::write>;
    if (backend->has_changes()) functions.changes = detail::carry_out<&Backend::changes>;
    if (backend->has_live()) functions.live = detail::carry_out<&Backend::live>;
    functions.cancel = detail::cancel_request;
  }
  kv_error *error = nullptr;
  kv_status status =
      kv_backend_register(name.c_str(), description.data(), description.size(), &functions,
                          new detail::KeptBackend(std::move(backend)), detail::destroy<detail::KeptBackend>, &error);
  if (status == KV_OK) return {};
  return Error::take(status, error);
}

/** Removes a backend's name. Open clients keep the backend; no further client can open with it. */
inline Result<void> unregister_backend(Parameter name) {
  return detail::run(kv_backend_unregister, name.c_str());
}

}  // namespace kvstore

#endif
