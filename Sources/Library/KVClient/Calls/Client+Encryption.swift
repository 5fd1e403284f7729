internal import KVBase
internal import KVCrypto
package import KVJSON
internal import KVStorage
package import KVSync

extension Client {
  /// Changes, adds or removes a key that opens the local data: see kv_client_change_key. `key`: as the option `encryptionKey`; nil:
  /// the key of that name goes.
  package func changeKey(_ name: String?, to key: JSONValue?) throws(StoreError) -> JSONValue {
    let key = try key.map { (key) throws(StoreError) in
      try ApplicationKey(key, named: "key", directory: options.dataDirectory)
    }
    // So that there is a file.
    _ = try storage(options.tag)
    let names = try directory.changeKey(name ?? FileHeader.mainSlot, to: key)
    return ["keys": .array(names.map { .string($0) })]
  }

  /// Encrypts local data anew, encrypts what was not, or decrypts it (`key` nil): see kv_encrypt. `options`: those with which a
  /// client is opened on the data as it is.
  package static func encrypt(
    _ options: JSONObject, with key: JSONValue?
  ) throws(StoreError) -> JSONValue {
    let options = try ClientOptions(options)
    let directory = options.directory
    let target = try key.map { (key) throws(StoreError) in
      try Vault(key, named: "key", directory: options.dataDirectory)
    }
    try directory.prepare()
    let report = try directory.changeEncryption(to: target, within: .unlimited)
    return ["files": .int(Int64(report.files)), "bytes": .int(report.bytes)]
  }
}
