/**
 * @file kvstore.hpp
 * libkvstore for C++17: handles with one owner, results in place of status numbers, and lambdas as callbacks.
 *
 *     auto client = kvstore::Client::open(R"({"appKey":"kid_notes","host":null})");
 *     if (!client) return fail(client.error().message());
 *     auto notes = client->open_store("notes");
 *     if (auto saved = notes->save(R"({"text":"milk"})")) std::puts(saved->c_str());
 *
 * All functions are inline calls of the C functions of kvstore.h, whose comments describe each call in full. The
 * function get() of each object returns the C handle. docs/cpp.md has the rules.
 */
#ifndef KVSTORE_HPP
#define KVSTORE_HPP

#include <kvstore/backend.hpp>
#include <kvstore/custom_store.hpp>
#include <kvstore/store.hpp>
#include <kvstore/context.hpp>
#include <kvstore/encryption.hpp>
#include <kvstore/migration.hpp>
#include <kvstore/transaction.hpp>

namespace kvstore {

/** Returns the version of the loaded library, such as "0.1.0". */
inline std::string_view version() noexcept { return kv_version(); }
/** Returns the same version as a number, to be compared with KV_VERSION_NUMBER. */
inline std::int32_t version_number() noexcept { return kv_version_number(); }
/** Returns true if the loaded library has a feature, such as "kinvey". */
inline bool has_feature(Parameter name) noexcept { return kv_has_feature(name.c_str()) != 0; }
/** Counts the open handles of this process, of one kind or of all kinds. It is for leak tests. */
inline std::int64_t live_objects(Parameter kind = {}) noexcept { return kv_live_objects(kind.c_str()); }

/** Copies everything that can be read from a damaged data file into a new directory: see kv_salvage(). */
inline Result<Text> salvage(std::string_view options, Parameter directory) {
  return detail::text(kv_salvage, options.data(), options.size(), directory.c_str());
}

/**
 * Encrypts local data, encrypts it anew, or decrypts it if there is no key. The result is a report as JSON: see
 * kv_encrypt().
 */
inline Result<Text> encrypt(std::string_view options, Parameter key = {}) {
  return detail::text(kv_encrypt, options.data(), options.size(), key.c_str(), KV_NUL_TERMINATED);
}

/** Writes the plain lines of an encrypted file of salvage() to a file descriptor: see kv_decrypt_file(). */
inline Result<void> decrypt_file(std::string_view options, Parameter path, std::int32_t descriptor) {
  return detail::run(kv_decrypt_file, options.data(), options.size(), path.c_str(), descriptor);
}

/** Describes the models of a GraphQL schema as JSON: see kv_schema_describe(). */
inline Result<Text> describe_schema(Parameter schema) { return detail::text(kv_schema_describe, schema.c_str()); }

/** One application on one backend, with one data directory. */
class Client : public Handle<kv_client, kv_client_close> {
 public:
  using Handle::Handle;

  /** Opens a client. docs/options.md describes the options. Makes no network call. */
  static Result<Client> open(std::string_view options) {
    return detail::open<Client>(kv_client_open, options.data(), options.size());
  }

  /** Opens a collection. The type is "sync", "synced", "auto", "cache" or "network". */
  Result<Store> open_store(Parameter collection, Parameter type = "sync", Parameter options = {}) const {
    return detail::open<Store>(kv_store_open, get(), collection.c_str(), type.c_str(), options.c_str());
  }

  /**
   * Runs `body(const TransactionCalls &)` in a transaction and commits it. If anything that the body has read was
   * changed in the meantime, the body runs again from its beginning. The body returns a Result<void>. An error undoes
   * the transaction, and transact() returns it. An exception undoes the transaction as well, and transact() throws it
   * again.
   */
  template <typename Body>
  Result<void> transact(Body &&body, Parameter options = {}) const {
    std::optional<Error> refusal;
    auto step = [&](kv_transaction *transaction) -> kv_status {
      refusal.reset();
      Result<void> outcome = body(TransactionCalls(transaction));
      if (outcome) return KV_OK;
      refusal = outcome.error();
      return refusal->status();
    };
    using Frame = detail::Borrowed<decltype(step)>;
    Frame frame(step);
    const kv_transaction_fn run = [](void *context, kv_transaction *transaction) {
      return static_cast<Frame *>(context)->call(kv_status(KV_INTERNAL), transaction);
    };
    auto result = detail::run(kv_client_transaction, get(), options.c_str(), run, static_cast<void *>(&frame));
    frame.rethrow();
    if (!result && refusal && refusal->status() == result.error().status()) return *refusal;
    return result;
  }

