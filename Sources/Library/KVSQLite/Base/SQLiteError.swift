internal import CSQLite
internal import Glibc
package import KVCrypto
package import KVQuery

/// Why the database could not do what was asked, with SQLite's own codes and words.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One case for each thing a caller can do about it.
  package enum Kind: Sendable, Equatable, CaseIterable {
    /// The disk is full. The transaction was rolled back; nothing that was acknowledged is lost.
    case full
    /// Another process held the lock for longer than the busy timeout.
    case busy
    /// The file is damaged, is no database, or belongs to another program or a newer version.
    case corrupt
    /// The file is encrypted with another key, or is not encrypted though a key was given.
    case key
    /// What was given as a key, or as its name, cannot be one.
    case invalid
    /// The file or its directory may not be written.
    case readOnly
    /// The disk failed, or the file cannot be opened.
    case io
    /// A UNIQUE, NOT NULL or CHECK rule of the schema refused a row.
    case constraint
    /// The operation was interrupted.
    case interrupted
    /// A query could not be evaluated, such as a regular expression that takes too long.
    case evaluation
    /// The body of a transaction asked for it to be rolled back; see `SQLiteError.rollback`.
    case rolledBack
    /// The database was closed, or inherited through `fork()`.
    case misuse
    /// Anything else: memory, a value above SQLite's limits, a defect of ours.
    case other
  }

  package var kind: Kind
  /// SQLite's extended result code; the primary one is its low byte. 0 if SQLite was not asked.
  package var extendedCode: Int32
  package var message: String
  /// The `_id` of the entity that could not be evaluated, or is damaged.
  package internal(set) var entity: String?

  package init(_ kind: Kind, extendedCode: Int32 = 0, _ message: String) {
    self.kind = kind
    self.extendedCode = extendedCode
    self.message = message
  }

  /// A query that could not be evaluated, outside of SQL.
  package init(_ error: QueryError) {
    let kind: Kind =
      switch error.kind {
      case .exhausted: .interrupted
      case .noMemory: .other
      case .json, .syntax, .budget, .unsupported: .evaluation
      }
    self.init(kind, error.message)
    entity = error.entity
  }

  /// A file whose encryption is not as expected.
  package init(_ error: EncryptionError) {
    let kind: Kind =
      switch error.kind {
      case .key: .key
      case .invalidKey: .invalid
      case .corrupt: .corrupt
      case .io: .io
      case .noMemory: .other
      }
    self.init(kind, error.message)
  }

  /// What a transaction's body throws to have its changes undone without an error of SQLite.
  package static let rollback = SQLiteError(.rolledBack, "The transaction was rolled back.")

  /// What a statement was made of does not hold any more; see `Database.rows`.
  package static let outdated = SQLiteError(.other, "The statement must be prepared again.")

  /// Another process has put another file in the place of the one that was being opened.
  static let replaced = SQLiteError(
    .busy, "Another process encrypts or decrypts the file, or replaces it.")

  package static let noMemory = SQLiteError(.other, "There is not enough memory.")

  /// SQLite's primary result code.
  package var code: Int32 { extendedCode & 0xFF }

  package var description: String {
    extendedCode == 0 ? message : "\(message) (SQLite \(extendedCode))"
  }

  /// The error a call left on its connection. Bound values are never part of the message.
  init(status: Int32, on connection: OpaquePointer?) {
    let extended = connection.map { sqlite3_extended_errcode($0) } ?? status
    let text = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(status)
    // The connection may have moved on since; the status that the call returned is what counts.
    extendedCode = extended & 0xFF == status & 0xFF ? extended : status
    kind = Self.kind(of: extendedCode)
    // Where SQLite says no more than "disk I/O error", the system knows that the disk is full.
    if kind == .io, let connection, [ENOSPC, EDQUOT].contains(sqlite3_system_errno(connection)) {
      kind = .full
    }
    message = text.map { String(cString: $0) } ?? "unknown error"
    if kind == .corrupt, let connection, kv_sqlite_has_failed_to_read(connection) != 0 {
      (kind, extendedCode) = (.io, Self.unreadable)
      message = sqlite3_errstr(SQLITE_IOERR).map { String(cString: $0) } ?? message
    }
    if kind == .evaluation, let mark = message.firstIndex(of: Self.entityMark) {
      entity = String(message[mark...].dropFirst())
      message = String(message[..<mark])
    }
  }

  /// SQLITE_ERROR with an extension that SQLite does not use: the evaluation gave up.
  static let gaveUp = SQLITE_ERROR | 0x7F << 8

  /// What stands before the `_id` of the entity that it gave up on, after the message.
  static let entityMark: Character = "\u{1F}"

  /// `SQLITE_IOERR_CORRUPTFS`: the system could not read the file.
  private static let unreadable = SQLITE_IOERR | 33 << 8

  private static func kind(of extended: Int32) -> Kind {
    switch extended & 0xFF {
    case SQLITE_ERROR where extended == Self.gaveUp: .evaluation
    case SQLITE_FULL: .full
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
    case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_FORMAT: .corrupt
    case SQLITE_READONLY, SQLITE_PERM: .readOnly
    case SQLITE_IOERR, SQLITE_CANTOPEN: .io
    case SQLITE_CONSTRAINT: .constraint
    case SQLITE_INTERRUPT, SQLITE_ABORT: .interrupted
    case SQLITE_MISUSE: .misuse
    default: .other
    }
  }
}
