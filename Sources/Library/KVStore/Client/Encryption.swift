internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// A key that opens encrypted local data.
///
///     var configuration = Configuration(appKey: "kid_demo", backend: .none)
///     configuration.encryptionKey = .passphrase("correct horse battery staple")
///     let client = try KVStoreClient(configuration)
public enum EncryptionKey: Sendable, Equatable {
  /// 32 bytes.
  case bytes([UInt8])
  /// A text of any length. Opening with it takes a moment, since it is made a key by Argon2id.
  case passphrase(String)
  /// What the provider of that name gives: see `KVStoreClient.setKeyProvider`.
  case provider(String)

  /// In the form of the option `encryptionKey`.
  var option: JSONValue {
    switch self {
    case .bytes(let bytes): .string(Base64.encode(bytes))
    case .passphrase(let text): ["passphrase": .string(text)]
    case .provider(let name): ["provider": .string(name)]
    }
  }
}

/// What `KVStoreClient.encrypt` has written.
///
///     let plain = Configuration(appKey: "kid_demo", backend: .none)
///     let written = try KVStoreClient.encrypt(plain, with: .passphrase("correct horse battery staple"))
///     print("\(written.files) files, \(written.bytes) bytes")
public struct EncryptionResult: Sendable, Equatable {
  /// How many files were written anew.
  public let files: Int
  /// Their bytes.
  public let bytes: Int
}

extension KVStoreClient {
  /// Changes, adds or removes (nil) a key that opens the local data, and returns the names of all keys. The data stays as
  /// it is, so this takes no longer for more of it. The key that the data was made with is "main".
  @discardableResult
  public func changeKey(
    _ name: String = "main", to key: EncryptionKey?
  ) throws(KVStoreError) -> [String] {
    let report = try KVStoreError.mapping { () throws(StoreError) in
      try core.changeKey(name, to: key?.option)
    }
    return report["keys"]?.arrayValue?.compactMap(\.stringValue) ?? []
  }

  /// Encrypts local data, encrypts it anew, or decrypts it (`key` nil). `configuration`: that of a client for the data as it is.
  /// Throws `.busy` while another client has the data open. A call that was interrupted can be repeated.
  @discardableResult
  public static func encrypt(
    _ configuration: Configuration, with key: EncryptionKey?
  ) throws(KVStoreError) -> EncryptionResult {
    let options = try configuration.options
    let report = try KVStoreError.mapping { () throws(StoreError) in
      try Client.encrypt(options, with: key?.option)
    }
    return EncryptionResult(
      files: report["files"]?.intValue.map { Int($0) } ?? 0,
      bytes: report["bytes"]?.intValue.map { Int($0) } ?? 0)
  }

  /// Writes the plain lines of an encrypted file, which a salvage of encrypted data has made, to a file descriptor, which stays open.
  /// `configuration`: has the key. Throws `.corrupt` if a part of the file is damaged or its end is missing; the lines before it were
  /// written.
  public static func decryptFile(
    _ path: String, of configuration: Configuration, to descriptor: Int32
  ) throws(KVStoreError) {
    let options = try configuration.options
    try KVStoreError.mapping { () throws(StoreError) in
      try Client.decryptFile(path, options, to: descriptor)
    }
  }

  /// Sets the function that gives the key of the data in a directory to clients with `.provider(name)`; nil: none has the name
  /// any more. It is called when the first file is opened, and must not use the library.
  public static func setKeyProvider(
    _ name: String, _ provider: (@Sendable (_ directory: String) -> EncryptionKey?)?
  ) {
    KeyProviders.set(name, provider.map { FunctionKeyProvider(function: $0) })
  }
}

/// A function as the provider of keys.
private struct FunctionKeyProvider: KeyProvider {
  let function: @Sendable (String) -> EncryptionKey?

  func key(
    for directory: String, _ memory: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> ProvidedKey {
    switch function(directory) {
    case .bytes(let bytes) where bytes.count == 32:
      memory.copyBytes(from: bytes)
      return .bytes
    case .passphrase(let text) where (1...memory.count).contains(text.utf8.count):
      memory.copyBytes(from: text.utf8)
      return .passphrase(count: text.utf8.count)
    default: throw StoreError(.invalid, "The provider of the key has none.")
    }
  }
}