  /** Opens a context: a working copy of objects, saved in one step; the options are JSON: see kv_context_open(). */
  Result<Context> context(Parameter options = {}) {
    return detail::open<Context>(kv_context_open, get(), options.c_str());
  }
  /** Begins a transaction whose steps the caller controls. */
  Result<Transaction> begin(Parameter options = {}) const {
    return detail::open<Transaction>(kv_transaction_begin, get(), options.c_str());
  }

  // Callbacks and what happens

  /** Returns a file descriptor that is readable while callbacks wait, for clients with `"callbacks":"pump"`. */
  Result<int> event_fd() const { return detail::value<int>(kv_client_event_fd, get()); }
  /** Runs the waiting callbacks on the calling thread and returns their number. A limit of 0 means all. */
  Result<std::uint32_t> dispatch(std::uint32_t limit = 0) const {
    return detail::value<std::uint32_t>(kv_client_dispatch, get(), limit);
  }
  /**
   * Sets the function that gives tokens of the user: `provide(const TokenRequest &)` returns a `std::optional<std::string>`, which is
   * empty if no user is signed in. It runs on a thread of its own: see kv_client_set_token_provider().
   */
  template <typename Provide>
  Result<void> set_token_provider(Provide &&provide) const {
    using Kept = std::decay_t<Provide>;
    return detail::run(kv_client_set_token_provider, get(), &detail::provide_token<Kept>,
                       new Kept(std::forward<Provide>(provide)), &detail::destroy<Kept>);
  }
  /** Removes the function that gives tokens. */
  Result<void> remove_token_provider() const {
    return detail::run(kv_client_set_token_provider, get(), nullptr, nullptr, nullptr);
  }
  /** Sends the log to `receive(std::int32_t level, std::string_view line)`. The levels are 1 (error) to 4 (debug). */
  template <typename Receive>
  Result<void> set_log(std::int32_t level, Receive &&receive) const {
    using Kept = std::decay_t<Receive>;
    return detail::run(kv_client_set_log, get(), level, &detail::receive_line<Kept>,
                       new Kept(std::forward<Receive>(receive)), &detail::destroy<Kept>);
  }
  /** Switches the log off. */
  Result<void> remove_log() const { return detail::run(kv_client_set_log, get(), 0, nullptr, nullptr, nullptr); }
  /** Starts to synchronise in the background: see kv_client_start_sync(). */
  Result<void> start_sync() const { return detail::run(kv_client_start_sync, get()); }
  /** Stops synchronising. Local data and pending writes stay. */
  Result<void> stop_sync() const { return detail::run(kv_client_stop_sync, get()); }
  /** Stops synchronising, and deletes the local data: see kv_client_clear(). */
  Result<void> clear(bool discard_pending = false) const {
    return detail::run(kv_client_clear, get(), discard_pending ? 1 : 0);
  }
  /** Sets which entities of a collection are synchronised, by a filter in JSON; none: all. */
  Result<void> set_sync_expression(Parameter collection, Parameter filter = {}) const {
    return detail::run(kv_client_set_sync_expression, get(), collection.c_str(), filter.c_str());
  }
  /** Returns the status of the client as JSON, without a network call: see kv_client_status(). */
  Result<Text> status() const { return detail::text(kv_client_status, get()); }
  /**
   * Returns unused disk space of the local data to the system. The result is the number of bytes, as JSON: see
   * kv_client_compact().
   */
  Result<Text> compact(Parameter options = {}) const {
    return detail::text(kv_client_compact, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> compact_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_client_compact_async, get(), options.c_str());
  }

