package import KVJSON
package import KVQuery

/// A request for groups of entities.
package enum GroupRequest: Sendable {
  /// Numbers that are the same wherever they are computed.
  case numbers(Grouping)
  /// A function of the caller's, which a backend with an engine runs.
  case script(RemoteGroups)
}

extension CollectionEngine {
  /// An object for each group of what the query selects; numbers are ordered by the keys.
  package func group(
    _ wanted: GroupRequest, _ query: Query, options: CallOptions,
    early: ([JSONObject]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[JSONObject]> {
    try Self.checked(query)
    return try reading(options, early) { (options) throws(StoreError) in
      try groupLocally(wanted, query, options: options)
    } remotely: { (options) throws(StoreError) in
      try BackendReader(self, for: "group on the network", call: options.call).group(wanted, query)
    }
  }

  private func groupLocally(
    _ wanted: GroupRequest, _ query: Query, options: CallOptions
  ) throws(StoreError) -> [JSONObject] {
    guard case .numbers(let grouping) = wanted else {
      throw StoreError(.unsupported, "A JavaScript function can run on a backend only.")
    }
    return try local?.group(
      grouping, of: query, in: collection, writtenSince: writtenSince(options),
      within: options.call.budget) ?? []
  }

  // MARK: Distinct

  /// The different values at a path among what the query selects, in the order of a sort: see `Distinct`.
  package func distinct(
    _ path: Path, _ query: Query, options: CallOptions, early: ([JSONValue]) -> Void = { _ in }
  ) throws(StoreError) -> Answered<[JSONValue]> {
    try Self.checked(query)
    return try reading(options, early) { (options) throws(StoreError) in
      var values = Distinct(path)
      try local?.each(
        of: query, in: collection, writtenSince: writtenSince(options), within: options.call.budget
      ) { values.add($0) }
      return values.results
    } remotely: { (options) throws(StoreError) in
      // The protocol has no call for it, and groups do not look into arrays: each entity does, with no
      // other member than this. The whole member, because field names know no indexes of arrays.
      var values = Distinct(path)
      let reader = try BackendReader(self, for: "read from the network", call: options.call)
      try reader.each(of: query, fields: [path.top]) { values.add($0) }
      return values.results
    }
  }

  /// Groups and values are those of all that match.
  private static func checked(_ query: Query) throws(StoreError) {
    guard query.isPaged else { return }
    throw StoreError(.invalid, "A grouping cannot have a skip or a limit.")
  }
}
