internal import KVBase
internal import KVJSON

extension CollectionEngine {
  /// Writes past the queue, with the members of the stored entities that the application does not know: of the local
  /// copy, else of what the backend has, which is asked for.
  func completed(
    _ writes: [RemoteWrite], _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> [RemoteWrite] {
    guard let known = call.known else { return writes }
    let stored = try stored(writes, remote, call)
    return writes.map { write in
      guard case .update(let id, let body, let condition) = write, let old = stored[RecordID(id)]
      else {
        return write
      }
      let whole = old.withBorrowedBytes { known.completed(body, from: $0) }
      return .update(id: id, whole, if: condition)
    }
  }

  /// The entities that writes would replace.
  private func stored(
    _ writes: [RemoteWrite], _ remote: any Remote, _ call: Call
  ) throws(StoreError) -> [RecordID: [UInt8]] {
    var stored: [RecordID: [UInt8]] = [:]
    var missing: [String] = []
    for case .update(let id, _, _) in writes {
      if let copy = try local?.entity(id, in: collection, writtenSince: nil) {
        stored[RecordID(id)] = copy
      } else {
        missing.append(id)
      }
    }
    for (id, entity) in try backendEntities(missing, remote, call) { stored[id] = entity.bytes }
    return stored
  }
}
