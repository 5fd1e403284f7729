package import KVJSON
package import KVQuery
package import KVSync
internal import KVTransport

extension KinveyRemote {
  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> JSONValue {
    var body: JSONObject = [
      "key": .array(wanted.keys.map { .string($0) }), "initial": .object(wanted.initial),
      "reduce": .string(wanted.reduce),
    ]
    if query.filter != .everything { body["condition"] = .object(condition(query)) }
    let url = service.endpoint.url(.data, [collection, "_group"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(JSONValue.object(body).bytes), try service.anybody(), call)
    return try answer.json()
  }
}
