internal import KVBase
internal import KVQuery
internal import KVSync
internal import KVTransport
internal import Synchronization

/// Records what the backend has shown that it can do beyond the protocol. Safe from any thread.
///
/// Only what an answer has shown counts: another backend would ignore a condition, and may take a batch for anything. What
/// was shown once is remembered from one start of the program to the next.
final class BackendExtensions: Sendable {
  /// What is remembered.
  private struct Facts: OptionSet {
    let rawValue: UInt8
    /// Its answers have the headers that tell them from those of others.
    static let marks = Facts(rawValue: 1)
    /// It keeps the conditions of writes.
    static let conditions = Facts(rawValue: 2)
    /// It recognises repeated writes by their tokens.
    static let tokens = Facts(rawValue: 4)

    /// It carries out operators on what it has.
    static let operators = Facts(rawValue: 8)

    private static let names: [(fact: Facts, name: String)] = [
      (.marks, "marks"), (.conditions, "conditions"), (.tokens, "tokens"),
      (.operators, "operators"),
    ]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Reads the names of facts with spaces between. An unknown one is of a later version.
    init(_ text: String) {
      let words = text.split(separator: " ")
      self = Facts(
        Self.names.filter { fact in words.contains { $0 == fact.name } }.map { $0.fact })
    }

    var text: String {
      Self.names.filter { contains($0.fact) }.map { $0.name }.joined(separator: " ")
    }
  }

  private let facts: Atomic<UInt8>
  /// 0: unknown.
  private let entityBytes = Atomic(0)
  /// The version of the weights that it orders texts with; 0: it has not told.
  private let collation = Atomic(0)
  /// 0: none was announced; -1: it was, and then refused.
  private let batch = Atomic(0)
  /// The collections for which it has refused operators, although it had announced them.
  private let refusingOperators = Monitor<Set<RecordID>>([])
  private let memory: BackendMemory
  private let remembering = Monitor(())

  init(_ memory: BackendMemory = .none) {
    self.memory = memory
    let remembered = memory.recall() ?? ""
    facts = Atomic(Facts(remembered).rawValue)
    entityBytes.store(Self.number(after: Self.entityWord, in: remembered), ordering: .relaxed)
    collation.store(Self.number(after: Self.collationWord, in: remembered), ordering: .relaxed)
  }

  private static let entityWord = "entity="
  private static let collationWord = "collation="

  /// The number that a word ends with; 0 if there is no such word.
  private static func number(after prefix: String, in text: String) -> Int {
    let word = text.split(separator: " ").first { $0.hasPrefix(prefix) }
    return word.flatMap { Int($0.dropFirst(prefix.count)) } ?? 0
  }

  private var known: Facts { Facts(rawValue: facts.load(ordering: .relaxed)) }

  /// Whether it keeps the conditions of writes.
  var keepsConditions: Bool { known.contains(.conditions) }

  /// Whether it recognises repeated writes by their tokens.
  var keepsTokens: Bool { known.contains(.tokens) }

  /// Whether it carries out operators on what it has, once for each token.
  func carriesOutOperators(in collection: String) -> Bool {
    known.isSuperset(of: [.operators, .tokens])
      && !refusingOperators.withLock { $0.contains(RecordID(collection)) }
  }

  /// How many bytes an entity may have; nil: it has not told.
  var maxEntityBytes: Int? {
    let bytes = entityBytes.load(ordering: .relaxed)
    return bytes > 0 ? bytes : nil
  }

  /// Whether it orders texts by language as this library does.
  var comparesByLanguage: Bool {
    collation.load(ordering: .relaxed) == Query.collationVersion
  }

  /// How many writes a batch may have; 1: batches are not supported.
  var maxBatchWrites: Int { max(1, batch.load(ordering: .relaxed)) }

  /// Whether an answer lacks the headers that all answers of the backend have: then something in between has sent it.
  func isForeign(_ head: HTTPHead) -> Bool {
    known.contains(.marks) && !Provenance.isMarked(head)
  }

