package import KVBase
package import KVJSON
package import KVModels
package import KVQuery
package import KVSync

/// The models of an API of AppSync whose conflict detection is switched on: see `Remote`.
///
/// A read has the filter in the backend's words, as far as those can say it; what does not match is left out here.
/// Changes are read without: what has left the query is one of them.
package final class AppSyncRemote: PagewiseRemote {
  /// The documents and the record format of one model.
  struct Table: Sendable {
    let format: RecordFormat
    let documents: ModelDocuments
    let records: ModelRecords
    let filters: ModelFilter
    /// In which modes each operation is tried.
    let modes: [ModelOperation: [AuthorizationMode]]
  }

  let service: AppSyncService
  /// The time of this device.
  let now: @Sendable () -> Timestamp
  /// In the order of the schema.
  let tables: [Table]
  private let tablesByName: [RecordID: Table]

  package init(
    _ service: AppSyncService, _ schema: ModelSchema,
    now: @escaping @Sendable () -> Timestamp = { Timestamp.now() }
  ) {
    self.service = service
    self.now = now
    let configuration = service.configuration
    let available = Set(configuration.credentials.keys)
    tables = schema.models.map { model in
      Table(
        format: model.recordFormat, documents: ModelDocuments(model, in: schema),
        records: ModelRecords(model), filters: ModelFilter(model: model),
        modes: Dictionary(
          uniqueKeysWithValues: ModelOperation.allCases.map {
            ($0, model.modes(for: $0, of: available, usual: configuration.usualMode))
          }))
    }
    tablesByName = Dictionary(tables.map { (RecordID($0.documents.model.name), $0) }) {
      first, _ in first
    }
  }

  func table(_ collection: String) throws(StoreError) -> Table {
    guard let table = tablesByName[RecordID(collection)] else {
      throw StoreError(.invalid, "The schema has no model \"\(collection)\".")
    }
    return table
  }

  package func format(of collection: String) -> RecordFormat {
    tablesByName[RecordID(collection)]?.format ?? .default
  }

  /// Each write names the version that it replaces.
  package var keepsConditions: Bool { true }

  /// A write may have the filter that its record has to match.
  package var evaluatesConditions: Bool { true }

  package func check(condition: Predicate, in collection: String) throws(StoreError) {
    _ = try table(collection).filters.condition(condition)
  }

  /// A backend that merges takes what is sent for what was changed.
  package var sendsDifferences: Bool { true }

  /// A parent is created before its children, and deleted after them.
  package var hasOneQueue: Bool { true }

  /// One write after the other, in their order.
  package var limits: RemoteLimits {
    var limits = RemoteLimits()
    limits.recordsPerAnswer = .max
    limits.idsPerQuery = 25
    limits.createsPerRequest = 1
    return limits
  }

  // MARK: Pages

  package var firstPage: PageToken { PageToken("") }
  package var pageSize: Int { service.configuration.pageSize }
  package var evaluatesQueries: Bool { false }

  package func fetch(
    _ query: Query, at token: PageToken, size: Int, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    let table = try table(collection)
    var page = SyncPageRequest(token, size: size)
    page.filter = table.filters.filter(query.filter)
    let answer = try self.page(page, of: table, call)
    let matcher = Matcher(query.filter, of: table.format)
    var count = 0
    try answer.items.withRecords { (batch) throws(StoreError) in
      let selected = try batch.filtered { (record) throws(StoreError) in
        try matcher.selects(record)
      }
      count = selected.count
      try receive(selected)
    }
    return PageAnswer(
      count: count, next: answer.next,
      answer: ReadAnswer(startedAt: answer.moment, mayBeCut: answer.isCut))
  }

  func page(
    _ request: SyncPageRequest, of table: Table, _ call: Call
  ) throws(StoreError) -> SyncPage {
    let variables = request.variables
    let answer = try service.exchange(
      table.documents.sync(variables), variables, in: table.modes[.sync] ?? [], call: call)
    let field = table.documents.syncField
    let page = try answer.withObject(of: field) { (scanner, members) throws(StoreError) in
      try SyncPage(members, of: scanner, format: table.format, hasErrors: !answer.errors.isEmpty)
    }
    guard let page = page ?? nil else {
      if let error = answer.errors.first { throw AppSyncErrors.error(error) }
      throw .badAnswer("The backend's answer has no items of \(field).")
    }
    return page
  }

  // MARK: Ids

  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let table = try table(collection)
    var found: [[UInt8]] = []
    var deletions: [ChangeBatch.Deletion] = []
    for (id, item) in zip(ids, try items(ids, of: table, call)) {
      guard let item else { continue }
      let (record, isDeleted) = table.records.record(of: item)
      if isDeleted {
        deletions.append(.init(id: id, version: table.format.version(of: record)))
      } else {
        found.append(record)
      }
    }
    try RecordBatch.lend(
      found.jsonArray(or: StoreError.noMemory), table.format, deletions: deletions, to: receive)
    return ReadAnswer()
  }

  /// What the backend has under each id, deletions included; nil: nothing.
  func items(
    _ ids: [String], of table: Table, _ call: Call
  ) throws(StoreError) -> [JSONObject?] {
    var keys: [[JSONValue]] = []
    for id in ids { keys.append(try table.values(ofKey: id)) }
    guard !keys.isEmpty else { return [] }
    let (document, variables) = table.documents.get(keys)
    let data = try service.data(
      document, variables, in: table.modes[.get] ?? [], call: call)
    var items: [JSONObject?] = []
    for (number, id) in ids.enumerated() {
      // Only null says that there is none.
      guard let value = data["r\(number)"] else {
        throw .badAnswer("The backend's answer lacks a record that was asked for.")
      }
      let item = value.objectValue
      guard item.map(table.isReadable) ?? value.isNull else {
        throw .badAnswer("The backend sent a record without a key or version.")
      }
      if let item, table.format.key(of: item)?.hasSameBytes(as: id) != true {
        throw .badAnswer("The backend sent a record that was not asked for.")
      }
      items.append(item)
    }
    return items
  }
}

extension AppSyncRemote.Table {
  /// Whether an item says which record it is, and which version of it.
  func isReadable(_ item: JSONObject) -> Bool {
    format.key(of: item) != nil && item["_version"]?.intValue != nil
  }

  func values(ofKey key: String) throws(StoreError) -> [JSONValue] {
    guard let values = format.values(ofKey: key) else {
      throw StoreError(.invalid, "\(key.debugDescription) is no id of a \(documents.model.name).")
    }
    return values
  }
}
