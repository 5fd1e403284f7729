/**
 * @file store.hpp
 * A collection: reads, writes, synchronisation, observers, the queue of pending writes.
 */
#ifndef KVSTORE_STORE_HPP
#define KVSTORE_STORE_HPP

#include <kvstore/handle.hpp>

namespace kvstore {

/**
 * One collection of a client: see Client::open_store(). JSON goes in as `std::string_view`. A call that ends with
 * `_async` returns at once: its callback gets an Answer, or without one the Request is waited for.
 */
class Store : public Handle<kv_store, kv_store_close> {
 public:
  using Handle::Handle;

  /** The entities that match, one after the other. */
  Result<Cursor> find(const Query &query, Parameter options = {}) const {
    return detail::open<Cursor>(kv_store_find, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> find_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_find_async, get(), query.get(), options.c_str());
  }

  /** One entity as JSON. */
  Result<Text> find_by_id(Parameter id, Parameter options = {}) const {
    return detail::text(kv_store_find_by_id, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> find_by_id_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_find_by_id_async, get(), id.c_str(), options.c_str());
  }

  /** Inserts or replaces an entity; gives it as it is stored. */
  Result<Text> save(std::string_view entity, Parameter options = {}) const {
    return detail::text(kv_store_save, get(), entity.data(), entity.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> save_async(std::string_view entity, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_save_async, get(), entity.data(), entity.size(), options.c_str());
  }

  /** Saves an array of entities; Text::is_partial() if some failed. */
  Result<Text> save_many(std::string_view entities, Parameter options = {}) const {
    return detail::text(kv_store_save_many, get(), entities.data(), entities.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> save_many_async(std::string_view entities, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_save_many_async, get(), entities.data(), entities.size(), options.c_str());
  }

  /** Removes one entity; how many were there. */
  Result<std::int64_t> remove_by_id(Parameter id, Parameter options = {}) const {
    return detail::value<std::int64_t>(kv_store_remove_by_id, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> remove_by_id_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_remove_by_id_async, get(), id.c_str(), options.c_str());
  }

  /** Removes the entities that match; how many. */
  Result<std::int64_t> remove(const Query &query, Parameter options = {}) const {
    return detail::value<std::int64_t>(kv_store_remove, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> remove_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_remove_async, get(), query.get(), options.c_str());
  }

  /** Changes members of the entities that match, with MongoDB's `$set`, `$inc` … */
  Result<Text> update(const Query &query, std::string_view update, Parameter options = {}) const {
    return detail::text(kv_store_update, get(), query.get(), update.data(), update.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> update_async(const Query &query, std::string_view update, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_update_async, get(), query.get(), update.data(), update.size(), options.c_str());
  }

  /** How many entities match. */
  Result<std::int64_t> count(const Query &query, Parameter options = {}) const {
    return detail::value<std::int64_t>(kv_store_count, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> count_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_count_async, get(), query.get(), options.c_str());
  }

  /** Groups the entities that match: see kv_store_group(). */
  Result<Text> group(std::string_view group, const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_group, get(), group.data(), group.size(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> group_async(std::string_view group, const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_group_async, get(), group.data(), group.size(), query.get(), options.c_str());
  }

  /** The different values of a member, as a JSON array. */
  Result<Text> distinct(Parameter path, const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_distinct, get(), path.c_str(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> distinct_async(Parameter path, const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_distinct_async, get(), path.c_str(), query.get(), options.c_str());
  }

  /** Brings what matches from the backend to the local data. */
  Result<Text> pull(const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_pull, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> pull_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_pull_async, get(), query.get(), options.c_str());
  }

  /** Sends the pending writes. */
  Result<Text> push(Parameter options = {}) const {
    return detail::text(kv_store_push, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> push_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_push_async, get(), options.c_str());
  }

  /** Pushes, then pulls. */
  Result<Text> sync(const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_sync, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> sync_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_sync_async, get(), query.get(), options.c_str());
  }

  /** Gives others rights to an entity: see kv_store_share(). */
  Result<void> share(Parameter id, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_store_share, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> share_async(Parameter id, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_share_async, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /** Takes rights to an entity back. */
  Result<void> unshare(Parameter id, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_store_unshare, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> unshare_async(Parameter id, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_unshare_async, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /**
   * Groups the entities that match by the keys, a JSON array of names, and calls `function(group, entity)` with each;
   * it gives false to stop. Gives the keys of the groups. What the function throws is thrown here.
   */
  template <typename Function>
  Result<Text> reduce(std::string_view keys, const Query &query, Function &&function, Parameter options = {}) const {
    using Frame = detail::Borrowed<std::remove_reference_t<Function>>;
    Frame frame(function);
    const kv_reduce_fn each = [](void *context, std::size_t group, const char *entity, std::size_t length) {
      return std::int32_t(!static_cast<Frame *>(context)->call(false, group, std::string_view(entity, length)));
    };
    auto keys_of_groups = detail::text(kv_store_reduce, get(), keys.data(), keys.size(), query.get(), options.c_str(),
                                       each, static_cast<void *>(&frame));
    frame.rethrow();
    return keys_of_groups;
  }

  /** The local version of an entity, for conditions. */
  Result<std::int64_t> version(Parameter id) const { return detail::value<std::int64_t>(kv_store_version, get(), id.c_str()); }
  bool reads_locally() const noexcept { return kv_store_reads_locally(get()) != 0; }
  bool writes_locally() const noexcept { return kv_store_writes_locally(get()) != 0; }

  // Indexes

  Result<void> create_index(std::string_view index) const {
    return detail::run(kv_store_create_index, get(), index.data(), index.size());
  }
  Result<void> drop_index(Parameter name) const { return detail::run(kv_store_drop_index, get(), name.c_str()); }
  Result<Text> indexes() const { return detail::text(kv_store_indexes, get()); }
  Result<Text> explain(const Query &query) const { return detail::text(kv_store_explain, get(), query.get()); }

  // What calls back. `receive` is called with an Event, until the Subscription is closed.

  /** Keeps what matches in sync until it is closed: see kv_store_follow(). */
  template <typename Receive>
  Result<Subscription> follow(const Query &query, Receive &&receive, Parameter options = {}) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_follow, get(), query.get(), options.c_str());
  }
  /** The result of a query over local data, then each change of it. */
  template <typename Receive>
  Result<Subscription> observe(const Query &query, Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_observe, get(), query.get());
  }
  /** One entity, then each change of it. */
  template <typename Receive>
  Result<Subscription> observe_by_id(Parameter id, Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_observe_by_id, get(), id.c_str());
  }
  /** Live data: each change that anybody makes on the backend. */
  Result<Subscription> subscribe(Listener listener, Parameter options = {}) const {
    return detail::listen(std::move(listener), kv_store_subscribe, get(), options.c_str());
  }

  /** Lets `handler(const Conflict &)` decide conflicts: it gives a Decision, and may run on any thread. */
  template <typename Handler>
  Result<void> set_conflict_handler(Handler &&handler) const {
    using Kept = std::decay_t<Handler>;
    return detail::run(kv_store_set_conflict_handler, get(), &detail::decide<Kept>, new Kept(std::forward<Handler>(handler)),
                       &detail::destroy<Kept>);
  }
  Result<void> remove_conflict_handler() const {
    return detail::run(kv_store_set_conflict_handler, get(), nullptr, nullptr, nullptr);
  }

  // The queue of pending writes

  Result<std::int64_t> sync_count() const { return detail::value<std::int64_t>(kv_store_sync_count, get()); }
  /** A page of pending writes, those whose ids come after `after`. */
  Result<Text> pending(Parameter after = {}, std::uint32_t limit = 0) const {
    return detail::text(kv_store_pending, get(), after.c_str(), limit);
  }
  Result<Text> pending_get(Parameter id) const { return detail::text(kv_store_pending_get, get(), id.c_str()); }
  /** Sends a quarantined write again. */
  Result<void> pending_retry(Parameter id, Parameter options = {}) const {
    return detail::run(kv_store_pending_retry, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> pending_retry_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_pending_retry_async, get(), id.c_str(), options.c_str());
  }

  Result<void> pending_edit(Parameter id, std::string_view entity) const {
    return detail::run(kv_store_pending_edit, get(), id.c_str(), entity.data(), entity.size());
  }
  Result<void> pending_revert(Parameter id) const { return detail::run(kv_store_pending_revert, get(), id.c_str()); }
  Result<void> pending_drop(Parameter id) const { return detail::run(kv_store_pending_drop, get(), id.c_str()); }
  /** Drops the pending writes of what matches; how many. */
  Result<std::int64_t> purge(const Query &query) const {
    return detail::value<std::int64_t>(kv_store_purge, get(), query.get());
  }
  /** Removes what matches from the local data only; how many. */
  Result<std::int64_t> clear(const Query &query) const {
    return detail::value<std::int64_t>(kv_store_clear, get(), query.get());
  }
};

}  // namespace kvstore

#endif
