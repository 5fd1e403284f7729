internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVSync

/// The groups of users on a client's backend: see `KVStoreClient.groups`.
///
///     let team = try await client.groups.create(name: "team", members: ["ann"])
///     try await client.groups.update(id: team.id, adding: ["bob"], removing: ["ann"])
///     for group in try await client.groups.all() { print(group.name ?? group.id) }
///
/// Groups are not kept locally. The calls throw `.notFound` if no group has the id, and `.forbidden` if the active user
/// may not see or change it.
public struct UserGroups: Sendable {
  let client: KVStoreClient

  /// Creates a group of users, given by their ids. The request is sent only once: after `.network` the group may exist
  /// or not.
  @discardableResult
  public func create(
    name: String, members: [String] = [], options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UserGroup {
    let group: JSONObject = ["name": .string(name), "members": Self.ids(members)]
    return try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.createGroup(group, options: options, cancellation: cancellation)
    }
  }

  /// Reads a group.
  public func find(
    id: String, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> UserGroup {
    try await asking(options) { (core, options, cancellation) throws(StoreError) in
      try core.group(id, options: options, cancellation: cancellation)
    }
  }

  /// Lists the groups that the active user may read.
  public func all(options: CallOptions = CallOptions()) async throws(KVStoreError) -> [UserGroup] {
    let bytes = try await client.asking(options) {
      (core, options, cancellation) throws(StoreError) in
      try core.allGroups(options: options, cancellation: cancellation)
    }
    var groups: [UserGroup] = []
    for json in try JSONDecoding.json(bytes).arrayValue ?? [] { groups.append(try UserGroup(json)) }
    return groups
  }

  /// Changes the members of a group, and its name unless that is nil. A user who is both added and removed is removed.
  /// If another client changes the group at the same time, the change applies to the newer version.
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

  /// Deletes a group. Its members lose the rights that they had only through the group.
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
  /// The groups of users. No request is made.
  public var groups: UserGroups { UserGroups(client: self) }
}
