package import KVJSON
package import KVQuery
package import KVSync
internal import KVTransport

extension KinveyRemote {
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject] {
    var body: JSONObject = [
      "key": .array(wanted.keys.map { .string($0) }), "initial": .object(wanted.initial),
      "reduce": .string(wanted.reduce),
    ]
    if query.filter != .everything { body["condition"] = .object(condition(query)) }
    let url = service.endpoint.url(.data, [collection, "_group"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(JSONValue.object(body).bytes),
      as: try service.userOrAppCredentials(), call)
    guard let groups = try answer.json().arrayValue else {
      throw Self.noGroups(answer.head)
    }
    return try groups.map { group throws(StoreError) in
      guard let group = group.objectValue else { throw Self.noGroups(answer.head) }
      return group
    }
  }

  private static func noGroups(_ head: HTTPHead) -> StoreError {
    KinveyErrors.unusable(
      head, "The backend answered with something that is no list of groups.")
  }
}
