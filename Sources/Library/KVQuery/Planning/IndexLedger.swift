internal import KVBase

/// What conditions without an index have cost, and what indexes that were made for such conditions have saved since: which index
/// is worth being made, and which one has to go. Of one file, or of one server's collections; costs are counted in entities that
/// were looked at.
package struct IndexLedger: Sendable {
  /// When an index is made and dropped.
  package struct Rules: Sendable {
    /// Smaller collections are scanned.
    package var minRows = 1_000
    /// How often the scans must have cost more than all entities. Making an index costs four to six scans.
    package var scans = 16
    /// What an entity costs that an index finds.
    package var foundCost = 8
    /// What a changed row costs, of the index or of another table.
    package var changeCost = 4
    /// How many such indexes a collection may have.
    package var maxIndexes = 8
    /// How much of the data they may take, all together: this part, or so many bytes.
    package var maxShare = 4
    package var maxBytes = 16 << 20

    package init() {}

    /// How many bytes they may take, all together. `data`: the size of the file, or of all entities.
    package func allowedBytes(of data: Int) -> Int { max(maxBytes, data / maxShare) }
  }

  /// An index that may be made.
  fileprivate struct Candidate: Sendable {
    /// With what the scans have cost so far.
    var spec: IndexSpec
    /// What scans have cost beyond what they would have cost with it.
    var earned = 0
  }

  /// An index that was made.
  fileprivate struct Account: Sendable {
    let name: RecordID
    let rows: Int
    var credit: Int

    /// One more scan was saved. There is an end to what can be saved up.
    mutating func earn(scans: Int) { credit = min(2 * scans * rows, credit + rows) }
  }

  fileprivate struct Collection: Sendable {
    var candidates = RecentCache<RecordID, Candidate>(capacity: 16)
    /// Nil: they have not been looked for yet.
    var accounts: [Account]?
    /// What is not to be made: it is there, it would be too large, or the application has dropped it.
    var settled: Set<RecordID> = []
  }

  private let rules: Rules
  private var collections: [Int64: Collection] = [:]

  package init(_ rules: Rules = Rules()) { self.rules = rules }

  /// Notes a scan of all rows of a collection that found some of them. Gives the index that is worth being made now.
  package mutating func scanned(
    _ wanted: IndexSpec, in collection: Int64, rows: Int, found: Int
  ) -> IndexSpec? {
    guard rows >= rules.minRows else { return nil }
    let rules = rules
    return collections[collection, default: Collection()].scanned(
      wanted, rows: rows, found: found, rules)
  }

  /// Whether the indexes of a collection were told.
  package func isKnown(_ collection: Int64) -> Bool { collections[collection]?.accounts != nil }

  /// Tells which indexes a collection has that were made so, with the rows that it has.
  package mutating func know(_ names: [String], of collection: Int64, rows: Int) {
    let accounts = names.map { account($0, rows: rows) }
    collections[collection, default: Collection()].accounts = accounts
  }

  /// An index was made.
  package mutating func made(_ name: String, in collection: Int64, rows: Int) {
    refuse(name, in: collection)
    // If the others are not known, this one will be found with them.
    let account = account(name, rows: rows)
    collections[collection]?.accounts?.append(account)
  }

  /// An index is not to be made.
  package mutating func refuse(_ name: String, in collection: Int64) {
    let name = RecordID(name)
    collections[collection, default: Collection()].settled.insert(name)
    collections[collection]?.accounts?.removeAll { $0.name == name }
  }

  /// A query used an index: it saved a scan.
  package mutating func used(_ name: String, in collection: Int64) {
    collections[collection]?.earn(RecordID(name), scans: rules.scans)
  }

  /// Rows were changed. Gives the indexes that cost more than they have saved; they may earn their place again.
  package mutating func changed(_ rows: Int, in collection: Int64) -> [String] {
    collections[collection]?.pay(rows * rules.changeCost) ?? []
  }

  private func account(_ name: String, rows: Int) -> Account {
    let rows = max(rows, rules.minRows)
    return Account(name: RecordID(name), rows: rows, credit: rules.scans * rows)
  }
}

extension IndexLedger.Collection {
  fileprivate mutating func scanned(
    _ wanted: IndexSpec, rows: Int, found: Int, _ rules: IndexLedger.Rules
  ) -> IndexSpec? {
    let name = RecordID(wanted.name)
    guard !settled.contains(name) else { return nil }
    var candidate = candidates.value(for: name) ?? IndexLedger.Candidate(spec: wanted)
    candidate.earned = max(0, candidate.earned + rows - rules.foundCost * found)
    candidate.spec.automatic?.add(examined: rows, returned: found)
    guard candidate.earned >= rules.scans * rows else {
      candidates.keep(candidate, for: name)
      return nil
    }
    // If it is not made now, it has to earn its place anew.
    candidates.remove(name)
    return candidate.spec
  }

  fileprivate mutating func earn(_ name: RecordID, scans: Int) {
    guard let index = accounts?.firstIndex(where: { $0.name == name }) else { return }
    accounts?[index].earn(scans: scans)
  }

  fileprivate mutating func pay(_ cost: Int) -> [String] {
    guard var all = accounts, !all.isEmpty else { return [] }
    for index in all.indices { all[index].credit -= cost }
    let dropped = all.filter { $0.credit < 0 }.map(\.name)
    accounts = all.filter { $0.credit >= 0 }
    settled.subtract(dropped)
    return dropped.map(\.text)
  }
}
