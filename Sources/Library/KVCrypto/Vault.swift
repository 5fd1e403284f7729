internal import KVBase

/// Opens the encrypted files of one owner: has the application's key, or asks for it, and keeps the keys that it gave.
///
/// Safe from any thread. No lock is held while the key is asked for.
package final class Vault: Sendable {
  private struct State: Sendable {
    var key: ApplicationKey?
    var passphrases = PassphraseKeys()
    /// Master keys that opened a file.
    var masterKeys: [SecretBytes] = []
    /// The file that was opened last, whose keys a new one takes over.
    var header: FileHeader?
  }

  private let source: @Sendable () throws(EncryptionError) -> ApplicationKey
  private let state = Monitor(State())

  /// `source` gives the key when the first file is opened. It is asked again only if it failed.
  package init(_ source: @escaping @Sendable () throws(EncryptionError) -> ApplicationKey) {
    self.source = source
  }

  package convenience init(_ key: ApplicationKey) {
    self.init { () throws(EncryptionError) in key }
  }

  /// A vault with the same application key that knows no file: what is made with it has a new master key, and no other keys.
  package func renewed() -> Vault {
    Vault { [self] () throws(EncryptionError) in try applicationKey() }
  }

  /// The key of a file's content. Throws `.key` if ours does not open it.
  package func dataKey(of header: FileHeader) throws(EncryptionError) -> SecretBytes {
    try header.dataKey(masterKey(of: header))
  }

  /// The header of a new file, with the keys of the file that was opened last.
  package func newHeader() throws(EncryptionError) -> FileHeader {
    if let header = state.withLock({ $0.header }) {
      return try header.another(masterKey: masterKey(of: header))
    }
    let key = try applicationKey()
    return try state.withLock { (state) throws(EncryptionError) in
      if let header = state.header, let masterKey = state.masterKeys.last {
        return header.another(masterKey: masterKey)
      }
      let masterKey = SecretBytes.random(count: ApplicationKey.size)
      var header = FileHeader(masterKey: masterKey)
      try header.setSlot(
        FileHeader.mainSlot, to: key, masterKey: masterKey, &state.passphrases)
      state.masterKeys.append(masterKey)
      state.header = header
      return header
    }
  }

  /// What a file's header becomes if a key is added or replaced (`key` not nil), or removed.
  package func changing(
    _ header: FileHeader, slot: String, to key: ApplicationKey?
  ) throws(EncryptionError) -> FileHeader {
    let masterKey = try masterKey(of: header)
    return try state.withLock { (state) throws(EncryptionError) in
      var changed = header
      if let key {
        try changed.setSlot(slot, to: key, masterKey: masterKey, &state.passphrases)
      } else {
        try changed.removeSlot(slot)
      }
      changed.advance()
      state.header = changed
      return changed
    }
  }

  private func masterKey(of header: FileHeader) throws(EncryptionError) -> SecretBytes {
    let known = state.withLock { state -> SecretBytes? in
      guard let known = state.masterKeys.first(where: { header.isOpened(by: $0) }) else {
        return nil
      }
      state.header = header
      return known
    }
    if let known { return known }
    let key = try applicationKey()
    return try state.withLock { (state) throws(EncryptionError) in
      guard let masterKey = try header.masterKey(openedBy: key, &state.passphrases),
        header.isOpened(by: masterKey)
      else { throw .wrongKey }
      state.masterKeys.append(masterKey)
      state.header = header
      return masterKey
    }
  }

  private func applicationKey() throws(EncryptionError) -> ApplicationKey {
    if let key = state.withLock({ $0.key }) { return key }
    let key = try source()
    return state.withLock { state in
      let kept = state.key ?? key
      state.key = kept
      return kept
    }
  }
}
