/// The secret by which a client shows whose session it uses.
package enum SessionToken {
  /// A token that cannot be guessed.
  static func random() -> String { hexText(randomBytes(32)) }

  /// Returns what a token is stored under: stores never have the token itself.
  package static func hash(_ token: String) -> String { hexText(SHA256.hash(token.utf8)) }
}
