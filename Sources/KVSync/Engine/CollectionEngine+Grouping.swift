package import KVJSON
package import KVQuery

/// What is asked about entities in groups.
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
      try groupRemotely(wanted, query, call: options.call)
    }
  }

  private func groupLocally(
    _ wanted: GroupRequest, _ query: Query, options: CallOptions
  ) throws(StoreError) -> [JSONObject] {
    guard case .numbers(let grouping) = wanted else {
      throw StoreError(.unsupported, "A JavaScript function runs on a backend, not locally.")
    }
    return try local?.group(
      grouping, of: query, in: collection, writtenSince: writtenSince(options),
      within: options.call.budget) ?? []
  }

  private func groupRemotely(
    _ wanted: GroupRequest, _ query: Query, call: Call
  ) throws(StoreError) -> [JSONObject] {
    let remote = try backend(for: "group on the network")
    switch wanted {
    case .script(let script):
      return try remote.group(script, of: query.selection, in: collection, call: call)
    case .numbers(let grouping):
      guard query.isRemote, let form = RemoteGrouping(grouping), try unsentIds().isEmpty else {
        // No backend understands it, or knows all: what may matter is fetched, and grouped here.
        var groups = Groups(grouping)
        let fields = (grouping.keys + grouping.paths).map(\.top)
        try eachRemotely(of: query, fields: fields, call: call) { groups.add($0) }
        return groups.results
      }
      let script = RemoteGroups(
        keys: grouping.keys.map(\.text), initial: form.initial, reduce: form.reduce)
      return form.results(try remote.group(script, of: query.selection, in: collection, call: call))
    }
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
      // other member than this. The whole member, because fields know no places in arrays.
      var values = Distinct(path)
      try eachRemotely(of: query, fields: [path.top], call: options.call) { values.add($0) }
      return values.results
    }
  }

  /// Groups and values are those of all that match.
  private static func checked(_ query: Query) throws(StoreError) {
    guard query.isPaged else { return }
    throw StoreError(.invalid, "Groups have no page: leave out skip and limit.")
  }
}
