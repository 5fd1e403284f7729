/**
 * @file handle.hpp
 * Handles with one owner, and the calls that return them.
 */
#ifndef KVSTORE_HANDLE_HPP
#define KVSTORE_HANDLE_HPP

#include <kvstore/callback.hpp>

#include <cstdint>
#include <vector>

namespace kvstore {

/**
 * The owner of a C handle. It can be moved but not copied. After a move, the old object holds NULL, which every call
 * refuses with KV_MISUSE. Several threads may call one object at the same time, but not move or destroy it.
 */
template <typename Object, auto close_function>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object *object) noexcept : object_(object) {}

  /** Returns the handle for functions of kvstore.h. It remains owned by this object. */
  Object *get() const noexcept { return object_.get(); }
  /** Returns the handle and gives up ownership. The caller closes it with its C function. */
  Object *release() noexcept { return object_.release(); }
  /** Closes the handle now. */
  void close() noexcept { object_.reset(); }
  /** Returns true if the object holds a handle. */
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

/** Calls a function without a result. */
template <typename Function, typename... Arguments>
Result<void> run(Function function, Arguments... arguments) {
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &error);
  if (!succeeded(status)) return Error::take(status, error);
  return {};
}

/** Calls a function whose result is a text. */
template <typename Function, typename... Arguments>
Result<Text> text(Function function, Arguments... arguments) {
  char *characters = nullptr;
  std::size_t length = 0;
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &characters, &length, &error);
  if (!succeeded(status)) return Error::take(status, error);
  return Text(characters, length, status);
}

/** Calls a function whose result is a number or a C handle. */
template <typename Value, typename Function, typename... Arguments>
Result<Value> value(Function function, Arguments... arguments) {
  Value given{};
  kv_error *error = nullptr;
  const kv_status status = function(arguments..., &given, &error);
  if (!succeeded(status)) return Error::take(status, error);
  return given;
}

/** Calls a function whose result is a handle, and wraps the handle. */
template <typename Owner, typename Function, typename... Arguments>
Result<Owner> open(Function function, Arguments... arguments) {
  using Object = std::remove_pointer_t<decltype(std::declval<Owner>().get())>;
  auto given = value<Object *>(function, arguments...);
  if (!given) return given.error();
  return Owner(*given);
}

}  // namespace detail

/**
 * An iterator over the entities of a find, as they were when the find ran: see kv_cursor_next(). Close it early,
 * because it may hold a snapshot.
 */
class Cursor : public Handle<kv_cursor, kv_cursor_close> {
 public:
  using Handle::Handle;

  /** Returns the next entity, which is valid until the next call. It is empty at the end. */
  Result<std::optional<std::string_view>> next() { return next_of(get()); }

