/**
 * @file handle.hpp
 * Handles that have one owner, and the calls that give them.
 */
#ifndef KVSTORE_HANDLE_HPP
#define KVSTORE_HANDLE_HPP

#include <kvstore/callback.hpp>

#include <cstdint>
#include <vector>

namespace kvstore {

/**
 * Owns a handle and closes it. Movable, not copyable; a handle that was moved away is NULL, which every call
 * refuses as KV_MISUSE. Calls on one object may run on several threads at once; moving and destroying it may not.
 */
template <typename Object, auto close_function>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object *object) noexcept : object_(object) {}

  /** For the functions of kvstore.h; stays owned. */
  Object *get() const noexcept { return object_.get(); }
  /** Gives it away: it is to be closed by its function of kvstore.h. */
  Object *release() noexcept { return object_.release(); }
  /** Closes it now. */
  void close() noexcept { object_.reset(); }
  explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  struct Close {
    void operator()(Object *object) const noexcept { (void)close_function(object); }
  };
  std::unique_ptr<Object, Close> object_;
};

namespace detail {

/** Whether a status is a success: KV_OK, KV_PARTIAL or KV_DONE. */
inline bool succeeded(kv_status status) noexcept { return status < KV_MISUSE; }

/** Calls a function that gives nothing. */
template <typename Function, typename... Arguments>
Result<void> run(Function function, Arguments... arguments) {
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &error);
  if (!succeeded(status)) return Error::take(status, error);
  return {};
}

/** Calls a function that gives a text. */
template <typename Function, typename... Arguments>
Result<Text> text(Function function, Arguments... arguments) {
  char *characters = nullptr;
  std::size_t length = 0;
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &characters, &length, &error);
  if (!succeeded(status)) return Error::take(status, error);
  return Text(characters, length, status);
}

/** Calls a function that gives a number, or a handle as C has it. */
template <typename Value, typename Function, typename... Arguments>
Result<Value> value(Function function, Arguments... arguments) {
  Value given{};
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &given, &error);
  if (!succeeded(status)) return Error::take(status, error);
  return given;
}

/** Calls a function that gives a handle. */
template <typename Owner, typename Function, typename... Arguments>
Result<Owner> open(Function function, Arguments... arguments) {
  using Object = std::remove_pointer_t<decltype(std::declval<Owner>().get())>;
  auto given = value<Object *>(function, arguments...);
  if (!given) return given.error();
  return Owner(*given);
}

}  // namespace detail

/** The entities of a find, one after the other, as they were when it ran: see kv_cursor_next(). Close it soon. */
class Cursor : public Handle<kv_cursor, kv_cursor_close> {
 public:
  using Handle::Handle;

  /** The next entity, borrowed until the next call; nothing at the end. */
  Result<std::optional<std::string_view>> next() { return next_of(get()); }

