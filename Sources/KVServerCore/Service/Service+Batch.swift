internal import KVBase
internal import KVJSON

/// `_batch`: many writes in one request and one transaction. An extension, which answers announce.
extension Service {
  /// How many writes a batch may have.
  static let batchHeader = (name: "X-Kvstored-Batch", value: String(maxInserts))

  func batch(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    let viewer = try viewer(call, name)
    let writes = Self.distinct(
      try Self.elements(call.body, limit: Self.maxInserts) { (bytes) throws(ServerError) in
        try BatchElement.read(bytes).allowed(to: viewer).get()
      })
    return Self.answer(
      try store.entities.perform(writes, in: call.collection(name), for: call.principal))
  }

  /// Refuses what is not the first write of its entity: all versions of a transaction have one time, and no two
  /// versions of an entity may.
  private static func distinct(
    _ writes: [Result<EntityWrite, ServerError>]
  ) -> [Result<EntityWrite, ServerError>] {
    var seen: Set<RecordID> = []
    return writes.map { write in
      write.flatMap { write in
        guard !seen.insert(RecordID(write.id)).inserted else { return .success(write) }
        return .failure(
          ServerError(.badRequest, "an earlier write of the batch is to the same entity"))
      }
    }
  }

  /// `[{"status":200,"entity":{…}},{"status":200,"count":1},{"status":409,"error":…},…]`.
  private static func answer(_ results: [Result<WrittenEntity?, ServerError>]) -> Response {
    let body = Payload(capacity: 4096)
    for (index, result) in results.enumerated() {
      body.append(byte: UInt8(ascii: index == 0 ? "[" : ","))
      switch result {
      case .success(let written?):
        body.append(written.isNew ? "{\"status\":201,\"entity\":" : "{\"status\":200,\"entity\":")
        body.append(written.body)
        body.append("}")
      case .success(nil): body.append("{\"status\":200,\"count\":1}")
      case .failure(let error):
        var object = error.json
        object.members.insert(.init("status", .int(Int64(error.status))), at: 0)
        body.append(JSONValue.object(object).bytes)
      }
    }
    body.append("]")
    return Response.json(200, body)
  }
}
