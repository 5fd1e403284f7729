import KVBase
import KVJSON
import KVSync

/// What the program of one client was told of its writes, to compare it with what became of them on the backend.
///
/// Each write puts numbers into an entity that no other write of that entity has: its marks. A write that a call has
/// acknowledged may end in three ways only: the backend had it at some moment; the same program, which still saw it here, wrote
/// something else over it; or the program was told that it was given up, by an event with it, or because the program gave it up
/// itself. The rest is *unsaid*. So is what a write has replaced on the backend if its program never saw that and was not told.
///
/// It asks for no reason and knows no strategy: what may happen is the business of the rooms.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
final class WriteLedger: @unchecked Sendable {
  /// A number that a write has put into a member.
  struct Mark: Hashable {
    let member: String
    let number: Int64
  }

  private struct Write {
    let id: String
    /// Nil: a deletion.
    let mark: Mark?
    /// How long the history of the backend was when it was acknowledged.
    let since: Int
  }

  private struct Shown: Hashable {
    let id: String
    let mark: Mark
  }

  private let user: String
  /// The acknowledged writes of which nothing is known yet.
  private var open: [Write] = []
  /// What the program has seen here, has written itself, or was told of.
  private var shown: Set<Shown> = []
  /// What the program wrote past the queue, and so over whatever was there; nil: deletions.
  private var unqueued: [String: Set<Mark?>] = [:]
  /// What the events of the call under way have told.
  private(set) var discardedInCall = 0
  private(set) var overwrittenInCall = 0

  init(user: String) { self.user = user }

  static func marks(in entity: JSONObject?) -> Set<Mark> {
    var marks: Set<Mark> = []
    for member in ["value", "by", "note"] {
      if let number = entity?[member]?.intValue {
        marks.insert(Mark(member: member, number: number))
      }
    }
    for number in entity?["marks"]?.arrayValue ?? [] {
      if let number = number.intValue { marks.insert(Mark(member: "marks", number: number)) }
    }
    return marks
  }

  private static func marks(in bytes: [UInt8]?) -> Set<Mark> {
    marks(in: bytes.flatMap { try? JSONValue(parsing: $0).objectValue })
  }

  // MARK: What the program does and sees

  /// The program sees an entity here.
  func see(_ id: String, _ entity: JSONObject?) {
    for mark in Self.marks(in: entity) { shown.insert(Shown(id: id, mark: mark)) }
  }

  /// The program calls a function that writes: until it answers, what is written may be sent, replaced and given up already.
  /// `new` nil: a deletion. `since`: how long the history of the backend is.
  func begin(_ id: String, _ new: JSONObject?, over here: JSONObject?, since: Int) {
    see(id, new)
    for mark in Self.written(new, over: here) {
      open.append(Write(id: id, mark: mark, since: since))
    }
  }

  /// The call has failed: the program does not count on what it wrote.
  func withdraw(_ id: String, _ new: JSONObject?, over here: JSONObject?) {
    let marks = Self.written(new, over: here)
    open.removeAll { $0.id == id && marks.contains($0.mark) }
  }

  private static func written(_ new: JSONObject?, over here: JSONObject?) -> Set<Mark?> {
    new.map { Set(marks(in: $0).subtracting(marks(in: here)).map { $0 }) } ?? [nil]
  }

  /// A write has taken the place of what was here, whether or not the call succeeded.
  func supersede(_ id: String, _ here: JSONObject?, by new: JSONObject?) {
    let gone = Self.marks(in: here).subtracting(Self.marks(in: new))
    open.removeAll { write in
      guard write.id == id else { return false }
      return write.mark.map { gone.contains($0) } ?? (here == nil && new != nil)
    }
  }

  /// The program writes past the queue, over whatever is there.
  func bypassQueue(_ id: String, _ new: JSONObject?) {
    see(id, new)
    let marks = Self.marks(in: new)
    unqueued[id, default: []].formUnion(new == nil ? [nil] : marks.map { $0 })
  }

  /// The program has what the backend stores in answer to a write past the queue: where the API merges, perhaps without a part of it.
  func answered(_ id: String, _ entity: JSONObject, with stored: JSONObject?) {
    see(id, stored)
    let left = Self.marks(in: entity).subtracting(Self.marks(in: stored))
    open.removeAll { write in write.id == id && write.mark.map { left.contains($0) } ?? false }
  }

  // MARK: What the program is told

  func beginCall() { (discardedInCall, overwrittenInCall) = (0, 0) }

  func discarded(_ id: String, ours: [UInt8]?, theirs: [UInt8]?) {
    discardedInCall += 1
    giveUp(id, ours)
    tell(id, theirs)
  }

  func overwritten(_ id: String, _ theirs: [UInt8]?) {
    overwrittenInCall += 1
    tell(id, theirs)
  }

  /// The program knows what others have made of an entity.
  func tell(_ id: String, _ theirs: [UInt8]?) {
    for mark in Self.marks(in: theirs) { shown.insert(Shown(id: id, mark: mark)) }
  }

  /// The program knows that a write is given up; nil: a deletion.
  func giveUp(_ id: String, _ ours: [UInt8]?) {
    let marks = Self.marks(in: ours)
    open.removeAll { write in
      guard write.id == id else { return false }
      return write.mark.map { marks.contains($0) } ?? (ours == nil)
    }
  }

  /// The process has died in a call, whose answer and events it did not hear, so that it knows nothing of what it does not find
  /// any more.
  func die(_ history: ArraySlice<WorldChange>, isStillThere: (String, Mark?) -> Bool) {
    open.removeAll { !isStillThere($0.id, $0.mark) }
    for change in history where change.user == user { see(change.id, change.before) }
  }

  // MARK: The end

  /// What became of writes without a word. `tellsReplaced`: whether what was replaced unseen is to be told; nothing
  /// can tell it on a backend that refuses nothing.
  func unsaid(_ history: [WorldChange], tellsReplaced: Bool) -> [String] {
    let lost = open.filter { !hasReached($0, history) }.map { write in
      "unsaid: \(user)'s \(write.mark.map { "\($0.member) \($0.number)" } ?? "deletion") of \(write.id)"
    }
    guard tellsReplaced else { return lost }
    let replaced = history.filter { $0.user == user }.flatMap(replacedUnsaid)
    return lost + replaced
  }

  private func hasReached(_ write: Write, _ history: [WorldChange]) -> Bool {
    guard let mark = write.mark else {
      let changes = history.enumerated().filter { $0.element.id == write.id }
      let isThere =
        changes.last { $0.offset < write.since }.map { $0.element.after != nil } ?? false
      return !isThere || changes.contains { $0.offset >= write.since && $0.element.after == nil }
    }
    return history.contains { $0.id == write.id && Self.marks(in: $0.after).contains(mark) }
  }

  private func replacedUnsaid(_ change: WorldChange) -> [String] {
    let after = Self.marks(in: change.after)
    let bypassing = unqueued[change.id] ?? []
    if change.after == nil ? bypassing.contains(nil) : after.contains(where: bypassing.contains) {
      return []
    }
    return Self.marks(in: change.before).subtracting(after)
      .filter { !shown.contains(Shown(id: change.id, mark: $0)) }
      .map { mark in
        let done = change.after == nil ? "deleted" : "replaced"
        return "unsaid: \(user) \(done) \(mark.member) \(mark.number) of \(change.id), unseen"
      }
  }
}
