internal import KVBase
package import KVJSON
package import KVSync
internal import KVTransport

/// Kinvey's groups of users: `{"_id":…,"users":{"list":[{"_type":"KinveyRef","_collection":"user","_id":…}]},…}`.
package final class KinveyGroups: UserGroups {
  private let service: KinveyService

  package init(_ service: KinveyService) { self.service = service }

  package func create(_ group: JSONObject, _ call: Call) throws(StoreError) -> JSONObject {
    try Self.group(
      in: try service.exchange(
        "POST", service.endpoint.url(.groups, []), body: .once(Self.body(of: group)),
        as: try service.userCredentials(), for: .list, call: call))
  }

  package func read(_ id: String, _ call: Call) throws(StoreError) -> JSONObject {
    try Self.group(
      in: try service.exchange(
        "GET", try service.endpoint.url(.groups, id: id), as: try service.userCredentials(),
        for: .list, call: call))
  }

  package func all(_ call: Call) throws(StoreError) -> [JSONObject] {
    let answer = try service.exchange(
      "GET", service.endpoint.url(.groups, []), as: try service.userCredentials(), for: .list,
      call: call)
    return try answer.entities().map { Self.named($0) }
  }

  package func replace(
    _ group: JSONObject, id: String, _ call: Call
  ) throws(StoreError) -> JSONObject {
    let version = RecordFormat.default.version(of: JSONValue.object(group).bytes)
    return try Self.group(
      in: try service.exchange(
        "PUT", try service.endpoint.url(.groups, id: id), body: .bytes(Self.body(of: group)),
        as: try service.userCredentials(), if: version.map { .version($0) } ?? .none, for: .list,
        call: call))
  }

  package func delete(_ id: String, _ call: Call) throws(StoreError) {
    let url = try service.endpoint.url(.groups, id: id)
    try service.exchange("DELETE", url, as: try service.userCredentials(), call: call)
      .acknowledged()
  }

  private static func group(in answer: HTTPResponse) throws(StoreError) -> JSONObject {
    named(try answer.entity())
  }

  // MARK: Forms

  /// A group with its `members` as the backend writes them.
  private static func body(of group: JSONObject) -> [UInt8] {
    var body = group
    body["_kmd"] = nil
    body["members"] = nil
    var users = group["users"]?.objectValue ?? JSONObject()
    users["list"] = .array((group["members"]?.arrayValue ?? []).map { reference(to: $0) })
    body["users"] = .object(users)
    return JSONValue.object(body).bytes
  }

  private static func reference(to id: JSONValue) -> JSONValue {
    ["_type": "KinveyRef", "_collection": "user", "_id": id]
  }

  /// A group of the backend with its `members`. Its `users` stay if they say more than that.
  private static func named(_ group: JSONObject) -> JSONObject {
    var named = group
    var users = group["users"]?.objectValue ?? JSONObject()
    let ids = users["list"]?.arrayValue?.compactMap { $0["_id"] ?? $0 } ?? []
    named["members"] = .array(ids.filter { $0.stringValue != nil })
    users["list"] = nil
    named["users"] = users.isEmpty ? nil : .object(users)
    return named
  }
}
