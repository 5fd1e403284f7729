/**
 * @file transaction.hpp
 * Transactions: reads and writes over several stores, of which either all or none take effect.
 */
#ifndef KVSTORE_TRANSACTION_HPP
#define KVSTORE_TRANSACTION_HPP

#include <kvstore/store.hpp>

namespace kvstore {

/** The reads and writes of a transaction. Client::transact() passes them to its body, for the time of the call. */
class TransactionCalls {
 public:
  explicit TransactionCalls(kv_transaction *transaction) noexcept : transaction_(transaction) {}

  /** Finds one entity by its id and returns it as JSON. */
  Result<Text> find_by_id(const Store &store, Parameter id) const {
    return detail::text(kv_transaction_find_by_id, transaction_, store.get(), id.c_str());
  }
  /** Finds the entities that match. They can be read until the transaction ends. */
  Result<Cursor> find(const Store &store, const Query &query) const {
    return detail::open<Cursor>(kv_transaction_find, transaction_, store.get(), query.get());
  }
  /** Counts the entities that match. */
  Result<std::int64_t> count(const Store &store, const Query &query) const {
    return detail::value<std::int64_t>(kv_transaction_count, transaction_, store.get(), query.get());
  }
  /** Inserts or replaces an entity and returns it as it will be stored. */
  Result<Text> save(const Store &store, std::string_view entity) const {
    return detail::text(kv_transaction_save, transaction_, store.get(), entity.data(), entity.size());
  }
  /** Saves an entity under the condition `{"if":…}` in the options. */
  Result<Text> save_if(const Store &store, std::string_view entity, Parameter options) const {
    return detail::text(kv_transaction_save_if, transaction_, store.get(), entity.data(), entity.size(), options.c_str());
  }
  /** Removes one entity and returns 1, or 0 if there was none. */
  Result<std::int64_t> remove_by_id(const Store &store, Parameter id) const {
    return detail::value<std::int64_t>(kv_transaction_remove_by_id, transaction_, store.get(), id.c_str());
  }
  /** Removes one entity under the condition `{"if":…}` in the options. */
  Result<std::int64_t> remove_by_id_if(const Store &store, Parameter id, Parameter options) const {
    return detail::value<std::int64_t>(kv_transaction_remove_by_id_if, transaction_, store.get(), id.c_str(),
                                       options.c_str());
  }
  /** Removes the entities that match and returns their number. */
  Result<std::int64_t> remove(const Store &store, const Query &query) const {
    return detail::value<std::int64_t>(kv_transaction_remove, transaction_, store.get(), query.get());
  }
  /** Changes members of the entities that match, with MongoDB's `$set`, `$inc` and so on. */
  Result<Text> update(const Store &store, const Query &query, std::string_view update) const {
    return detail::text(kv_transaction_update, transaction_, store.get(), query.get(), update.data(), update.size());
  }

 private:
  kv_transaction *transaction_;
};

/** A transaction whose steps the caller controls. Destroying it without commit() writes nothing. */
class Transaction : public Handle<kv_transaction, kv_transaction_close> {
 public:
  using Handle::Handle;

  /** Returns the reads and writes of this transaction. */
  TransactionCalls calls() const noexcept { return TransactionCalls(get()); }
  /** Commits the transaction. KV_CONFLICT means that the data it has read was changed, and that nothing was written. */
  Result<void> commit() { return detail::run(kv_transaction_commit, get()); }
};

}  // namespace kvstore

#endif
