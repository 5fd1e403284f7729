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
    var out: [(index: Int, row: ObservedRow)] = []
    var into: [Fresh] = []
    var modified: [Fresh] = []
    for (id, fresh) in changed {
      let old = byId[id]
      if let fresh, let old, old.hash != fresh.row.hash { modified.append(fresh) }
      if let fresh, let old, fresh.row.hasSamePosition(as: old) {
        rows[rows.position(of: old)] = fresh.row
      } else {
        if let old { out.append((rows.position(of: old), old)) }
        if let fresh { into.append(fresh) }
      }
      byId[id] = fresh?.row
    }
    out.sort { $0.index > $1.index }
    into.sort { $0.row.precedes($1.row) }
    for (index, _) in out { rows.remove(at: index) }
    var changes = ResultChanges()
    var left: [[UInt8]: Int] = [:]
    for (index, row) in out { left[row.id] = index }
    for fresh in into {
      let index = rows.position(of: fresh.row)
      rows.insert(fresh.row, at: index)
      if let from = left.removeValue(forKey: fresh.row.id) {
        changes.moves.append(.init(id: fresh.row.name, from: from, to: index))
      } else {
        changes.insertions.append(.init(index: index, entity: fresh.shown))
      }
    }
    for (index, row) in out where left[row.id] != nil {
      changes.deletions.append(.init(id: row.name, index: index))
    }
    let isStill = changes.moves.allSatisfy { $0.from == $0.to }
    if isStill, changes.deletions.isEmpty, changes.insertions.isEmpty { changes.moves = [] }
    changes.modifications = modified.map {
      .init(index: rows.position(of: $0.row), entity: $0.shown)
    }
    changes.modifications.sort { $0.index < $1.index }
    changes.count = rows.count
    return changes
  }

  // MARK: As a whole

  /// The result was read anew. `shown` has what is shown of rows that are new or were modified, by index.
  mutating func replace(with new: [ObservedRow], shown: [Int: [UInt8]]) -> ResultChanges {
    let positions = ListChanges(from: rows.map(\.id), to: new.map(\.id))
    var changes = ResultChanges()
    changes.deletions = positions.deletions.map { .init(id: rows[$0].name, index: $0) }
    changes.moves = positions.moves.map { .init(id: new[$0.to].name, from: $0.from, to: $0.to) }
    for (index, entity) in shown.sorted(by: { $0.key < $1.key }) {
      if byId[new[index].id] == nil {
        changes.insertions.append(.init(index: index, entity: entity))
      } else {
        changes.modifications.append(.init(index: index, entity: entity))
      }
    }
    rows = new
    byId = [:]
    for row in new { byId[row.id] = row }
    changes.count = new.count
    return changes
  }
}
