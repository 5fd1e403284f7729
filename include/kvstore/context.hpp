/**
 * @file context.hpp
 * Contexts: a working copy of objects of several collections, saved in one step.
 */
#ifndef KVSTORE_CONTEXT_HPP
#define KVSTORE_CONTEXT_HPP

#include <kvstore/store.hpp>

namespace kvstore {

/** Objects of several collections with unsaved changes; see kv_context_open(). JSON goes in and comes out as text. Destroying
 *  it drops what was not saved. */
class Context : public Handle<kv_context, kv_context_close> {
 public:
  using Handle::Handle;

  /** Adds a new object and returns its id. */
  Result<Text> insert(Parameter collection, std::string_view object) {
    return detail::text(kv_context_insert, get(), collection.c_str(), object.data(), object.size());
  }
  /** Returns an object with its unsaved changes. */
  Result<Text> get_object(Parameter collection, Parameter id) {
    return detail::text(kv_context_get, get(), collection.c_str(), id.c_str());
  }
  /** Changes some members of an object. */
  Result<void> update(Parameter collection, Parameter id, std::string_view members) {
    return detail::run(kv_context_update, get(), collection.c_str(), id.c_str(), members.data(), members.size());
  }
  /** Replaces all members of an object but its id and those that the backend makes. */
  Result<void> set(Parameter collection, Parameter id, std::string_view object) {
    return detail::run(kv_context_set, get(), collection.c_str(), id.c_str(), object.data(), object.size());
  }
  /** Deletes an object at the next save. */
  Result<void> remove(Parameter collection, Parameter id) {
    return detail::run(kv_context_delete, get(), collection.c_str(), id.c_str());
  }
  /** Returns what the context knows of an object, as JSON; nothing is read for it. */
  Result<Text> status(Parameter collection, Parameter id) const {
    return detail::text(kv_context_status, get(), collection.c_str(), id.c_str());
  }
  /** Returns the unsaved changes as JSON. */
  Result<Text> changes() const { return detail::text(kv_context_changes, get()); }

  /** Fetches what a query finds, as a list of faults; the request is JSON: see kv_context_fetch(). */
  Result<Results> fetch(Parameter collection, const Query &query, std::string_view request = "{}") {
    return detail::open<Results>(kv_context_fetch, get(), collection.c_str(), request.data(), request.size(), query.get());
  }
  /** Returns the objects that a relationship leads to. */
  Result<Results> related(Parameter collection, Parameter id, Parameter relationship, std::string_view request = "{}") {
    return detail::open<Results>(kv_context_related, get(), collection.c_str(), id.c_str(), relationship.c_str(),
                                 request.data(), request.size());
  }
  /** Returns the relationships of a collection as JSON. */
  Result<Text> relationships(Parameter collection) const {
    return detail::text(kv_context_relationships, get(), collection.c_str());
  }

  /** Holds objects, `[{"collection","id"}]`: see kv_context_hold(). */
  Result<void> hold(std::string_view ids) { return detail::run(kv_context_hold, get(), ids.data(), ids.size()); }
  /** Ends what hold() began. */
  Result<void> release_objects(std::string_view ids) {
    return detail::run(kv_context_release, get(), ids.data(), ids.size());
  }
  /** Makes objects faults again (without ids: all), and keeps their unsaved changes or drops them. */
  Result<void> refresh(bool keep_changes = true) {
    return detail::run(kv_context_refresh, get(), nullptr, std::size_t{0}, std::int32_t{keep_changes});
  }
  Result<void> refresh(std::string_view ids, bool keep_changes = true) {
    return detail::run(kv_context_refresh, get(), ids.data(), ids.size(), std::int32_t{keep_changes});
  }

  /** Begins a group of edits that are undone together. */
  Result<void> undo_begin() { return detail::run(kv_context_undo_begin, get()); }
  /** Ends the group. */
  Result<void> undo_end() { return detail::run(kv_context_undo_end, get()); }
  /** Takes the last group of edits back. */
  Result<void> undo() { return detail::run(kv_context_undo, get()); }
  /** Makes the edits again that were undone last. */
  Result<void> redo() { return detail::run(kv_context_redo, get()); }
  /** Drops all unsaved changes. */
  Result<void> rollback() { return detail::run(kv_context_rollback, get()); }

  /** Writes all changes in one transaction and returns what it did, as JSON. KV_CONFLICT: see conflicts(). */
  Result<Text> save() { return detail::text(kv_context_save, get()); }
  /** Saves, and calls `decide(conflict)` with the JSON of each conflict, on this thread. It calls resolve(), or does nothing and
   *  so lets the save fail. It must not throw. */
  template <typename Decide>
  Result<Text> save(Decide decide) {
    kv_merge_fn call = [](void *kept, kv_context *, const char *conflict) {
      (*static_cast<Decide *>(kept))(std::string_view(conflict));
    };
    return detail::text(kv_context_save_deciding, get(), call, static_cast<void *>(&decide));
  }
  /** Returns the conflicts of the last save as JSON. */
  Result<Text> conflicts() const { return detail::text(kv_context_conflicts, get()); }
  /** Decides a conflict of the last save: `{"use":"stored"}`, `{"use":"object"}` or `{"use":"merged","object":{…}}`. */
  Result<void> resolve(Parameter collection, Parameter id, std::string_view resolution) {
    return detail::run(kv_context_resolve, get(), collection.c_str(), id.c_str(), resolution.data(), resolution.size());
  }
  /** Asks a store that chooses ids for those of new objects. */
  Result<Text> obtain_ids() { return detail::text(kv_context_obtain_ids, get()); }

  /** Returns the URI and the reference of an object, as JSON. */
  Result<Text> describe(Parameter collection, Parameter id) const {
    return detail::text(kv_context_describe, get(), collection.c_str(), id.c_str());
  }
  /** Returns what a URI names, as JSON. */
  Result<Text> locate(Parameter uri) const { return detail::text(kv_context_locate, get(), uri.c_str()); }
  /** Returns what the context has cost, as JSON. */
  Result<Text> statistics() const { return detail::text(kv_context_statistics, get()); }
};

}  // namespace kvstore

#endif
