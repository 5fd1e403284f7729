/// When the operator's service is asked about a request to a collection.
package enum Hook: String, Sendable, CaseIterable {
  case beforeSave = "before-save"
  case afterSave = "after-save"
  case beforeFetch = "before-fetch"
  case afterFetch = "after-fetch"
  case beforeDelete = "before-delete"
  case afterDelete = "after-delete"
}

/// What the operator's service is asked.
package struct LogicCall: Sendable {
  /// The hook's name, or `custom`.
  package var event: String
  package var requestId: String
  /// A JSON object.
  package var body: [UInt8]
}

/// The service's answer.
package struct LogicAnswer: Sendable {
  package var status: Int
  package var body: [UInt8]
  /// Its `Content-Type` and `Location`, which custom endpoints pass on.
  package var contentType: String?
  package var location: String?

  package init(
    status: Int, body: [UInt8], contentType: String? = nil, location: String? = nil
  ) {
    self.status = status
    self.body = body
    self.contentType = contentType
    self.location = location
  }
}

/// Why there is no answer.
package enum LogicFailure: Error {
  /// The limit of simultaneous calls is reached.
  case busy
  /// The service cannot be reached, or has not answered in time. A sentence for the log.
  case unavailable(String)
}

/// The operator's own service: rules that this server does not know. Safe from any thread.
package protocol BusinessLogic: AnyObject, Sendable {
  /// Whether the service wants to be asked.
  func isWanted(_ hook: Hook, on collection: String) -> Bool

  /// The members by which clients may query a collection whose entities `after-fetch` changes; nil: by none.
  func queryable(in collection: String) -> [String]?

  /// Whether it has a custom endpoint of this name.
  func hasEndpoint(_ name: String) -> Bool

  /// Asks, and waits for the answer, for some seconds at the most. What may be repeated is repeated inside.
  func send(_ call: LogicCall) throws(LogicFailure) -> LogicAnswer

  /// Ends the calls under way. Those that come afterwards fail.
  func close()
}
