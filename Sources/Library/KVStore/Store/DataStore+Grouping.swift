internal import KVClient
internal import KVJSON
internal import KVQuery
internal import KVSync

extension DataStore {
  /// Computes numbers for groups of entities. The members of a result are the keys, by their names in the entity, and
  /// the numbers.
  ///
  ///     struct City: Decodable, Sendable { var city: String?; var people: Int; var oldest: Int }
  ///     let cities: [City] = try await people.group(
  ///       by: [\.city], .count("people"), .maximum("oldest", \.age))
  ///
  /// `collatedBy`: a language, such as `"de"`, in whose order the groups come. Keys that it finds equal are one group, which
  /// has the first of them in the order of code points.
  public func group<Group: Decodable & Sendable>(
    by keys: [PartialKeyPath<Entity>], _ numbers: Aggregate<Entity>...,
    where query: Query<Entity> = Query(), collatedBy locale: String? = nil,
    ignoringCase: Bool = false, ignoringAccents: Bool = false, options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> [Group] {
    var paths: [Path] = []
    for key in keys { paths.append(Path(try MemberTable<Entity>.shared.name(of: key))) }
    var members: [Grouping.Member] = []
    for number in numbers { members.append(try number.member.get()) }
    let query = try query.built.get()
    var grouping = Grouping(keys: paths, members: members)
    if let locale {
      let collation: JSONValue = [
        "locale": .string(locale), "ignoreCase": .bool(ignoringCase),
        "ignoreAccents": .bool(ignoringAccents),
      ]
      do throws(QueryError) { grouping = try grouping.collated(by: collation) } catch {
        throw KVStoreError(StoreError(error))
      }
    }
    let wanted = GroupRequest.numbers(grouping)
    let groups = try await reading(options) { (core, run) throws(StoreError) in
      try core.group(wanted, query, run: run).value
    }
    return try JSONDecoding.decode([Group].self, from: groups)
  }

  /// Returns the different values of a member.
  public func distinct<Value: Codable & Sendable>(
    _ keyPath: KeyPath<Entity, Value>, where query: Query<Entity> = Query(),
    options: CallOptions = CallOptions()
  ) async throws(KVStoreError) -> [Value] {
    let path = try MemberTable<Entity>.shared.name(of: keyPath)
    let query = try query.built.get()
    let values = try await reading(options) { (core, run) throws(StoreError) in
      try core.distinct(path, query, run: run).value
    }
    return try JSONDecoding.decode([Value].self, from: values)
  }
}
