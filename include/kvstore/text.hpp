/**
 * @file text.hpp
 * Text arguments and text results.
 */
#ifndef KVSTORE_TEXT_HPP
#define KVSTORE_TEXT_HPP

#include <kvstore.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace kvstore {

/**
 * A text argument, such as a name, an id or options, which C reads up to a NUL. Literals and strings are borrowed for
 * the call, and a `string_view` is copied. The default is NULL, which means no text.
 */
class Parameter {
 public:
  Parameter() = default;
  Parameter(std::nullptr_t) {}
  Parameter(const char *text) : text_(text) {}
  Parameter(const std::string &text) : text_(text.c_str()) { check(text.size()); }
  Parameter(std::string_view text) : copy_(text), text_(copy_.c_str()) { check(text.size()); }
  Parameter(const Parameter &) = delete;
  Parameter &operator=(const Parameter &) = delete;

  /** Returns the text with a NUL behind it, or NULL. */
  const char *c_str() const noexcept { return text_; }

 private:
  /**
   * Rejects a NUL inside the text, which would end it early in C. The text is replaced by invalid UTF-8, which every
   * call refuses with KV_INVALID.
   */
  void check(std::size_t size) {
    if (std::strlen(text_) != size) text_ = "\xFF";
  }

  std::string copy_;
  const char *text_ = nullptr;
};

/** A text result, usually JSON. It frees its memory. */
class Text {
 public:
  Text() = default;
  Text(char *characters, std::size_t length, kv_status status) noexcept
      : characters_(characters), length_(length), status_(status) {}

  /**
   * Returns the text, which is valid as long as this object and has a NUL behind it. It is empty if there is no text.
   */
  std::string_view view() const noexcept { return {c_str(), length_}; }
  /** Returns the same text with a NUL behind it. */
  const char *c_str() const noexcept { return characters_ ? characters_.get() : ""; }
  /** Returns the same text, without a copy. */
  operator std::string_view() const noexcept { return view(); }
  /** Returns a copy of the text. */
  std::string str() const { return std::string(view()); }

  /** Returns true if some of several entities failed. The text then lists their errors. */
  bool is_partial() const noexcept { return status_ == KV_PARTIAL; }

 private:
  struct Free {
    void operator()(char *characters) const noexcept { kv_free(characters); }
  };
  std::unique_ptr<char, Free> characters_;
  std::size_t length_ = 0;
  kv_status status_ = KV_OK;
};

}  // namespace kvstore

#endif
