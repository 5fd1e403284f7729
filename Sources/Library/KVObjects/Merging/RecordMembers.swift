internal import KVBase
package import KVJSON
package import KVSync

/// The members of a record as slices of its bytes, in their order: what is not changed stays as it was written.
/// Equal are those with the same members, in any order.
package struct RecordMembers: Equatable {
  private let bytes: [UInt8]
  private(set) var names: [RecordID] = []
  private var values: [RecordID: Range<Int>] = [:]

  /// Throws `.invalid` if it is no JSON object. Nil has no members.
  package init(_ record: [UInt8]?) throws(StoreError) {
    bytes = record ?? []
    guard record != nil else { return }
    do throws(JSONError) {
      try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
        let scanner = ByteScanner(buffer)
        var cursor = try MemberCursor(scanner, at: scanner.skipSpace(0))
        while let member = try cursor.next() {
          let name = RecordID(scanner.text(member.name))
          if values.updateValue(member.value, forKey: name) == nil { names.append(name) }
        }
      }
    } catch {
      throw StoreError(error)
    }
  }

  package static func == (left: Self, right: Self) -> Bool {
    left.names.count == right.names.count && left.names.allSatisfy { left[$0] == right[$0] }
  }

  /// The JSON text of a member; nil if it is absent.
  subscript(name: RecordID) -> ArraySlice<UInt8>? { values[name].map { bytes[$0] } }

  subscript(name: String) -> ArraySlice<UInt8>? { self[RecordID(name)] }

  /// The value of a member; nil if it is absent or null.
  package func value(_ name: String) -> JSONValue? {
    guard let text = self[name], let value = try? JSONValue.ifJSON(Array(text)), !value.isNull
    else { return nil }
    return value
  }

  /// The record with other values of some members, which follow the others if they are new.
  func replacing(_ changes: RecordMembers) -> [UInt8] {
    var writer = JSONObjectWriter(reservingCapacity: bytes.count + changes.bytes.count)
    for name in names {
      if let value = changes[name] ?? self[name] { writer.add(name.text, json: value) }
    }
    for name in changes.names where self[name] == nil {
      if let value = changes[name] { writer.add(name.text, json: value) }
    }
    return writer.finish()
  }
}
