internal import KVJSON

/// Chooses the index for a query. Pure: the same query and indexes give the same choice.
struct Planner {
  private let indexes: [UsableIndex]
  private let query: Query
  /// The conjuncts of the filter, split into single tests.
  private let tests: [PlacedTest]
  private let rest: [Predicate]

  init(_ query: Query, _ indexes: [UsableIndex]) {
    self.query = query
    self.indexes = indexes.filter { $0.shape.isUsable && !$0.spec.isOutdated }
    let (tests, rest) = query.filter.conjunction
    self.tests = tests.enumerated().map { PlacedTest($0.element, number: $0.offset) }
    self.rest = rest
  }

  /// The access that finds the rows; nil: a full scan.
  func choose() -> Access? {
    best(accesses(tests, rest) + orders())
  }

  private func best(_ accesses: [Access]) -> Access? {
    accesses.max { rank($0) < rank($1) }
  }

  /// The score, and what is gained by rows that come in order when only the first ones are wanted.
  private func rank(_ access: Access) -> Int {
    guard query.limit != nil, !query.sort.isEmpty, case .range(let range) = access,
      range.isOrdered(by: query.sort)
    else { return access.score }
    return access.score + 45
  }

  /// Indexes that give all entities in order: the first one at once, without reading and sorting the others before.
  private func orders() -> [Access] {
    guard query.filter == .everything, !query.sort.isEmpty else { return [] }
    return indexes.compactMap { index in
      guard case .ordered(let keys) = index.spec.kind else { return nil }
      let range = RangeAccess(index: index, keys: keys, conditions: [], isExact: true)
      return range.isOrdered(by: query.sort) ? .range(range) : nil
    }
  }

  private func accesses(
    _ tests: [PlacedTest], _ rest: [Predicate]
  ) -> [Access] {
    var found = indexes.compactMap { index -> Access? in
      switch index.spec.kind {
      case .ordered:
        return Planner.range(index, tests, isWhole: rest.isEmpty).map { .range($0) }
      case .text(let paths): return words(index, paths, tests: tests, rest: rest)
      case .geo(let path): return Planner.geo(index, path, tests: tests)
      }
    }
    for case .or(let parts) in rest {
      if let union = union(parts, isWhole: rest.count == 1 && tests.isEmpty) { found.append(union) }
    }
    return found
  }

  /// Finds each part by an index; nil if one has none.
  private func union(_ parts: [Predicate], isWhole: Bool) -> Access? {
    var found: [Access] = []
    for part in Predicate.merged(alternatives: parts) {
      let (conjuncts, rest) = part.conjunction
      let tests = conjuncts.map { PlacedTest($0, number: nil) }
      let choices = accesses(tests, rest).map { isWhole ? $0 : $0.inexact }
      guard let choice = choices.max(by: { $0.score < $1.score }) else { return nil }
      found.append(choice)
    }
    let union = found.count == 1 ? found[0] : .union(found)
    return union.fitsIntoStatement ? union : nil
  }

  // MARK: Ordered indexes

  /// Plans the use of an ordered index for tests all of which have to hold. `isWhole`: there are no others.
  private static func range(
    _ index: UsableIndex, _ tests: [PlacedTest], isWhole: Bool
  ) -> RangeAccess? {
    guard case .ordered(let keys) = index.spec.kind else { return nil }
    var columns: [[KeyCondition]] = []
    var used = 0
    var isExact = isWhole
    for key in keys {
      let conditions = tests.filter { $0.path == key.path }.compactMap {
        KeyCondition($0.test, number: $0.number, in: index.spec.collation)
      }
      let chosen = choose(conditions, index.shape)
      guard !chosen.isEmpty else { break }
      columns.append(chosen)
      used += chosen.count
      isExact = isExact && chosen.allSatisfy(\.isExact)
      // Behind a range the columns are in no order.
      guard chosen[0].form != .range else { break }
    }
    guard !columns.isEmpty else { return nil }
    return RangeAccess(
      index: index, keys: keys, conditions: columns, isExact: isExact && used == tests.count)
  }

  // MARK: Words and places

  private func words(
    _ index: UsableIndex, _ paths: [Path], tests: [PlacedTest], rest: [Predicate]
  ) -> Access? {
    for placed in tests {
      guard case .text(let search) = placed.test, !search.isEmpty else { continue }
      let isIndexed =
        paths.isEmpty
        ? !query.format.isReserved(placed.path.top.text) : paths.contains(placed.path)
      if isIndexed, let access = TableAccess.words(search, index) { return access }
    }
    for case .text(let search) in rest where paths.isEmpty && !search.isEmpty {
      if let access = TableAccess.words(search, index) { return access }
    }
    return nil
  }

  private static func geo(
    _ index: UsableIndex, _ path: Path, tests: [PlacedTest]
  ) -> Access? {
    for placed in tests where placed.path == path {
      switch placed.test {
      case .within(let region): return TableAccess.boxes(region.boxes, index)
      case .near(let nearness):
        if let boxes = nearness.boxes { return TableAccess.boxes(boxes, index) }
      default: continue
      }
    }
    return nil
  }

  /// The largest number of conditions: more would be too deep an expression for SQLite, whose limit is 1000.
  private static let maxConditions = 20

  /// The conditions on one column. Where an entity has several rows, each test may be met by another one,
  /// so only one test can be asked of a row. Of very many tests the first have to do.
  private static func choose(_ conditions: [KeyCondition], _ shape: IndexShape) -> [KeyCondition] {
    for form in [KeyCondition.Form.equality, .membership] {
      if let found = conditions.first(where: { $0.form == form }) { return [found] }
    }
    return Array(conditions.prefix(shape == .plain ? maxConditions : 1))
  }
}

/// A test of what is at a path.
private struct PlacedTest {
  let path: Path
  let test: Test
  /// Its place in the filter's conjunction; nil: it is a part of an alternative.
  let number: Int?

  init(_ conjunct: (path: Path, test: Test), number: Int?) {
    (path, test) = conjunct
    self.number = number
  }
}

extension Access {
  /// The access for the case that more is asked than this.
  fileprivate var inexact: Access {
    switch self {
    case .range(let range):
      .range(
        RangeAccess(
          index: range.index, keys: range.keys, conditions: range.conditions, isExact: false))
    case .table: self
    case .union(let parts): .union(parts.map(\.inexact))
    }
  }
}
