import KVBase
package import KVJSON
package import KVSync

/// What has changed, as tests write it: `{"changed":[…],"deleted":[{"_id":…}],"left":[{"_id":…}]}`. What was deleted and
/// made again may be in two lists.
package struct ChangesText {
  private let lists: JSONValue

  package init(_ text: String) throws(StoreError) {
    do throws(JSONError) { lists = try JSONValue(parsing: text) } catch { throw .badAnswer(error) }
  }

  /// Hands it over, each id once. `version`: with which what was deleted is known to be gone.
  package func hand(
    at version: RecordVersion? = nil, to receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) {
    let saved = Set(ids("changed").map { RecordID($0) })
    let left = ids("left").filter { !saved.contains(RecordID($0)) }
    let others = saved.union(left.map { RecordID($0) })
    let deleted = ids("deleted").filter { !others.contains(RecordID($0)) }
    if !deleted.isEmpty {
      try receive(.deleted(deleted.map { ChangeBatch.Deletion(id: $0, version: version) }))
    }
    try RecordBatch.lend(lists["changed"]?.bytes ?? []) { (batch) throws(StoreError) in
      if batch.count > 0 { try receive(.saved(batch)) }
    }
    if !left.isEmpty { try receive(.left(left)) }
  }

  private func ids(_ list: String) -> [String] {
    (lists[list]?.arrayValue ?? []).compactMap { $0["_id"]?.stringValue }
  }
}
