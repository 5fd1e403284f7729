internal import Glibc
internal import KVBase
package import KVCrypto
package import KVQuery
internal import KVSQLite
package import KVSync

/// Where the files of one application are: `<root>/<app key>/`, with `<tag>.kvs` for each tag and
/// `_session.kvs` for the users.
package struct DataDirectory: Sendable {
  /// The application's own directory. It is made by `prepare` or when the first file is opened, for its owner only.
  package let path: String

  /// Gives the type of the network file system that a directory is on, or nil; itself nil if any file system will do.
  private let networkType: (@Sendable (String) -> String?)?

  /// Has the key that its files are encrypted with; nil: they are not.
  let vault: Vault?

  package init(
    root: String, appKey: String, vault: Vault? = nil,
    networkType: (@Sendable (String) -> String?)? = NetworkFileSystem.type
  ) {
    path = "\(root)/\(Self.safe(appKey))"
    self.vault = vault
    self.networkType = networkType
  }

  /// Makes the directory, or throws why it cannot be used. No file is made, so that one that can only be read will do.
  package func prepare() throws(StoreError) {
    do throws(SQLiteError) { try Database.prepareDirectory(of: sessionFile) } catch {
      throw StoreError(error)
    }
    guard let type = networkType?(path) else { return }
    throw StoreError(
      .unsupported,
      "The data directory is on a network file system (\(type)), where acknowledged writes may be lost. Use a local"
        + " one, or the option \"allowNetworkFileSystem\" if one machine alone uses the data.")
  }

  /// The file of a tag.
  package func file(tag: String) -> String { "\(path)/\(Self.safe(tag)).kvs" }

  /// The file of the sessions. No tag has this one, because `safe` writes `_` as `%5F`.
  package var sessionFile: String { "\(path)/_session.kvs" }

  /// Opens the local data of a tag, whose records are laid out like that.
  package func open(
    tag: String, layout: RecordLayout = RecordLayout(), durability: Storage.Durability = .full,
    automaticIndexes: IndexLedger.Rules? = nil
  ) throws(StoreError) -> Storage {
    try learningKeys { () throws(StoreError) in
      try Storage(
        path: file(tag: tag), vault: vault, layout: layout, durability: durability,
        automaticIndexes: automaticIndexes)
    }
  }

  /// Opens the session of a tag.
  package func openSession(tag: String) throws(StoreError) -> SessionStore {
    try learningKeys { () throws(StoreError) in
      try SessionStore(path: sessionFile, vault: vault, tag: tag)
    }
  }

  /// A name as one component of a path: letters, digits and hyphens stay, every other byte is written
  /// `%XX`. Different names stay different; none can leave the directory.
  static func safe(_ name: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
        out.append(byte)
      default:
        out += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 0x0F)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// The tags that have a file here, whichever process made it.
  package func tags() throws(StoreError) -> [String] {
    guard let names = fileNames(in: path) else {
      // Nothing was ever opened.
      if errno == ENOENT { return [] }
      throw StoreError(.storage, "The data directory cannot be read: error \(errno).")
    }
    var tags: [String] = []
    for name in names {
      // Tags are plain: their names were not changed by `safe`.
      guard name.utf8.suffix(4).elementsEqual(".kvs".utf8), case let tag = String(name.dropLast(4)),
        Self.safe(tag) == tag
      else { continue }
      tags.append(tag)
    }
    return tags.sorted()
  }
}
