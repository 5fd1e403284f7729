internal import KVBase
internal import KVCrypto
internal import KVJSON
package import KVSync

/// Gives keys to clients that name it in the option `encryptionKey`: see kv_client_set_key_provider.
package protocol KeyProvider: Sendable {
  /// Writes the key of the data in a directory, and gives how many bytes it has; the memory is wiped afterwards. Throws if there is
  /// none.
  func key(
    for directory: String, _ memory: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> ProvidedKey
}

/// What a provider has written.
package enum ProvidedKey: Sendable {
  /// 32 bytes.
  case bytes
  /// A passphrase of so many bytes.
  case passphrase(count: Int)
}

/// The key providers of this process, by their names.
package enum KeyProviders {
  private static let providers = Monitor<[RecordID: any KeyProvider]>([:])

  /// How many bytes a provider may write.
  package static let capacity = 1024

  /// Sets the provider of a name, in place of the former one; nil: there is none any more. Clients that are open keep their keys.
  package static func set(_ name: String, _ provider: (any KeyProvider)?) {
    // The former one goes after the lock is free.
    let former = providers.withLock { providers in
      let former = providers[RecordID(name)]
      providers[RecordID(name)] = provider
      return former
    }
    withExtendedLifetime(former) {}
  }

  static func find(_ name: String) -> (any KeyProvider)? {
    providers.withLock { $0[RecordID(name)] }
  }
}

extension Vault {
  /// The vault of an option: a key as Base64, `{"passphrase":…}` or `{"provider":…}`. `directory`: what a provider is asked for.
  convenience init(
    _ option: JSONValue, named name: String, directory: String
  ) throws(StoreError) {
    if let provider = try Self.provider(option, named: name) {
      self.init { () throws(EncryptionError) in try Self.key(of: provider, directory) }
    } else {
      self.init(try ApplicationKey(option, named: name, directory: directory))
    }
  }

  fileprivate static func provider(
    _ option: JSONValue, named name: String
  ) throws(StoreError) -> (any KeyProvider)? {
    guard let object = option.objectValue, let value = object["provider"], object.members.count == 1
    else { return nil }
    guard let provider = value.stringValue.flatMap(KeyProviders.find) else {
      throw StoreError(.invalid, "The option \"\(name)\": no provider of keys has that name.")
    }
    return provider
  }

  /// Asks a provider.
  fileprivate static func key(
    of provider: any KeyProvider, _ directory: String
  ) throws(EncryptionError) -> ApplicationKey {
    var provided: ProvidedKey?
    let memory = SecretBytes(count: KeyProviders.capacity) { memory in
      let buffer = UnsafeMutableRawBufferPointer(start: memory, count: KeyProviders.capacity)
      provided = try? provider.key(for: directory, buffer)
    }
    guard let provided else {
      throw EncryptionError(.key, "The provider of the key has none.")
    }
    let count =
      switch provided {
      case .bytes: ApplicationKey.size
      case .passphrase(let count): min(max(0, count), KeyProviders.capacity)
      }
    let secret = memory.withBytes {
      SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[..<count]))
    }
    switch provided {
    case .bytes: return try ApplicationKey(bytes: secret)
    case .passphrase: return try ApplicationKey(passphrase: secret)
    }
  }
}

extension ApplicationKey {
  /// The key of an option or an argument, which names it in errors: see `Vault.init`.
  init(_ value: JSONValue, named name: String, directory: String) throws(StoreError) {
    do throws(EncryptionError) {
      if let provider = try? Vault.provider(value, named: name) {
        self = try Vault.key(of: provider, directory)
      } else if let text = value.stringValue, let bytes = Base64.decode(text) {
        self = try ApplicationKey(bytes: bytes.withUnsafeBytes { SecretBytes(copying: $0) })
      } else if let object = value.objectValue, object.members.count == 1,
        let text = object["passphrase"]?.stringValue
      {
        self = try ApplicationKey(
          passphrase: Array(text.utf8).withUnsafeBytes { SecretBytes(copying: $0) })
      } else {
        throw EncryptionError(
          .invalidKey,
          "A key is a text of 32 bytes as Base64, {\"passphrase\":…} or {\"provider\":…}.")
      }
    } catch {
      throw StoreError(.invalid, "The option \"\(name)\" is no key: \(error.message)")
    }
  }
}
