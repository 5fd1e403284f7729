internal import KVJSON
package import KVQuery

/// Reads entities page by page, in an order of its own.
///
/// Between pages only the position is kept: no snapshot, no connection, so a client that reads slowly, or
/// never reads on, blocks no other one, and nothing has to be ended. Within a page all entities are of one moment;
/// from one page to the next, an entity is read as it is then, and left out if it has gone or does not match any
/// more. None comes twice, none that stays is missed.
///
/// One thread at a time.
package protocol EntityCursor: AnyObject, Sendable {
  /// Reads on, until the page is full or takes no more. Whether there is more to read afterwards.
  func read(into page: inout EntityPage) throws(ServerError) -> Bool
}

/// A cursor over nothing: of a collection that does not exist.
package final class EmptyCursor: EntityCursor {
  package init() {}

  package func read(into page: inout EntityPage) throws(ServerError) -> Bool { false }
}

/// A page of an answer, while a cursor fills it: entities in JSON, separated by commas.
package struct EntityPage {
  /// How many more entities the answer may have.
  package private(set) var remaining: Int
  /// The ids of entities that are damaged and therefore left out.
  package private(set) var damaged: [String] = []
  package let payload: Payload
  private let projection: Projection?
  private let wantedBytes: Int
  private let maxBytes: Int
  private let namesDamaged: Bool
  private var needsComma: Bool

  /// `namesDamaged`: in place of a damaged entity stands its id, a string. `bytes`: how many make a full page; `maxBytes`: how many it may have in any case. `isFirst`: no entity was before.
  package init(
    _ payload: Payload, _ projection: Projection?, remaining: Int, bytes: Int, maxBytes: Int,
    isFirst: Bool, namesDamaged: Bool = false
  ) {
    self.payload = payload
    self.projection = projection
    self.remaining = remaining
    wantedBytes = bytes
    self.maxBytes = maxBytes
    self.namesDamaged = namesDamaged
    needsComma = !isFirst
  }

  /// How many bytes are missing to a full page.
  package var missingBytes: Int { max(0, wantedBytes - payload.count) }

  package var isFull: Bool { payload.count >= wantedBytes }

  /// Whether no entity was added, here or before.
  package var isFirst: Bool { !needsComma }

  /// Leaves an entity out because it is damaged.
  package mutating func leaveOut(_ id: String) {
    damaged.append(id)
    guard namesDamaged else { return }
    separate()
    payload.append(JSONValue.string(id).text)
  }

  /// Adds an entity; false if the answer takes no more. The bytes are borrowed.
  package mutating func add(_ entity: UnsafeRawBufferPointer) -> Bool {
    guard payload.count + entity.count < maxBytes, remaining > 0 else { return false }
    separate()
    remaining -= 1
    if let projection {
      payload.append(projection.apply(to: entity))
    } else {
      payload.append(entity)
    }
    return true
  }

  private mutating func separate() {
    if needsComma { payload.append(byte: UInt8(ascii: ",")) }
    needsComma = true
  }
}
