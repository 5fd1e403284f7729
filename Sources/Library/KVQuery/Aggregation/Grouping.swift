internal import KVBase
internal import KVCollation
package import KVJSON

/// An aggregation of a collection's entities in groups: by which members they are grouped, and which
/// numbers are wanted of each group. A value.
///
/// Paths lead through objects, not through arrays: an array is a value like any other, and equal arrays
/// make one group. Missing and null make one group too; so do 1 and 1.0, and texts that a collation finds equal.
package struct Grouping: Sendable, Equatable {
  /// A number about a group. Only numbers count: what is missing or of another type is left out, as
  /// MongoDB's accumulators do.
  package enum Aggregate: Sendable, Hashable {
    /// The number of entities.
    case count
    /// The number of entities that have a number there.
    case numbers(Path)
    /// Exact for integers, as long as 64 bits hold it; 0 of nothing.
    case sum(Path)
    /// Null of nothing, as the two that follow.
    case average(Path)
    case minimum(Path)
    case maximum(Path)

    fileprivate func renamed(by map: KeyMap) -> Aggregate {
      switch self {
      case .count: self
      case .numbers(let path): .numbers(map.renamed(path))
      case .sum(let path): .sum(map.renamed(path))
      case .average(let path): .average(map.renamed(path))
      case .minimum(let path): .minimum(map.renamed(path))
      case .maximum(let path): .maximum(map.renamed(path))
      }
    }

    package var path: Path? {
      switch self {
      case .count: nil
      case .numbers(let path), .sum(let path), .average(let path), .minimum(let path),
        .maximum(let path):
        path
      }
    }
  }

  /// A member of a group's result.
  package struct Member: Sendable, Equatable {
    package var name: String
    package var aggregate: Aggregate
    package init(_ name: String, _ aggregate: Aggregate) {
      self.name = name
      self.aggregate = aggregate
    }
  }

  /// The paths to group by; none: one group of everything.
  package private(set) var keys: [Path]
  /// The names of the keys in a group's result.
  package private(set) var keyNames: [String]
  package var members: [Member]
  /// The order of the keys' texts, and which of them are equal; nil: by code point.
  private(set) var collation: Collation?

  package init(keys: [Path], members: [Member]) {
    self.keys = keys
    keyNames = keys.map(\.text)
    self.members = members
  }

  /// The names of the keys, then of the members: what a group's result consists of.
  package var names: [String] { keyNames + members.map(\.name) }

  /// The grouping in the backend's names; the result keeps the application's.
  package func renamed(by map: KeyMap) -> Grouping {
    var grouping = self
    grouping.keys = keys.map(map.renamed)
    grouping.members = members.map { Member($0.name, $0.aggregate.renamed(by: map)) }
    return grouping
  }

  /// Whether texts that are equal in an order by language make one group.
  package var isCollated: Bool { collation != nil }

  /// The order of the keys' texts, as the member `collation` has it; nil: by code point.
  package var collationJSON: JSONValue? { collation?.json }

  /// The same with the order of a language, as the member `collation` has it.
  package func collated(by collation: JSONValue) throws(QueryError) -> Grouping {
    var grouping = self
    do throws(QueryDecodingError) {
      grouping.collation = try Collation(collation, [])
    } catch {
      throw error.located(in: collation.text)
    }
    return grouping
  }

  /// The paths whose numbers are looked at, each once.
  package var paths: [Path] {
    var known: Set<Path> = []
    return members.compactMap(\.aggregate.path).filter { known.insert($0).inserted }
  }
}

// MARK: From JSON

extension Grouping {
  /// Reads `{"keys":["state"],"aggregates":{"n":"count","mean":{"avg":"population"}}}`: `count` alone, or
  /// one of `sum`, `avg`, `min` and `max` with a path. Either may be left out, not both. There may be a `"collation"` for the keys.
  package init(parsing text: String) throws(QueryError) {
    let value = try parseJSON(text)
    do throws(QueryDecodingError) { self = try Grouping.read(value) } catch {
      throw error.located(in: text)
    }
  }

  private static func read(_ value: JSONValue) throws(QueryDecodingError) -> Grouping {
    guard let object = value.objectValue else {
      throw QueryDecodingError("a grouping must be a JSON object", [])
    }
    for member in object.members where !["keys", "aggregates", "collation"].contains(member.name) {
      throw QueryDecodingError(
        "unknown member \(member.name): a grouping has keys, aggregates and collation",
        [.member(member.name)])
    }
    var grouping = Grouping(
      keys: try keys(object["keys"]), members: try members(object["aggregates"]))
    if let collation = object["collation"] {
      grouping.collation = try Collation(collation, [.member("collation")])
    }
    guard !grouping.names.isEmpty else {
      throw QueryDecodingError("a grouping needs keys or aggregates", [])
    }
    var known: Set<RecordID> = []
    for name in grouping.names where !known.insert(RecordID(name)).inserted {
      throw QueryDecodingError("\(name) would occur twice in the result", [])
    }
    return grouping
  }

  private static func keys(_ value: JSONValue?) throws(QueryDecodingError) -> [Path] {
    guard let value else { return [] }
    guard let names = value.arrayValue else {
      throw QueryDecodingError("keys must be an array of names", [.member("keys")])
    }
    var keys: [Path] = []
    for (index, name) in names.enumerated() {
      guard let name = name.stringValue, !name.isEmpty else {
        throw QueryDecodingError("a key must be a name", [.member("keys"), .element(index)])
      }
      keys.append(Path(name))
    }
    return keys
  }

  private static func members(_ value: JSONValue?) throws(QueryDecodingError) -> [Member] {
    guard let value else { return [] }
    guard let object = value.objectValue else {
      throw QueryDecodingError("aggregates must be an object", [.member("aggregates")])
    }
    var members: [Member] = []
    for member in object.members {
      guard let aggregate = aggregate(member.value), !member.name.isEmpty else {
        throw QueryDecodingError(
          "an aggregate must be \"count\", or sum, avg, min or max with a path: {\"avg\":\"age\"}",
          [.member("aggregates"), .member(member.name)])
      }
      members.append(Member(member.name, aggregate))
    }
    return members
  }

  private static func aggregate(_ value: JSONValue) -> Aggregate? {
    if value == .string("count") { return .count }
    guard let only = value.objectValue?.members, only.count == 1,
      let path = only[0].value.stringValue, !path.isEmpty
    else { return nil }
    return switch only[0].name {
    case "sum": .sum(Path(path))
    case "avg": .average(Path(path))
    case "min": .minimum(Path(path))
    case "max": .maximum(Path(path))
    default: nil
    }
  }
}