  /** Copies the local data into a directory while it is used. The result is JSON: see kv_client_backup(). */
  Result<Text> backup(Parameter directory, Parameter options = {}) const {
    return detail::text(kv_client_backup, get(), directory.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> backup_async(Parameter directory, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_client_backup_async, get(), directory.c_str(),
                         options.c_str());
  }

  /**
   * Changes, adds or removes (no key) a key that opens the local data. The result has the names of all keys: see
   * kv_client_change_key().
   */
  Result<Text> change_key(Parameter key, Parameter name = {}) const {
    return detail::text(kv_client_change_key, get(), name.c_str(), key.c_str(), KV_NUL_TERMINATED);
  }

  /** Removes or quarantines damaged entities and returns a report as JSON: see kv_client_repair(). */
  Result<Text> repair() const { return detail::text(kv_client_repair, get()); }
  /** Calls `receive` with the status of the client, now and after each change: see kv_client_observe_status(). */
  template <typename Receive>
  Result<Subscription> observe_status(Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_client_observe_status, get());
  }
  /** Calls `receive` with each event of synchronisation, such as the start of a push: see kv_client_observe_sync(). */
  template <typename Receive>
  Result<Subscription> observe_sync(Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_client_observe_sync, get());
  }

  // Users, live data, streams

  /** Asks the backend for its version. */
  Result<Text> ping(Parameter options = {}) const {
    return detail::text(kv_ping, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> ping_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_ping_async, get(), options.c_str());
  }

