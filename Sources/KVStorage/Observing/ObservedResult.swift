internal import KVSync

/// The rows of an observed result, and what leads from one to the next.
struct ObservedResult {
  /// A row, with what is shown of the entity where that is new.
  struct Fresh {
    let row: ObservedRow
    let shown: [UInt8]
  }

  private(set) var rows: [ObservedRow] = []
  private var byId: [[UInt8]: ObservedRow] = [:]

  func row(_ id: [UInt8]) -> ObservedRow? { byId[id] }

  // MARK: Entity by entity

  /// Some entities were written or have gone: `fresh` is nil for those that are not in the result now. Costs
  /// what they cost, and moving references in an array.
  mutating func apply(_ changed: [(id: [UInt8], fresh: Fresh?)]) -> ResultChanges {
    var out: [(place: Int, row: ObservedRow)] = []
    var into: [Fresh] = []
    var modified: [Fresh] = []
    for (id, fresh) in changed {
      let old = byId[id]
      if let fresh, let old, old.hash != fresh.row.hash { modified.append(fresh) }
      if let fresh, let old, fresh.row.isInPlace(of: old) {
        rows[rows.place(of: old)] = fresh.row
      } else {
        if let old { out.append((rows.place(of: old), old)) }
        if let fresh { into.append(fresh) }
      }
      byId[id] = fresh?.row
    }
    out.sort { $0.place > $1.place }
    into.sort { $0.row.precedes($1.row) }
    for (place, _) in out { rows.remove(at: place) }
    var changes = ResultChanges()
    var left: [[UInt8]: Int] = [:]
    for (place, row) in out { left[row.id] = place }
    for fresh in into {
      let place = rows.place(of: fresh.row)
      rows.insert(fresh.row, at: place)
      if let from = left.removeValue(forKey: fresh.row.id) {
        changes.moves.append(.init(id: fresh.row.name, from: from, to: place))
      } else {
        changes.insertions.append(.init(index: place, entity: fresh.shown))
      }
    }
    for (place, row) in out where left[row.id] != nil {
      changes.deletions.append(.init(id: row.name, index: place))
    }
    let isStill = changes.moves.allSatisfy { $0.from == $0.to }
    if isStill, changes.deletions.isEmpty, changes.insertions.isEmpty { changes.moves = [] }
    changes.modifications = modified.map { .init(index: rows.place(of: $0.row), entity: $0.shown) }
    changes.modifications.sort { $0.index < $1.index }
    changes.count = rows.count
    return changes
  }

  // MARK: As a whole

  /// The result was read anew. `shown` has what is shown of rows that are new or were modified, by place.
  mutating func replace(with new: [ObservedRow], shown: [Int: [UInt8]]) -> ResultChanges {
    var changes = ResultChanges()
    var places: [[UInt8]: Int] = [:]
    for (place, row) in new.enumerated() { places[row.id] = place }
    // Where the rows that stay are now, in their old order; and where they were.
    var stayed: [(from: Int, to: Int)] = []
    for (from, row) in rows.enumerated() {
      if let to = places[row.id] {
        stayed.append((from, to))
      } else {
        changes.deletions.append(.init(id: row.name, index: from))
      }
    }
    changes.deletions.reverse()
    let still = Self.longestRise(stayed.map(\.to))
    for (place, pair) in stayed.enumerated() where !still[place] {
      changes.moves.append(.init(id: new[pair.to].name, from: pair.from, to: pair.to))
    }
    changes.moves.sort { $0.to < $1.to }
    for (place, entity) in shown.sorted(by: { $0.key < $1.key }) {
      if byId[new[place].id] == nil {
        changes.insertions.append(.init(index: place, entity: entity))
      } else {
        changes.modifications.append(.init(index: place, entity: entity))
      }
    }
    rows = new
    byId = [:]
    for row in new { byId[row.id] = row }
    changes.count = new.count
    return changes
  }

  /// Which elements belong to a longest part that rises: those need not be moved.
  private static func longestRise(_ values: [Int]) -> [Bool] {
    // The place of the smallest last value of a rise of each length; what comes before each place.
    var ends: [Int] = []
    var before = [Int?](repeating: nil, count: values.count)
    for (place, value) in values.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = low + (high - low) / 2
        if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
      }
      before[place] = low > 0 ? ends[low - 1] : nil
      if low == ends.count { ends.append(place) } else { ends[low] = place }
    }
    var isPart = [Bool](repeating: false, count: values.count)
    var next = ends.last
    while let place = next {
      isPart[place] = true
      next = before[place]
    }
    return isPart
  }
}
