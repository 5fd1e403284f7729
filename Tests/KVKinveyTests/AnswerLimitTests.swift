import KVBase
import KVJSON
import KVKinvey
import KVQuery
import KVSync
import KVTestSupport
import Testing

@Suite("Answers that are read as one document") struct AnswerLimitTests {
  /// An object of so many bytes that would do for any of them.
  private static func padded(_ byteCount: Int) -> String {
    let padding = String(repeating: "x", count: byteCount)
    return #"{"kinvey":"hi","count":1,"usernameExists":true,"_id":"u","padding":"\#(padding)"}"#
  }

  @Test("are refused where they are larger than such an answer can be") func refused() throws {
    try withBackend { _ in
      ScriptedReply(200, Self.padded(100_000))
    } run: { backend in
      let failures = [
        failure { () throws(StoreError) in
          try backend.remote.count(Query(), in: "c", call: Call()).count
        },
        failure { () throws(StoreError) in
          try backend.remote.remove(Query(), in: "c", call: Call())
        },
        failure { () throws(StoreError) in try backend.users.ping(Call()) },
        failure { () throws(StoreError) in try backend.users.exists("ana", Call()) },
      ]
      #expect(failures.map { $0?.kind } == [.tooLarge, .tooLarge, .tooLarge, .tooLarge])
      #expect(failures[0]?.message == "The answer has more than 65536 bytes.")
      let user = try backend.users.me(Call())
      #expect(user.id == "u")
    }
  }

  @Test("are users of some megabytes at the most") func users() throws {
    try withBackend { _ in
      ScriptedReply(200, Self.padded(5 << 20))
    } run: { backend in
      let error = failure { () throws(StoreError) in try backend.users.me(Call()) }
      #expect(error?.kind == .tooLarge)
    }
  }

  @Test("are groups up to an option") func groups() throws {
    let wanted = RemoteGroups(keys: ["a"], initial: [:], reduce: "function(doc,out){}")
    for (limit, isRefused) in [(1_000, true), (2_000, false)] {
      try withBackend {
        $0.maxGroupBytes = limit
      } _: { _ in
        ScriptedReply(200, "[\(Self.padded(1_500))]")
      } run: { backend in
        let error = failure { () throws(StoreError) in
          try backend.remote.group(wanted, of: Query(), in: "c", call: Call())
        }
        #expect(error?.kind == (isRefused ? .tooLarge : nil))
      }
    }
  }

  @Test("are groups that are read until the deadline of the call") func deadline() throws {
    let wanted = RemoteGroups(keys: ["a"], initial: [:], reduce: "function(doc,out){}")
    let group = #"{"a":1,"b":[\#(Array(repeating: "1", count: 1_000).joined(separator: ","))]}"#
    let groups = "[\(Array(repeating: group, count: 4_000).joined(separator: ","))]"
    try withBackend { _ in
      ScriptedReply(200, groups)
    } run: { backend in
      let call = Call(deadline: .after(seconds: 0.1))
      let error = failure { () throws(StoreError) in
        try backend.remote.group(wanted, of: Query(), in: "c", call: call)
      }
      #expect(error?.kind == .timeout)
    }
  }

  @Test("are no answers where there is no memory to read them") func memory() {
    #expect(StoreError(JSONError(.noMemory, at: 0)).kind == .storage)
    #expect(StoreError.badAnswer(JSONError(.noMemory, at: 0)).kind == .storage)
    #expect(StoreError(.proto, "no answer", cause: JSONError(.truncated, at: 7)).position == 7)
  }

  @Test("keep what they had when members are set, however many") func manyMembers() throws {
    let names = (0..<40_000).map { "m\($0)" }
    var user = JSONObject(names.map { .init($0, 1) })
    user.merge(JSONObject(names.reversed().map { .init($0, 2) } + [.init("new", 3)]))
    #expect(user.count == 40_001)
    #expect(user.members.first == .init("m0", 2))
    #expect(user.members.last == .init("new", 3))
  }
}
