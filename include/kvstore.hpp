/**
 * @file kvstore.hpp
 * libkvstore for C++17: owned handles, results in place of status numbers, lambdas as callbacks.
 *
 *     auto client = kvstore::Client::open(R"({"appKey":"kid_notes","host":null})");
 *     if (!client) return fail(client.error().message());
 *     auto notes = client->open_store("notes");
 *     if (auto saved = notes->save(R"({"text":"milk"})")) std::puts(saved->c_str());
 *
 * Everything is inline over the C functions of kvstore.h, which says what each call does; get() of each object gives
 * the handle. docs/cpp.md has the rules.
 */
#ifndef KVSTORE_HPP
#define KVSTORE_HPP

#include <kvstore/backend.hpp>
#include <kvstore/store.hpp>
#include <kvstore/transaction.hpp>

namespace kvstore {

/** The version of the loaded library, such as "0.1.0". */
inline std::string_view version() noexcept { return kv_version(); }
/** The same as a number, to compare with KV_VERSION_NUMBER. */
inline std::int32_t version_number() noexcept { return kv_version_number(); }
inline bool has_feature(Parameter name) noexcept { return kv_has_feature(name.c_str()) != 0; }
/** How many handles are open in this process, of a kind or of all. */
inline std::int64_t live_objects(Parameter kind = {}) noexcept { return kv_live_objects(kind.c_str()); }

/** Copies what can be read of a damaged file into a new directory: see kv_salvage(). */
inline Result<Text> salvage(std::string_view options, Parameter directory) {
  return detail::text(kv_salvage, options.data(), options.size(), directory.c_str());
}

/** One application on one backend with one data directory. */
class Client : public Handle<kv_client, kv_client_close> {
 public:
  using Handle::Handle;

  /** Opens a client; docs/options.md has the options. Makes no network call. */
  static Result<Client> open(std::string_view options) {
    return detail::open<Client>(kv_client_open, options.data(), options.size());
  }

  /** Opens a collection; the type is "sync", "auto", "cache" or "network". */
  Result<Store> open_store(Parameter collection, Parameter type = "sync", Parameter options = {}) const {
    return detail::open<Store>(kv_store_open, get(), collection.c_str(), type.c_str(), options.c_str());
  }

  /**
   * Runs `body(const TransactionCalls &)` in a transaction and commits it; again from its beginning if what it has read has
   * changed. It gives a Result<void>: an error undoes the transaction, and is given here. What it throws undoes it too,
   * and is thrown here.
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

  /** Begins a transaction step by step. */
  Result<Transaction> begin(Parameter options = {}) const {
    return detail::open<Transaction>(kv_transaction_begin, get(), options.c_str());
  }

  // Callbacks and what happens

  /** Readable while callbacks wait, for clients with `"callbacks":"pump"`. */
  Result<int> event_fd() const { return detail::value<int>(kv_client_event_fd, get()); }
  /** Runs callbacks that wait, on this thread; how many. */
  Result<std::uint32_t> dispatch(std::uint32_t limit = 0) const {
    return detail::value<std::uint32_t>(kv_client_dispatch, get(), limit);
  }
  /** Sends the log to `receive(std::int32_t level, std::string_view line)`; level 1 error to 4 debug. */
  template <typename Receive>
  Result<void> set_log(std::int32_t level, Receive &&receive) const {
    using Kept = std::decay_t<Receive>;
    return detail::run(kv_client_set_log, get(), level, &detail::receive_line<Kept>,
                       new Kept(std::forward<Receive>(receive)), &detail::destroy<Kept>);
  }
  /** Switches the log off. */
  Result<void> remove_log() const { return detail::run(kv_client_set_log, get(), 0, nullptr, nullptr, nullptr); }
  /** How the client stands, as JSON. */
  Result<Text> status() const { return detail::text(kv_client_status, get()); }
  /** Gives disk space back that local data no longer needs, and says how much, as JSON: see kv_client_compact(). */
  Result<Text> compact(Parameter options = {}) const {
    return detail::text(kv_client_compact, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> compact_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_client_compact_async, get(), options.c_str());
  }

  /** Takes damaged entities out of the way, and gives what was found, as JSON: see kv_client_repair(). */
  Result<Text> repair() const { return detail::text(kv_client_repair, get()); }
  template <typename Receive>
  Result<Subscription> observe_status(Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_client_observe_status, get());
  }
  template <typename Receive>
  Result<Subscription> observe_sync(Receive &&receive) const {
    return detail::subscribe(std::forward<Receive>(receive), kv_client_observe_sync, get());
  }

  // Users, live data, streams

