// Answers and messages of an API of AppSync. The first byte of the input says what is asked; the rest is what comes: the body
// of an answer with the status 200, of one with an error, or the messages over the WebSocket, each up to a NUL. Whatever
// comes, the call ends with a result or an error, and what it hands over are records with ids.

import KVAppSync
import KVBase
import KVJSON
import KVModels
import KVQuery
import KVSync
import KVTransport

func fuzzAppSync(_ bytes: UnsafeBufferPointer<UInt8>) {
  guard let schema, let first = bytes.first else { return }
  let given = Array(bytes.dropFirst())
  let api = API(given, status: first & 0x80 == 0 ? 200 : 400 + Int(first & 0x0F))
  var configuration = AppSyncConfiguration(
    endpoint: "http://127.0.0.1/graphql", [.apiKey: .apiKey("k")], usual: .apiKey)
  configuration.pageSize = 2
  let remote = AppSyncRemote(AppSyncService(configuration, api), schema)
  switch first & 7 {
  case 0: _ = try? remote.find(Query(), in: "Task", call: Call(), receive: checked)
  case 1: read(remote)
  case 2: _ = try? remote.find(ids: ["a", "b"], in: "Task", call: Call(), receive: checked)
  case 3: write(.create(record), remote)
  case 4: write(.update(id: "a", record, if: .version(RecordVersion("1")), base: record), remote)
  case 5: write(.delete(id: "a", if: .none), remote)
  default: listen(AppSyncLive(remote, schema))
  }
}

private let record = Array(#"{"id":"a","title":"T","tags":["x"],"_version":1}"#.utf8)

private let schema = try? ModelSchema(
  sdl: """
    type Place { city: String!, zips: [String] }
    type Task @model { id: ID!, title: String!, rank: Int, tags: [String], place: Place }
    """)

/// What is handed over has to be what it says it is.
private func checked(_ batch: RecordBatch) throws(StoreError) {
  for outline in batch.outlines {
    check(outline.id?.isEmpty == false, "a record has no id")
    let record = Array(batch.record(outline))
    check((try? JSONValue(parsing: record))?.objectValue != nil, "a record is no object")
  }
  for deletion in batch.deletions { check(!deletion.id.isEmpty, "a deletion has no id") }
}

private func read(_ remote: AppSyncRemote) {
  let now = BackendMoment(String(Timestamp.now().milliseconds))
  _ = try? remote.changes(of: Query(), since: now, in: "Task", call: Call()) {
    (batch) throws(StoreError) in
    switch batch {
    case .saved(let records): try checked(records)
    case .deleted(let gone): check(gone.allSatisfy { !$0.id.isEmpty }, "a deletion has no id")
    case .left(let ids): check(ids.allSatisfy { !$0.isEmpty }, "what has left has no id")
    }
  }
}

private func write(_ write: RemoteWrite, _ remote: AppSyncRemote) {
  var outcomes = 0
  remote.send([write], in: "Task", call: Call()) { _, outcome in
    outcomes += 1
    switch outcome {
    case .success(.stored(let stored)), .success(.merged(let stored, _)):
      let object = (try? JSONValue(parsing: stored))?.objectValue
      check(object?["id"] == "a", "another record was stored than the one that was written")
    default: break
    }
  }
  check(outcomes == 1, "a write has no outcome, or several")
}

private func listen(_ live: AppSyncLive) {
  let registration = LiveRegistration(userId: nil, device: "d")
  let call = Call(deadline: .after(seconds: 0))
  guard (try? live.join(.collection("Task"), registration, call: call)) != nil else { return }
  var position: LivePosition?
  for _ in 0..<64 {
    guard
      case .messages(let messages, let next, _)? = try? live.poll(
        registration, from: position, call: call)
    else { return }
    position = next
    for message in messages {
      guard case .saved(let record, let id, _) = message.change else { continue }
      check(!id.isEmpty, "a message has no id")
      check((try? JSONValue(parsing: record))?.objectValue != nil, "a message has no record")
    }
  }
}

/// Answers each request, and sends the messages, with what the input has.
private final class API: AppSyncTransport, MessageSocket, Sendable {
  private let body: [UInt8]
  private let status: Int
  private let messages: Monitor<ArraySlice<ArraySlice<UInt8>>>

  init(_ body: [UInt8], status: Int) {
    (self.body, self.status) = (body, status)
    messages = Monitor(body.split(separator: 0)[...])
  }

  func exchange(_ request: HTTPRequest, for call: Call) throws(StoreError) -> HTTPResponse {
    HTTPResponse(head: HTTPHead(status: status), body: body)
  }

  func socket(
    _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> any MessageSocket { self }

  func receive(
    until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> [UInt8] {
    guard let message = messages.withLock({ $0.popFirst() }) else { throw .timedOut }
    return Array(message)
  }

  func send(_ text: [UInt8]) throws(TransportError) {}

  func close() {}
}
