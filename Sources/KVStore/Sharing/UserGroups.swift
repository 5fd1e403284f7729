internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// The groups of users of a client's backend: `KVStoreClient.groups` gives them.
///
///     let team = try await client.groups.create(name: "team", members: ["ann"])
///     try await client.groups.update(id: team.id, adding: ["bob"], removing: ["ann"])
///     for group in try await client.groups.all() { print(group.name ?? group.id) }
///
/// Nothing of them is kept on this machine. Throws `.notFound` for an id that no group has, `.forbidden` for one that the
/// active user may not see or change.
public struct UserGroups: Sendable {
  let client: KVStoreClient

  /// Makes a group of these users, by their ids. It is sent once: after `.network` there may be one or none.
  @discardableResult
  public func create(
    name: String, members: [String] = [], options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UserGroup {
    let group: JSONObject = ["name": .string(name), "members": Self.ids(members)]
    return try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.createGroup(group, options: options, cancellation: cancellation)
    }
  }

  public func find(
    id: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UserGroup {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.group(id, options: options, cancellation: cancellation)
    }
  }

  /// Those that the active user may read.
  public func all(options: CallOptions = CallOptions()) async throws(KVStoreError) -> [UserGroup] {
    let bytes = try await client.asking(options) {
      (core, options, cancellation) throws(StoreError) in
      try core.allGroups(options: options, cancellation: cancellation)
    }
    var groups: [UserGroup] = []
    for json in try JSONDecoding.json(bytes).arrayValue ?? [] { groups.append(try UserGroup(json)) }
    return groups
  }

  /// Changes who is in a group, and its name unless that is nil; who is added and removed is removed. If somebody else
  /// changes it meanwhile, the change is made to what they have left.
  @discardableResult
  public func update(
    id: String, adding added: [String] = [], removing removed: [String] = [], name: String? = nil,
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UserGroup {
    var json: JSONObject = ["add": Self.ids(added), "remove": Self.ids(removed)]
    if let name { json["set"] = ["name": .string(name)] }
    let change = try KVStoreError.mapping { [json] () throws(StoreError) in
      try UserGroupChange(json)
    }
    return try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.updateGroup(id, change: change, options: options, cancellation: cancellation)
    }
  }

  /// Deletes a group: what its members could read or write because of it, they cannot any more.
  public func delete(
    id: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) {
    try await client.asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.deleteGroup(id, options: options, cancellation: cancellation)
    }
  }

  private func asking(
    _ options: CallOptions,
    _ body: @escaping @Sendable (Client, Options, Cancellation) throws(StoreError) -> [UInt8]
  ) async throws(KVStoreError) -> UserGroup {
    try UserGroup(JSONDecoding.json(try await client.asking(options, body)))
  }

  private static func ids(_ ids: [String]) -> JSONValue { .array(ids.map { .string($0) }) }
}

extension KVStoreClient {
  /// The groups of users; nothing is asked of anybody yet.
  public var groups: UserGroups { UserGroups(client: self) }
}
