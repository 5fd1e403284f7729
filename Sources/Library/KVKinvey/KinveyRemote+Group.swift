internal import KVBase
internal import KVHTTP
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
    if let collation = wanted.collation { body["collation"] = collation }
    let url = service.endpoint.url(.data, [collection, "_group"])
    let answer = try service.exchange(
      "POST", url, body: .bytes(JSONValue.object(body).bytes),
      as: try service.userOrAppCredentials(), for: .groups,
      isCollated: wanted.collation != nil || !query.isRemote, call: call)
    var groups: [JSONObject] = []
    do throws(JSONError) {
      try answer.body.withBorrowedBytes { bytes throws(JSONError) in
        try EntityScanner.validate(bytes)
        let scanner = ByteScanner(bytes)
        var elements = try ElementCursor(scanner, at: scanner.skipSpace(0))
        while let element = try elements.next(), !call.hasEnded {
          let group = try JSONValue(
            parsing: UnsafeRawBufferPointer(rebasing: bytes[element]))
          groups.append(try group.object(at: element.lowerBound))
        }
      }
    } catch {
      throw KinveyErrors.unusable(
        answer.head, "The backend's answer is not a list of groups",
        cause: error)
    }
    try call.checkEnd()
    return groups
  }
}

extension JSONValue {
  fileprivate func object(at position: Int) throws(JSONError) -> JSONObject {
    guard let objectValue else {
      throw JSONError(.syntax("a group must be an object"), at: position)
    }
    return objectValue
  }
}

extension Call {
  /// Whether it has no waiter any more: its deadline has passed, or it was cancelled.
  fileprivate var hasEnded: Bool { deadline.hasPassed || cancellation.isCancelled }

  fileprivate func checkEnd() throws(StoreError) {
    if cancellation.isCancelled { throw StoreError(TransportError.cancelled) }
    if deadline.hasPassed { throw StoreError(TransportError.timedOut) }
  }
}
