internal import KVBase
internal import KVJSON

/// The ids of records in the order of the backend's answer, and which version each had.
///
/// A version takes eight bytes, whatever its text: another one is taken for it once in 2^64 times.
///
/// `@unchecked Sendable`: filled by who made it, and never changed afterwards.
final class ListedRecords: @unchecked Sendable {
  private let ids = RowBuffer()
  private var versions: [Int] = []

  var count: Int { versions.count }

  /// Throws `.storage` if there is no memory.
  func append(_ record: EntityVersion) throws(StoreError) {
    try Array(record.id.utf8).withBorrowedBytes { (id) throws(StoreError) in try ids.add(id) }
    try versions.makeRoom(for: 1, or: StoreError.noMemory)
    versions.append(record.version.hashValue)
  }

  func id(at position: Int) -> String { String(decoding: ids[position], as: UTF8.self) }

  /// Whether a version is the one that the record had.
  func isVersion(_ version: RecordVersion?, at position: Int) -> Bool {
    versions[position] == version.hashValue
  }
}
