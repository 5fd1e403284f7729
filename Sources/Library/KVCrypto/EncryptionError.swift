/// Why an encrypted file cannot be used.
package struct EncryptionError: Error, Sendable, Equatable {
  /// One case for each thing a caller can do about it.
  package enum Kind: Sendable, Equatable {
    /// The file is encrypted with another key, or no key was given, or one was given for a file that is not encrypted.
    case key
    /// The key itself cannot be used: it has the wrong length, or its provider failed.
    case invalidKey
    /// The file's header is damaged, or of a newer version.
    case corrupt
    /// The file cannot be read.
    case io
    case noMemory
  }

  package var kind: Kind
  /// One English sentence; never a key.
  package var message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  package static let noMemory = Self(.noMemory, "There is not enough memory.")
  package static let unreadable = Self(.io, "The file cannot be read.")
  package static let wrongKey = Self(.key, "The key does not open the file.")
  package static let missingKey = Self(.key, "The file is encrypted, and no key was given.")
  package static let notEncrypted = Self(
    .key,
    "The file is not encrypted, but a key was given. Encrypt it first, or open it without a key.")
  static let damagedHeader = Self(.corrupt, "The header of the encrypted file is damaged.")
}
