package import KVBase
package import KVJSON
package import KVSync

/// Groups of users. Nothing of them is kept here: all of this asks the backend.
extension Client {
  package func createGroup(
    _ group: JSONObject, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    if let members = group["members"] { _ = try UserGroupChange.ids(members, "members") }
    return try asking("create a group", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let groups = try groups()
      return JSONValue.object(
        try renewingOnce(call) { () throws(StoreError) in try groups.create(group, call) }
      ).bytes
    }
  }

  package func group(
    _ id: String, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("read a group", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let groups = try groups()
      return JSONValue.object(
        try renewing(call) { () throws(StoreError) in try groups.read(id, call) }
      ).bytes
    }
  }

  /// The groups that the user may read: an array.
  package func allGroups(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("list groups", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let groups = try groups()
      let all = try renewing(call) { () throws(StoreError) in try groups.all(call) }
      return JSONValue.array(all.map { .object($0) }).bytes
    }
  }

  /// Changes a group on the condition that it is still what was read; if others were faster, it is read again.
  /// `.conflict` if others were faster each time.
  package func updateGroup(
    _ id: String, change: UserGroupChange, options: Options, cancellation: Cancellation
  ) throws(StoreError) -> [UInt8] {
    try asking("change a group", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let groups = try groups()
      for _ in 1..<Self.maxAttempts {
        do throws(StoreError) {
          return try changed(id, change, in: groups, call: call)
        } catch {
          guard error.kind == .conflict else { throw error }
        }
      }
      return try changed(id, change, in: groups, call: call)
    }
  }

  package func deleteGroup(
    _ id: String, options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    try asking("delete a group", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let groups = try groups()
      try renewing(call) { () throws(StoreError) in try groups.delete(id, call) }
    }
  }

  /// How often others may be faster than a change.
  private static let maxAttempts = 5

  private func changed(
    _ id: String, _ change: UserGroupChange, in groups: any UserGroups, call: Call
  ) throws(StoreError) -> [UInt8] {
    try renewing(call) { () throws(StoreError) in
      let group = try groups.read(id, call)
      guard let changed = change.applied(to: group) else { return JSONValue.object(group).bytes }
      return JSONValue.object(try groups.replace(changed, id: id, call)).bytes
    }
  }

  private func groups() throws(StoreError) -> any UserGroups {
    let backend = try existing()
    guard let groups = backend.groups else { throw backend.lacks("groups of users") }
    return groups
  }
}
