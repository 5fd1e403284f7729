package import KVQuery

/// The answer to a find, made piece by piece: a JSON array with text around it.
///
/// `@unchecked Sendable`: one thread at a time asks for pieces.
package final class EntityList: BodySource, @unchecked Sendable {
  /// What one answer holds at the most; the rest is silently left out, as the protocol has it.
  package static let maxEntities = 10_000
  package static let maxBytes = 100 << 20

  /// Whether the last piece has been made.
  package private(set) var isDone = false
  private let cursor: any EntityCursor
  private let projection: Projection?
  private let pieceBytes: Int
  /// The text before the entities; `tail` is the text after them.
  private let head: String
  private let tail: String
  private let namesDamaged: Bool
  private let reportDamage: @Sendable (String) -> Void
  /// How many entities may still be sent.
  private var remaining: Int
  private var isFirst = true
  private var sentBytes = 0

  /// `reportDamage` is called with the id of each entity that is damaged, and therefore left out. `namesDamaged`: that id stands
  /// in its place.
  package init(
    _ cursor: any EntityCursor, _ projection: Projection?, limit: Int? = nil, head: String = "[",
    tail: String = "]", pieceBytes: Int = 256 << 10, namesDamaged: Bool = false,
    reportDamage: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.cursor = cursor
    self.projection = projection
    self.head = head
    self.tail = tail
    self.pieceBytes = pieceBytes
    self.namesDamaged = namesDamaged
    self.reportDamage = reportDamage
    remaining = min(limit ?? Self.maxEntities, Self.maxEntities)
  }

  package func nextPiece() throws(ServerError) -> Payload? {
    if isDone { return nil }
    let piece = Payload(capacity: sentBytes == 0 ? 16 << 10 : pieceBytes &+ 16 << 10)
    if sentBytes == 0 { piece.append(head) }
    var page = EntityPage(
      piece, projection, remaining: remaining, bytes: pieceBytes,
      maxBytes: Self.maxBytes - sentBytes, isFirst: isFirst, namesDamaged: namesDamaged)
    isDone = try !cursor.read(into: &page)
    page.damaged.forEach(reportDamage)
    (remaining, isFirst) = (page.remaining, page.isFirst)
    sentBytes += piece.count
    if isDone { piece.append(tail) }
    return piece
  }
}

/// A body whose first piece is made already.
package final class Continued: BodySource, @unchecked Sendable {
  // `@unchecked`: one thread at a time asks for pieces.
  private var first: Payload?
  private let rest: any BodySource

  package init(_ first: Payload, _ rest: any BodySource) {
    self.first = first
    self.rest = rest
  }

  package func nextPiece() throws -> Payload? {
    defer { first = nil }
    if let first { return first }
    return try rest.nextPiece()
  }
}
