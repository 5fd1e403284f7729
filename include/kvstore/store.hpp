/**
 * @file store.hpp
 * A collection: reads, writes, synchronisation, observers and the queue of pending writes.
 */
#ifndef KVSTORE_STORE_HPP
#define KVSTORE_STORE_HPP

#include <kvstore/handle.hpp>

namespace kvstore {

/**
 * A collection of a client: see Client::open_store(). JSON arguments are `std::string_view`s. A function whose name
 * ends with `_async` returns at once. Its callback receives an Answer; without a callback, wait for the Request.
 */
class Store : public Handle<kv_store, kv_store_close> {
 public:
  using Handle::Handle;

  /** Finds the entities that match and returns a cursor. */
  Result<Cursor> find(const Query &query, Parameter options = {}) const {
    return detail::open<Cursor>(kv_store_find, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> find_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_find_async, get(), query.get(), options.c_str());
  }

  /** Fetches what matches as a list that loads little by little; the request is JSON: see kv_store_results(). */
  Result<Results> results(const Query &query, std::string_view request = "{}", Parameter options = {}) const {
    return detail::open<Results>(kv_store_results, get(), request.data(), request.size(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> results_async(const Query &query, Done &&done = {}, std::string_view request = "{}", Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_results_async, get(), request.data(), request.size(), query.get(), options.c_str());
  }

  /** Finds one entity by its id and returns it as JSON. */
  Result<Text> find_by_id(Parameter id, Parameter options = {}) const {
    return detail::text(kv_store_find_by_id, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> find_by_id_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_find_by_id_async, get(), id.c_str(), options.c_str());
  }

  /** Finds the entities of an array of ids. Returns an array in the same order, with null where there is none. */
  Result<Text> find_by_ids(std::string_view ids, Parameter options = {}) const {
    return detail::text(kv_store_find_by_ids, get(), ids.data(), ids.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> find_by_ids_async(std::string_view ids, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_find_by_ids_async, get(), ids.data(), ids.size(), options.c_str());
  }

  /** Inserts or replaces an entity and returns it as stored. */
  Result<Text> save(std::string_view entity, Parameter options = {}) const {
    return detail::text(kv_store_save, get(), entity.data(), entity.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> save_async(std::string_view entity, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_save_async, get(), entity.data(), entity.size(), options.c_str());
  }

  /** Saves an array of entities. If some of them fail, Text::is_partial() is true. */
  Result<Text> save_many(std::string_view entities, Parameter options = {}) const {
    return detail::text(kv_store_save_many, get(), entities.data(), entities.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> save_many_async(std::string_view entities, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_save_many_async, get(), entities.data(), entities.size(), options.c_str());
  }

  /** Removes one entity and returns 1, or 0 if there was none. */
  Result<std::int64_t> remove_by_id(Parameter id, Parameter options = {}) const {
    return detail::value<std::int64_t>(kv_store_remove_by_id, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> remove_by_id_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_remove_by_id_async, get(), id.c_str(), options.c_str());
  }

  /** Removes the entities that match and returns their number. */
  Result<std::int64_t> remove(const Query &query, Parameter options = {}) const {
    return detail::value<std::int64_t>(kv_store_remove, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> remove_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_remove_async, get(), query.get(), options.c_str());
  }

  /** Changes members of the entities that match, with MongoDB's `$set`, `$inc` and so on. */
  Result<Text> update(const Query &query, std::string_view update, Parameter options = {}) const {
    return detail::text(kv_store_update, get(), query.get(), update.data(), update.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> update_async(const Query &query, std::string_view update, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_update_async, get(), query.get(), update.data(), update.size(), options.c_str());
  }

  /** Counts the entities that match. */
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

  /** Returns the different values of a member as a JSON array. */
  Result<Text> distinct(Parameter path, const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_distinct, get(), path.c_str(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> distinct_async(Parameter path, const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_distinct_async, get(), path.c_str(), query.get(), options.c_str());
  }

  /** Fetches the entities that match from the backend into the local data. */
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

  /** Pushes and then pulls. */
  Result<Text> sync(const Query &query, Parameter options = {}) const {
    return detail::text(kv_store_sync, get(), query.get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> sync_async(const Query &query, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_sync_async, get(), query.get(), options.c_str());
  }

  /** Grants other users rights to an entity: see kv_store_share(). */
  Result<void> share(Parameter id, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_store_share, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> share_async(Parameter id, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_share_async, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /** Revokes rights to an entity: see kv_store_unshare(). */
  Result<void> unshare(Parameter id, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_store_unshare, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> unshare_async(Parameter id, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_unshare_async, get(), id.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /**
   * Groups the entities that match by the keys, a JSON array of names, and calls `function(group, entity)` with each
   * entity. The function returns false to stop. The result is the keys of the groups. If the function throws, reduce()
   * throws the same exception.
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

  /** Returns the local version of an entity, for conditions. */
  Result<std::int64_t> version(Parameter id) const { return detail::value<std::int64_t>(kv_store_version, get(), id.c_str()); }
  /** Returns true if the type of the store reads only local data. */
  bool reads_locally() const noexcept { return kv_store_reads_locally(get()) != 0; }
  /** Returns true if the type of the store writes only local data. */
  bool writes_locally() const noexcept { return kv_store_writes_locally(get()) != 0; }

  // Indexes

  /** Creates an index over the local data: see kv_store_create_index(). */
  Result<void> create_index(std::string_view index) const {
    return detail::run(kv_store_create_index, get(), index.data(), index.size());
  }
  /** Drops an index. */
  Result<void> drop_index(Parameter name) const { return detail::run(kv_store_drop_index, get(), name.c_str()); }
  /** Lists the indexes as a JSON array. */
  Result<Text> indexes() const { return detail::text(kv_store_indexes, get()); }
  /** Makes the filter that selects what a relation of a record leads to: see kv_store_related(). */
  Result<Text> related(Parameter id, Parameter relation) const {
    return detail::text(kv_store_related, get(), id.c_str(), relation.c_str());
  }
  /** Runs a find in the local data and returns how it was carried out: see kv_store_explain(). */
  Result<Text> explain(const Query &query) const { return detail::text(kv_store_explain, get(), query.get()); }

  // Subscriptions. `receive` is called with an Event until the Subscription is closed.

  /** Keeps the entities that match in sync until the subscription is closed: see kv_store_follow(). */
  template <typename Receive>
  Result<Subscription> follow(const Query &query, Receive &&receive, Parameter options = {}) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_follow, get(), query.get(), options.c_str());
  }
  /** Reports the result of a query over local data, and then each change of it. */
  template <typename Receive>
  Result<Subscription> observe(const Query &query, Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_observe, get(), query.get());
  }
  /** Reports one entity, and then each change of it. */
  template <typename Receive>
  Result<Subscription> observe_by_id(Parameter id, Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_store_observe_by_id, get(), id.c_str());
  }
  /** Reports each change of the collection on the backend, as live data. */
  Result<Subscription> subscribe(Listener listener, Parameter options = {}) const {
    return detail::listen(std::move(listener), kv_store_subscribe, get(), options.c_str());
  }

  /**
   * Sets the function that decides conflicts: `handler(const Conflict &)` returns a Decision and may run on any thread.
   */
  template <typename Handler>
  Result<void> set_conflict_handler(Handler &&handler) const {
    using Kept = std::decay_t<Handler>;
    return detail::run(kv_store_set_conflict_handler, get(), &detail::decide<Kept>, new Kept(std::forward<Handler>(handler)),
                       &detail::destroy<Kept>);
  }
  /** Removes the function that decides conflicts. */
  Result<void> remove_conflict_handler() const {
    return detail::run(kv_store_set_conflict_handler, get(), nullptr, nullptr, nullptr);
  }

  // The queue of pending writes

  /** Returns the number of pending writes. */
  Result<std::int64_t> sync_count() const { return detail::value<std::int64_t>(kv_store_sync_count, get()); }
  /** Returns a page of pending writes, starting after the id `after`. A limit of 0 means all. */
  Result<Text> pending(Parameter after = {}, std::uint32_t limit = 0) const {
    return detail::text(kv_store_pending, get(), after.c_str(), limit);
  }
  /** Returns one pending write and the entity that it would send. */
  Result<Text> pending_get(Parameter id) const { return detail::text(kv_store_pending_get, get(), id.c_str()); }
  /** Sends a quarantined write again. */
  Result<void> pending_retry(Parameter id, Parameter options = {}) const {
    return detail::run(kv_store_pending_retry, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> pending_retry_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_store_pending_retry_async, get(), id.c_str(), options.c_str());
  }

  /** Replaces the entity that a pending write would send. */
  Result<void> pending_edit(Parameter id, std::string_view entity) const {
    return detail::run(kv_store_pending_edit, get(), id.c_str(), entity.data(), entity.size());
  }
  /** Discards one pending write and restores the local entity to the backend's version, as far as that is known. */
  Result<void> pending_revert(Parameter id) const { return detail::run(kv_store_pending_revert, get(), id.c_str()); }
  /** Discards one pending write. The local entity stays as it is. */
  Result<void> pending_drop(Parameter id) const { return detail::run(kv_store_pending_drop, get(), id.c_str()); }
  /** Drops the pending writes of the entities that match and returns their number. */
  Result<std::int64_t> purge(const Query &query) const {
    return detail::value<std::int64_t>(kv_store_purge, get(), query.get());
  }
  /** Removes the entities that match from the local data only and returns their number. */
  Result<std::int64_t> clear(const Query &query) const {
    return detail::value<std::int64_t>(kv_store_clear, get(), query.get());
  }
};

}  // namespace kvstore

#endif