  /**
   * Returns the next entities as a JSON array, which is valid until the next call. It is `[]` at the end. A limit of 0
   * means all remaining entities.
   */
  Result<std::string_view> next_page(std::uint32_t limit = 0) {
    const char *json = nullptr;
    std::size_t length = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_cursor_next_page(get(), limit, &json, &length, nullptr, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return std::string_view(json, length);
  }

  /** Calls `function` with each remaining entity. */
  template <typename Function>
  Result<void> for_each(Function &&function) {
    return for_each_of(get(), std::forward<Function>(function));
  }

  /** Returns the next entity of a cursor that another object owns, such as Answer::cursor(). */
  static Result<std::optional<std::string_view>> next_of(kv_cursor *cursor) {
    const char *json = nullptr;
    std::size_t length = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_cursor_next(cursor, &json, &length, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return detail::optional_text(json, length);
  }

  /** Calls `function` with each remaining entity of a cursor that another object owns. */
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

/** A record of Results, borrowed until the next call on them. */
struct Record {
  /** The JSON of the record. */
  std::string_view json;
  /** A `KV_RECORD_…`. */
  std::int32_t state = KV_RECORD_UNCHANGED;
};

class Subscription;

/** What a query found, as a list whose records are read batch by batch: see kv_store_results(). */
class Results : public Handle<kv_results, kv_results_close> {
 public:
  using Handle::Handle;

  /** Returns the number of records, which changes only while the list is observed. */
  Result<std::int64_t> count() const { return detail::value<std::int64_t>(kv_results_count, get()); }

  /** Returns the record at a position, with the JSON `null` if it was deleted; no record after the end. */
  Result<std::optional<Record>> get_record(std::uint64_t position) {
    const char *json = nullptr;
    std::size_t length = 0;
    std::int32_t state = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_results_get(get(), position, &json, &length, &state, &error);
    if (state == KV_RECORD_DELETED) {
      kv_error_free(error);
      return std::optional<Record>(Record{"null", KV_RECORD_DELETED});
    }
    if (!detail::succeeded(status)) return Error::take(status, error);
    if (json == nullptr) return std::optional<Record>();
    return std::optional<Record>(Record{{json, length}, state});
  }

  /** Returns several records as a JSON array, borrowed until the next call, with `null` for those that were deleted. */
  Result<std::string_view> page(std::uint64_t position, std::uint32_t limit) {
    const char *json = nullptr;
    std::size_t length = 0;
    kv_error *error = nullptr;
    const kv_status status = kv_results_page(get(), position, limit, &json, &length, nullptr, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return std::string_view(json, length);
  }

  /** Calls `function` with each record, from the first one on. */
  template <typename Function>
  Result<void> for_each(Function &&function) {
    for (std::uint64_t position = 0;; position++) {
      auto record = get_record(position);
      if (!record) return record.error();
      if (!*record) return {};
      function(**record);
    }
  }

#if defined(__cpp_exceptions)
  /** Iterates over the records, as a range does; throws BadResult if a record cannot be read. */
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Record;
    using difference_type = std::ptrdiff_t;
    using pointer = const Record *;
    using reference = const Record &;

    Iterator() = default;
    explicit Iterator(Results *results) : results_(results) { read(); }

    /** Returns the record. */
    reference operator*() const { return *record_; }
    /** Returns a pointer to the record. */
    pointer operator->() const { return &*record_; }
    /** Reads the next record. */
    Iterator &operator++() {
      ++position_;
      read();
      return *this;
    }
    /** Reads the next record. */
    void operator++(int) { ++*this; }
    /** Whether both are at the end, or neither. */
    bool operator==(const Iterator &other) const { return record_.has_value() == other.record_.has_value(); }
    /** Whether only one of them is at the end. */
    bool operator!=(const Iterator &other) const { return !(*this == other); }

   private:
    void read() { record_ = results_->get_record(position_).value(); }

    Results *results_ = nullptr;
    std::uint64_t position_ = 0;
    std::optional<Record> record_;
  };
  /** Returns an iterator at the first record, which it reads. */
  Iterator begin() { return Iterator(this); }
  /** Returns the end of the range. */
  Iterator end() { return Iterator(); }
#endif

  /** Forgets what was read, so that each record is read again when it is next requested. */
  Result<void> refresh() { return detail::run(kv_results_refresh, get()); }

  /** Has the list follow its query; `receive(const Event &)` gets what changes: see kv_results_observe(). */
  template <typename Receive>
  Result<Subscription> observe(Receive &&receive) const;

  /** Returns what reading has cost, as JSON: see kv_results_statistics(). */
  Result<Text> statistics() const { return detail::text(kv_results_statistics, get()); }
};

/** A running call. Destroying the object does not cancel the call: see cancel(). */
class Request : public Handle<kv_request, kv_request_free> {
 public:
  using Handle::Handle;

  /**
   * Waits for the result, which is the result of the blocking form. A negative number of seconds means no limit; when
   * the limit has passed, the error is KV_TIMEOUT.
   */
  Result<Text> wait(double seconds = -1) { return detail::text(kv_request_wait, get(), seconds); }

  /** Waits for the end of a find, whose entities cursor() returns. */
  Result<void> finish(double seconds = -1) {
    kv_error *error = nullptr;
    const kv_status status = kv_request_wait(get(), seconds, nullptr, nullptr, &error);
    if (!detail::succeeded(status)) return Error::take(status, error);
    return {};
  }

  /** Returns true if the call has ended. */
  bool is_done() const noexcept { return kv_request_is_done(get()) != 0; }
  /** Cancels the call, which then ends with KV_CANCELLED: see kv_request_cancel(). */
  void cancel() noexcept { (void)kv_request_cancel(get()); }

  /** Returns the entities of a finished find without a callback. It can be called once. */
  Result<Cursor> cursor() { return detail::open<Cursor>(kv_request_cursor, get()); }

  /** Returns the results of a finished Store::results_async(). It can be called once. */
  Result<Results> results() { return detail::open<Results>(kv_request_results, get()); }

  /** Returns the progress of the call: see kv_request_progress(). */
  Result<kv_progress> progress() const {
    kv_progress progress{};
    progress.size = sizeof progress;
    const kv_status status = kv_request_progress(get(), &progress);
    if (!detail::succeeded(status)) return Error::take(status, nullptr);
    return progress;
  }
};

/** A subscription, which calls back until it is closed. After release() it lasts as long as the client. */
class Subscription : public Handle<kv_subscription, kv_subscription_close> {
 public:
  using Handle::Handle;

  /** Ends the subscription and waits for the backend's answer: see kv_subscription_end(). */
  Result<void> end(Parameter options = {}) const { return detail::run(kv_subscription_end, get(), options.c_str()); }
  template <typename Done = NoCallback>
  Result<Request> end_async(Done &&done = {}, Parameter options = {}) const;
};

/** A selection of entities, for finds, counts, removals and more. Without a handle it selects everything. */
class Query : public Handle<kv_query, kv_query_free> {
 public:
  /** Selects everything, without an order. */
  Query() = default;
  using Handle::Handle;

  /** Creates a query from a MongoDB filter. The modifiers are `{"sort":…,"skip":…,"limit":…,"fields":…}`. */
  static Result<Query> create(std::string_view filter, std::string_view modifiers = {}) {
    return detail::open<Query>(kv_query_create, filter.data(), filter.size(), modifiers.data(), modifiers.size());
  }

  /** Creates a query from a predicate format and a JSON array with its arguments. */
  static Result<Query> from_format(Parameter format, std::string_view arguments = {}, std::string_view modifiers = {}) {
    return detail::open<Query>(kv_query_from_format, format.c_str(), arguments.data(), arguments.size(),
                               modifiers.data(), modifiers.size());
  }

  /** Combines queries. kv_query_combine() describes the argument `combination`. */
  static Result<Query> combine(Parameter combination, const std::vector<const Query *> &queries,
                               std::string_view modifiers = {}) {
    std::vector<kv_query *> handles;
    for (const Query *query : queries) handles.push_back(query->get());
    return detail::open<Query>(kv_query_combine, combination.c_str(), static_cast<kv_query *const *>(handles.data()),
                               handles.size(), modifiers.data(), modifiers.size());
  }

  /** Returns the query as JSON. */
  Result<Text> json() const { return detail::text(kv_query_json, get()); }
  /** Returns the query as a predicate format with its arguments. */
  Result<Text> format() const { return detail::text(kv_query_format, get()); }
};

namespace detail {

/** Starts an asynchronous call. `done` is kept until its last answer. */
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

/** Opens a subscription. `receive` is kept until its last event. */
template <typename Receive, typename Function, typename... Arguments>
Result<Subscription> subscribe(Receive &&receive, Function function, Arguments... arguments) {
  using Kept = std::decay_t<Receive>;
  return open<Subscription>(function, arguments..., &receive_event<Kept>, new Kept(std::forward<Receive>(receive)),
                            &destroy<Kept>);
}

/** Opens a subscription with four callbacks. */
template <typename Function, typename... Arguments>
Result<Subscription> listen(Listener listener, Function function, Arguments... arguments) {
  return open<Subscription>(function, arguments..., &receive_part<&Listener::on_ready>,
                            &receive_part<&Listener::on_next>, &receive_part<&Listener::on_status>,
                            &receive_part<&Listener::on_error>, new Listener(std::move(listener)), &destroy<Listener>);
}

}  // namespace detail

template <typename Receive>
Result<Subscription> Results::observe(Receive &&receive) const {
  return detail::subscribe(std::forward<Receive>(receive), kv_results_observe, get());
}

template <typename Done>
Result<Request> Subscription::end_async(Done &&done, Parameter options) const {
  return detail::start(std::forward<Done>(done), kv_subscription_end_async, get(), options.c_str());
}

}  // namespace kvstore

#endif
