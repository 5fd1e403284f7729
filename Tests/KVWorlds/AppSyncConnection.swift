import KVAppSync
import KVBase
import KVJSON
import KVSync
import KVTestSupport
import KVTransport

/// One client's requests and its WebSocket, at the transport that the library uses.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
final class AppSyncConnection: FaultyLine, WorldConnection, @unchecked Sendable {
  private let server: AppSyncWorld
  private let user: String
  private let pageSize: Int
  private var socket: WorldSocket?
  /// How many of the published messages were sent, and those that others overtake.
  private var sent = 0
  private var held: [(field: String, item: JSONValue)] = []
  private var position: LivePosition?
  private let registration = LiveRegistration(userId: nil, device: "d")

  private lazy var parts: (remote: AppSyncRemote, live: AppSyncLive) = {
    var configuration = AppSyncConfiguration(
      endpoint: "http://127.0.0.1/graphql", [.apiKey: .apiKey("k")], usual: .apiKey)
    configuration.pageSize = pageSize
    let remote = AppSyncRemote(AppSyncService(configuration, WorldTransport(self)), server.schema) {
      [unowned server] in Timestamp(milliseconds: server.now)
    }
    return (remote, AppSyncLive(remote, server.schema))
  }()

  init(_ server: AppSyncWorld, _ user: String, random: inout Seed) {
    (self.server, self.user) = (server, user)
    pageSize = Int(1 + random.next() % 5)
    super.init(Seed(random.next()))
  }

  var line: FaultyLine { self }
  var remote: any Remote { parts.remote }

  package override func meetsAbsence() -> Bool {
    guard server.absence > 0 else { return false }
    server.absence -= 1
    return true
  }

  // MARK: Requests

  fileprivate func exchange(_ request: HTTPRequest) throws(StoreError) -> HTTPResponse {
    guard case .bytes(let body)? = request.body.map(\.inMemory),
      let operation = AppSyncWorld.operation(body)
    else { throw StoreError(.internal, "The world does not know this request.") }
    do throws(StoreError) {
      let answer = try exchange(mayDouble: !operation.sendsLists) {
        server.delay(operation, by: user)
      } _: { () throws(StoreError) in
        server.answer(operation, by: user, &random, staleness: weather.staleReads) {
          [unowned self] id in
          versionHere(id).flatMap { Int64($0.text) } ?? 0
        }
      }
      return HTTPResponse(head: HTTPHead(status: 200), body: answer.bytes)
    } catch {
      guard error.kind == .server else { throw error }
      return HTTPResponse(head: HTTPHead(status: 503), body: [])
    }
  }

  // MARK: Messages

  fileprivate func connectedSocket() -> any MessageSocket {
    let socket = WorldSocket()
    // What was said before is not said again.
    (self.socket, sent, held) = (socket, server.published.count, [])
    return socket
  }

  func listen(_ random: inout Seed, all: Bool, _ apply: (LiveChange) throws -> Void) throws {
    let call = Call(deadline: .after(seconds: 0))
    if socket == nil {
      _ = try parts.live.join(.collection(server.collection), registration, call: Call())
    }
    send(&random, all: all)
    while true {
      let poll: LivePoll
      do { poll = try parts.live.poll(registration, from: position, call: call) } catch {
        // What follows comes over another connection.
        socket = nil
        return
      }
      guard case .messages(let messages, let next, _) = poll else { return }
      let isAtEnd = messages.isEmpty && position == next && socket?.isEmpty != false
      position = next
      for message in messages { try apply(message.change) }
      if isAtEnd { return }
    }
  }

  /// Some of what was published goes out: in order or not, twice, or never.
  private func send(_ random: inout Seed, all: Bool) {
    guard let socket else { return }
    let published = server.published
    let end = all ? published.count : min(published.count, sent + Int(random.next() % 4))
    for message in published[sent..<end] {
      switch all ? .max : random.next() % 24 {
      case 0: break
      case 1: for _ in 0..<2 { deliver(message, over: socket) }
      case 2...4: held.append(message)
      case 5: socket.isCut = true
      default: deliver(message, over: socket)
      }
    }
    sent = end
    if all || random.next() % 2 == 0 {
      for message in held.shuffled(using: &random) { deliver(message, over: socket) }
      held = []
    }
  }

  private func deliver(_ message: (field: String, item: JSONValue), over socket: WorldSocket) {
    socket.tell(message.field, message.item)
  }
}

/// The transport of a connection, which owns it.
private struct WorldTransport: AppSyncTransport {
  private unowned let connection: AppSyncConnection

  init(_ connection: AppSyncConnection) { self.connection = connection }

  func exchange(_ request: HTTPRequest, for call: Call) throws(StoreError) -> HTTPResponse {
    try connection.exchange(request)
  }

  func socket(
    _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> any MessageSocket {
    connection.connectedSocket()
  }
}

extension AppSyncWorld.Operation {
  /// Whether it would be merged twice if it came twice.
  var sendsLists: Bool {
    guard case .mutate(_, let input, _) = self else { return false }
    return ["tags", "marks"].contains { input[$0]?.arrayValue != nil }
  }
}

extension HTTPBody {
  fileprivate var inMemory: HTTPBody {
    if case .once(let bytes) = self { .bytes(bytes) } else { self }
  }
}

/// The server's side of a WebSocket: it agrees to everything.
///
/// `@unchecked Sendable`: a simulated world runs on one thread.
private final class WorldSocket: MessageSocket, @unchecked Sendable {
  var isCut = false
  private var waiting: [JSONValue] = []
  /// The fields that are subscribed to, with their ids.
  private var subscriptions: [(id: String, field: String)] = []

  var isEmpty: Bool { waiting.isEmpty && !isCut }

  func tell(_ field: String, _ item: JSONValue) {
    for subscription in subscriptions where subscription.field == field {
      waiting.append([
        "type": "data", "id": .string(subscription.id),
        "payload": ["data": .object(JSONObject([.init(field, item)]))],
      ])
    }
  }

  func receive(
    until deadline: Deadline, cancellation: Cancellation
  ) throws(TransportError) -> [UInt8] {
    guard !waiting.isEmpty else {
      throw isCut ? TransportError(.reset, "Cut.") : .timedOut
    }
    return waiting.removeFirst().bytes
  }

  func send(_ text: [UInt8]) throws(TransportError) {
    guard let message = try? JSONValue(parsing: text) else { return }
    let id = message["id"]?.stringValue ?? ""
    switch message["type"]?.stringValue {
    case "connection_init": waiting.append(["type": "connection_ack"])
    case "start":
      let data = message["payload"]?["data"]?.stringValue ?? ""
      let field = ["onCreateThing", "onUpdateThing", "onDeleteThing"].first {
        data.contains("\($0) ")
      }
      subscriptions.append((id, field ?? ""))
      waiting.append(["type": "start_ack", "id": .string(id)])
    case "stop": subscriptions.removeAll { $0.id == id }
    default: break
    }
  }

  func close() {}
}
