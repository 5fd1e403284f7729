/**
 * @file
 * Stores that the program implements itself, in place of the library's local database. docs/stores.md describes each request
 * and answer.
 */
#ifndef KVSTORE_CUSTOM_STORE_HPP
#define KVSTORE_CUSTOM_STORE_HPP

#include <kvstore/backend.hpp>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

namespace kvstore {

/**
 * The base class of stores: clients are opened with `"store":"<name>"`. The functions are called, and complete their requests,
 * as those of a Backend.
 */
class CustomStore {
 public:
  virtual ~CustomStore() = default;

  /** Opens the data of the store; the answer is what identifies it. */
  virtual void load(BackendRequest request, std::string_view json) = 0;
  /** Reads a page of a collection. */
  virtual void fetch(BackendRequest request, std::string_view json) = 0;
  /** Reads records by their ids. */
  virtual void values(BackendRequest request, std::string_view json) = 0;
  /** Makes changes all at once, or not at all. */
  virtual void save(BackendRequest request, std::string_view json) = 0;

  /** Returns true if relationship() is implemented. */
  virtual bool has_relationship() const { return false; }
  /** Reads the ids that a relationship leads to. */
  virtual void relationship(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /** Returns true if the store chooses the ids of new records. */
  virtual bool chooses_ids() const { return false; }
  /** Chooses the ids of new records. */
  virtual void obtain_ids(BackendRequest request, std::string_view) { (void)request.fail(KV_UNSUPPORTED); }

  /** Reports that a request has no waiter any more. */
  virtual void cancel(BackendRequest) {}
};

namespace detail {

using KeptStore = std::shared_ptr<CustomStore>;

template <void (CustomStore::*function)(BackendRequest, std::string_view)>
void ask_store(void *kept, std::uint64_t request, const char *json, std::size_t length) noexcept {
  ((**static_cast<KeptStore *>(kept)).*function)(BackendRequest(request), std::string_view(json, length));
}

inline void cancel_store_request(void *kept, std::uint64_t request) noexcept {
  (*static_cast<KeptStore *>(kept))->cancel(BackendRequest(request));
}

}  // namespace detail

/**
 * Registers a store under a name of this process, for clients with the option `"store":"<name>"`. The library releases the
 * object when it is unregistered, its last client is closed and its functions have returned. The description is a JSON object
 * or empty: see kv_store_type_register().
 */
inline Result<void> register_store(Parameter name, std::shared_ptr<CustomStore> store,
                                   std::string_view description = "{}") {
  kv_store_type functions = {};
  functions.size = sizeof functions;
  if (store) {
    functions.load = detail::ask_store<&CustomStore::load>;
    functions.fetch = detail::ask_store<&CustomStore::fetch>;
    functions.values = detail::ask_store<&CustomStore::values>;
    functions.save = detail::ask_store<&CustomStore::save>;
    if (store->has_relationship()) functions.relationship = detail::ask_store<&CustomStore::relationship>;
    if (store->chooses_ids()) functions.obtain_ids = detail::ask_store<&CustomStore::obtain_ids>;
    functions.cancel = detail::cancel_store_request;
  }
  kv_error *error = nullptr;
  kv_status status = kv_store_type_register(name.c_str(), description.data(), description.size(), &functions,
                                            new detail::KeptStore(std::move(store)),
                                            detail::destroy<detail::KeptStore>, &error);
  if (status == KV_OK) return {};
  return Error::take(status, error);
}

/**
 * Announces that records of a registered store were changed otherwise than by the library. The changes are a JSON array as for
 * kv_store_type_announce(); empty: any records.
 */
inline Result<void> announce_changes(Parameter name, std::string_view changes = {}) {
  const char *text = changes.empty() ? nullptr : changes.data();
  return detail::run(kv_store_type_announce, name.c_str(), text, changes.size());
}

/** Removes a store's name. Open clients keep the store; no further client can open with it. */
inline Result<void> unregister_store(Parameter name) {
  return detail::run(kv_store_type_unregister, name.c_str());
}

}  // namespace kvstore

#endif
