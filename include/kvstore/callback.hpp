/**
 * @file callback.hpp
 * What a callback receives, and how the library keeps one.
 *
 * A callback is anything that can be called: a lambda, a function, a std::function. It is moved into memory of its own and
 * destroyed exactly once, after its last call, also if the call that took it fails. It must not throw: an
 * exception that leaves it ends the program, because there is C on the way.
 */
#ifndef KVSTORE_CALLBACK_HPP
#define KVSTORE_CALLBACK_HPP

#include <kvstore/result.hpp>
#include <kvstore/text.hpp>

#include <functional>
#include <optional>

namespace kvstore {

/** One answer of an asynchronous call. Everything in it is borrowed until the callback returns. */
class Answer {
 public:
  explicit Answer(const kv_answer *answer) noexcept : answer_(answer) {}

  explicit operator bool() const noexcept { return answer_->error == nullptr && status() < KV_MISUSE; }
  kv_status status() const noexcept { return answer_->status; }
  /** The result as JSON; empty if there is none. */
  std::string_view json() const noexcept { return answer_->json ? std::string_view(answer_->json, answer_->length) : ""; }
  /** False if another answer follows: a cache store answers from here first. */
  bool is_final() const noexcept { return answer_->is_final != 0; }
  bool is_local() const noexcept { return answer_->is_local != 0; }
  /** The entities of a find; else NULL. The library closes it. */
  kv_cursor *cursor() const noexcept { return answer_->cursor; }
  /** Why it failed. */
  Error error() const { return Error::copy_of(answer_->status, answer_->error); }

 private:
  const kv_answer *answer_;
};

/** One event of a subscription. Everything in it is borrowed until the callback returns. */
class Event {
 public:
  explicit Event(const kv_event *event) noexcept : event_(event) {}

  /** False: there are no events for now, and error() says why. */
  explicit operator bool() const noexcept { return event_->status == KV_OK; }
  std::string_view json() const noexcept { return event_->json ? std::string_view(event_->json, event_->length) : ""; }
  Error error() const { return Error::copy_of(event_->status, event_->error); }

 private:
  const kv_event *event_;
};

/** The callbacks of live data and of streams; those that are empty are not called. */
struct Listener {
  std::function<void(const Event &)> on_next;
  std::function<void(const Event &)> on_status;
  std::function<void(const Event &)> on_error;
  std::function<void(const Event &)> on_ready;
};

/** An entity that was changed on both sides; borrowed until the handler returns. */
struct Conflict {
  std::string_view id;
  /** What both started from; nothing if it is unknown. */
  std::optional<std::string_view> base;
  /** What would be sent; nothing if it was deleted here. */
  std::optional<std::string_view> local;
  /** What the backend has; nothing if it was deleted there. */
  std::optional<std::string_view> remote;
};

/** How a conflict is decided. */
class Decision {
 public:
  /** The conflict stays open: the write is quarantined. */
  static Decision leave() { return Decision(KV_CONFLICT_LEAVE); }
  /** Ours replaces theirs. */
  static Decision keep() { return Decision(KV_CONFLICT_KEEP); }
  /** Theirs replaces ours. */
  static Decision take() { return Decision(KV_CONFLICT_TAKE); }
  /** This entity, as JSON, replaces both. */
  static Decision merged(std::string json) { return Decision(KV_CONFLICT_MERGED, std::move(json)); }
  /** The entity is deleted, here and there. */
  static Decision remove() { return Decision(KV_CONFLICT_DELETE); }

  std::int32_t number() const noexcept { return number_; }
  const std::string &json() const noexcept { return json_; }

 private:
  explicit Decision(std::int32_t number, std::string json = {}) : number_(number), json_(std::move(json)) {}

  std::int32_t number_;
  std::string json_;
};

/** In place of a callback: the result is waited for. */
struct NoCallback {};

namespace detail {

/** The destructor of a kept callback, for C. */
template <typename Kept>
void destroy(void *kept) noexcept {
  delete static_cast<Kept *>(kept);
}

template <typename Kept>
void receive_answer(void *kept, const kv_answer *answer) noexcept {
  (*static_cast<Kept *>(kept))(Answer(answer));
}

template <typename Kept>
void receive_event(void *kept, const kv_event *event) noexcept {
  (*static_cast<Kept *>(kept))(Event(event));
}

template <std::function<void(const Event &)> Listener::*member>
void receive_part(void *kept, const kv_event *event) noexcept {
  auto &callback = static_cast<Listener *>(kept)->*member;
  if (callback) callback(Event(event));
}

template <typename Kept>
void receive_line(void *kept, std::int32_t level, const char *text) noexcept {
  (*static_cast<Kept *>(kept))(level, std::string_view(text));
}

inline std::optional<std::string_view> optional_text(const char *text, std::size_t length) noexcept {
  if (text == nullptr) return std::nullopt;
  return std::string_view(text, length);
}

template <typename Kept>
std::int32_t decide(void *kept, const kv_conflict *conflict, char **merged_out) noexcept {
  const Decision decision = (*static_cast<Kept *>(kept))(Conflict{
      conflict->id, optional_text(conflict->base, conflict->base_length),
      optional_text(conflict->local, conflict->local_length),
      optional_text(conflict->remote, conflict->remote_length)});
  if (decision.number() == KV_CONFLICT_MERGED) *merged_out = strdup(decision.json().c_str());
  return decision.number();
}

/**
 * A callback that C calls before the call that took it returns. An exception that leaves it is kept, and thrown
 * again where there is no C any more.
 */
template <typename Function>
class Borrowed {
 public:
  explicit Borrowed(Function &function) noexcept : function_(function) {}

  /** What the function gives, or `failure` if it throws. */
  template <typename R, typename... Arguments>
  R call(R failure, Arguments &&...arguments) noexcept {
#if defined(__cpp_exceptions)
    try {
      return function_(std::forward<Arguments>(arguments)...);
    } catch (...) {
      exception_ = std::current_exception();
      return failure;
    }
#else
    (void)failure;
    return function_(std::forward<Arguments>(arguments)...);
#endif
  }

  void rethrow() const {
#if defined(__cpp_exceptions)
    if (exception_) std::rethrow_exception(exception_);
#endif
  }

 private:
  Function &function_;
#if defined(__cpp_exceptions)
  std::exception_ptr exception_;
#endif
};

}  // namespace detail
}  // namespace kvstore

#endif
