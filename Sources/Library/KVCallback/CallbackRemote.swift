internal import KVBase
package import KVJSON
package import KVSync

/// A backend of callbacks as the engine sees it: asks in JSON, and proves that what comes is an answer.
package final class CallbackRemote: PagewiseRemote {
  let backend: CallbackBackend

  package init(_ backend: CallbackBackend) { self.backend = backend }

  var description: BackendDescription { backend.description }

  package func format(of collection: String) -> RecordFormat { description.format }
  package var pageSize: Int { description.pageSize }
  package var evaluatesQueries: Bool { description.evaluatesQueries }
  package var keepsConditions: Bool { description.keepsConditions }

  package var limits: RemoteLimits {
    var limits = RemoteLimits()
    limits.connections = description.requestsAtOnce
    limits.recordsPerAnswer = .max
    limits.idsPerQuery = description.idsPerRequest
    limits.createsPerRequest = description.writesPerRequest
    limits.writesPerBatch = description.writesPerRequest
    return limits
  }

  // MARK: Reading

  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    let wanted = Set(ids.map { RecordID($0) })
    var request = JSONObjectWriter()
    request.add("collection", .string(collection))
    request.add("ids", .array(ids.map(description.idValue)))
    let answer = try backend.exchange(.fetchIDs, request.bytes, call: call)
    try answer.lendRecords(description.format) { (batch) throws(StoreError) in
      guard try batch.ids().allSatisfy({ wanted.contains(RecordID($0)) }) else {
        throw .badAnswer("The backend sent a record that was not requested.")
      }
      try receive(batch)
    }
    return ReadAnswer()
  }
}
