/**
 * @file callback.hpp
 * The arguments of callbacks, and the ownership of callbacks.
 *
 * A callback is any callable object: a lambda, a function or a std::function. The library moves it into memory of its
 * own and destroys it exactly once: after its last call, or when the call that takes it fails. A callback must not
 * throw: the exception would cross C, so the program is terminated.
 */
#ifndef KVSTORE_CALLBACK_HPP
#define KVSTORE_CALLBACK_HPP

#include <kvstore/result.hpp>
#include <kvstore/text.hpp>

#include <functional>
#include <optional>

namespace kvstore {

/** One answer of an asynchronous call. Its contents are valid until the callback returns. */
class Answer {
 public:
  explicit Answer(const kv_answer *answer) noexcept : answer_(answer) {}

  /** Returns true if the call succeeded. */
  explicit operator bool() const noexcept { return answer_->error == nullptr && status() < KV_MISUSE; }
  /** Returns the status of the answer. */
  kv_status status() const noexcept { return answer_->status; }
  /** Returns the result as JSON, or an empty text if there is none. */
  std::string_view json() const noexcept { return answer_->json ? std::string_view(answer_->json, answer_->length) : ""; }
  /** Returns false if another answer follows: a cache store answers from the local data first. */
  bool is_final() const noexcept { return answer_->is_final != 0; }
  /** Returns true if the answer comes from the local data. */
  bool is_local() const noexcept { return answer_->is_local != 0; }
  /** Returns the entities of a find, or NULL. The library closes the cursor. */
  kv_cursor *cursor() const noexcept { return answer_->cursor; }
  /** Returns the error of the call. */
  Error error() const { return Error::copy_of(answer_->status, answer_->error); }

 private:
  const kv_answer *answer_;
};

/** One event of a subscription. Its contents are valid until the callback returns. */
class Event {
 public:
  explicit Event(const kv_event *event) noexcept : event_(event) {}

  /** Returns false if there are no events at present; error() has the reason. */
  explicit operator bool() const noexcept { return event_->status == KV_OK; }
  /** Returns the event as JSON. */
  std::string_view json() const noexcept { return event_->json ? std::string_view(event_->json, event_->length) : ""; }
  /** Returns the reason why there are no events. */
  Error error() const { return Error::copy_of(event_->status, event_->error); }

 private:
  const kv_event *event_;
};

/** The callbacks of live data and of streams. Empty ones are not called. */
struct Listener {
  /** Receives each change or message. */
  std::function<void(const Event &)> on_next;
  /** Receives changes of the connection, such as `"disconnected"`. */
  std::function<void(const Event &)> on_status;
  /** Receives the errors of the subscription. */
  std::function<void(const Event &)> on_error;
  /** Is called when the backend has confirmed the subscription: every change from now on is received. */
  std::function<void(const Event &)> on_ready;
};

/** The question to a token provider. Its contents are valid until the provider returns. */
struct TokenRequest {
  /** The maker of the token: `userPools`, `oidc`, `function` or `token`, as in the option `auth`. */
  std::string_view provider;
  /** The token that was in use; empty if there was none. */
  std::optional<std::string_view> former;
  /** Whether the backend has refused that token. Otherwise it is about to expire. */
  bool is_refused;
};

/** An entity with a conflict. Its contents are valid until the handler returns. */
struct Conflict {
  /** The id of the entity. */
  std::string_view id;
  /** The version that both changes started from; empty if it is unknown. */
  std::optional<std::string_view> base;
  /** The entity that a push would send; empty if it was deleted on this device. */
  std::optional<std::string_view> local;
  /** The entity on the backend; empty if it was deleted there. */
  std::optional<std::string_view> remote;
};

/** The decision of a conflict. */
class Decision {
 public:
  /** Leaves the conflict open: the write is quarantined. */
  static Decision leave() { return Decision(KV_CONFLICT_LEAVE); }
  /** Keeps the local version, which replaces the backend's. */
  static Decision keep() { return Decision(KV_CONFLICT_KEEP); }
  /** Takes the backend's version, which replaces the local one. */
  static Decision take() { return Decision(KV_CONFLICT_TAKE); }
  /** Replaces both versions by this entity, as JSON. */
  static Decision merged(std::string json) { return Decision(KV_CONFLICT_MERGED, std::move(json)); }
  /** Deletes the entity, locally and on the backend. */
  static Decision remove() { return Decision(KV_CONFLICT_DELETE); }

  /** Returns the KV_CONFLICT_ constant of the decision. */
  std::int32_t number() const noexcept { return number_; }
  /** Returns the merged entity, or an empty text. */
  const std::string &json() const noexcept { return json_; }

 private:
  explicit Decision(std::int32_t number, std::string json = {}) : number_(number), json_(std::move(json)) {}

  std::int32_t number_;
  std::string json_;
};

/** Takes the place of a callback: the caller waits for the result instead. */
struct NoCallback {};

namespace detail {

/** Destroys a kept callback, for C. */
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

template <typename Kept>
kv_status provide_token(void *kept, const char *provider, const char *former, std::int32_t is_refused,
                        char **token_out) noexcept {
  const std::optional<std::string> token = (*static_cast<Kept *>(kept))(TokenRequest{
      provider, former ? std::optional<std::string_view>(former) : std::nullopt, is_refused != 0});
  if (!token) return KV_NO_USER;
  *token_out = strdup(token->c_str());
  return KV_OK;
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
 * A callback that runs only during the call that takes it. If it throws, the exception is kept and thrown again after
 * the C function has returned.
 */
template <typename Function>
class Borrowed {
 public:
  explicit Borrowed(Function &function) noexcept : function_(function) {}

  /** Returns the result of the function, or `failure` if it throws. */
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
