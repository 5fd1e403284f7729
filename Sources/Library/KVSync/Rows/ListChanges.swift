internal import KVBase
internal import KVJSON

/// The positions whose records change when a list becomes another one.
///
/// To be applied in this order: what is at a deletion or at the `from` of a move, both positions in the old list, is taken
/// out; then what is at the insertions and the `to` of moves is put in, in ascending order of these positions in the new
/// list; then what is at the modifications, positions in the new list too, is read anew.
package struct ListChanges: Sendable, Equatable {
  package struct Move: Sendable, Equatable {
    package var from: Int
    package var to: Int
    package init(from: Int, to: Int) { (self.from, self.to) = (from, to) }
  }

  /// How many records the new list has.
  package var count = 0
  /// The last one first.
  package var deletions: [Int] = []
  /// In ascending order of `to`.
  package var moves: [Move] = []
  package var insertions: [Int] = []
  package var modifications: [Int] = []

  package init() {}

  package var isEmpty: Bool {
    deletions.isEmpty && moves.isEmpty && insertions.isEmpty && modifications.isEmpty
  }

  /// What leads from a list of keys to another one; each key is there once at most. As few as possible are moved.
  /// `isModified`: whether what has the same key at these positions, in the old and the new list, differs.
  package init<Key: Hashable>(
    from old: [Key], to new: [Key], isModified: (Int, Int) -> Bool = { _, _ in false }
  ) {
    count = new.count
    // What both begin with and end with stays where it is.
    let shorter = min(old.count, new.count)
    var start = 0
    while start < shorter, old[start] == new[start] { start += 1 }
    var end = 0
    while end < shorter - start, old[old.count - 1 - end] == new[new.count - 1 - end] { end += 1 }
    var positions: [Key: Int] = [:]
    for to in start..<new.count - end { positions[new[to]] = to }
    var stayed: [Move] = []
    for from in start..<old.count - end {
      if let to = positions.removeValue(forKey: old[from]) {
        stayed.append(Move(from: from, to: to))
      } else {
        deletions.append(from)
      }
    }
    deletions.reverse()
    insertions = positions.values.sorted()
    moves = zip(stayed, stayed.map(\.to).longestRise).filter { !$1 }.map(\.0)
      .sorted { $0.to < $1.to }
    modifications = (0..<start).filter { isModified($0, $0) }
    modifications += stayed.filter { isModified($0.from, $0.to) }.map(\.to).sorted()
    modifications += (new.count - end..<new.count).filter {
      isModified($0 - new.count + old.count, $0)
    }
  }

  /// See kv_results_observe.
  package var json: [UInt8] {
    func list(_ positions: [Int]) -> JSONValue { .array(positions.map { .int(Int64($0)) }) }
    return JSONValue.object([
      "count": .int(Int64(count)), "deletions": list(deletions),
      "moves": .array(moves.map { ["from": .int(Int64($0.from)), "to": .int(Int64($0.to))] }),
      "insertions": list(insertions), "modifications": list(modifications),
    ]).bytes
  }
}
