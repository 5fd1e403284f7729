import KVBase
import KVCrypto
import Testing

private func secret(_ bytes: [UInt8]) -> SecretBytes {
  bytes.withUnsafeBytes { SecretBytes(copying: $0) }
}

private func bytes(of secret: SecretBytes) -> [UInt8] { secret.withBytes { Array($0) } }

@Suite("A vault") struct VaultTests {
  private func copies(of header: FileHeader) throws -> FileHeader {
    let twice = header.serialised + header.serialised
    return try twice.withUnsafeBytes { try FileHeader(reading: $0) }
  }

  private let key = ApplicationKey.bytes(secret(Array(0..<32)))

  @Test("gives two files of one owner different keys, and another vault with its key the same")
  func keys() throws {
    let vault = Vault(key)
    let (first, second) = (try vault.newHeader(), try vault.newHeader())
    #expect(first.fileId != second.fileId)
    let firstKey = bytes(of: try vault.dataKey(of: first))
    #expect(firstKey != bytes(of: try vault.dataKey(of: second)))
    let other = Vault(key)
    #expect(bytes(of: try other.dataKey(of: copies(of: first))) == firstKey)
  }

  @Test("gives a new file all the keys that open the others") func slots() throws {
    let vault = Vault(key)
    let first = try vault.newHeader()
    let recovery = ApplicationKey.passphrase(secret(Array("paper".utf8)))
    let changed = try vault.changing(first, slot: "recovery", to: recovery)
    #expect(changed.slotNames == ["main", "recovery"])
    let second = try vault.newHeader()
    #expect(throws: Never.self) { try Vault(recovery).dataKey(of: second) }
    // Another client, which knows one file only.
    let other = Vault(key)
    _ = try other.dataKey(of: changed)
    #expect(try other.newHeader().slotNames == ["main", "recovery"])
  }

  @Test("does not take a slot into another place, or another cost") func boundSlots() throws {
    let header = try Vault(key).newHeader()
    for offset in [88 + 4, 88 + 16, 88 + 104, 88 + 72, 48, 32] {
      var bytes = header.serialised
      bytes[offset] ^= 1
      let error = #expect(throws: EncryptionError.self) {
        try (bytes + bytes).withUnsafeBytes { try Vault(key).dataKey(of: FileHeader(reading: $0)) }
      }
      // The digest of the header tells of damage first.
      #expect(error?.kind == .corrupt)
    }
  }

  @Test("asks for its key once, when a file is opened, and again if it did not get one")
  func asks() throws {
    let asked = Monitor(0)
    let key = key
    let vault = Vault { () throws(EncryptionError) in
      let count = asked.withLock { count in
        count += 1
        return count
      }
      if count == 1 { throw EncryptionError(.invalidKey, "The keyring is locked.") }
      return key
    }
    #expect(asked.withLock { $0 } == 0)
    #expect(throws: EncryptionError.self) { try vault.newHeader() }
    _ = try vault.newHeader()
    _ = try vault.newHeader()
    #expect(asked.withLock { $0 } == 2)
  }

  @Test("refuses a key of another length, an empty passphrase and a ninth key") func limits() throws
  {
    #expect(throws: EncryptionError.self) { try ApplicationKey(bytes: secret([1, 2, 3])) }
    #expect(throws: EncryptionError.self) { try ApplicationKey(passphrase: secret([])) }
    let vault = Vault(key)
    var header = try vault.newHeader()
    for number in 1..<FileHeader.slotCount {
      header = try vault.changing(header, slot: "key \(number)", to: key)
    }
    let full = header
    #expect(throws: EncryptionError.self) { try vault.changing(full, slot: "ninth", to: key) }
    #expect(throws: EncryptionError.self) { try vault.changing(full, slot: "nobody", to: nil) }
  }
}
