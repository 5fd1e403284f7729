/**
 * @file result.hpp
 * What a call gave: a value, or the error that says why there is none. Nothing here throws, except for value().
 */
#ifndef KVSTORE_RESULT_HPP
#define KVSTORE_RESULT_HPP

#include <kvstore.h>

#include <cassert>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#if defined(__cpp_exceptions)
#include <exception>
#endif

namespace kvstore {

/** Why a call failed. A value: it may be copied and kept. */
class Error {
 public:
  Error(kv_status status, std::string message, std::string json = "{}")
      : status_(status), message_(std::move(message)), json_(std::move(json)) {}

  /** Copies an error that the library owns; `error` may be NULL. */
  static Error copy_of(kv_status status, const kv_error *error) {
    if (error == nullptr) return Error(status, kv_status_name(status));
    return Error(status, kv_error_message(error), kv_error_json(error));
  }

  /** Copies an error that the caller owns, and frees it. */
  static Error take(kv_status status, kv_error *error) {
    Error copy = copy_of(status, error);
    kv_error_free(error);
    return copy;
  }

  /** One of the KV_ numbers that are failures. */
  kv_status status() const noexcept { return status_; }
  /** Such as "KV_NOT_FOUND". */
  const char *name() const noexcept { return kv_status_name(status_); }
  /** One sentence in English. */
  const std::string &message() const noexcept { return message_; }
  /** Everything known, as a JSON object: see kv_error_json(). */
  const std::string &json() const noexcept { return json_; }

 private:
  kv_status status_;
  std::string message_;
  std::string json_;
};

#if defined(__cpp_exceptions)
/** Thrown by Result::value() if there is none. */
class BadResult : public std::exception {
 public:
  explicit BadResult(Error error) : error_(std::move(error)) {}
  const char *what() const noexcept override { return error_.message().c_str(); }
  const Error &error() const noexcept { return error_; }

 private:
  Error error_;
};
#endif

/** A value or an Error, with the names of C++23's `std::expected`. */
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /** The value, which must be there. */
  T &operator*() & noexcept { return *pointer(); }
  const T &operator*() const & noexcept { return *pointer(); }
  T &&operator*() && noexcept { return std::move(*pointer()); }
  T *operator->() noexcept { return pointer(); }
  const T *operator->() const noexcept { return pointer(); }

  /** The error, which must be there. */
  const Error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

#if defined(__cpp_exceptions)
  /** The value, or BadResult. */
  T &value() & {
    if (!has_value()) throw BadResult(error());
    return **this;
  }
  T &&value() && {
    if (!has_value()) throw BadResult(error());
    return std::move(**this);
  }
#endif

  template <typename U>
  T value_or(U &&other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
  }

  /** What `function` makes of the value, or the same error. It gives a Result. */
  template <typename Function>
  auto and_then(Function &&function) && -> std::invoke_result_t<Function, T &&> {
    if (!has_value()) return error();
    return std::forward<Function>(function)(std::move(**this));
  }

  /** What `function` makes of the value, or the same error. It gives a value. */
  template <typename Function>
  auto transform(Function &&function) && -> Result<std::invoke_result_t<Function, T &&>> {
    if (!has_value()) return error();
    return std::forward<Function>(function)(std::move(**this));
  }

 private:
  T *pointer() noexcept {
    assert(has_value());
    return std::get_if<0>(&state_);
  }
  const T *pointer() const noexcept {
    assert(has_value());
    return std::get_if<0>(&state_);
  }

  std::variant<T, Error> state_;
};

/** Success, or an Error. */
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : state_(std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /** The error, which must be there. */
  const Error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<Error>(&state_);
  }

#if defined(__cpp_exceptions)
  /** Throws BadResult if it failed. */
  void value() const {
    if (!has_value()) throw BadResult(error());
  }
#endif

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace kvstore

#endif
