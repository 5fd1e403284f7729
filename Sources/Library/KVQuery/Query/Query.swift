internal import KVBase
package import KVCollation
package import KVJSON

/// A query of a collection: a filter, an order, a page, a projection. An immutable value once
/// shared: copies are independent, and it may be used from any thread.
package struct Query: Sendable, Equatable {
  /// One key of the order. Nulls and missing members come first.
  package struct SortKey: Sendable, Equatable {
    /// The member; of a key that is computed, the name that it has in the order.
    package var path: Path
    package var ascending: Bool
    /// The value that is computed in place of a member: the best fit and the nearest place come first.
    let meta: Meta?
    /// The order of strings; nil: by code point.
    package var collation: Collation?

    package init(_ path: Path, ascending: Bool = true, _ collation: Collation? = nil) {
      self.init(path, ascending: ascending, meta: nil)
      self.collation = collation
    }

    init(_ name: Path, _ meta: Meta) { self.init(name, ascending: true, meta: meta) }

    private init(_ path: Path, ascending: Bool, meta: Meta?) {
      (self.path, self.ascending, self.meta) = (path, ascending, meta)
    }

    /// How well entities fit the searches.
    package static let textScore = SortKey(Path("score"), .textScore)

    /// The member; nil if there is none.
    var member: Path? { meta == nil ? path : nil }

    /// The member whose values are ordered as indexes without a collation have them; nil if it is another order.
    var indexedMember: Path? { indexedMember(in: nil) }

    /// The same for indexes with a collation.
    func indexedMember(in order: Collation?) -> Path? {
      collation.hasOrder(of: order) ? member : nil
    }

    /// The key with another name of the member.
    func renamed(_ rename: (Path) -> Path) -> SortKey {
      meta == nil ? SortKey(rename(path), ascending: ascending, collation) : self
    }

    var json: JSONValue {
      let direction = meta?.json ?? .int(ascending ? 1 : -1)
      guard let collation else { return direction }
      return ["$order": direction, "$collation": collation.json]
    }
  }

  package var filter: Predicate = .everything {
    didSet {
      original = nil
      memo.shape = nil
    }
  }
  /// The format it was made from, if it was made from one.
  var original: LegacySDKFilter?
  /// The order; empty: the order of storage. Entities that these leave equal are ordered by their keys.
  package var sort: [SortKey] = []
  package var skip = 0
  package var limit: Int?
  /// The members that are returned besides those that the format reserves. Empty: all.
  package var fields: [Path] = []
  /// The members that are computed of each result, instead of those that entities have under these names.
  package var computed: [ComputedMember] = []
  /// The layout of the records: which of their members are the id, and which are no content.
  package var format = RecordFormat.default
  package var memo = QueryMemo()

  /// Makes a query of everything, in the order of storage.
  package init() {}

  package init(_ filter: Predicate) { self.filter = filter }

  /// The query without order, page and projection: which entities, not how they are returned.
  package var selection: Query {
    var selection = Query(filter)
    selection.original = original
    selection.format = format
    return selection
  }

  /// Whether it shows whole entities of everything that matches, and not a page.
  package var isPaged: Bool { skip > 0 || limit != nil }

  /// The query restricted by one more predicate.
  package func and(_ other: Predicate) -> Query {
    var both = self
    both.filter = filter.and(other)
    both.original = original?.and(other)
    return both
  }
}

// MARK: As text

extension Query {
  /// The filter as canonical JSON: `{}` for everything. The same predicate gives the same text.
  package var filterText: String { filter.json.text }

  /// The order as a JSON object, keys in order; nil without one.
  package var sortText: String? { sort.isEmpty ? nil : sortJSON.text }

  /// The projection as names separated by commas; nil without one.
  package var fieldsText: String? {
    fields.isEmpty ? nil : fields.map(\.text).joined(separator: ",")
  }

  /// `{"filter":…,"sort":…,"skip":…,"limit":…,"fields":…,"computed":…}`; what was not asked for is left out.
  package var text: String {
    var object = JSONObject()
    if filter != .everything { object["filter"] = .object(filter.json) }
    if !sort.isEmpty { object["sort"] = .object(sortJSON) }
    if skip > 0 { object["skip"] = .int(Int64(skip)) }
    if let limit { object["limit"] = .int(Int64(limit)) }
    if !fields.isEmpty { object["fields"] = .array(fields.map { .string($0.text) }) }
    if !computed.isEmpty {
      object["computed"] = .object(JSONObject(computed.map { .init($0.name.text, $0.json) }))
    }
    return object.text
  }

  private var sortJSON: JSONObject {
    JSONObject(sort.map { .init($0.path.text, $0.json) })
  }
}
