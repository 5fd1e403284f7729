/**
 * @file encryption.hpp
 * Functions that give the key of encrypted data. docs/encryption.md describes encryption.
 */
#ifndef KVSTORE_ENCRYPTION_HPP
#define KVSTORE_ENCRYPTION_HPP

#include <kvstore/callback.hpp>
#include <kvstore/handle.hpp>

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace kvstore {

/** What a function that is asked for a key returns. */
class ProvidedKey {
 public:
  /** There is no key: the data is not opened. */
  static ProvidedKey none() { return ProvidedKey(KV_KEY_NONE, {}); }
  /** A key of 32 bytes. */
  static ProvidedKey bytes(std::string key) { return ProvidedKey(KV_KEY_BYTES, std::move(key)); }
  /** A passphrase. */
  static ProvidedKey passphrase(std::string text) { return ProvidedKey(KV_KEY_PASSPHRASE, std::move(text)); }

  /** Returns KV_KEY_NONE, KV_KEY_BYTES or KV_KEY_PASSPHRASE. */
  std::int32_t kind() const noexcept { return kind_; }
  /** Returns the key or the passphrase. */
  const std::string &secret() const noexcept { return secret_; }

 private:
  ProvidedKey(std::int32_t kind, std::string secret) : kind_(kind), secret_(std::move(secret)) {}

  std::int32_t kind_;
  std::string secret_;
};

namespace detail {

template <typename Kept>
std::int32_t provide_key(void *kept, const char *directory, unsigned char *key_out, std::size_t capacity,
                         std::size_t *length_out) noexcept {
  const ProvidedKey key = (*static_cast<Kept *>(kept))(std::string_view(directory));
  if (key.secret().size() > capacity) return KV_KEY_NONE;
  std::memcpy(key_out, key.secret().data(), key.secret().size());
  *length_out = key.secret().size();
  return key.kind();
}

}  // namespace detail

/**
 * Sets `provider(std::string_view directory)`, which returns a ProvidedKey, for clients that are opened with
 * `"encryptionKey":{"provider":"<name>"}`: see kv_client_set_key_provider().
 */
template <typename Provider>
Result<void> set_key_provider(Parameter name, Provider &&provider) {
  using Kept = std::decay_t<Provider>;
  return detail::run(kv_client_set_key_provider, name.c_str(), &detail::provide_key<Kept>,
                     new Kept(std::forward<Provider>(provider)), &detail::destroy<Kept>);
}

/** Removes a provider's name. Clients that are open keep their keys. */
inline Result<void> remove_key_provider(Parameter name) {
  return detail::run(kv_client_set_key_provider, name.c_str(), nullptr, nullptr, nullptr);
}

}  // namespace kvstore

#endif
