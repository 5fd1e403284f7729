/**
 * @file text.hpp
 * Texts that go into the library and that come out of it.
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
 * A name, an id or options on the way in, which C reads until a NUL. Literals and strings are borrowed for the call, a
 * `string_view` is copied. Without a text it is NULL: none.
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

  const char *c_str() const noexcept { return text_; }

 private:
  /** A NUL inside would cut the text. What is passed in its place is no UTF-8, which is refused as KV_INVALID. */
  void check(std::size_t size) {
    if (std::strlen(text_) != size) text_ = "\xFF";
  }

  std::string copy_;
  const char *text_ = nullptr;
};

/** A text that a call gave, mostly JSON; frees it. */
class Text {
 public:
  Text() = default;
  Text(char *characters, std::size_t length, kv_status status) noexcept
      : characters_(characters), length_(length), status_(status) {}

  /** Empty if there is none. A NUL follows. Valid as long as this object. */
  std::string_view view() const noexcept { return {c_str(), length_}; }
  const char *c_str() const noexcept { return characters_ ? characters_.get() : ""; }
  operator std::string_view() const noexcept { return view(); }
  std::string str() const { return std::string(view()); }

  /** Whether some entities of several failed: the text lists their errors. */
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
