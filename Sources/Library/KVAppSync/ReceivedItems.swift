internal import KVBase
internal import KVJSON
internal import KVSync

/// The items of an answer as records, one after the other in one buffer.
///
/// The backend gives every field, null where there is nothing. A record lacks what it does not have, so that it is the
/// same before and after it was sent. The name of the type is no part of it, nor that it is not deleted.
struct ReceivedItems {
  struct Item {
    /// Has an id and a version.
    let outline: EntityOutline
    let version: Int64
    let isDeleted: Bool

    var key: String { outline.id ?? "" }

    var deletion: ChangeBatch.Deletion {
      .init(id: key, version: RecordVersion(String(version)))
    }
  }

  private(set) var text: [UInt8] = []
  private(set) var items: [Item] = []
  /// How many could not be read: they do not say which record they are, and which version of it.
  private(set) var unreadable = 0
  private let format: RecordFormat

  init(_ format: RecordFormat) { self.format = format }

  /// Adds all elements of a validated array.
  mutating func append(elementsAt array: Range<Int>, of scanner: ByteScanner) {
    text.reserveCapacity(text.count + array.count)
    var elements = TrustedElements(scanner, at: array.lowerBound)
    while let element = elements.next() { append(element, of: scanner) }
  }

  private mutating func append(_ element: Range<Int>, of scanner: ByteScanner) {
    let start = text.count
    guard scanner.isObject(at: element) else { return unreadable += 1 }
    var copier = RecordCopier(scanner)
    copier.copy(objectAt: element.lowerBound, to: &text)
    guard let item = item(from: start, isDeleted: copier.isDeletion) else {
      text.removeSubrange(start...)
      return unreadable += 1
    }
    items.append(item)
  }

  private func item(from start: Int, isDeleted: Bool) -> Item? {
    text.withBorrowedBytes { bytes in
      let record = UnsafeRawBufferPointer(rebasing: bytes[start...])
      guard let outline = try? EntityScanner.outline(of: record, format), outline.id != nil,
        let version = outline.version(in: record).flatMap({ Int64($0.text) })
      else { return nil }
      return Item(outline: outline.moved(by: start), version: version, isDeleted: isDeleted)
    }
  }

  /// The bytes of one record.
  func record(of item: Item) -> [UInt8] { Array(text[item.outline.range]) }

  /// Lends the records as one batch.
  func withRecords<Result>(
    _ body: (RecordBatch) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let outlines = items.compactMap { $0.isDeleted ? nil : $0.outline }
    let deletions = items.filter(\.isDeleted).map(\.deletion)
    return try text.withBorrowedBytes { (bytes) throws(StoreError) in
      try body(RecordBatch(bytes, outlines, deletions: deletions))
    }
  }
}

extension EntityOutline {
  fileprivate func moved(by offset: Int) -> EntityOutline {
    func moved(_ range: Range<Int>) -> Range<Int> {
      range.lowerBound + offset..<range.upperBound + offset
    }
    return EntityOutline(
      range: moved(range), id: id, version: version.map(moved), permissions: permissions.map(moved))
  }
}
