internal import KVJSON

/// The options of a store.
///
///     var options = StoreOptions()
///     options.calls.conflicts = .merge
///     let people = try client.store("people", of: Person.self, options: options)
public struct StoreOptions: Sendable {
  /// The tag of the local data; nil: the client's.
  public var tag: String?
  /// Whether a save also deletes members that the Swift type does not have. A newer version of the program may have
  /// added them.
  public var replacesWholeEntities = false
  /// The options of every call of the store, unless the call overrides them.
  public var calls = CallOptions()
  /// All other options of a store in `docs/options.md`, as a JSON object.
  public var otherOptions: String?

  /// Creates options in which nothing is set.
  public init() {}

  func object<Entity: Codable & Sendable>(of type: Entity.Type) throws(KVStoreError) -> JSONObject {
    var options = try JSONObject(options: otherOptions)
    options.add(try calls.object)
    options.set("tag", tag)
    guard !replacesWholeEntities, options["knownMembers"] == nil else { return options }
    let table = MemberTable<Entity>.shared
    guard !table.isOpen else { return options }
    guard let known = table.knownMembers else {
      throw KVStoreError(
        .invalid,
        "The members of \(type) cannot be found out: it must conform to FieldNaming, or set"
          + " replacesWholeEntities.")
    }
    options["knownMembers"] = .object(known)
    return options
  }
}
