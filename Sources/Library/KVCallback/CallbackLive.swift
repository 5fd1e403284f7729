internal import KVBase
internal import KVJSON
internal import KVSync

/// Live data of a backend of callbacks: its function `live` waits for changes of the subscribed
/// collections. One for each client. Safe from any thread.
///
/// The backend knows no registrations: each request names the collections, and where it goes on from.
final class CallbackLive: LiveRemote {
  private let backend: CallbackBackend
  private let collections = Monitor<Set<RecordID>>([])

  init(_ backend: CallbackBackend) { self.backend = backend }

  func register(
    _ userId: String?, device: String, call: Call
  ) throws(StoreError) -> LiveRegistration {
    collections.withLock { $0 = [] }
    return LiveRegistration(userId: userId, device: device)
  }

  func unregister(
    _ registration: LiveRegistration, token: String?, call: Call
  ) throws(StoreError) {
    collections.withLock { $0 = [] }
  }

  /// Adds a collection to those that are waited for, from the position of the feed on: nothing is missed.
  func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) -> BackendMoment? {
    guard let collection = topic.collection else {
      throw StoreError(.unsupported, "The backend \"\(backend.name)\" has no streams.")
    }
    collections.withLock { _ = $0.insert(RecordID(collection)) }
    return nil
  }

  func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, call: Call
  ) throws(StoreError) {
    guard let collection = topic.collection else { return }
    collections.withLock { _ = $0.remove(RecordID(collection)) }
  }

  func poll(
    _ registration: LiveRegistration, from position: LivePosition?, call: Call
  ) throws(StoreError) -> LivePoll {
    let answer = try backend.exchange(.live, request(from: position), call: call)
    guard let next = answer.text(of: "next") else {
      throw .unfitMember("next", "a position")
    }
    var messages: [LiveMessage] = []
    for (index, range) in try answer.elements("changes").enumerated() {
      let change = try answer.object(at: range)
      messages.append(try message(change, "\(position?.text ?? "") \(index)"))
    }
    return .messages(
      messages, next: LivePosition(next), isIncomplete: try answer.bool("incomplete"))
  }

  /// Asks for the present position, which is answered at once.
  func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {
    _ = try backend.exchange(.live, request(from: nil), call: call)
  }

  private func request(from position: LivePosition?) -> [UInt8] {
    let names = collections.withLock { $0.sorted().map { JSONValue.string($0.text) } }
    var request = JSONObjectWriter()
    request.add("collections", .array(names))
    request.add("after", json: (position?.text ?? "null").utf8)
    return request.bytes
  }

  /// `origin`: the request that it came with, and where in its answer: what is asked for again comes again.
  private func message(
    _ change: AnswerObject, _ origin: String
  ) throws(StoreError) -> LiveMessage {
    guard let name = try change.text("collection") else {
      throw .unfitMember("collection", "a text")
    }
    let (id, version, what) = described(try RecordChange(change, backend.description))
    return LiveMessage(
      key: "\(origin) \(version?.text ?? "") \(id)", topic: .collection(name), change: what)
  }

  private func described(
    _ change: RecordChange
  ) -> (id: String, version: RecordVersion?, LiveChange) {
    switch change {
    case .saved(let record, let id, let version):
      (id, version, .saved(record, id: id, .save))
    case .deleted(let id, let version):
      (id, version, .deleted(id: id, at: version?.text))
    }
  }
}
