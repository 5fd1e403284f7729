internal import KVCollation
internal import KVJSON

/// The properties of an ordered index's content that decide what it can answer. They are only ever added.
package enum IndexShape: Int64, Sendable, Comparable {
  /// Every entity has one row: a condition on a row is a condition on the entity, and the order of the rows
  /// is the order of the entities.
  case plain = 0
  /// Some entities have several rows, because of arrays.
  case multiple = 1
  /// Something does not fit: a number beyond all doubles, too many combinations. Not used for anything.
  case unusable = 2
  /// Software whose weights of characters differ from those of the index has written since. Not used until it is made anew.
  case outdated = 3

  /// Whether a query may use the index.
  package var isUsable: Bool { self < .unusable }

  package static func < (left: IndexShape, right: IndexShape) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// Finds what of an entity goes into an ordered index. Immutable; safe from any thread.
///
/// One row for each value that a test of the path would look at, as `RawValue.any` visits them: so a test
/// of an entity is the question whether there is a row. With several paths, one for each combination.
///
/// An index whose collation has the weights of another version has no rows here, and every entity makes it outdated.
package final class IndexKeys: Sendable {
  /// The largest number of rows of one entity; more make the index unusable.
  static let maxRows = 10_000

  package let paths: [Path]
  /// The order of texts; nil: by code point.
  private let collation: Collation?
  private let isOutdated: Bool

  package init(_ paths: [Path]) { (self.paths, collation, isOutdated) = (paths, nil, false) }

  package init(_ spec: IndexSpec) {
    (paths, collation, isOutdated) = (spec.paths, spec.collation, spec.isOutdated)
  }

  /// Reads what `text` writes; nil for anything else.
  package init?(parsing text: String) {
    guard var value = try? parseJSON(text) else { return nil }
    if let order = value["collation"] {
      guard let version = value["version"]?.intValue, let names = value["of"] else { return nil }
      collation = try? Collation(order, [])
      isOutdated = collation == nil || version != Int64(Collation.version)
      value = names
    } else {
      (collation, isOutdated) = (nil, false)
    }
    guard let names = value.arrayValue, !names.isEmpty else { return nil }
    paths = names.compactMap(\.stringValue).map { Path($0) }
    guard paths.count == names.count else { return nil }
  }

  /// The paths as a JSON array of names.
  package static func text(of paths: [Path]) -> String { names(of: paths).text }

  /// What says how the keys of an index are made: the paths as a JSON array of names, or, with a collation,
  /// `{"collation":{"locale":"de"},"version":4102,"of":["name"]}`.
  package static func text(of spec: IndexSpec) -> String {
    guard let collation = spec.collation else { return text(of: spec.paths) }
    return JSONValue.object([
      "collation": collation.json, "version": .int(Int64(spec.collationVersion)),
      "of": names(of: spec.paths),
    ]).text
  }

  private static func names(of paths: [Path]) -> JSONValue {
    .array(paths.map { .string($0.text) })
  }

  /// The number of values in a row.
  package var count: Int { paths.count }

  package func shape(of entity: UnsafeRawBufferPointer) -> IndexShape {
    if isOutdated { return .outdated }
    let root = RawValue(entity: entity)
    var shape = IndexShape.plain
    for path in paths {
      guard let value = IndexKeys.plain(root, path) else {
        shape = .multiple
        continue
      }
      // Only a number may have no key in an index.
      if let value, value.kind == .number, IndexValue(value) == nil { return .unusable }
    }
    guard shape == .multiple else { return shape }
    return combinations(of: root) == nil ? .unusable : .multiple
  }

  /// The rows of an entity, each once; none if it makes the index unusable or outdated.
  package func rows(of entity: UnsafeRawBufferPointer) -> [[IndexValue]] {
    isOutdated ? [] : combinations(of: RawValue(entity: entity)) ?? []
  }

  /// How many rows an entity has; several where it is not known.
  package func rowCount(of entity: UnsafeRawBufferPointer) -> Int {
    if isOutdated { return 2 }
    let root = RawValue(entity: entity)
    let isPlain = paths.allSatisfy { path in
      guard let value = IndexKeys.plain(root, path) else { return false }
      guard let value, value.kind == .number else { return true }
      return IndexValue(value) != nil
    }
    return isPlain ? 1 : combinations(of: root)?.count ?? 0
  }

  /// One column of the row of an entity that has one row; nil if it has none.
  package func key(_ column: Int, of entity: UnsafeRawBufferPointer) -> IndexValue? {
    if isOutdated { return nil }
    let root = RawValue(entity: entity)
    if let value = IndexKeys.plain(root, paths[column]), let key = IndexValue(value, collation) {
      return key
    }
    return combinations(of: root)?.first?[column]
  }

  /// What a changed entity does to the rows of an index.
  package enum Change: Int64, Sendable {
    case none = 0
    /// One row takes the place of another one, and neither entity has arrays.
    case oneRow = 1
    case several = 2
  }

  /// What has to be done to the index when one version of an entity replaces another.
  package func change(
    from old: UnsafeRawBufferPointer, to new: UnsafeRawBufferPointer
  ) -> Change {
    if isOutdated { return .several }
    let (before, after) = (RawValue(entity: old), RawValue(entity: new))
    var change = Change.none
    for path in paths {
      guard let from = IndexKeys.plain(before, path), let to = IndexKeys.plain(after, path) else {
        return .several
      }
      // Most changes leave most members as they are, and each text has a key.
      if let from, let to, from.kind == .string, from.hasSameBytes(as: to) { continue }
      guard let old = IndexValue(from, collation), let new = IndexValue(to, collation) else {
        return .several
      }
      if old != new { change = .oneRow }
    }
    return change
  }

  private func combinations(of root: RawValue?) -> [[IndexValue]]? {
    var rows: [[IndexValue]] = [[]]
    for path in paths {
      guard let values = values(root, path) else { return nil }
      if values.count == 1 {
        for index in rows.indices { rows[index].append(values[0]) }
        continue
      }
      guard rows.count * values.count <= IndexKeys.maxRows else { return nil }
      rows = rows.flatMap { row in values.map { row + [$0] } }
    }
    return rows
  }

  /// The key for a path inside an empty array, where a test looks at nothing, not even at a missing value. Behind all
  /// texts, which are blobs in an index with a collation, and before all other blobs, where no test finds it.
  private var nothing: IndexValue {
    .blob(collation == nil ? [] : [RawValue.Kind.object.rawValue - 1])
  }

  /// The different values at a path; nil if one cannot be in an index, or there are too many.
  private func values(_ root: RawValue?, _ path: Path) -> [IndexValue]? {
    if let value = IndexKeys.plain(root, path) { return IndexValue(value, collation).map { [$0] } }
    var seen: Set<IndexValue> = []
    var values: [IndexValue] = []
    var fits = true
    let test = { [collation] (found: RawValue?) -> Bool in
      guard let value = IndexValue(found, collation), values.count < IndexKeys.maxRows else {
        fits = false
        return true
      }
      if seen.insert(value).inserted { values.append(value) }
      return false
    }
    _ = try? RawValue.any(root, at: path.components[...], expanding: true, test)
    return fits ? (values.isEmpty ? [nothing] : values) : nil
  }

  /// The only value at a path, itself nil if it is missing; nil if there may be several, because of an
  /// array on the way or at the end.
  private static func plain(_ root: RawValue?, _ path: Path) -> RawValue?? {
    var value = root
    for component in path.components {
      guard let object = value else { return .some(nil) }
      if object.kind == .array { return nil }
      guard object.kind == .object else { return .some(nil) }
      value = object.member(component.name)
    }
    return value?.kind == .array ? nil : .some(value)
  }
}
