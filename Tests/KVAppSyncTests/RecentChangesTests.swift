import KVBase
import KVJSON
import KVModels
import KVQuery
import KVSync
import KVTransport
import Testing

@testable import KVAppSync

@Suite("What has changed is asked for") struct RecentChangesTests {
  /// An API where nothing has changed.
  private final class Unchanged: AppSyncTransport {
    let requests = Monitor(0)

    func exchange(_ request: HTTPRequest, for call: Call) throws(StoreError) -> HTTPResponse {
      requests.withLock { $0 += 1 }
      let answer: JSONValue = [
        "data": ["syncNotes": ["items": [], "nextToken": .null, "startedAt": 1]]
      ]
      return HTTPResponse(head: HTTPHead(status: 200), body: answer.bytes)
    }

    func socket(
      _ request: WebSocketRequest, until deadline: Deadline, cancellation: Cancellation
    ) throws(TransportError) -> any MessageSocket {
      throw .timedOut
    }
  }

  /// How many requests ask for what has changed since so many seconds ago, by the machine's clock; nil: everything has to
  /// be read.
  private func requests(since seconds: Int64) throws -> Int? {
    let transport = Unchanged()
    var configuration = AppSyncConfiguration(
      endpoint: "http://127.0.0.1/graphql", [.apiKey: .apiKey("k")], usual: .apiKey)
    configuration.syncInterval = 3600
    let schema = try ModelSchema(sdl: "type Note @model { text: String }")
    let remote = AppSyncRemote(AppSyncService(configuration, transport), schema)
    let moment = BackendMoment(String(Timestamp.now().milliseconds - seconds * 1000))
    let answer = try remote.changes(of: Query(), since: moment, in: "Note", call: Call()) { _ in }
    return answer == nil ? nil : transport.requests.withLock { $0 }
  }

  @Test("if the last read is not older than the option syncInterval says, by the machine's clock")
  func interval() throws {
    #expect(try requests(since: 3000) == 1)
    #expect(try requests(since: 4000) == nil)
  }
}
