/**
 * @file migration.hpp
 * Functions that make records of a former schema those of a new one. docs/models.md describes migrations.
 */
#ifndef KVSTORE_MIGRATION_HPP
#define KVSTORE_MIGRATION_HPP

#include <kvstore/callback.hpp>
#include <kvstore/handle.hpp>

#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kvstore {

/** A record whose schema has changed. Its contents are valid until the callback returns. */
struct MigratingRecord {
  /** Its model in the former schema. */
  std::string_view former_model;
  /** Its model in the new schema. */
  std::string_view model;
  /** Its id, which stays. */
  std::string_view id;
  /** The record as it is stored, as JSON. */
  std::string_view former;
  /** The record as the rules change it; it may lack what the new model requires. */
  std::string_view record;
};

/** What becomes of a record whose schema has changed. */
class Migrated {
 public:
  /** Leaves the record as the rules change it. */
  static Migrated by_rules() { return Migrated(KV_OK, std::nullopt); }
  /** Makes it this whole record of the new model, as JSON. */
  static Migrated record(std::string json) { return Migrated(KV_OK, std::move(json)); }
  /** Ends the migration, for the reason given in one sentence: nothing is changed, and the client is not opened. */
  static Migrated failure(std::string reason) { return Migrated(KV_INVALID, std::move(reason)); }

  /** Returns KV_OK, or the status of the failure. */
  kv_status status() const noexcept { return status_; }
  /** Returns the record as JSON, or the reason of the failure. */
  const std::optional<std::string> &text() const noexcept { return text_; }

 private:
  Migrated(kv_status status, std::optional<std::string> text) : status_(status), text_(std::move(text)) {}

  kv_status status_;
  std::optional<std::string> text_;
};

namespace detail {

template <typename Kept>
kv_status migrate(void *kept, const kv_migration *migration, char **text_out) noexcept {
  const Migrated migrated = (*static_cast<Kept *>(kept))(MigratingRecord{
      migration->former_model, migration->model, migration->id,
      std::string_view(migration->former, migration->former_length),
      std::string_view(migration->record, migration->record_length)});
  if (!migrated.text()) return migrated.status();
  *text_out = strdup(migrated.text()->c_str());
  return *text_out == nullptr ? kv_status(KV_STORAGE) : migrated.status();
}

}  // namespace detail

/**
 * Registers `migrate(const MigratingRecord &)`, which returns a Migrated, under a name of this process, for the option
 * `"onSchemaChange":{"migrate":{…},"handler":"<name>"}`: see kv_migration_register().
 */
template <typename Migrate>
Result<void> register_migration(Parameter name, Migrate &&migrate) {
  using Kept = std::decay_t<Migrate>;
  return detail::run(kv_migration_register, name.c_str(), &detail::migrate<Kept>,
                     new Kept(std::forward<Migrate>(migrate)), &detail::destroy<Kept>);
}

/** Removes a handler's name. Open clients keep the handler; no further client can open with it. */
inline Result<void> unregister_migration(Parameter name) {
  return detail::run(kv_migration_unregister, name.c_str());
}

}  // namespace kvstore

#endif
