/// The edits of a context that can be undone, in groups.
struct UndoHistory {
  /// One edit of one object; nil: there was none, or it is deleted.
  struct Step: Sendable {
    let id: ObjectID
    let before: [UInt8]?
    let after: [UInt8]?
    let hasNewID: Bool
  }

  private(set) var undoable: [[Step]] = []
  private(set) var redoable: [[Step]] = []
  private var open: [Step] = []
  private var depth = 0

  var isGrouping: Bool { depth > 0 }

  /// Adds an edit to the open group, or as a group of its own.
  mutating func record(_ step: Step) {
    redoable = []
    if depth > 0 { open.append(step) } else { undoable.append([step]) }
  }

  mutating func begin() { depth += 1 }

  /// False: no group is open.
  mutating func end() -> Bool {
    guard depth > 0 else { return false }
    depth -= 1
    if depth == 0, !open.isEmpty {
      undoable.append(open)
      open = []
    }
    return true
  }

  /// The steps to undo, last one first; nil: there are none. An open group counts with what it has so far.
  mutating func takeUndo() -> [Step]? {
    if !open.isEmpty {
      undoable.append(open)
      open = []
    }
    guard let group = undoable.popLast() else { return nil }
    redoable.append(group)
    return group.reversed()
  }

  mutating func takeRedo() -> [Step]? {
    guard let group = redoable.popLast() else { return nil }
    undoable.append(group)
    return group
  }

  /// Forgets all edits. Open groups stay open: their beginners end them.
  mutating func removeAll() { (undoable, redoable, open) = ([], [], []) }

  /// The same with other ids for objects that have got permanent ones.
  mutating func edit(_ edit: (Step) -> Step) {
    undoable = undoable.map { $0.map(edit) }
    redoable = redoable.map { $0.map(edit) }
    open = open.map(edit)
  }
}
