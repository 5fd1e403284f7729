internal import KVBase
internal import KVJSON

/// `_batch`: many writes in one request and one transaction. An extension, which answers announce.
extension Service {
  /// How many writes a batch may have.
  static let batchHeader = (name: "X-Kvstored-Batch", value: String(maxInserts))

  func batch(_ call: AuthenticatedRequest, _ name: String) throws(ServerError) -> Response {
    try Self.check(collection: name)
    var viewer = try earlyViewer(call, name)
    var writes = try Self.elements(call.body, limit: Self.maxInserts) {
      (bytes) throws(ServerError) in
      try BatchElement.read(bytes, maxBytes: settings.bodyBytes)
    }
    writes = try Self.tokened(writes, call)
    // Of several writes of an entity the first one counts that is not refused anyway.
    let ids = writes.compactMap { try? $0.get().id }
    if viewer == nil, Set(ids.map { RecordID($0) }).count < ids.count {
      viewer = try self.viewer(call, name)
    }
    if let viewer { writes = writes.map { $0.flatMap { $0.allowed(to: viewer) } } }
    return namingData(
      Self.answer(try perform(writes, for: call, in: name, check: Self.distinct)))
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
    Response.json(200, results.map(element).jsonArray)
  }

  private static func element(_ result: Result<WrittenEntity?, ServerError>) -> [UInt8] {
    switch result {
    case .success(let written?):
      var element = JSONObjectWriter(reservingCapacity: written.body.count + 32)
      element.add("status", .int(written.isNew ? 201 : 200))
      element.add("entity", json: written.body)
      return element.finish()
    case .success(nil): return JSONValue.object(["status": 200, "count": 1]).bytes
    case .failure(let error):
      var object = error.json
      object.members.insert(.init("status", .int(Int64(error.status))), at: 0)
      return JSONValue.object(object).bytes
    }
  }
}