  /** The next entities as a JSON array, borrowed until the next call; `[]` at the end. 0: all that are left. */
  Result<std::string_view> next_page(std::uint32_t limit = 0) {
    const char *json = nullptr;
    std::size_t length = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_cursor_next_page(get(), limit, &json, &length, nullptr, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return std::string_view(json, length);
  }

  /** Calls `function` with each entity that is left. */
  template <typename Function>
  Result<void> for_each(Function &&function) {
    return for_each_of(get(), std::forward<Function>(function));
  }

  /** The next entity of a cursor that is somebody else's, such as Answer::cursor(). */
  static Result<std::optional<std::string_view>> next_of(kv_cursor *cursor) {
    const char *json = nullptr;
    std::size_t length = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_cursor_next(cursor, &json, &length, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return detail::optional_text(json, length);
  }

  /** Calls `function` with each entity that is left of a cursor that is somebody else's. */
  template <typename Function>
  static Result<void> for_each_of(kv_cursor *cursor, Function &&function) {
    for (;;) {
      auto entity = next_of(cursor);
      if (!entity) return entity.error();
      if (!*entity) return {};
      function(**entity);
    }
  }
};

/** A running call. Destroying it does not end the call: see cancel(). */
class Request : public Handle<kv_request, kv_request_free> {
 public:
  using Handle::Handle;

  /** The result as the blocking form gives it. Negative: as long as it takes; else KV_TIMEOUT when the seconds pass. */
  Result<Text> wait(double seconds = -1) { return detail::text(kv_request_wait, get(), seconds); }

  /** Waits, and leaves the entities of a find for cursor(). */
  Result<void> finish(double seconds = -1) {
    kv_error *error = nullptr;
    const kv_status status = kv_request_wait(get(), seconds, nullptr, nullptr, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return {};
  }

  bool is_done() const noexcept { return kv_request_is_done(get()) != 0; }
  void cancel() noexcept { (void)kv_request_cancel(get()); }

  /** The entities of a find that is done and had no callback; once. */
  Result<Cursor> cursor() { return detail::open<Cursor>(kv_request_cursor, get()); }

  Result<kv_progress> progress() const {
    kv_progress progress{};
    progress.size = sizeof progress;
    const kv_status status = kv_request_progress(get(), &progress);
    if (!detail::succeeded(status)) return Error::take(status, nullptr);
    return progress;
  }
};

/** What keeps calling back until it is closed; release() lets it last as long as the client. */
class Subscription : public Handle<kv_subscription, kv_subscription_close> {
 public:
  using Handle::Handle;

  /** Ends it, and waits for the backend's answer: see kv_subscription_end(). */
  Result<void> end(Parameter options = {}) const { return detail::run(kv_subscription_end, get(), options.c_str()); }
  template <typename Done = NoCallback>
  Result<Request> end_async(Done &&done = {}, Parameter options = {}) const;
};

/** What a find, a count, a removal … selects. Without a handle: everything. */
class Query : public Handle<kv_query, kv_query_free> {
 public:
  /** Selects everything, in no order. */
  Query() = default;
  using Handle::Handle;

  /** From a MongoDB filter; the modifiers are `{"sort":…,"skip":…,"limit":…,"fields":…}`. */
  static Result<Query> create(std::string_view filter, std::string_view modifiers = {}) {
    return detail::open<Query>(kv_query_create, filter.data(), filter.size(), modifiers.data(), modifiers.size());
  }

  /** From a predicate format and the JSON array of its arguments. */
  static Result<Query> from_format(Parameter format, std::string_view arguments = {}, std::string_view modifiers = {}) {
    return detail::open<Query>(kv_query_from_format, format.c_str(), arguments.data(), arguments.size(),
                               modifiers.data(), modifiers.size());
  }

  /** Of several: `combination` is that of kv_query_combine(). */
  static Result<Query> combine(Parameter combination, const std::vector<const Query *> &queries,
                               std::string_view modifiers = {}) {
    std::vector<kv_query *> handles;
    for (const Query *query : queries) handles.push_back(query->get());
    return detail::open<Query>(kv_query_combine, combination.c_str(), static_cast<kv_query *const *>(handles.data()),
                               handles.size(), modifiers.data(), modifiers.size());
  }

  /** The query as JSON. */
  Result<Text> json() const { return detail::text(kv_query_json, get()); }
  /** The query as a predicate format with its arguments. */
  Result<Text> format() const { return detail::text(kv_query_format, get()); }
};

namespace detail {

/** Starts an asynchronous call; `done` is kept until its last answer. */
template <typename Done, typename Function, typename... Arguments>
Result<Request> start(Done &&done, Function function, Arguments... arguments) {
  using Kept = std::decay_t<Done>;
  if constexpr (std::is_same_v<Kept, NoCallback>) {
    return open<Request>(function, arguments..., nullptr, nullptr, nullptr);
  } else {
    return open<Request>(function, arguments..., &receive_answer<Kept>, new Kept(std::forward<Done>(done)),
                         &destroy<Kept>);
  }
}

/** Begins a subscription; `receive` is kept until its last event. */
template <typename Receive, typename Function, typename... Arguments>
Result<Subscription> subscribe(Receive &&receive, Function function, Arguments... arguments) {
  using Kept = std::decay_t<Receive>;
  return open<Subscription>(function, arguments..., &receive_event<Kept>, new Kept(std::forward<Receive>(receive)),
                            &destroy<Kept>);
}

/** Begins a subscription with four callbacks. */
template <typename Function, typename... Arguments>
Result<Subscription> listen(Listener listener, Function function, Arguments... arguments) {
  return open<Subscription>(function, arguments..., &receive_part<&Listener::on_ready>,
                            &receive_part<&Listener::on_next>, &receive_part<&Listener::on_status>,
                            &receive_part<&Listener::on_error>, new Listener(std::move(listener)), &destroy<Listener>);
}

}  // namespace detail

template <typename Done>
Result<Request> Subscription::end_async(Done &&done, Parameter options) const {
  return detail::start(std::forward<Done>(done), kv_subscription_end_async, get(), options.c_str());
}

}  // namespace kvstore

#endif
