internal import KVBase
package import KVJSON
package import KVSync

/// A change of a group of users: `{"add":[ids],"remove":[ids],"set":{members of the JSON}}`.
package struct UserGroupChange: Sendable {
  private var added: [String] = []
  private var removed: Set<RecordID> = []
  private var replaced = JSONObject()

  /// `.invalid` for anything else in it.
  package init(_ change: JSONObject) throws(StoreError) {
    for member in change.members {
      switch member.name {
      case "add": added = try Self.ids(member.value, "add")
      case "remove": removed = Set(try Self.ids(member.value, "remove").map { RecordID($0) })
      case "set": replaced = try Self.members(member.value)
      default:
        throw StoreError(.invalid, "A change of a group has no member \"\(member.name)\".")
      }
    }
  }

  /// The group after the change; nil if it stays as it is.
  func applied(to group: JSONObject) -> JSONObject? {
    let former = (group["members"]?.arrayValue ?? []).compactMap(\.stringValue)
    var known: Set<RecordID> = []
    let members = (former + added).filter {
      let id = RecordID($0)
      return !removed.contains(id) && known.insert(id).inserted
    }
    var changed = group
    changed.merge(replaced)
    changed["members"] = .array(members.map { .string($0) })
    return changed == group ? nil : changed
  }

  /// The ids of users in `members`, the member called `name`.
  static func ids(_ members: JSONValue, _ name: String) throws(StoreError) -> [String] {
    let ids = members.arrayValue?.compactMap(\.stringValue)
    guard let ids, ids.count == members.arrayValue?.count, !ids.contains(where: \.isEmpty) else {
      throw StoreError(.invalid, "The member \"\(name)\" of a group must be an array of user ids.")
    }
    return ids
  }

  private static func members(_ value: JSONValue) throws(StoreError) -> JSONObject {
    guard let members = value.objectValue else {
      throw StoreError(.invalid, "The member \"set\" of a change must be an object.")
    }
    for name in ["_id", "_kmd", "members", "users"] where members[name] != nil {
      throw StoreError(.invalid, "The member \"\(name)\" of a group cannot be set.")
    }
    return members
  }
}
