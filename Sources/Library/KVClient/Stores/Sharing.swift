internal import KVBase
package import KVJSON
internal import KVQuery
package import KVSync

/// Rights in an entity, as its `_acl` says them:
/// `{"r":[users],"w":[users],"groups":{"r":[groups],"w":[groups]},"gr":true,"gw":true}`.
package struct Sharing: Sendable {
  /// Ids by the list of the `_acl` that has them.
  private var lists: [(path: String, ids: [JSONValue])] = []
  /// The flags that are named.
  private var flags: [String] = []

  /// `.invalid` for anything else in it, or if no user or group is named.
  package init(_ acl: JSONObject) throws(StoreError) {
    for member in acl.members {
      switch member.name {
      case "r", "w": try add(member, to: "_acl.")
      case "gr", "gw":
        // False would be understood as the opposite by some: there is a call for that.
        guard member.value == true else {
          throw StoreError(.invalid, "_acl.\(member.name) must be true.")
        }
        flags.append("_acl." + member.name)
      case "groups":
        guard let groups = member.value.objectValue else {
          throw StoreError(.invalid, "_acl.groups must be an object.")
        }
        for list in groups.members {
          guard ["r", "w"].contains(list.name) else {
            throw StoreError(.invalid, "_acl.groups has no member \"\(list.name)\".")
          }
          try add(list, to: "_acl.groups.")
        }
      default:
        throw StoreError(.invalid, "An _acl for sharing has no member \"\(member.name)\".")
      }
    }
    guard !lists.isEmpty || !flags.isEmpty else {
      throw StoreError(.invalid, "The access list names no user and no group.")
    }
  }

  private mutating func add(
    _ member: JSONObject.Member, to parent: String
  ) throws(StoreError) {
    let path = parent + member.name
    guard let ids = member.value.arrayValue, ids.allSatisfy({ $0.stringValue?.isEmpty == false })
    else { throw StoreError(.invalid, "\(path) must be an array of ids.") }
    if !ids.isEmpty { lists.append((path, ids)) }
  }

  /// The update that gives these rights.
  package var giving: JSONValue {
    update(ids: "$addToSet", each: "$each", flag: true)
  }

  /// The update that takes them back.
  package var taking: JSONValue {
    update(ids: "$pull", each: "$in", flag: false)
  }

  private func update(ids name: String, each: String, flag: JSONValue) -> JSONValue {
    var update = JSONObject()
    if !lists.isEmpty {
      let paths = lists.map { JSONObject.Member($0.path, [each: .array($0.ids)]) }
      update[name] = .object(JSONObject(paths))
    }
    if !flags.isEmpty {
      update["$set"] = .object(JSONObject(flags.map { JSONObject.Member($0, flag) }))
    }
    return .object(update)
  }
}

extension DataStore {
  /// Changes the rights in one entity by an update of `Sharing`, and never replaces what others have changed.
  /// `.notFound` if there is no such entity where the store writes.
  package func share(
    _ id: String, _ rights: JSONValue, run: Run, early: () -> Void = {}
  ) throws(StoreError) -> Answered<UpdateResult> {
    guard engine.format == .default else {
      throw StoreError(.unsupported, "Entities of this backend have no _acl.")
    }
    guard !id.isEmpty else { throw StoreError(.invalid, "The id is empty.") }
    return try perform("share", as: .write, run) { (options) throws(StoreError) in
      let update: EntityUpdate
      do throws(QueryError) { update = try EntityUpdate(rights.text, engine.format) } catch {
        throw StoreError(error)
      }
      let result = try engine.update(
        Query(key: id, engine.format), update, isConditional: true, options: options
      ) { _ in early() }
      guard result.value.matched > 0 else { throw engine.notFound(id) }
      return result
    }
  }
}
