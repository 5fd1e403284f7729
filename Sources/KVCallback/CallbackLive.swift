internal import KVBase
internal import KVJSON
package import KVSync

/// The live data of a backend of callbacks: one long poll for the collections that somebody listens to. There is nothing
/// to register, as there are no users.
package final class CallbackLive: LiveRemote {
  private let backend: CallbackBackend
  private let joined = Monitor<Set<RecordID>>([])

  package init(_ backend: CallbackBackend) { self.backend = backend }

  package func register(
    _ userId: String?, device: String, _ call: Call
  ) throws(StoreError) -> LiveRegistration {
    LiveRegistration(userId: userId, device: device)
  }

  package func unregister(
    _ registration: LiveRegistration, token: String?, _ call: Call
  ) throws(StoreError) {}

  package func join(
    _ topic: LiveTopic, _ registration: LiveRegistration, _ call: Call
  ) throws(StoreError) -> BackendMoment? {
    guard let collection = topic.collection else {
      throw StoreError(.unsupported, "The backend \"\(backend.name)\" has no streams.")
    }
    joined.peek { _ = $0.insert(RecordID(collection)) }
    return nil
  }

  package func leave(
    _ topic: LiveTopic, _ registration: LiveRegistration, _ call: Call
  ) throws(StoreError) {
    guard let collection = topic.collection else { return }
    joined.peek { _ = $0.remove(RecordID(collection)) }
  }

  /// Places are JSON of the backend's.
  package func poll(
    _ registration: LiveRegistration, from place: LivePlace?, _ call: Call
  ) throws(StoreError) -> LivePoll {
    let collections = JSONValue.array(joined.peek { $0.sorted() }.map { .string($0.text) })
    let request = "{\"collections\":\(collections.text),\"after\":\(place?.text ?? "null")}"
    let answer = try backend.ask(.live, request, call)
    guard let next = answer.text(of: "next") else { throw .unfitMember("next", "a token") }
    let changes = try answer.elements("changes")
    var messages: [LiveMessage] = []
    for range in changes { messages.append(try message(answer.object(at: range))) }
    return .messages(
      messages, next: LivePlace(next), isIncomplete: try answer.bool("incomplete"))
  }

  /// A poll finds out.
  package func probe(_ registration: LiveRegistration, _ call: Call) throws(StoreError) {}

  private func message(_ change: BackendAnswer) throws(StoreError) -> LiveMessage {
    guard let collection = try change.text("collection") else {
      throw .unfitMember("collection", "a text")
    }
    // No two messages of a backend are one: what it sends twice is told twice.
    return LiveMessage(
      key: Identifier.request(), topic: .collection(collection), try liveChange(change))
  }

  private func liveChange(_ change: BackendAnswer) throws(StoreError) -> LiveChange {
    let description = backend.description
    if let range = change.range("upsert") {
      let record = try change.record(at: range)
      guard let id = description.format.key(of: record) else { throw .entityWithoutId }
      return .saved(record, id: id, .save)
    }
    guard let id = try change.value("delete") else { throw .neitherUpsertNorDelete }
    guard let key = description.key(ofID: id) else { throw .unfitMember("delete", "an id") }
    return .deleted(id: key, at: nil)
  }
}
