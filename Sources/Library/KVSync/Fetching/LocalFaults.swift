internal import KVBase
internal import KVJSON
internal import KVQuery

/// Records that the backend has listed: what the local store has in the listed version is read there; the others of a batch
/// are asked of the backend first, together, once.
final class LocalFaults: RecordSource {
  private struct State {
    /// Row 0, which no record has, while the record is not known to be here, and if it is not there any more.
    var rows: RecordRows
    /// Whether a record need not be asked for.
    var isHere: [Bool]
  }

  /// How many records are looked for by one transaction.
  private static let recordsAtOnce = 1_000

  private let engine: CollectionEngine
  private let local: any LocalStore
  private let remote: LocalFilteringRemote
  private let listed: ListedRecords
  private let form: RecordForm
  private let later: CollectionEngine.LaterRead
  private let state: Monitor<State>

  init(
    _ engine: CollectionEngine, _ local: any LocalStore, remote: LocalFilteringRemote,
    listed: ListedRecords, form: RecordForm, later: @escaping CollectionEngine.LaterRead
  ) throws(StoreError) {
    self.engine = engine
    self.local = local
    self.remote = remote
    self.listed = listed
    self.form = form
    self.later = later
    state = Monitor(try Self.state(of: listed, local, engine.collection))
  }

  var count: Int { listed.count }
  var isKept: Bool { false }

  func read(_ range: Range<Int>, maxBytes: Int) throws(StoreError) -> FetchedBatch {
    try state.withLock { (state) throws(StoreError) in
      let missing = range.filter { !state.isHere[$0] }
      var failure: StoreError?
      if !missing.isEmpty {
        do throws(StoreError) { try fetch(missing, &state) } catch { failure = error }
      }
      let batch = try local.read(
        state.rows, at: range, as: form, in: engine.collection, maxBytes: maxBytes)
      guard let failure else { return batch }
      for position in missing where batch.range.contains(position) {
        batch.setMissing(failure, at: position)
      }
      return batch
    }
  }

  private func fetch(_ missing: [Int], _ state: inout State) throws(StoreError) {
    let ids = missing.map { listed.id(at: $0) }
    var versions: [RecordID: RecordVersion?] = [:]
    try later { (options) throws(StoreError) in
      let call = options.impatient.call
      try Refresher(engine, local, remote: remote, call: call).refresh(ids) {
        versions[$0] = $1.version
      }
    }
    let rows = try local.rows(of: ids, in: engine.collection)
    state.rows.move(to: rows.table)
    for (index, position) in missing.enumerated() {
      let version = versions[RecordID(ids[index])] ?? nil
      state.rows.replace(
        at: position, by: rows, index, isChanged: !listed.isVersion(version, at: position))
      state.isHere[position] = true
    }
  }

  /// What is here already of the records.
  private static func state(
    of listed: ListedRecords, _ local: any LocalStore, _ collection: String
  ) throws(StoreError) -> State {
    var state = State(rows: RecordRows(table: 0), isHere: [])
    for some in Array(0..<listed.count).chunks(of: recordsAtOnce) {
      let ids = some.map { listed.id(at: $0) }
      let versions = try local.backendVersions(of: ids, in: collection)
      let rows = try local.rows(of: ids, in: collection)
      state.rows.move(to: rows.table)
      for (index, position) in some.enumerated() {
        let isHere = rows.has(index) && listed.isVersion(versions[index], at: position)
        try state.rows.append(rows, isHere ? index : nil)
        state.isHere.append(isHere)
      }
    }
    return state
  }
}
