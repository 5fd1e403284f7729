/// The beginning of an encrypted file: which keys open it. docs/storage.md describes the format.
///
/// The files of a directory share a master key. A file's data key is derived from that and the file's id, and encrypts the content.
/// For each application key that opens the file, a slot has the master key, encrypted with that one: changing a key changes a slot,
/// and a new file takes over the slots of another one. The header is there twice, so that writing one never leaves none; the one with
/// the higher generation counts.
package struct FileHeader: Sendable {
  /// Bytes of one copy, a page of the disk.
  package static let size = 4096
  /// Bytes before the content: both copies.
  package static let reserved = 2 * size
  /// Bytes of a page of the database.
  package static let pageSize = 4096
  package static let slotCount = 8
  /// The slot of the key that a file is made with.
  package static let mainSlot = "main"
  package static let magic = Array("kvstore sealed\r\n".utf8)

  private enum Offset {
    static let version = 16
    static let pageSize = 20
    static let generation = 24
    static let fileId = 32
    static let check = 48
    static let slots = 88
    static let digest = 4064
  }

  private enum SlotOffset {
    static let kind = 0
    static let passes = 4
    static let kibibytes = 8
    static let salt = 16
    static let nonce = 32
    static let tag = 56
    static let masterKey = 72
    static let name = 104
    static let end = 136
    static let size = 192
  }

  private enum SlotKind: UInt8 {
    case empty = 0
    case bytes = 1
    case passphrase = 2
  }

  private static let version: UInt32 = 1
  private static let nameSize = SlotOffset.end - SlotOffset.name

  private var bytes: [UInt8]

  /// The header of a new file that no key opens yet.
  init(masterKey: SecretBytes) {
    bytes = [UInt8](repeating: 0, count: Self.size)
    bytes.replaceSubrange(0..<Self.magic.count, with: Self.magic)
    set(Self.version, at: Offset.version)
    set(UInt32(Self.pageSize), at: Offset.pageSize)
    makeIdentity(masterKey)
  }

  /// The header of a new file that the same keys open.
  func another(masterKey: SecretBytes) -> FileHeader {
    var other = self
    other.makeIdentity(masterKey)
    return other
  }

  private mutating func makeIdentity(_ masterKey: SecretBytes) {
    withPointer { start in
      Sodium.fillWithRandom(start + Offset.fileId, count: Offset.check - Offset.fileId)
      Sodium.fillWithRandom(start + Offset.check, count: Cipher.nonceSize)
    }
    let identity = identity
    withPointer { start in
      let check = start + Offset.check
      identity.withUnsafeBytes { identity in
        Cipher(masterKey, for: .keys).seal(
          check, count: 0, to: check, nonce: check, tag: check + Cipher.nonceSize,
          additional: identity)
      }
    }
  }

  /// What tells the file from others: its format and its id.
  private var identity: [UInt8] {
    Array(bytes[Offset.version..<Offset.generation] + bytes[Offset.fileId..<Offset.check])
  }

  /// Whether that is the master key of the file.
  func isOpened(by masterKey: SecretBytes) -> Bool {
    var copy = self
    let identity = identity
    return copy.withPointer { start in
      let check = start + Offset.check
      return identity.withUnsafeBytes { identity in
        Cipher(masterKey, for: .keys).open(
          check, count: 0, to: check, nonce: check, tag: check + Cipher.nonceSize,
          additional: identity)
      }
    }
  }

  /// The key that the file's content is encrypted with, which the keys for each purpose are derived from.
  func dataKey(_ masterKey: SecretBytes) -> SecretBytes {
    SecretBytes(count: 32) { key in
      Sodium.digest(of: identity, key: masterKey, to: key)
    }
  }

  /// Reads the header of a file.
  ///
  /// `read` gets room for both copies, which is zeros; it fills in what the file has, and gives false if the file cannot be read.
  package init(
    read: (UnsafeMutableRawPointer) -> Bool
  ) throws(EncryptionError) {
    let start = UnsafeMutableRawPointer.allocate(byteCount: Self.reserved, alignment: 8)
    defer { start.deallocate() }
    start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.reserved)
    guard read(start) else { throw .unreadable }
    self = try FileHeader(reading: UnsafeRawBufferPointer(start: start, count: Self.reserved))
  }

  /// Reads both copies, and takes the newer one that is whole.
  ///
  /// Throws `.key` for a SQLite file, which is not encrypted, and `.corrupt` for anything else that is no header.
  package init(reading bytes: UnsafeRawBufferPointer) throws(EncryptionError) {
    let copies = [0, Self.size].compactMap { start in
      Self.copy(UnsafeRawBufferPointer(rebasing: bytes[start..<start + Self.size]))
    }
    guard let newest = copies.max(by: { $0.generation < $1.generation }) else {
      throw bytes.starts(with: Array("SQLite format 3\0".utf8)) ? .notEncrypted : .damagedHeader
    }
    guard newest.number(at: Offset.version) == Self.version,
      newest.number(at: Offset.pageSize) == UInt32(Self.pageSize)
    else {
      throw EncryptionError(
        .corrupt, "The file was encrypted by a newer version of this software. Update the software."
      )
    }
    self = newest
  }

  private init(unchecked bytes: [UInt8]) { self.bytes = bytes }

  private static func copy(_ bytes: UnsafeRawBufferPointer) -> FileHeader? {
    guard bytes.starts(with: magic) else { return nil }
    let content = UnsafeRawBufferPointer(rebasing: bytes[..<Offset.digest])
    guard bytes[Offset.digest...].elementsEqual(Sodium.digest(of: content)) else { return nil }
    return FileHeader(unchecked: Array(bytes))
  }

  /// Whether a file begins as an encrypted one does.
  package static func isEncrypted(_ beginning: some Collection<UInt8>) -> Bool {
    beginning.starts(with: magic)
  }

  /// 16 random bytes that no other file has.
  package var fileId: [UInt8] { Array(bytes[Offset.fileId..<Offset.check]) }

  /// The names of the keys that open the file.
  package var slotNames: [String] {
    (0..<Self.slotCount).filter { kind(of: $0) != .empty }.map { name(of: $0) }
  }

  /// One copy as it is written, with its digest.
  package var serialised: [UInt8] {
    var copy = bytes
    let digest = bytes.withUnsafeBytes { bytes in
      Sodium.digest(of: UnsafeRawBufferPointer(rebasing: bytes[..<Offset.digest]))
    }
    copy.replaceSubrange(Offset.digest..<Offset.digest + digest.count, with: digest)
    return copy
  }

  // MARK: Slots

  /// The master key, if `key` opens one of the slots.
  func masterKey(
    openedBy key: ApplicationKey, _ keys: inout PassphraseKeys
  ) throws(EncryptionError) -> SecretBytes? {
    for slot in 0..<Self.slotCount {
      if let masterKey = try masterKey(of: slot, openedBy: key, &keys) { return masterKey }
    }
    return nil
  }

  /// Has `key` open the file under a name, in place of the key that had it.
  mutating func setSlot(
    _ name: String, to key: ApplicationKey, masterKey: SecretBytes, _ keys: inout PassphraseKeys
  ) throws(EncryptionError) {
    let text = Array(name.utf8)
    guard !text.isEmpty, text.count <= Self.nameSize, !text.contains(0) else {
      throw EncryptionError(.invalidKey, "The name of a key has 1 to \(Self.nameSize) bytes.")
    }
    let free = (0..<Self.slotCount).first { kind(of: $0) == .empty }
    guard let slot = slot(named: name) ?? free else {
      throw EncryptionError(
        .invalidKey, "\(Self.slotCount) keys open the file already, which is the most there can be."
      )
    }
    var cost = PassphraseCost(passes: 0, kibibytes: 0)
    var salt = [UInt8](repeating: 0, count: PassphraseCost.saltSize)
    if case .passphrase(let passphrase) = key {
      (cost, salt) = keys.choice(for: passphrase)
    }
    let start = self.start(of: slot)
    bytes.replaceSubrange(
      start..<start + SlotOffset.size, with: [UInt8](repeating: 0, count: SlotOffset.size))
    let slotKind: SlotKind = if case .bytes = key { .bytes } else { .passphrase }
    bytes[start] = slotKind.rawValue
    set(cost.passes, at: start + SlotOffset.passes)
    set(cost.kibibytes, at: start + SlotOffset.kibibytes)
    bytes.replaceSubrange(start + SlotOffset.salt..<start + SlotOffset.nonce, with: salt)
    bytes.replaceSubrange(
      start + SlotOffset.name..<start + SlotOffset.name + text.count, with: text)
    let wrapping = try keys.key(of: key, cost: cost, salt: salt)
    let additional = additional(of: slot)
    withPointer { header in
      let base = header + start
      Sodium.fillWithRandom(base + SlotOffset.nonce, count: Cipher.nonceSize)
      additional.withUnsafeBytes { additional in
        Cipher(wrapping, for: .keys).seal(
          masterKey.pointer, count: masterKey.count, to: base + SlotOffset.masterKey,
          nonce: base + SlotOffset.nonce, tag: base + SlotOffset.tag, additional: additional)
      }
    }
    withExtendedLifetime(masterKey) {}
  }

  /// Takes a key's right to open the file. Throws `.invalidKey` if no key has that name, or it is the last one.
  mutating func removeSlot(_ name: String) throws(EncryptionError) {
    guard let slot = slot(named: name) else {
      throw EncryptionError(.invalidKey, "No key of the file has the name \"\(name)\".")
    }
    guard slotNames.count > 1 else {
      throw EncryptionError(.invalidKey, "The last key of a file cannot be removed.")
    }
    let start = start(of: slot)
    bytes.replaceSubrange(
      start..<start + SlotOffset.size, with: [UInt8](repeating: 0, count: SlotOffset.size))
  }

  /// What both copies become after a change.
  mutating func advance() {
    let next = generation + 1
    set(UInt32(truncatingIfNeeded: next >> 32), at: Offset.generation)
    set(UInt32(truncatingIfNeeded: next), at: Offset.generation + 4)
  }

  private func masterKey(
    of slot: Int, openedBy key: ApplicationKey, _ keys: inout PassphraseKeys
  ) throws(EncryptionError) -> SecretBytes? {
    switch (key, kind(of: slot)) {
    case (.bytes, .bytes), (.passphrase, .passphrase): break
    default: return nil
    }
    let start = start(of: slot)
    let cost = PassphraseCost(
      passes: number(at: start + SlotOffset.passes),
      kibibytes: number(at: start + SlotOffset.kibibytes))
    if case .passphrase = key, !cost.isAllowed { throw .damagedHeader }
    let salt = Array(bytes[start + SlotOffset.salt..<start + SlotOffset.nonce])
    let cipher = Cipher(try keys.key(of: key, cost: cost, salt: salt), for: .keys)
    let additional = additional(of: slot)
    var isOurs = false
    let masterKey = SecretBytes(count: ApplicationKey.size) { target in
      var copy = self
      copy.withPointer { header in
        let base = header + start
        isOurs = additional.withUnsafeBytes { additional in
          cipher.open(
            base + SlotOffset.masterKey, count: ApplicationKey.size, to: target,
            nonce: base + SlotOffset.nonce, tag: base + SlotOffset.tag, additional: additional)
        }
      }
    }
    return isOurs ? masterKey : nil
  }

  /// What a slot's master key is bound to: the format, the slot's place, cost, salt and name.
  private func additional(of slot: Int) -> [UInt8] {
    let start = start(of: slot)
    return bytes[Offset.version..<Offset.generation] + [UInt8(slot)]
      + bytes[start..<start + SlotOffset.nonce]
      + bytes[start + SlotOffset.name..<start + SlotOffset.end]
  }

  private mutating func withPointer<R>(_ body: (UnsafeMutableRawPointer) -> R) -> R {
    body(&bytes)
  }

  private func start(of slot: Int) -> Int { Offset.slots + slot * SlotOffset.size }
  private func kind(of slot: Int) -> SlotKind {
    SlotKind(rawValue: bytes[start(of: slot)]) ?? .empty
  }

  private func name(of slot: Int) -> String {
    let start = start(of: slot)
    return String(
      decoding: bytes[start + SlotOffset.name..<start + SlotOffset.end].prefix { $0 != 0 },
      as: UTF8.self)
  }

  private func slot(named name: String) -> Int? {
    (0..<Self.slotCount).first {
      kind(of: $0) != .empty && self.name(of: $0).utf8.elementsEqual(name.utf8)
    }
  }

  private var generation: UInt64 {
    UInt64(number(at: Offset.generation)) << 32 | UInt64(number(at: Offset.generation + 4))
  }

  private func number(at offset: Int) -> UInt32 {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private mutating func set(_ number: UInt32, at offset: Int) {
    for index in 0..<4 {
      bytes[offset + index] = UInt8(truncatingIfNeeded: number >> (24 - 8 * index))
    }
  }
}

