package import KVJSON
package import KVQuery

/// A backend that wraps another one and does something around each request. This protocol forwards every request of
/// `Remote`, so that no layer can forget one.
package protocol RemoteMiddleware: Remote {
  var remote: any Remote { get }

  /// Carries out a request of the wrapped backend.
  func around<R>(_ call: Call, _ request: () throws(StoreError) -> R) throws(StoreError) -> R

  /// The same for a request whose answer is handed over in parts: a layer that repeats it must know that some may have been
  /// taken already.
  func aroundParts<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R
}

extension RemoteMiddleware {
  package func aroundParts<R>(
    _ call: Call, _ request: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    try around(call, request)
  }
}

extension RemoteMiddleware {
  package func format(of collection: String) -> RecordFormat { remote.format(of: collection) }
  package var limits: RemoteLimits { remote.limits }
  package var keepsConditions: Bool { remote.keepsConditions }
  package var keepsTokens: Bool { remote.keepsTokens }
  package func carriesOutOperators(in collection: String) -> Bool {
    remote.carriesOutOperators(in: collection)
  }
  package var evaluatesConditions: Bool { remote.evaluatesConditions }
  package func check(condition: Predicate, in collection: String) throws(StoreError) {
    try remote.check(condition: condition, in: collection)
  }
  package var comparesByLanguage: Bool { remote.comparesByLanguage }
  package var sendsDifferences: Bool { remote.sendsDifferences }
  package var hasOneQueue: Bool { remote.hasOneQueue }
  package var removesByReading: Bool { remote.removesByReading }

  package func find(
    _ query: Query, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    try aroundParts(call) { () throws(StoreError) in
      try remote.find(query, in: collection, call: call, receive: receive)
    }
  }

  package func find(
    ids: [String], in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    try aroundParts(call) { () throws(StoreError) in
      try remote.find(ids: ids, in: collection, call: call, receive: receive)
    }
  }

  package func changes(
    of query: Query, since: BackendMoment, in collection: String, call: Call,
    receive: (ChangeBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    try aroundParts(call) { () throws(StoreError) in
      try remote.changes(of: query, since: since, in: collection, call: call, receive: receive)
    }
  }

  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    try around(call) { () throws(StoreError) in
      try remote.pages(of: query, wish, in: collection, call: call)
    }
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    try aroundParts(call) { () throws(StoreError) in
      try remote.page(
        at: token, of: query, wish: wish, in: collection, call: call, receive: receive)
    }
  }

  package func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd {
    try around(call) { () throws(StoreError) in
      try remote.end(of: pages, query, having: received, in: collection, call: call)
    }
  }

  package func find(
    id: String, in collection: String, call: Call
  ) throws(StoreError) -> [UInt8] {
    try around(call) { () throws(StoreError) in try remote.find(id: id, in: collection, call: call)
    }
  }

  package func count(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> CountAnswer {
    try around(call) { () throws(StoreError) in try remote.count(query, in: collection, call: call)
    }
  }

  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, call: Call
  ) throws(StoreError) -> [JSONObject] {
    try around(call) { () throws(StoreError) in
      try remote.group(wanted, of: query, in: collection, call: call)
    }
  }

  package func remove(
    _ query: Query, in collection: String, call: Call
  ) throws(StoreError) -> Int {
    try around(call) { () throws(StoreError) in try remote.remove(query, in: collection, call: call)
    }
  }
}
