internal import KVBase
internal import KVJSON
internal import KVQuery
package import KVSync

/// Objects of one collection in a fixed order, as faults: what they hold is read through their context, in batches, when it is
/// asked for. Safe from any thread.
package final class ObjectList: RecordSource {
  /// The keys one after the other, and where each ends.
  private struct Keys: Sendable {
    var bytes: [UInt8] = []
    var ends: [Int] = []

    subscript(position: Int) -> Range<Int> {
      (position == 0 ? 0 : ends[position - 1])..<ends[position]
    }

    func text(at position: Int) -> String { String(decoding: bytes[self[position]], as: UTF8.self) }
  }

  private let context: ObjectContext
  let collection: RecordID
  private let keys: Keys
  private let form: RecordForm
  /// What has found the objects; nil: a relationship.
  private let fetch: RepeatableFetch?
  /// The positions by the hashes of their keys, made when an object is first looked for; -1: free.
  private let index = Monitor<[Int32]>([])

  init(
    _ ids: [ObjectID], of collection: RecordID, as form: RecordForm, found fetch: RepeatableFetch?,
    in context: ObjectContext
  ) {
    self.context = context
    self.collection = collection
    self.form = form
    self.fetch = fetch
    var keys = Keys()
    keys.ends.reserveCapacity(ids.count)
    for id in ids {
      keys.bytes += id.key.text.utf8
      keys.ends.append(keys.bytes.count)
    }
    self.keys = keys
  }

  package var count: Int { keys.ends.count }

  /// The context keeps what was read, and an object changes with each edit.
  package var isKept: Bool { true }

  /// The id at a position.
  package func id(at position: Int) -> ObjectID { ObjectID(collection, keys.text(at: position)) }

  /// The ids of all objects.
  var ids: [ObjectID] { (0..<count).map { id(at: $0) } }

  package func follow(
    _ signal: @escaping @Sendable () -> Void
  ) throws(StoreError) -> any FollowedRecords {
    guard let fetch else {
      throw StoreError(.unsupported, "What a relationship leads to cannot be followed.")
    }
    return try context.follow(FetchedObjectList(list: self, fetch: fetch), signal)
  }

  /// What the same fetch has found now.
  func renewed(_ ids: [ObjectID]) -> ObjectList {
    ObjectList(ids, of: collection, as: form, found: fetch, in: context)
  }

  package func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    let batch = FetchedBatch(from: range.lowerBound)
    for position in range where batch.size < maxBytes {
      let id = id(at: position)
      guard case .body(let projection) = form else {
        try batch.append(JSONValue.string(id.key.text).bytes, .unchanged)
        continue
      }
      guard let body = try context.body(of: id) else {
        try batch.appendDeleted()
        continue
      }
      try batch.append(projection?.apply(to: body) ?? body, .unchanged)
    }
    return batch
  }

  /// The objects that are read together with the one at a position: it is the first, the others begin at a multiple of the
  /// size.
  func batch(at position: Int, size: Int) -> [ObjectID] {
    let start = position / size * size
    let end = min(count, start + size)
    return (Array(position..<end) + Array(start..<position)).map { id(at: $0) }
  }

  /// The position of an object; nil if the list does not have it.
  func position(of id: ObjectID) -> Int? {
    guard id.collection == collection, count > 0, count < 1 << 30 else { return nil }
    return index.withLock { index in
      if index.isEmpty { index = makeIndex() }
      return id.key.text.withBorrowedBytes { key in
        var slot = Self.slot(of: key, index.count)
        while index[slot] >= 0 {
          if keys.bytes[keys[Int(index[slot])]].elementsEqual(key) { return Int(index[slot]) }
          slot = (slot + 1) & (index.count - 1)
        }
        return nil
      }
    }
  }

  private func makeIndex() -> [Int32] {
    var size = 2
    while size < 2 * count { size *= 2 }
    var index = [Int32](repeating: -1, count: size)
    keys.bytes.withBorrowedBytes { bytes in
      for position in 0..<count {
        let key = UnsafeRawBufferPointer(rebasing: bytes[keys[position]])
        var slot = Self.slot(of: key, size)
        while index[slot] >= 0 { slot = (slot + 1) & (size - 1) }
        index[slot] = Int32(position)
      }
    }
    return index
  }

  private static func slot(of key: UnsafeRawBufferPointer, _ size: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(bytes: key)
    return hasher.finalize() & (size - 1)
  }
}
