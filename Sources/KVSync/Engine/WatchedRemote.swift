package import KVJSON
package import KVQuery

/// A backend each of whose answers, and silences, tells whether it can be reached.
package final class WatchedRemote: Remote {
  private let remote: any Remote
  private let connectivity: Connectivity

  package init(_ remote: any Remote, _ connectivity: Connectivity) {
    self.remote = remote
    self.connectivity = connectivity
  }

  package var connections: Int { remote.connections }
  package var keepsConditions: Bool { remote.keepsConditions }

  package func find(
    _ query: Query, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    try connectivity.noting { () throws(StoreError) in
      try remote.find(query, in: collection, call, receive: receive)
    }
  }

  package func changes(
    of query: Query, since: String, in collection: String, _ call: Call,
    receive: (UnsafeRawBufferPointer) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer? {
    try connectivity.noting { () throws(StoreError) in
      try remote.changes(of: query, since: since, in: collection, call, receive: receive)
    }
  }

  package func find(
    id: String, in collection: String, _ call: Call
  ) throws(StoreError) -> [UInt8] {
    try connectivity.noting { () throws(StoreError) in
      try remote.find(id: id, in: collection, call)
    }
  }

  package func count(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> CountAnswer {
    try connectivity.noting { () throws(StoreError) in
      try remote.count(query, in: collection, call)
    }
  }

  package func group(
    _ wanted: RemoteGroups, of query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> JSONValue {
    try connectivity.noting { () throws(StoreError) in
      try remote.group(wanted, of: query, in: collection, call)
    }
  }

  package func remove(
    _ query: Query, in collection: String, _ call: Call
  ) throws(StoreError) -> Int {
    try connectivity.noting { () throws(StoreError) in
      try remote.remove(query, in: collection, call)
    }
  }

  package func send(
    _ writes: [RemoteWrite], in collection: String, _ call: Call,
    outcome: (Int, Result<RemoteOutcome, StoreError>) -> Void
  ) {
    remote.send(writes, in: collection, call) { place, result in
      if case .failure(let error) = result {
        connectivity.note(error)
      } else {
        connectivity.note(nil)
      }
      outcome(place, result)
    }
  }
}
