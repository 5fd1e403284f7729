import KVJSON
import KVSync
import Testing

@Suite("Store errors") struct StoreErrorTests {
  @Test("an error without details has status, name and message")
  func plain() {
    let error = StoreError(.notFound, "there is no \"x\"")
    #expect(
      error.json == #"{"status":12,"name":"KV_NOT_FOUND","message":"there is no \"x\""}"#)
  }

  @Test("the backend's words, the index and the codes follow where they are known")
  func detailed() {
    var error = StoreError(.server, "refused")
    error.answer = .init(
      status: 500, error: "E", description: "D", debug: "B", requestId: "R", retryAfter: 1)
    error.index = 7
    error.id = "a"
    error.position = 3
    error.code = 11
    #expect(
      error.json == #"{"status":23,"name":"KV_SERVER","message":"refused","http":500,"#
        + #""error":"E","description":"D","debug":"B","requestId":"R","index":7,"id":"a","#
        + #""position":3,"code":11}"#)
    var read = error
    read.answer?.retryAfter = nil
    #expect(StoreError(error.jsonObject) == read)
  }

  @Test("what is no error is read as none")
  func noError() {
    #expect(StoreError(["name": "KV_UNHEARD_OF", "message": "m"]) == nil)
    #expect(StoreError(["name": "KV_SERVER"]) == nil)
  }

  @Test("no two kinds share a code or a name")
  func distinct() {
    let kinds = StoreError.Kind.allCases
    #expect(Set(kinds.map(\.code)).count == kinds.count)
    #expect(Set(kinds.map(\.name)).count == kinds.count)
    #expect(kinds.allSatisfy { $0.name.hasPrefix("KV_") })
  }
}
