internal import KVBase
package import KVJSON
package import KVSync

/// How a context behaves.
package struct ContextOptions: Sendable {
  package var mergePolicy = MergePolicy.error
  /// How many faults are read together.
  package var batchSize = 100
  /// How many bytes of objects that were read are kept.
  package var cacheBytes = 4 << 20
  /// Relationships besides those of the store's models.
  package var relationships: [Relationship] = []

  package init() {}

  /// Reads `{"Comment":{"post":{"to":"Post","key":"postId"}},"Post":{"comments":{"to":"Comment","inverseKey":"postId"}}}`.
  /// A key is a name, or a list of names for ids of several members; `"single":true` makes the inverse lead to one object.
  package static func relationships(_ json: JSONObject) throws(StoreError) -> [Relationship] {
    var all: [Relationship] = []
    for collection in json.members {
      guard let declared = collection.value.objectValue else {
        throw invalid(collection.name, "must be an object")
      }
      for member in declared.members {
        all.append(try relationship(member, of: collection.name))
      }
    }
    return all
  }

  private static func relationship(
    _ member: JSONObject.Member, of collection: String
  ) throws(StoreError) -> Relationship {
    let name = "\(collection).\(member.name)"
    guard let object = member.value.objectValue, let target = object["to"]?.stringValue else {
      throw invalid(name, "needs \"to\", the name of a collection")
    }
    let known = ["to", "key", "inverseKey", "single"]
    for other in object.members where !known.contains(where: other.name.hasSameBytes) {
      throw invalid(name, "cannot have \"\(other.name)\"")
    }
    switch (try keys(object["key"], of: name), try keys(object["inverseKey"], of: name)) {
    case (let keys?, nil):
      return Relationship(
        member.name, from: collection, to: target, keys: keys, at: .source, isToMany: false)
    case (nil, let keys?):
      return Relationship(
        member.name, from: collection, to: target, keys: keys, at: .target,
        isToMany: object["single"]?.boolValue != true)
    default: throw invalid(name, "needs either \"key\" or \"inverseKey\"")
    }
  }

  private static func keys(
    _ value: JSONValue?, of name: String
  ) throws(StoreError) -> [String]? {
    guard let value else { return nil }
    let keys = value.stringValue.map { [$0] } ?? value.arrayValue?.compactMap(\.stringValue) ?? []
    guard !keys.isEmpty, !keys.contains(""), keys.count == value.arrayValue?.count ?? 1 else {
      throw invalid(name, "needs a key that is a name or a list of names")
    }
    return keys
  }

  private static func invalid(_ name: String, _ reason: String) -> StoreError {
    StoreError(.invalid, "The option \"relationships\": \(name) \(reason).")
  }
}

/// The relationships of a context by their collections and names.
struct Relationships: Sendable {
  private struct Name: Hashable, Sendable {
    let collection: RecordID
    let name: RecordID
  }

  private var all: [Name: Relationship] = [:]
  /// Those whose key is in objects of a collection.
  private var bySource: [RecordID: [Relationship]] = [:]

  /// Later ones replace earlier ones of the same name.
  init(_ relationships: [Relationship]) throws(StoreError) {
    for one in relationships {
      all[Name(collection: one.source, name: one.name)] = one
    }
    for one in all.values where one.side == .source {
      bySource[one.source, default: []].append(one)
    }
  }

  /// Throws `.invalid` if the name is unknown.
  func named(_ name: String, of collection: RecordID) throws(StoreError) -> Relationship {
    guard let found = all[Name(collection: collection, name: RecordID(name))] else {
      throw StoreError(
        .invalid, "The collection \"\(collection)\" has no relationship \"\(name)\".")
    }
    return found
  }

  /// Those whose keys objects of this collection hold.
  func held(by collection: RecordID) -> [Relationship] { bySource[collection] ?? [] }

  /// All relationships of a collection, by their names.
  func all(of collection: RecordID) -> [Relationship] {
    all.values.filter { $0.source == collection }.sorted { $0.name < $1.name }
  }
}
