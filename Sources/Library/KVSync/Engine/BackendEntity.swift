internal import KVBase
package import KVJSON
internal import KVQuery

/// An entity as the backend has it.
struct BackendEntity {
  let bytes: [UInt8]
  /// What a write names to be sure of the version that it replaces.
  let version: RecordVersion?
  private let format: RecordFormat
  private let permissions: JSONValue?
  private let members: JSONObject?

  /// Throws `.storage` if there is no memory to read it.
  init(_ bytes: [UInt8], _ format: RecordFormat) throws(StoreError) {
    self.bytes = bytes
    self.format = format
    version = format.version(of: bytes)
    let object = try Self.object(bytes)
    permissions = object.flatMap { Self.permissions(of: $0, format) }
    members = object.map { Self.content($0, format) }
  }

  /// Whether this user made it, as far as one knows.
  func isMade(by user: String?) -> Bool {
    let creator = format.creator.flatMap { permissions?[$0]?.stringValue }
    guard let creator, let user else { return true }
    return creator.hasSameBytes(as: user)
  }

  /// Whether it says the same as what we sent, the backend's own members aside.
  func isSameContent(as bytes: [UInt8]) throws(StoreError) -> Bool {
    guard let members, let ours = try Self.object(bytes).map({ Self.content($0, format) }) else {
      return false
    }
    return members.count == ours.count && members.members.allSatisfy { ours[$0.name] == $0.value }
  }

  /// The same of one of several versions.
  func isSameContent(asOneOf versions: [RemoteVersion]) throws(StoreError) -> Bool {
    for sent in versions.compactMap(\.bytes) where try isSameContent(as: sent) { return true }
    return false
  }

  /// Whether nothing would change if this were sent, which started from `base`: neither the content, nor
  /// who may do what with it.
  func isSame(
    as bytes: [UInt8], startedFrom base: BackendEntity?
  ) throws(StoreError) -> Bool {
    guard try isSameContent(as: bytes) else { return false }
    let ours = try Self.object(bytes).flatMap { Self.permissions(of: $0, format) }
    return ours == nil || ours == permissions || ours == base?.permissions
  }

  /// Whether two versions of the backend's differ in nothing but what the backend makes.
  func isSame(as other: BackendEntity) throws(StoreError) -> Bool {
    guard permissions == other.permissions else { return false }
    return try isSameContent(as: other.bytes)
  }

  private static func object(_ bytes: [UInt8]) throws(StoreError) -> JSONObject? {
    try JSONValue.ifValid(bytes)?.objectValue
  }

  private static func permissions(of object: JSONObject, _ format: RecordFormat) -> JSONValue? {
    format.permissions.flatMap { object[$0] }
  }

  private static func content(_ object: JSONObject, _ format: RecordFormat) -> JSONObject {
    JSONObject(object.members.filter { !format.isReserved($0.name) })
  }
}

extension CollectionEngine {
  /// What the backend has under these ids, as far as this user may see it. `deleted` receives what it says was deleted, and
  /// `moment` when it was asked, and which data it has.
  func backendEntities(
    _ ids: [String], _ remote: any Remote, call: Call,
    deleted: (ChangeBatch.Deletion) -> Void = { _ in },
    moment: (BackendMoment) -> Void = { _ in }
  ) throws(StoreError) -> [RecordID: BackendEntity] {
    var found: [RecordID: BackendEntity] = [:]
    for some in ids.chunks(of: remote.limits.idsPerQuery) {
      try call.repeating { () throws(StoreError) in
        let answer = try remote.find(ids: Array(some), in: collection, call: call) {
          (batch) throws(StoreError) in
          batch.deletions.forEach(deleted)
          for outline in batch.outlines {
            guard let id = outline.id else { continue }
            found[RecordID(id)] = try BackendEntity(
              [UInt8](batch.record(outline), or: StoreError.noMemory), format)
          }
        }
        if let startedAt = answer.startedAt { moment(startedAt) }
      }
    }
    return found
  }
}

/// Whether another user made a record, as far as it says who did.
package func isMade(_ record: [UInt8], byOtherThan user: String, in format: RecordFormat) -> Bool {
  (try? !BackendEntity(record, format).isMade(by: user)) ?? false
}

/// Whether two records say the same, the backend's own members aside. False if one of them cannot be read.
package func haveSameContent(_ first: [UInt8], _ second: [UInt8], in format: RecordFormat) -> Bool {
  (try? BackendEntity(first, format).isSameContent(as: second)) ?? false
}
