internal import KVJSON

/// What a store is opened with besides its collection and type.
///
///     var options = StoreOptions()
///     options.calls.conflicts = .merge
///     let people = try client.store("people", of: Person.self, options: options)
public struct StoreOptions: Sendable {
  /// Local data of this tag; nil: of the client's.
  public var tag: String?
  /// Whether a save also deletes members that the Swift type does not have, such as those that a newer version of the
  /// program has added.
  public var replacesWholeEntities = false
  /// Of every call of the store, unless the call says something else.
  public var calls = CallOptions()
  /// All other options of a store in `docs/options.md`, by their names there, as a JSON object.
  public var otherOptions: String?

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
        "It cannot be found out which members \(type) has: let it say them as FieldNaming, or set"
          + " replacesWholeEntities.")
    }
    options["knownMembers"] = .object(known)
    return options
  }
}