  /** Creates a user and logs it in. An empty text creates an anonymous user. */
  Result<Text> signup(std::string_view user, Parameter options = {}) const {
    return detail::text(kv_user_signup, get(), user.data(), user.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> signup_async(std::string_view user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_signup_async, get(), user.data(), user.size(), options.c_str());
  }

  /** Logs a user in with `{"username":…,"password":…}`, or with the other credentials that kv_user_login() accepts. */
  Result<Text> login(std::string_view credentials, Parameter options = {}) const {
    return detail::text(kv_user_login, get(), credentials.data(), credentials.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> login_async(std::string_view credentials, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_login_async, get(), credentials.data(), credentials.size(), options.c_str());
  }

  /** Logs in with the code that the login page has returned. */
  Result<Text> login_with_code(Parameter code, Parameter redirect_uri, Parameter options = {}) const {
    return detail::text(kv_user_login_with_code, get(), code.c_str(), redirect_uri.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> login_with_code_async(Parameter code, Parameter redirect_uri, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_login_with_code_async, get(), code.c_str(), redirect_uri.c_str(), options.c_str());
  }

  /** Logs the active user out. */
  Result<void> logout(Parameter options = {}) const {
    return detail::run(kv_user_logout, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> logout_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_logout_async, get(), options.c_str());
  }

  /** Reads the active user from the backend. */
  Result<Text> me(Parameter options = {}) const {
    return detail::text(kv_user_me, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> me_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_me_async, get(), options.c_str());
  }

  /** Updates the active user on the backend. */
  Result<Text> update_user(std::string_view user, Parameter options = {}) const {
    return detail::text(kv_user_update, get(), user.data(), user.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> update_user_async(std::string_view user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_update_async, get(), user.data(), user.size(), options.c_str());
  }

  /** Deletes the active user on the backend. */
  Result<void> delete_user(Parameter options = {}) const {
    return detail::run(kv_user_delete, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> delete_user_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_delete_async, get(), options.c_str());
  }

  /** Finds other users by members such as `{"username":"ana"}`. Returns an array. */
  Result<Text> lookup_users(std::string_view members, Parameter options = {}) const {
    return detail::text(kv_user_lookup, get(), members.data(), members.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> lookup_users_async(std::string_view members, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_lookup_async, get(), members.data(), members.size(), options.c_str());
  }

  /** Creates a group of users. */
  Result<Text> create_group(std::string_view group, Parameter options = {}) const {
    return detail::text(kv_group_create, get(), group.data(), group.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> create_group_async(std::string_view group, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_group_create_async, get(), group.data(), group.size(), options.c_str());
  }

  /** Reads a group of users. */
  Result<Text> read_group(Parameter id, Parameter options = {}) const {
    return detail::text(kv_group_read, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> read_group_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_group_read_async, get(), id.c_str(), options.c_str());
  }

  /** Lists the groups of users that the active user may read, as an array. */
  Result<Text> groups(Parameter options = {}) const {
    return detail::text(kv_group_list, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> groups_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_group_list_async, get(), options.c_str());
  }

  /** Changes a group of users: see kv_group_update(). */
  Result<Text> update_group(Parameter id, std::string_view change, Parameter options = {}) const {
    return detail::text(kv_group_update, get(), id.c_str(), change.data(), change.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> update_group_async(Parameter id, std::string_view change, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_group_update_async, get(), id.c_str(), change.data(), change.size(), options.c_str());
  }

  /** Deletes a group of users. */
  Result<void> delete_group(Parameter id, Parameter options = {}) const {
    return detail::run(kv_group_delete, get(), id.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> delete_group_async(Parameter id, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_group_delete_async, get(), id.c_str(), options.c_str());
  }

  /** Registers the active user for live data, which Store::subscribe() needs. */
  Result<void> register_live(Parameter options = {}) const {
    return detail::run(kv_live_register, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> register_live_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_live_register_async, get(), options.c_str());
  }

  /** Ends all live data of this client. */
  Result<void> unregister_live(Parameter options = {}) const {
    return detail::run(kv_live_unregister, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> unregister_live_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_live_unregister_async, get(), options.c_str());
  }

  /** Reads the access list of a user's part of a stream. Without a user it is the active user's part. */
  Result<Text> stream_acl(Parameter stream, Parameter user, Parameter options = {}) const {
    return detail::text(kv_stream_acl, get(), stream.c_str(), user.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> stream_acl_async(Parameter stream, Parameter user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_acl_async, get(), stream.c_str(), user.c_str(), options.c_str());
  }

  /** Replaces the access list of a user's part of a stream. */
  Result<void> set_stream_acl(Parameter stream, Parameter user, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_stream_set_acl, get(), stream.c_str(), user.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> set_stream_acl_async(Parameter stream, Parameter user, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_set_acl_async, get(), stream.c_str(), user.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /** Lists the users whose parts of a stream the active user may use. */
  Result<Text> stream_owners(Parameter stream, Parameter options = {}) const {
    return detail::text(kv_stream_owners, get(), stream.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> stream_owners_async(Parameter stream, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_owners_async, get(), stream.c_str(), options.c_str());
  }

  /** Publishes a message to a user's part of a stream. */
  Result<void> send(Parameter stream, Parameter user, std::string_view message, Parameter options = {}) const {
    return detail::run(kv_stream_send, get(), stream.c_str(), user.c_str(), message.data(), message.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> send_async(Parameter stream, Parameter user, std::string_view message, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_send_async, get(), stream.c_str(), user.c_str(), message.data(), message.size(), options.c_str());
  }

  /** Returns the address of the login page, for a browser. */
  Result<Text> login_page(Parameter redirect_uri, Parameter options = {}) const {
    return detail::text(kv_user_login_page, get(), redirect_uri.c_str(), options.c_str());
  }
  /** Returns the active user as last read, without a network call. */
  Result<Text> active_user() const { return detail::text(kv_user_active, get()); }
  /** Returns true if a user name is taken on the backend. */
  Result<bool> user_exists(Parameter username, Parameter options = {}) const {
    return detail::value<std::int32_t>(kv_user_exists, get(), username.c_str(), options.c_str()).transform([](std::int32_t n) {
      return n != 0;
    });
  }
  template <typename Done = NoCallback>
  Result<Request> user_exists_async(Parameter username, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_exists_async, get(), username.c_str(), options.c_str());
  }
  /** Calls the listener with each message in a user's part of a stream: see kv_stream_subscribe(). */
  Result<Subscription> subscribe_stream(Parameter stream, Parameter user, Listener listener) const {
    return detail::listen(std::move(listener), kv_stream_subscribe, get(), stream.c_str(), user.c_str());
  }
};

}  // namespace kvstore

#endif
