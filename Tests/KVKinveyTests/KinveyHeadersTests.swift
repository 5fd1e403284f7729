import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("What every request says") struct KinveyHeadersTests {
  @Test("The headers of a read")
  func headers() throws {
    try withBackend { _ in
      ScriptedReply(200, "[]")
    } run: { backend in
      _ = try backend.remote.read()
      let request = try backend.request
      #expect(request["Authorization"] == "Kinvey tok")
      #expect(request["Accept"] == "application/json")
      #expect(request["User-Agent"] == "libkvstore/1.2.3")
      #expect(request["X-Kinvey-API-Version"] == "5")
      #expect(request["X-Kinvey-Client-App-Version"] == nil)
      #expect(request["X-Kinvey-Custom-Request-Properties"] == nil)
      #expect(request["Content-Type"] == nil)
      let info = try JSONValue(parsing: request["X-Kinvey-Device-Info"] ?? "")
      #expect(info["hv"] == 1)
      #expect(info["os"] == "Linux")
      #expect(info["sdk"] == "libkvstore")
      #expect(info["pv"] == "1.2.3")
      #expect(info["dn"] == nil)
    }
  }

  @Test("The name that the application gives to its device")
  func deviceName() throws {
    try withBackend {
      $0.deviceName = "Anaïs\u{2019} \"tablet\""
    } _: { _ in
      ScriptedReply(200, "[]")
    } run: { backend in
      _ = try backend.remote.read()
      let text = try #require(try backend.request["X-Kinvey-Device-Info"])
      #expect(text.utf8.allSatisfy { (0x20..<0x7F).contains($0) })
      #expect(try JSONValue(parsing: text)["dn"] == "Anaïs\u{2019} \"tablet\"")
    }
  }

  @Test("Each request has an id of its own")
  func requestIds() throws {
    try withBackend { _ in
      ScriptedReply(200, #"{"count":1}"#)
    } run: { backend in
      _ = backend.remote.outcomes((0..<20).map { .delete(id: "\($0)") })
      let ids = Set(backend.server.requests.compactMap { $0["X-Kinvey-Request-Id"] })
      #expect(ids.count == 20)
      #expect(ids.allSatisfy { $0.utf8.count == 36 })
    }
  }

  @Test("A write says what it carries")
  func contentType() throws {
    try withBackend { _ in
      ScriptedReply(201, #"{"_id":"a"}"#)
    } run: { backend throws in
      _ = backend.remote.outcome(.update(id: "a", bytes(#"{"_id":"a"}"#)))
      #expect(try backend.request["Content-Type"] == "application/json; charset=utf-8")
    }
  }

  @Test("What the application adds, for all calls and for one")
  func additions() throws {
    try withBackend {
      $0.clientAppVersion = "app 1"
      $0.customRequestProperties = #"{ "a" : 1 }"#
    } _: { _ in
      ScriptedReply(200, "[]")
    } run: { backend throws in
      _ = try backend.remote.read()
      _ = try backend.remote.read(
        .init(),
        Call(clientAppVersion: "app 2", customRequestProperties: "{\"ü\":\n\"😀\u{7F}\"}"))
      let requests = backend.server.requests
      #expect(requests.map { $0["X-Kinvey-Client-App-Version"] } == ["app 1", "app 2"])
      #expect(
        requests.map { $0["X-Kinvey-Custom-Request-Properties"] }
          == [#"{"a":1}"#, #"{"\u00fc":"\ud83d\ude00\u007f"}"#])
    }
  }

  @Test("Custom properties must be an object of fewer than 2,000 bytes")
  func properties() throws {
    try withBackend { _ in
      ScriptedReply(200, "[]")
    } run: { backend in
      func kind(_ text: String) -> StoreError.Kind? {
        failure { () throws(StoreError) in
          try backend.remote.read(.init(), Call(customRequestProperties: text))
        }?.kind
      }
      func object(bytes: Int) -> String {
        "{\"a\":\"\(String(repeating: "x", count: bytes - 8))\"}"
      }
      #expect(kind("[]") == .invalid)
      #expect(kind("{") == .invalid)
      #expect(kind(object(bytes: 2000)) == .invalid)
      #expect(backend.server.requests.isEmpty)
      #expect(kind(object(bytes: 1999)) == nil)
    }
  }

  @Test("A line end can not smuggle in a header")
  func injection() throws {
    try withBackend { _ in
      ScriptedReply(200, "[]")
    } run: { backend in
      let call = Call(clientAppVersion: "1\r\nX-Evil: yes")
      let error = failure { () throws(StoreError) in try backend.remote.read(.init(), call) }
      #expect(error?.kind == .invalid)
      #expect(backend.server.requests.isEmpty)
    }
  }

  @Test("While no user is logged in, reads prove the application, writes fail before any I/O")
  func nobody() throws {
    try withBackend(token: nil) { _ in
      ScriptedReply(200, "[]")
    } run: { backend throws in
      _ = try backend.remote.read()
      #expect(try backend.request["Authorization"] == "Basic a2lkX3gxOnNlYw==")
      let remote = backend.remote
      #expect(remote.outcome(.delete(id: "a"))?.failure?.kind == .noUser)
      let error = failure { () throws(StoreError) in
        try remote.remove(.init(), in: "notes", call: Call())
      }
      #expect(error?.kind == .noUser)
      #expect(backend.server.requests.count == 1)
    }
  }

  @Test("The master secret proves everything while no user is logged in", arguments: [nil, "tok"])
  func master(token: String?) throws {
    try withBackend(token: token) {
      $0.masterSecret = "master"
    } _: { _ in
      ScriptedReply(200, #"{"count":1}"#)
    } run: { backend throws in
      #expect(backend.remote.outcome(.delete(id: "a"))?.value == .deleted(1))
      let expected = token == nil ? "Basic a2lkX3gxOm1hc3Rlcg==" : "Kinvey tok"
      #expect(try backend.request["Authorization"] == expected)
    }
  }
}