/// The keys that passphrases gave, so that Argon2id runs once for each passphrase and salt.
struct PassphraseKeys: Sendable {
  private struct Entry: Sendable {
    let passphrase: SecretBytes
    let cost: PassphraseCost
    let salt: [UInt8]
    let key: SecretBytes
  }

  private var entries: [Entry] = []
  var standard = PassphraseCost.standard

  /// Cost and salt for a new slot: those of an earlier one of the same passphrase, if there is one.
  mutating func choice(for passphrase: SecretBytes) -> (PassphraseCost, [UInt8]) {
    if let entry = entries.last(where: { $0.passphrase === passphrase }) {
      return (entry.cost, entry.salt)
    }
    var salt = [UInt8](repeating: 0, count: PassphraseCost.saltSize)
    Sodium.fillWithRandom(&salt, count: salt.count)
    return (standard, salt)
  }

  /// The key that encrypts data keys.
  mutating func key(
    of key: ApplicationKey, cost: PassphraseCost, salt: [UInt8]
  ) throws(EncryptionError) -> SecretBytes {
    switch key {
    case .bytes(let bytes): return bytes
    case .passphrase(let passphrase):
      let known = entries.first {
        $0.passphrase === passphrase && $0.cost == cost && $0.salt == salt
      }
      if let known { return known.key }
      let made = try cost.key(of: passphrase, salt: salt)
      entries.append(Entry(passphrase: passphrase, cost: cost, salt: salt, key: made))
      return made
    }
  }
}
