package import KVJSON
package import KVSync

/// What a backend says of itself when it is registered.
package struct BackendDescription: Sendable, Equatable {
  /// What its records look like.
  package private(set) var format = RecordFormat(id: [RecordFormat.IDMember("_id")])
  /// The JSON type of versions.
  private(set) var versionKind = RecordFormat.IDMember.Kind.text
  /// Whether it evaluates filter, order, skip and limit by itself. If not, it gives a collection page by page and the
  /// rest is done here.
  package var evaluatesQueries = false
  /// How many records are asked for at once.
  package var pageSize = 1_000
  /// How many ids are asked for at once.
  package var idsPerRequest = 100
  /// How many writes one request carries.
  package var writesPerRequest = 100
  /// How many requests may be under way at the same time.
  package var requestsAtOnce = 4
  /// Whether it keeps the conditions of writes.
  package var keepsConditions = true
  /// The bytes of an answer at the most.
  package var maxAnswerBytes = 104_857_600

  package init() {}

  /// Reads the description: all members may be left out. Throws `.invalid` naming the member.
  package init(_ object: JSONObject) throws(StoreError) {
    var reader = FormatReader()
    for member in object.members where try !reader.read(member) {
      switch member.name {
      case "queries": evaluatesQueries = try Self.bool(member)
      case "conditions": keepsConditions = try Self.bool(member)
      case "pageSize": pageSize = try Self.count(member, 1_000_000)
      case "idsPerRequest": idsPerRequest = try Self.count(member, 10_000)
      case "writesPerRequest": writesPerRequest = try Self.count(member, 10_000)
      case "requestsAtOnce": requestsAtOnce = try Self.count(member, 64)
      case "maxAnswerBytes": maxAnswerBytes = try Self.count(member, Int(Int32.max))
      default: throw .invalidMember(member.name, "does not exist")
      }
    }
    format = try reader.format()
    versionKind = reader.versionKind
  }

  private static func bool(_ member: JSONObject.Member) throws(StoreError) -> Bool {
    guard case .bool(let value) = member.value else {
      throw .invalidMember(member.name, "must be true or false")
    }
    return value
  }

  private static func count(
    _ member: JSONObject.Member, _ limit: Int
  ) throws(StoreError) -> Int {
    guard let value = member.value.intValue, value >= 1, value <= Int64(limit) else {
      throw .invalidMember(member.name, "must be an integer from 1 to \(limit)")
    }
    return Int(value)
  }
}

extension StoreError {
  static func invalidMember(_ name: String, _ problem: String) -> StoreError {
    StoreError(.invalid, "The member \"\(name)\" of a backend's description \(problem).")
  }
}
