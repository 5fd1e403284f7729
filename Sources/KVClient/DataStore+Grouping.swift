internal import KVBase
internal import KVJSON
package import KVQuery
package import KVSync

extension DataStore {
  /// A JSON array: see kv_store_group.
  package func group(
    _ wanted: GroupRequest, _ query: Query, run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    func text(_ groups: [JSONObject]) -> [UInt8] {
      JSONValue.array(groups.map { .object(wanted.result($0, renamedBy: names)) }).bytes
    }
    let groups = try perform("group", as: .read, run) { (options) throws(StoreError) in
      try engine.group(
        wanted.renamed(by: names), named(query), options: options, early: { early(text($0)) })
    }
    return Answered(text(groups.value), isLocal: groups.isLocal)
  }

  /// A JSON array: see kv_store_distinct.
  package func distinct(
    _ path: String, _ query: Query, run: Run, early: ([UInt8]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[UInt8]> {
    guard !path.isEmpty else { throw StoreError(.invalid, "The path is empty.") }
    let values = try perform("distinct", as: .read, run) { (options) throws(StoreError) in
      try engine.distinct(
        names.renamed(Path(path)), named(query), options: options,
        early: { early(JSONValue.array($0).bytes) })
    }
    return Answered(JSONValue.array(values.value).bytes, isLocal: values.isLocal)
  }

  /// Groups for entities of this store, by members as the application calls them.
  package func groups(by keys: [Path]) -> Groups {
    Groups(Grouping(keys: keys, members: []).renamed(by: names))
  }
}

extension GroupRequest {
  /// The same in the backend's names.
  fileprivate func renamed(by names: KeyMap) -> GroupRequest {
    switch self {
    case .numbers(let grouping): return .numbers(grouping.renamed(by: names))
    case .script(var script):
      script.keys = script.keys.map { names.renamed(Path($0)).text }
      return .script(script)
    }
  }

  /// A group with the application's names. Of a script only the keys are ours to name.
  fileprivate func result(_ group: JSONObject, renamedBy names: KeyMap) -> JSONObject {
    guard case .script(let script) = self, !names.isEmpty else { return group }
    return JSONObject(
      group.members.map { member in
        let key = script.keys.first { names.renamed(Path($0)).text.hasSameBytes(as: member.name) }
        return JSONObject.Member(key ?? member.name, member.value)
      })
  }
}

extension GroupRequest {
  /// Reads a grouping, or `{"keys":[…],"initial":{…},"reduce":"function(doc,out){ … }"}`.
  package init(parsing text: String) throws(StoreError) {
    if let script = try Self.script(text) {
      self = .script(script)
      return
    }
    do throws(QueryError) { self = .numbers(try Grouping(parsing: text)) } catch {
      throw StoreError(error)
    }
  }

  /// What has a function is a script; what else is wrong with it, a backend would say too.
  private static func script(_ text: String) throws(StoreError) -> RemoteGroups? {
    guard let object = try JSONValue.ifValid(text)?.objectValue,
      let reduce = object["reduce"]?.stringValue, object["aggregates"] == nil,
      let initial = (object["initial"] ?? .object([:])).objectValue,
      let keys = (object["keys"] ?? .array([])).arrayValue,
      object.members.allSatisfy({ ["keys", "initial", "reduce"].contains($0.name) })
    else { return nil }
    let names = keys.compactMap(\.stringValue)
    guard names.count == keys.count else { return nil }
    return RemoteGroups(keys: names, initial: initial, reduce: reduce)
  }
}
