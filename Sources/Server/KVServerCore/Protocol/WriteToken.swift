package import KVBase

/// A text that a client chooses for one write of an entity, and sends again when it repeats the write because the answer was
/// lost. The server carries out the first one only. An extension; the protocol's own clients send none.
package struct WriteToken: Sendable, Equatable {
  package static let maxBytes = 64
  /// How long a token is remembered, in days: longer where a collection keeps a longer history.
  package static let minDays = 30
  /// How many are remembered: of more, the oldest are forgotten earlier. With its index one takes up to 100 bytes, all of
  /// them 256 MiB.
  package static let maxCount: Int64 = (256 << 20) / 100
  /// How many are forgotten in one transaction.
  package static let forgottenAtOnce: Int64 = 2_000

  package let text: String

  /// Throws unless it is 1…64 letters, digits, hyphens and underscores.
  package init(_ text: some StringProtocol) throws(ServerError) {
    guard text.hasOnlyLettersDigits(and: "-_"), (1...Self.maxBytes).contains(text.utf8.count) else {
      throw ServerError(
        .parameterValueOutOfRange,
        "the token of a write must have 1…\(Self.maxBytes) letters, digits, hyphens and underscores"
      )
    }
    self.text = String(text)
  }

  /// Reads the header of a request that writes `count` entities: their tokens in order, with commas between; nothing for
  /// a write without one. No header: none has one.
  package static func read(_ header: String?, count: Int) throws(ServerError) -> [WriteToken?] {
    guard let header else { return Array(repeating: nil, count: count) }
    var tokens: [WriteToken?] = []
    for part in header.split(separator: ",", omittingEmptySubsequences: false) {
      let text = part.drop { $0 == " " }
      tokens.append(text.isEmpty && count > 1 ? nil : try WriteToken(text))
    }
    guard tokens.count == count else {
      throw ServerError(
        .badRequest, "the request has \(tokens.count) tokens for \(count) writes")
    }
    return tokens
  }

  /// The 128 bits by which the write of an entity is remembered. Each of its parts is told from the next by its length.
  package func key(of id: String, in collection: String) -> Key {
    let parts = "\(collection.utf8.count):\(collection)\(id.utf8.count):\(id)\(text)"
    let digest = SHA256.hash(parts.utf8)
    return Key(high: Self.number(digest[..<8]), low: Self.number(digest[8..<16]))
  }

  package struct Key: Sendable, Hashable {
    package let high: Int64
    package let low: Int64

    package init(high: Int64, low: Int64) {
      self.high = high
      self.low = low
    }
  }

  /// The number that tells one client's tokens from those of the others.
  package static func owner(_ principal: Principal) -> Int64 {
    let text =
      switch principal {
      case .app: "app"
      case .master: "master"
      case .user(let id): "user \(id)"
      }
    return number(SHA256.hash(text.utf8)[..<8])
  }

  /// Reads 8 bytes, the highest first.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reduce(0) { $0 << 8 | Int64($1) }
  }
}

/// What is remembered of a write with a token.
package struct DoneWrite: Sendable, Equatable {
  package enum Kind: Int64, Sendable { case deleted, created, replaced }
  package let kind: Kind
  /// The version that it made.
  package let at: Timestamp

  package init(_ kind: Kind, at: Timestamp) {
    self.kind = kind
    self.at = at
  }

  /// Nil: a later version of the server has stored it.
  package init?(kind: Int64, at: Int64) {
    guard let kind = Kind(rawValue: kind) else { return nil }
    self.init(kind, at: Timestamp(milliseconds: at))
  }
}
