internal import KVBase
package import KVJSON

/// Versions that a backend has lost and that are sent to it again: it stores the version with the record, where it can, so that
/// of those of several devices the latest one stays. Whatever changes the record later removes the mark.
extension RecordFormat {
  private static let mark = "resent"
  private static let wish = "resend"

  /// The version that a record was before its backend went back and a device sent it again; nil: it is no such record.
  package func resent(of record: [UInt8]) -> RecordVersion? {
    guard versionsAreTimes, version.count == 2,
      let members = (try? JSONValue(parsing: record))?[version[0]]
    else { return nil }
    return members[Self.mark]?.stringValue.map { RecordVersion($0) }
  }

  /// The version as which the content of a record of some version was written, however often the backend lost it and a device
  /// sent it again. By these, not by the versions that it has had since, the later one of two is found.
  package func originalVersion(of record: [UInt8], _ version: RecordVersion) -> RecordVersion {
    resent(of: record) ?? version
  }

  /// The record as it is sent again; as it is, where records cannot say so.
  func resending(_ record: [UInt8], _ lost: RecordVersion) -> [UInt8] {
    guard versionsAreTimes, version.count == 2,
      let outline = try? EntityScanner.outline(of: record, self), let id = outline.id
    else { return record }
    let members: JSONObject = [version[1]: .string(lost.text), Self.wish: .string(lost.text)]
    let marked = try? record.withBorrowedBytes { (bytes) throws(JSONError) in
      try EntityEditing.rewriting(
        bytes, outline, id: id, replacing: [(version[0], JSONValue.object(members).bytes)],
        format: self)
    }
    return marked ?? record
  }

  /// What becomes of a version that is sent again, where another one was sent again before: the later one stays. Nil: that is
  /// not what it has met.
  func newest(of write: PendingWrite, and theirs: RemoteVersion) -> ConflictResolver.Decision? {
    guard let ours = write.lostVersion, let resent = theirs.bytes.flatMap({ resent(of: $0) })
    else { return nil }
    let isLater = isOlder(resent, than: ours) || write.operation == .delete && resent == ours
    return .init(isLater ? .again(.unchanged) : .take)
  }
}

extension OutgoingWrite {
  /// The same, naming the version that it sends again.
  func resending(_ format: RecordFormat) -> OutgoingWrite {
    guard let lost = write.lostVersion, let body else { return self }
    var marked = self
    marked.body = format.resending(body, lost)
    return marked
  }
}
