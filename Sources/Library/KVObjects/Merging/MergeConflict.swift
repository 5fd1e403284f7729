internal import KVBase
package import KVJSON
package import KVSync

/// An object that was changed by a context and, since that read it, by another writer: another context, another process, a pull
/// or live data.
package struct MergeConflict: Sendable {
  package let id: ObjectID
  /// The version that the context has read; nil: the object is new there.
  package let readVersion: Int64?
  /// The version that is stored; nil: the object was deleted.
  package let storedVersion: Int64?
  /// The object as the context has read it; nil: it is new.
  package let read: [UInt8]?
  /// The object as the context wants it; nil: it wants it deleted.
  package let object: [UInt8]?
  /// The object as it is stored; nil: it was deleted.
  package let stored: [UInt8]?
  /// Whether `read` is what had the version that was read: else it is a later state, read again after the object had left
  /// the cache.
  let isReadExact: Bool
  let format: RecordFormat

  /// `{"collection","id","readVersion","storedVersion","read","object","stored"}`, with null for what is nil.
  package var json: [UInt8] {
    var writer = JSONObjectWriter()
    writer.add("collection", .string(id.collection.text))
    writer.add("id", .string(id.key.text))
    writer.add("readVersion", readVersion.map { .int($0) } ?? .null)
    writer.add("storedVersion", storedVersion.map { .int($0) } ?? .null)
    for (name, body) in [("read", read), ("object", object), ("stored", stored)] {
      writer.add(name, json: body ?? Array("null".utf8))
    }
    return writer.finish()
  }

  enum Side { case object, stored }

  /// How it ends under every policy, where the sides do not disagree; nil: they do.
  func agreement() throws(StoreError) -> MergeResolution? {
    guard let object else { return stored == nil ? .useStored : try agreementOnDeletion() }
    guard let stored else { return nil }
    let (read, mine, theirs) = (
      try RecordMembers(read), try RecordMembers(object), try RecordMembers(stored)
    )
    if isSame(mine, as: theirs), !areComputed(mine, read) { return .useStored }
    guard self.read != nil, isReadExact, isSame(read, as: theirs) else { return nil }
    return try merged(winner: .object)
  }

  /// Whether the same state may have come of two computations from one former state, which counts both: of two increments
  /// only one would be left. Texts and booleans are set; numbers, lists and objects may be computed.
  private func areComputed(_ mine: RecordMembers, _ read: RecordMembers) -> Bool {
    guard self.read != nil else { return false }
    return mine.names.contains { name in
      guard !isBackendMember(name), !isPermissions(name), let value = mine[name]?.first,
        value == UInt8(ascii: "-") || value == UInt8(ascii: "[") || value == UInt8(ascii: "{")
          || value &- UInt8(ascii: "0") < 10
      else { return false }
      // What was changed in a later state is not known.
      return !isReadExact || mine[name] != read[name]
    }
  }

  /// The object is deleted here; there only members that the backend makes have changed.
  private func agreementOnDeletion() throws(StoreError) -> MergeResolution? {
    guard read != nil, isReadExact else { return nil }
    let (read, theirs) = (try RecordMembers(read), try RecordMembers(stored))
    return isSame(read, as: theirs) ? .write(nil) : nil
  }

  /// Whether a state is the stored one, except for what the backend makes: the permissions, too, where only one of them has any.
  /// The backend gives them to a new record, and a record that is written without them keeps those that it has there.
  private func isSame(_ state: RecordMembers, as stored: RecordMembers) -> Bool {
    (state.names + stored.names).allSatisfy { name in
      if isBackendMember(name) || state[name] == stored[name] { return true }
      return isPermissions(name) && (state[name] == nil || stored[name] == nil)
    }
  }

  /// The object as the context has it: see `writing`.
  func writingObject() throws(StoreError) -> MergeResolution {
    guard let object else { return .write(nil) }
    return try writing(object)
  }

  /// A state with the stored values of the members that the backend makes, and the stored permissions if it has none.
  func writing(_ state: [UInt8]) throws(StoreError) -> MergeResolution {
    guard let stored else { return .write(state) }
    let (mine, theirs) = (try RecordMembers(state), try RecordMembers(stored))
    return .write(
      Self.record(mine.names + theirs.names) { name in
        if isBackendMember(name) { return theirs[name] }
        return mine[name] ?? (isPermissions(name) ? theirs[name] : nil)
      })
  }

  /// Property by property: what one side has changed, and of what both have changed the winner's value.
  func merged(winner: Side) throws(StoreError) -> MergeResolution {
    let body = try Self.merged(
      read: read, object: object, stored: stored, winner: winner, format: format)
    // The same members in another order are no change.
    return try RecordMembers(body) == RecordMembers(stored) ? .useStored : .write(body)
  }

  static func merged(
    read: [UInt8]?, object: [UInt8]?, stored: [UInt8]?, winner: Side, format: RecordFormat
  ) throws(StoreError) -> [UInt8] {
    let (read, mine, theirs) = (
      try RecordMembers(read), try RecordMembers(object), try RecordMembers(stored)
    )
    return record(mine.names + theirs.names) { name in
      if isBackendMember(name, format) { return theirs[name] }
      if mine[name] == read[name] { return theirs[name] }
      if theirs[name] == read[name] { return mine[name] }
      return winner == .object ? mine[name] : theirs[name]
    }
  }

  private static func record(
    _ names: [RecordID], _ value: (RecordID) -> ArraySlice<UInt8>?
  ) -> [UInt8] {
    var writer = JSONObjectWriter()
    var seen: Set<RecordID> = []
    for name in names where seen.insert(name).inserted {
      if let value = value(name) { writer.add(name.text, json: value) }
    }
    return writer.finish()
  }

  private func isPermissions(_ name: RecordID) -> Bool {
    format.permissions?.hasSameBytes(as: name.text) ?? false
  }

  private func isBackendMember(_ name: RecordID) -> Bool { Self.isBackendMember(name, format) }

  private static func isBackendMember(_ name: RecordID, _ format: RecordFormat) -> Bool {
    format.backendMembers.contains { $0.hasSameBytes(as: name.text) }
  }
}

extension MergeResolution {
  /// Reads `"stored"`, `"object"`, `"read"`… from an application: `{"use":"stored"}`, `{"use":"object"}`,
  /// `{"use":"merged","object":{…}}`, where null deletes it.
  package init(_ answer: JSONObject, of conflict: MergeConflict) throws(StoreError) {
    switch answer["use"]?.stringValue {
    case "stored": self = .useStored
    case "object": self = try conflict.writingObject()
    case "merged":
      guard let object = answer["object"], object.isNull || object.objectValue != nil else {
        throw StoreError(.invalid, "A merged object must be an object, or null to delete it.")
      }
      self = object.isNull ? .write(nil) : try conflict.writing(object.bytes)
    default:
      throw StoreError(
        .invalid, "\"use\" must be \"stored\", \"object\" or \"merged\".")
    }
  }
}
