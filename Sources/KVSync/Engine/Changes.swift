internal import KVBase
internal import KVJSON

/// What a backend says has changed: `{"changed":[…],"deleted":[{"_id":…}],"left":[{"_id":…}]}`.
struct Changes {
  /// Entities as they are now: the bytes of a JSON array, and where each is in them.
  private(set) var changed: (bytes: ArraySlice<UInt8>, outlines: [EntityOutline]) = ([], [])
  /// Ids of what is gone, except for what was made again.
  private(set) var deleted: [String] = []
  /// Ids of what the query may have had and has no more: it is something else now, may not be read any more, or was
  /// deleted as something else. Only some backends tell.
  private(set) var left: [String] = []

  /// Throws `.proto` for what is none of this, or has an entity without `_id`.
  init(_ body: [UInt8]) throws(StoreError) {
    for (name, range) in try Self.members(body) {
      let slice = body[range]
      let outlines = try Self.outlines(Array(slice))
      switch name {
      case "changed": changed = (slice, outlines)
      case "deleted": deleted = outlines.compactMap(\.id)
      default: left = outlines.compactMap(\.id)
      }
    }
    // What was deleted and made again is in two lists: deletions come first.
    let alive = Set(changed.outlines.compactMap { $0.id.map(RecordID.init) })
    deleted.removeAll { alive.contains(RecordID($0)) }
    left.removeAll { alive.contains(RecordID($0)) }
    let elsewhere = Set(left.map(RecordID.init))
    deleted.removeAll { elsewhere.contains(RecordID($0)) }
  }

  private static func members(_ body: [UInt8]) throws(StoreError) -> [(String, Range<Int>)] {
    let result = body.withUnsafeBytes { bytes -> Result<[(String, Range<Int>)], JSONError> in
      Result { () throws(JSONError) in
        let scanner = ByteScanner(bytes)
        var cursor = try MemberCursor(scanner, at: scanner.skipSpace(0))
        var members: [(String, Range<Int>)] = []
        while let member = try cursor.next() {
          if cursor.isName(member.name, "changed") { members.append(("changed", member.value)) }
          if cursor.isName(member.name, "deleted") { members.append(("deleted", member.value)) }
          if cursor.isName(member.name, "left") { members.append(("left", member.value)) }
        }
        let rest = scanner.skipSpace(cursor.position)
        guard rest == bytes.count else { throw scanner.unexpected(rest) }
        return members
      }
    }
    let members: [(String, Range<Int>)]
    do throws(JSONError) { members = try result.get() } catch { throw .badAnswer(error) }
    // Three words of ours.
    let names = Set(members.map(\.0))
    guard names.isSuperset(of: ["changed", "deleted"]), names.count == members.count else {
      throw StoreError.badAnswer(
        "The backend's changes lack one of their lists, or have one twice.")
    }
    return members
  }

  private static func outlines(_ array: [UInt8]) throws(StoreError) -> [EntityOutline] {
    let outlines: [EntityOutline]
    do throws(JSONError) { outlines = try EntityScanner.outlines(ofArray: array) } catch {
      throw .badAnswer(error)
    }
    guard outlines.allSatisfy({ $0.id != nil }) else {
      throw StoreError.entityWithoutId
    }
    return outlines
  }
}
