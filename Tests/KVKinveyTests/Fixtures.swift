import KVBase
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import KVTransport
import Testing

/// A backend that answers by script, and what speaks to it.
struct Backend {
  let server: ScriptedServer
  let service: KinveyService
  var remote: KinveyRemote { KinveyRemote(service) }
  var users: KinveyUsers { KinveyUsers(service) }

  /// The one request that has come in.
  var request: ScriptedRequest {
    get throws { try #require(server.requests.count == 1 ? server.requests.first : nil) }
  }
}

/// Runs `body` against a backend on which the user of the token `tok` is active.
func withBackend(
  token: String? = "tok", change: (inout KinveyConfiguration) -> Void = { _ in },
  memory: BackendMemory = .none,
  _ reply: @escaping @Sendable (ScriptedRequest) -> ScriptedReply,
  run body: (Backend) throws -> Void
) throws {
  try withScript(token: token, change: change, memory: memory) {
    $1.send(reply($0))
  } run: {
    try body($0)
  }
}

/// The same with full command over the connection.
func withScript(
  token: String? = "tok", change: (inout KinveyConfiguration) -> Void = { _ in },
  memory: BackendMemory = .none,
  _ script: @escaping ScriptedServer.Script, run body: (Backend) throws -> Void
) throws {
  let server = try ScriptedServer(script)
  defer { server.stop() }
  let transport = try Transport(TransportOptions(proxy: ""))
  defer { transport.close() }
  var configuration = KinveyConfiguration(
    host: server.url + "/", appKey: "kid_x1", appSecret: "sec", version: "1.2.3")
  change(&configuration)
  let service = try KinveyService(
    configuration, transport, session: { token }, memory: { _ in memory })
  try body(Backend(server: server, service: service))
}

/// What a call throws; nil if it succeeds.
func failure<R>(_ body: () throws(StoreError) -> R) -> StoreError? {
  do throws(StoreError) {
    _ = try body()
    return nil
  } catch {
    return error
  }
}

extension KinveyRemote {
  /// All that a find brings, as one array.
  func read(
    _ query: Query = Query(), _ call: Call = Call()
  ) throws(StoreError) -> (text: String, answer: ReadAnswer) {
    var texts: [String] = []
    let answer = try find(query, in: "notes", call: call) { batch in
      texts += batch.outlines.map { String(decoding: batch.record($0), as: UTF8.self) }
    }
    return ("[\(texts.joined(separator: ","))]", answer)
  }

  /// All outcomes of a push, by index.
  func outcomes(
    _ writes: [RemoteWrite], _ call: Call = Call()
  ) -> [Int: Result<RemoteOutcome, StoreError>] {
    var outcomes: [Int: Result<RemoteOutcome, StoreError>] = [:]
    send(writes, in: "notes", call: call) { outcomes[$0] = $1 }
    return outcomes
  }

  func outcome(_ write: RemoteWrite) -> Result<RemoteOutcome, StoreError>? {
    outcomes([write])[0]
  }
}

extension Result {
  var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
  var value: Success? { if case .success(let value) = self { value } else { nil } }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
