public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

/// A function of the program that gives keys, with its context, which is freed with the object.
///
/// `@unchecked Sendable`: the program's function may be called from any thread.
private final class HostKeyProvider: KeyProvider, @unchecked Sendable {
  private let function: kv_key_fn
  private let context: UnsafeMutableRawPointer?
  private let freeContext: kv_free_fn?

  init(
    _ function: @escaping kv_key_fn, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?
  ) {
    self.function = function
    self.context = context
    self.freeContext = freeContext
  }

  deinit { freeContext?(context) }

  func key(
    for directory: String, _ memory: UnsafeMutableRawBufferPointer
  ) throws(StoreError) -> ProvidedKey {
    var count = 0
    let start = memory.assumingMemoryBound(to: UInt8.self).baseAddress
    let kind = directory.withCString { function(context, $0, start, memory.count, &count) }
    switch kind {
    case Int32(KV_KEY_BYTES) where count == 32: return .bytes
    case Int32(KV_KEY_PASSPHRASE) where (1...memory.count).contains(count):
      return .passphrase(count: count)
    default: throw StoreError(.invalid, "The provider of the key has none.")
    }
  }
}

@_cdecl("kv_client_set_key_provider") @implementation
public func kv_client_set_key_provider(
  _ name: CString?, _ provider: kv_key_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let named: String
    do throws(StoreError) {
      named = try text(name, named: "name")
      guard !named.isEmpty else { throw StoreError(.invalid, "name is empty.") }
    } catch {
      freeContext?(context)
      throw error
    }
    guard let provider else {
      KeyProviders.set(named, nil)
      freeContext?(context)
      return
    }
    KeyProviders.set(named, HostKeyProvider(provider, context, freeContext))
  }
}

@_cdecl("kv_client_change_key") @implementation
public func kv_client_change_key(
  _ client: OpaquePointer?, _ name: CString?, _ key: CString?, _ length: Int, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    let client = try ClientObject.borrow(client)
    let name = try optionalText(name, named: "name")
    let key = try JSONArgument(key, length, named: "key_json").optionalValue()
    let report = try client.during { () throws(StoreError) in
      try client.core.changeKey(name, to: key)
    }
    try out.write(report.bytes)
  }
}

@_cdecl("kv_encrypt") @implementation
public func kv_encrypt(
  _ options: CString?, _ length: Int, _ key: CString?, _ keyLength: Int, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    let options = try JSONArgument(options, length, named: "options_json").object()
    let key = try JSONArgument(key, keyLength, named: "key_json").optionalValue()
    try out.write(try Client.encrypt(options, with: key).bytes)
  }
}

@_cdecl("kv_decrypt_file") @implementation
public func kv_decrypt_file(
  _ options: CString?, _ length: Int, _ path: CString?, _ descriptor: Int32,
  _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let options = try JSONArgument(options, length, named: "options_json").object()
    try Client.decryptFile(try text(path, named: "path"), options, to: descriptor)
  }
}
