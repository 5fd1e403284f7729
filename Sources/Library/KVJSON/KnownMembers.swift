/// The members of an entity that a program knows, and those of the objects in it.
///
/// A program that reads entities into a type of its own says nothing about members that the type does not have: when it
/// saves such an entity, the stored ones are kept. Arrays are known as a whole. The members that the format reserves are
/// not the program's: they are kept unless the entity has them.
package struct KnownMembers: Sendable, Equatable {
  /// The members by their names in UTF-8; nil: known as a whole.
  private var members: [[UInt8]: KnownMembers?] = [:]

  /// Reads an object such as `{"name":true,"address":{"city":true}}`; nil if it is something else.
  package init?(_ object: JSONObject) {
    for member in object.members {
      let name = Array(member.name.utf8)
      switch member.value {
      case .bool(true): members[name] = .some(nil)
      case .object(let inner):
        guard let inner = KnownMembers(inner) else { return nil }
        members[name] = inner
      default: return nil
      }
    }
  }

  /// An object with the members of the stored one that the program does not know; nil if there are none.
  ///
  /// Both are one JSON object each, of a format. What is not JSON has nothing to keep.
  package func completed(
    _ new: UnsafeRawBufferPointer, from stored: UnsafeRawBufferPointer,
    format: RecordFormat = .default
  ) -> [UInt8]? {
    var known = self
    for name in format.reservedNames.map({ Array($0.utf8) }) where members[name] != nil {
      known.members[name] = nil
    }
    return known.completed(object: new, from: stored)
  }

  private func completed(
    object new: UnsafeRawBufferPointer, from stored: UnsafeRawBufferPointer
  ) -> [UInt8]? {
    guard let new = ObjectMembers(new), let stored = ObjectMembers(stored) else { return nil }
    var out: [UInt8] = [UInt8(ascii: "{")]
    var isComplete = true
    for member in new.all {
      let inner = completed(member, from: stored)
      if inner != nil { isComplete = false }
      member.write(inner, to: &out)
    }
    for member in stored.all where members[member.name] == nil && new[member.name] == nil {
      isComplete = false
      member.write(nil, to: &out)
    }
    out.append(UInt8(ascii: "}"))
    return isComplete ? nil : out
  }

  /// Completes a copy of a text; returns the text itself if nothing is missing.
  package func completed(
    _ new: [UInt8], from stored: UnsafeRawBufferPointer, format: RecordFormat = .default
  ) -> [UInt8] {
    new.withUnsafeBytes { completed($0, from: stored, format: format) } ?? new
  }

  private func completed(_ member: ObjectMembers.Member, from stored: ObjectMembers) -> [UInt8]? {
    guard case .some(.some(let inner)) = members[member.name], let old = stored[member.name] else {
      return nil
    }
    return inner.completed(object: member.value, from: old.value)
  }
}

/// The members of one object by their names; of those that come twice, the first.
private struct ObjectMembers {
  struct Member {
    let name: [UInt8]
    /// The name with its quotes, as it was written.
    let label: UnsafeRawBufferPointer
    let value: UnsafeRawBufferPointer

    func write(_ replacement: [UInt8]?, to out: inout [UInt8]) {
      if out.count > 1 { out.append(UInt8(ascii: ",")) }
      out.append(contentsOf: label)
      out.append(UInt8(ascii: ":"))
      if let replacement {
        out.append(contentsOf: replacement)
      } else {
        out.append(contentsOf: value)
      }
    }
  }

  private(set) var all: [Member] = []
  private var indexes: [[UInt8]: Int] = [:]

  subscript(_ name: [UInt8]) -> Member? { indexes[name].map { all[$0] } }

  /// Reads the members of an object; nil for anything else.
  init?(_ bytes: UnsafeRawBufferPointer) {
    let scanner = ByteScanner(bytes)
    do throws(JSONError) {
      var cursor = try MemberCursor(scanner, at: scanner.skipSpace(0))
      while let member = try cursor.next() {
        let name = scanner.unescaped(member.name)
        guard indexes[name] == nil else { continue }
        indexes[name] = all.count
        let label = member.name.lowerBound &- 1..<member.name.upperBound &+ 1
        all.append(
          Member(
            name: name, label: UnsafeRawBufferPointer(rebasing: bytes[label]),
            value: UnsafeRawBufferPointer(rebasing: bytes[member.value])))
      }
    } catch {
      return nil
    }
  }
}
