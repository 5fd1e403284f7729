/**
 * @file result.hpp
 * The result of a call: a value or an error. Nothing here throws, except value().
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

/** The error of a failed call. It is a value that can be copied and kept. */
class Error {
 public:
  Error(kv_status status, std::string message, std::string json = "{}")
      : status_(status), message_(std::move(message)), json_(std::move(json)) {}

  /** Copies an error that the library owns. `error` may be NULL. */
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

  /** Returns the status: one of the KV_ constants for failures. */
  kv_status status() const noexcept { return status_; }
  /** Returns the name of the status, such as "KV_NOT_FOUND". */
  const char *name() const noexcept { return kv_status_name(status_); }
  /** Returns the message: one sentence in English. */
  const std::string &message() const noexcept { return message_; }
  /** Returns everything that is known about the error, as a JSON object: see kv_error_json(). */
  const std::string &json() const noexcept { return json_; }

 private:
  kv_status status_;
  std::string message_;
  std::string json_;
};

#if defined(__cpp_exceptions)
/** The exception that Result::value() throws if there is no value. */
class BadResult : public std::exception {
 public:
  explicit BadResult(Error error) : error_(std::move(error)) {}
  const char *what() const noexcept override { return error_.message().c_str(); }
  /** Returns the error of the call. */
  const Error &error() const noexcept { return error_; }

 private:
  Error error_;
};
#endif

/** A value or an Error, with the function names of C++23's `std::expected`. */
template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  /** Returns true if the call succeeded. */
  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /** Returns the value. Calling it without a value is a programming error. */
  T &operator*() & noexcept { return *pointer(); }
  const T &operator*() const & noexcept { return *pointer(); }
  T &&operator*() && noexcept { return std::move(*pointer()); }
  T *operator->() noexcept { return pointer(); }
  const T *operator->() const noexcept { return pointer(); }

  /** Returns the error. Calling it without an error is a programming error. */
  const Error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<1>(&state_);
  }

#if defined(__cpp_exceptions)
  /** Returns the value, or throws BadResult. */
  T &value() & {
    if (!has_value()) throw BadResult(error());
    return **this;
  }
  T &&value() && {
    if (!has_value()) throw BadResult(error());
    return std::move(**this);
  }
#endif

  /** Returns the value, or `other` if the call failed. */
  template <typename U>
  T value_or(U &&other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<U>(other));
  }

  /** Calls `function` with the value and returns its Result, or returns the same error. */
  template <typename Function>
  auto and_then(Function &&function) && -> std::invoke_result_t<Function, T &&> {
    if (!has_value()) return error();
    return std::forward<Function>(function)(std::move(**this));
  }

  /** Calls `function` with the value and returns its result as a Result, or returns the same error. */
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

  /** Returns true if the call succeeded. */
  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /** Returns the error. Calling it without an error is a programming error. */
  const Error &error() const noexcept {
    assert(!has_value());
    return *std::get_if<Error>(&state_);
  }

#if defined(__cpp_exceptions)
  /** Throws BadResult if the call failed. */
  void value() const {
    if (!has_value()) throw BadResult(error());
  }
#endif

 private:
  std::variant<std::monostate, Error> state_;
};

}  // namespace kvstore

#endif