  /** The version of the backend. */
  Result<Text> ping(Parameter options = {}) const {
    return detail::text(kv_ping, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> ping_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_ping_async, get(), options.c_str());
  }

  /** Makes a user and logs it in; without a text an anonymous one. */
  Result<Text> signup(std::string_view user, Parameter options = {}) const {
    return detail::text(kv_user_signup, get(), user.data(), user.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> signup_async(std::string_view user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_signup_async, get(), user.data(), user.size(), options.c_str());
  }

  /** Logs in with `{"username":…,"password":…}`, or what else kv_user_login() takes. */
  Result<Text> login(std::string_view credentials, Parameter options = {}) const {
    return detail::text(kv_user_login, get(), credentials.data(), credentials.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> login_async(std::string_view credentials, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_login_async, get(), credentials.data(), credentials.size(), options.c_str());
  }

  /** Logs in with what came back from the login page. */
  Result<Text> login_with_code(Parameter code, Parameter redirect_uri, Parameter options = {}) const {
    return detail::text(kv_user_login_with_code, get(), code.c_str(), redirect_uri.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> login_with_code_async(Parameter code, Parameter redirect_uri, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_login_with_code_async, get(), code.c_str(), redirect_uri.c_str(), options.c_str());
  }

  /** Ends the session. */
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

  /** Saves the active user. */
  Result<Text> update_user(std::string_view user, Parameter options = {}) const {
    return detail::text(kv_user_update, get(), user.data(), user.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> update_user_async(std::string_view user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_update_async, get(), user.data(), user.size(), options.c_str());
  }

  /** Deletes the active user. */
  Result<void> delete_user(Parameter options = {}) const {
    return detail::run(kv_user_delete, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> delete_user_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_delete_async, get(), options.c_str());
  }

  /** Finds other users by members such as `{"username":"ana"}`; an array. */
  Result<Text> lookup_users(std::string_view members, Parameter options = {}) const {
    return detail::text(kv_user_lookup, get(), members.data(), members.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> lookup_users_async(std::string_view members, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_lookup_async, get(), members.data(), members.size(), options.c_str());
  }

  /** Makes a group of users. */
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

  /** The groups of users that the active user may see, as an array. */
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

  /** Begins with live data; Store::subscribe() needs it. */
  Result<void> register_live(Parameter options = {}) const {
    return detail::run(kv_live_register, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> register_live_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_live_register_async, get(), options.c_str());
  }

  /** Ends with live data. */
  Result<void> unregister_live(Parameter options = {}) const {
    return detail::run(kv_live_unregister, get(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> unregister_live_async(Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_live_unregister_async, get(), options.c_str());
  }

  /** The rights of a user's part of a stream; without a user the active one's. */
  Result<Text> stream_acl(Parameter stream, Parameter user, Parameter options = {}) const {
    return detail::text(kv_stream_acl, get(), stream.c_str(), user.c_str(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> stream_acl_async(Parameter stream, Parameter user, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_acl_async, get(), stream.c_str(), user.c_str(), options.c_str());
  }

  /** Sets them. */
  Result<void> set_stream_acl(Parameter stream, Parameter user, std::string_view acl, Parameter options = {}) const {
    return detail::run(kv_stream_set_acl, get(), stream.c_str(), user.c_str(), acl.data(), acl.size(), options.c_str());
  }
  template <typename Done = NoCallback>
  Result<Request> set_stream_acl_async(Parameter stream, Parameter user, std::string_view acl, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_stream_set_acl_async, get(), stream.c_str(), user.c_str(), acl.data(), acl.size(), options.c_str());
  }

  /** Who has a part of a stream. */
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

  /** The address of the login page for a browser. */
  Result<Text> login_page(Parameter redirect_uri, Parameter options = {}) const {
    return detail::text(kv_user_login_page, get(), redirect_uri.c_str(), options.c_str());
  }
  /** The user that is logged in, as it is known here. */
  Result<Text> active_user() const { return detail::text(kv_user_active, get()); }
  Result<bool> user_exists(Parameter username, Parameter options = {}) const {
    return detail::value<std::int32_t>(kv_user_exists, get(), username.c_str(), options.c_str()).transform([](std::int32_t n) {
      return n != 0;
    });
  }
  template <typename Done = NoCallback>
  Result<Request> user_exists_async(Parameter username, Done &&done = {}, Parameter options = {}) const {
    return detail::start(std::forward<Done>(done), kv_user_exists_async, get(), username.c_str(), options.c_str());
  }
  Result<Subscription> subscribe_stream(Parameter stream, Parameter user, Listener listener) const {
    return detail::listen(std::move(listener), kv_stream_subscribe, get(), stream.c_str(), user.c_str());
  }
};

}  // namespace kvstore

#endif
