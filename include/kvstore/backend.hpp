/**
 * @file backend.hpp
 * Backends of the program's own: a class that reads and writes records, for any service, file or database that the library does
 * not know. docs/backends.md describes each request and answer.
 */
#ifndef KVSTORE_BACKEND_HPP
#define KVSTORE_BACKEND_HPP

#include <kvstore/callback.hpp>
#include <kvstore/result.hpp>
#include <kvstore/text.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace kvstore {

/**
 * One request of a backend. A small value: keep it to complete the request later, from any thread.
 *
 * Only the first completion counts. Another one, or one that comes when nobody waits any more, is KV_NOT_FOUND and harmless.
 */
class BackendRequest {
 public:
  explicit BackendRequest(std::uint64_t number) noexcept : number_(number) {}

  /** Never 0, never given twice in this process. */
  std::uint64_t number() const noexcept { return number_; }

  /** Completes it with a JSON object, which is copied. */
  Result<void> complete(std::string_view json) const { return end(KV_OK, json); }

  /** Ends it with one of the statuses that kv_backend_complete() names. `details`: `{"message":…,"after":seconds}`, or nothing. */
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
 * What a backend is made of. Its functions are called on threads of the library, several at the same time; each is to complete
 * the request, at once or later. The JSON is borrowed until the function returns. They must not throw: an exception that leaves
 * one ends the program, because there is C on the way.
 */
class Backend {
 public:
  virtual ~Backend() = default;

  /** A page of a collection. */
  virtual void fetch(BackendRequest request, std::string_view json) = 0;
  /** Some records by their ids. */
  virtual void fetch_ids(BackendRequest request, std::string_view json) = 0;
  /** A batch of writes. */
  virtual void write(BackendRequest request, std::string_view json) = 0;

  /** Whether changes() is there: without it everything is read each time. */
  virtual bool has_changes() const { return false; }
  /** What has changed since a token. */
  virtual void changes(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /** Whether live() is there. */
  virtual bool has_live() const { return false; }
  /** Waits for changes by others. */
  virtual void live(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /** Nobody waits for a request any more. It may still run, and may be completed at this moment. */
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
 * Registers a backend for this process, so that clients can be opened with `"backend":"<name>"`. The library lets go of it
 * when it was unregistered, its last client is closed and its functions have returned.
 *
 * @param description  a JSON object, or nothing: see kv_backend_register()
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

/** Takes a backend out of the register. Clients that were opened with it go on; none is opened any more. */
inline Result<void> unregister_backend(Parameter name) {
  kv_error *error = nullptr;
  kv_status status = kv_backend_unregister(name.c_str(), &error);
  if (status == KV_OK) return {};
  return Error::take(status, error);
}

}  // namespace kvstore

#endif
