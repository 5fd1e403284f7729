/**
 * @file transaction.hpp
 * Reads and writes over several stores that happen all at once, or not at all.
 */
#ifndef KVSTORE_TRANSACTION_HPP
#define KVSTORE_TRANSACTION_HPP

#include <kvstore/store.hpp>

namespace kvstore {

/** The reads and writes of a transaction; those of a body are lent by Client::transact(). */
class TransactionCalls {
 public:
  explicit TransactionCalls(kv_transaction *transaction) noexcept : transaction_(transaction) {}

  Result<Text> find_by_id(const Store &store, Parameter id) const {
    return detail::text(kv_transaction_find_by_id, transaction_, store.get(), id.c_str());
  }
  Result<Cursor> find(const Store &store, const Query &query) const {
    return detail::open<Cursor>(kv_transaction_find, transaction_, store.get(), query.get());
  }
  Result<std::int64_t> count(const Store &store, const Query &query) const {
    return detail::value<std::int64_t>(kv_transaction_count, transaction_, store.get(), query.get());
  }
  Result<Text> save(const Store &store, std::string_view entity) const {
    return detail::text(kv_transaction_save, transaction_, store.get(), entity.data(), entity.size());
  }
  /** Saves on the condition `{"if":…}` of the options. */
  Result<Text> save_if(const Store &store, std::string_view entity, Parameter options) const {
    return detail::text(kv_transaction_save_if, transaction_, store.get(), entity.data(), entity.size(), options.c_str());
  }
  Result<std::int64_t> remove_by_id(const Store &store, Parameter id) const {
    return detail::value<std::int64_t>(kv_transaction_remove_by_id, transaction_, store.get(), id.c_str());
  }
  Result<std::int64_t> remove_by_id_if(const Store &store, Parameter id, Parameter options) const {
    return detail::value<std::int64_t>(kv_transaction_remove_by_id_if, transaction_, store.get(), id.c_str(),
                                       options.c_str());
  }
  Result<std::int64_t> remove(const Store &store, const Query &query) const {
    return detail::value<std::int64_t>(kv_transaction_remove, transaction_, store.get(), query.get());
  }
  Result<Text> update(const Store &store, const Query &query, std::string_view update) const {
    return detail::text(kv_transaction_update, transaction_, store.get(), query.get(), update.data(), update.size());
  }

 private:
  kv_transaction *transaction_;
};

/** A transaction step by step. Destroying it without commit() writes nothing. */
class Transaction : public Handle<kv_transaction, kv_transaction_close> {
 public:
  using Handle::Handle;

  TransactionCalls calls() const noexcept { return TransactionCalls(get()); }
  /** KV_CONFLICT: what was read has changed, and nothing was written. */
  Result<void> commit() { return detail::run(kv_transaction_commit, get()); }
};

}  // namespace kvstore

#endif
