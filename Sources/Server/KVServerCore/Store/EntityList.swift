package import KVQuery

/// The answer to a find, made piece by piece: a JSON array, alone or as a member of an object.
///
/// `@unchecked Sendable`: one thread at a time asks for pieces.
package final class EntityList: BodySource, @unchecked Sendable {
  /// What one answer holds at the most; the rest is silently left out, as the protocol has it.
  package static let maxEntities = 10_000
  package static let maxBytes = 100 << 20
  /// The default for how many bytes of it are made at once.
  package static let pieceBytes = 256 << 10

  /// Whether the last piece has been made.
  package private(set) var isDone = false
  private let cursor: any EntityCursor
  private let projection: Projection?
  private let pieceBytes: Int
  /// The JSON text before the entities; `tail` is the text after them.
  private let head: [UInt8]
  private let tail: [UInt8]
  private let namesDamaged: Bool
  private let reportDamage: @Sendable (String) -> Void
  private let transform: (@Sendable (Payload) throws(ServerError) -> [UInt8])?
  /// How many entities may still be sent.
  private var remaining: Int
  private var isFirst = true
  private var hasBegun = false
  private var sentBytes = 0

  /// `reportDamage` is called with the id of each entity that is damaged, and therefore left out. `namesDamaged`: that id stands
  /// in its place. `transform` makes other entities of those of a piece, which have commas between; nil: they are sent.
  package init(
    _ cursor: any EntityCursor, _ projection: Projection?, limit: Int? = nil,
    head: [UInt8] = [UInt8(ascii: "[")], tail: [UInt8] = [UInt8(ascii: "]")],
    pieceBytes: Int = EntityList.pieceBytes, namesDamaged: Bool = false,
    transform: (@Sendable (Payload) throws(ServerError) -> [UInt8])? = nil,
    reportDamage: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.transform = transform
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
    if let transform { return try nextPiece(by: transform) }
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

  /// A piece with other entities in it.
  private func nextPiece(
    by transform: (Payload) throws(ServerError) -> [UInt8]
  ) throws(ServerError) -> Payload {
    let piece = Payload(capacity: 16 << 10)
    if !hasBegun { piece.append(head) }
    hasBegun = true
    repeat {
      let own = Payload(capacity: 16 << 10)
      var page = EntityPage(
        own, projection, remaining: remaining, bytes: pieceBytes,
        maxBytes: Self.maxBytes - sentBytes, isFirst: true, namesDamaged: namesDamaged)
      isDone = try !cursor.read(into: &page)
      page.damaged.forEach(reportDamage)
      remaining = page.remaining
      sentBytes += own.count
      let entities = try transform(own)
      if !entities.isEmpty {
        if !isFirst { piece.append(byte: UInt8(ascii: ",")) }
        isFirst = false
        piece.append(entities)
      }
    } while !isDone && piece.count == 0
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