  /// Records what the head of any answer shows.
  func observe(_ head: HTTPHead) {
    guard !isForeign(head) else { return }
    var shown: Facts = []
    if Provenance.isMarked(head) { shown.insert(.marks) }
    if let most = head["X-Kvstored-Max-Entity"].flatMap({ Int($0) }),
      most >= RemoteLimits.bytesOfAnyEntity
    {
      note(most, in: entityBytes)
    }
    if let version = Self.collation(of: head) { note(version, in: collation) }
    let keepsTokens = head["X-Kvstored-Write-Tokens"] != nil
    if keepsTokens { shown.insert(.tokens) }
    let operators = head["X-Kvstored-Operators"] != nil
    if operators { shown.insert(.operators) }
    if let text = head["X-Kvstored-Batch"], let count = Int(text), count > 1 {
      _ = batch.compareExchange(expected: 0, desired: count, ordering: .relaxed)
      // Each write of a batch may have one.
      shown.insert(.conditions)
      // An older version of the server has taken its place.
      var refuted: Facts = []
      if !keepsTokens { refuted.insert(.tokens) }
      if !operators { refuted.insert(.operators) }
      return learn(shown, refuted)
    }
    learn(shown, [])
  }

  /// Records what the head of an answer to a write shows: one that names the entity's revision is of a backend that compares it.
  /// `isStored`: the answer to an update that was carried out. If the backend does not name its revision, another one stands
  /// at its address now.
  func observe(write head: HTTPHead, isStored: Bool) {
    observe(head)
    guard !isForeign(head) else { return }
    if head.hasRevision {
      learn(.conditions, [])
    } else if isStored, Provenance.isMarked(head), head["X-Kvstored-Batch"] == nil {
      learn([], [.conditions, .tokens, .operators])
      note(0, in: entityBytes)
      note(0, in: collation)
    }
  }

  /// Whether the answer to a query with an order by language shows that the backend does not order texts as this library does: it
  /// names other weights, or none, or refuses the words.
  func refutesOrder(_ head: HTTPHead) -> Bool {
    guard head.isSuccess || head.status == 400, !isForeign(head),
      Self.collation(of: head) != Query.collationVersion
    else { return false }
    note(Self.collation(of: head) ?? 0, in: collation)
    return true
  }

  private static func collation(of head: HTTPHead) -> Int? {
    head["X-Kvstored-Collation"].flatMap { Int($0) }
  }

  /// Batches were announced, and are refused all the same: perhaps by a proxy.
  func refusedBatch() { batch.store(-1, ordering: .relaxed) }

  /// Operators were announced, and are refused all the same: by business logic that decides what readers of the collection see, or
  /// by a proxy that does not know the method.
  func refusedOperators(in collection: String) {
    refusingOperators.withLock { _ = $0.insert(RecordID(collection)) }
  }

  private func learn(_ shown: Facts, _ refuted: Facts) {
    let now = known
    guard now.union(shown).subtracting(refuted) != now else { return }
    remembering.withLock { _ in
      facts.bitwiseOr(shown.rawValue, ordering: .relaxed)
      facts.bitwiseAnd(~refuted.rawValue, ordering: .relaxed)
      remember()
    }
  }

  private func note(_ number: Int, in fact: borrowing Atomic<Int>) {
    guard fact.load(ordering: .relaxed) != number else { return }
    remembering.withLock { _ in
      fact.store(number, ordering: .relaxed)
      remember()
    }
  }

  /// Called with the lock of `remembering`.
  private func remember() {
    var words = known.text.isEmpty ? [] : [known.text]
    for (word, fact) in [
      (Self.entityWord, maxEntityBytes ?? 0),
      (Self.collationWord, collation.load(ordering: .relaxed)),
    ] where fact > 0 {
      words.append(word + String(fact))
    }
    memory.remember(words.joined(separator: " "))
  }
}

extension HTTPHead {
  /// Whether the answer names the entity's revision: its `_kmd.lmt`, as `If-Match` takes it. A tag of
  /// another kind is made by a server that knows nothing of conditional writes.
  fileprivate var hasRevision: Bool {
    guard let tag = self["ETag"], tag.utf8.first == UInt8(ascii: "\""), tag.utf8.count > 2 else {
      return false
    }
    return Timestamp(tag.dropFirst().dropLast()) != nil
  }
}
