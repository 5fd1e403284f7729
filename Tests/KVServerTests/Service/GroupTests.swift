internal import KVJSON
internal import KVQuery
import Testing

@testable import KVServer
@testable import KVServerCore

@Suite("Groups over HTTP") struct GroupTests {
  private let server: TestServer
  private let ana: TestServer.Who
  private let path = "/appdata/kid/books"

  init() throws {
    server = try TestServer()
    ana = try server.user("ana")
    for body in [
      #"{"country":"PT","age":50}"#, #"{"country":"US","age":23}"#, #"{"country":"PT","age":21.5}"#,
      #"{"country":"US","age":"old"}"#, #"{"age":1}"#,
    ] {
      _ = try server.send(as: ana, "POST", path, body: body)
    }
  }

  @Test("have a bound in bytes: of what each group starts with, and of the keys")
  func bytes() throws {
    let count = #""reduce":"function(doc,out){ out.count++; }""#
    for part in 0..<4 {
      let entities = (0..<100).map { #"{"key":"\#(part)-\#($0)"}"# }.joined(separator: ",")
      try server.send(as: ana, "POST", "/appdata/kid/many", body: "[\(entities)]").expect(207)
    }
    let long = String(repeating: "x", count: 100_000)
    for (text, status) in [("", 200), (long, 400)] {
      let answer = try server.send(
        as: ana, "POST", "/appdata/kid/many/_group",
        body: #"{"key":["key"],"initial":{"count":0,"text":"\#(text)"},\#(count)}"#)
      #expect(answer.status == status, "\(answer.text.prefix(200))")
      #expect(status == 200 || answer.error == "ResultSetSizeExceeded")
    }
  }

  @Test("are made by a language's order if the request says so") func collated() throws {
    let server = try TestServer()
    let ana = try server.user("ana")
    for (id, name) in [("1", "ärger"), ("2", "Zoe"), ("3", "Arger"), ("4", "Ärger"), ("5", "anna")]
    {
      try server.send(
        as: ana, "POST", "/appdata/kid/x", body: "{\"_id\":\"\(id)\",\"name\":\"\(name)\"}"
      ).expect(201)
    }
    func group(_ collation: String, _ status: Int = 200) throws -> String {
      try server.send(
        as: ana, "POST", "/appdata/kid/x/_group",
        body:
          #"{"key":["name"],"initial":{"n":0},"reduce":"function(doc,out){ out.n++; }"\#(collation)}"#
      ).expect(status).text
    }
    let loose = #","collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#
    #expect(
      try group(loose)
        == #"[{"name":"anna","n":1},{"name":"Arger","n":3},{"name":"Zoe","n":1}]"#)
    let written = try group("")
    #expect(written.hasPrefix(#"[{"name":"Arger","n":1},{"name":"Zoe","n":1},{"name":"anna""#))
    _ = try group(#","collation":"xx""#, 400)
  }

  @Test("share memory with the groups of other requests, and give it back")
  func memory() throws {
    let function = try #require(ReduceFunction("function(doc,out){ out.count++; }"))
    let budget = MemoryBudget(limit: 3 << 20)
    func reader() -> GroupReader {
      GroupReader(
        Grouping(keys: [Path("key")], members: function.members),
        initial: ["text": .string(String(repeating: "x", count: 1 << 19))], within: budget)
    }
    func fill(_ reader: inout GroupReader) -> Int {
      for number in 0..<100 {
        let entity = Array(#"{"key":\#(number)}"#.utf8)
        if !entity.withUnsafeBytes({ reader.add($0) }) { return number }
      }
      return 100
    }
    do {
      var (first, second) = (reader(), reader())
      #expect((3...6).contains(fill(&first)) && fill(&second) == 0)
      #expect(throws: ServerError(.stopping, GroupReader.outOfMemory.debug)) {
        try second.check()
      }
    }
    #expect(budget.reserved == 0)
  }

  private func group(_ body: String) throws -> HTTPAnswer {
    try server.send(as: ana, "POST", path + "/_group", body: body)
  }

  @Test("count, with the key as an array, an object, or empty")
  func counts() throws {
    let count = #""initial":{"count":0},"reduce":"function(doc,out){ out.count++; }""#
    let expected =
      #"[{"country":null,"count":1},{"country":"PT","count":2},{"country":"US","count":2}]"#
    #expect(try group(#"{"key":["country"],\#(count)}"#).text == expected)
    #expect(try group(#"{"key":{"country":true},\#(count)}"#).text == expected)
    #expect(try group(#"{"key":{},\#(count)}"#).text == #"[{"count":5}]"#)
    #expect(
      try group(#"{"key":[],\#(count),"condition":{"country":"PT"}}"#).text == #"[{"count":2}]"#)
    #expect(try group(#"{"key":[],\#(count),"condition":{"country":"XX"}}"#).text == "[]")
  }

  @Test("add, average, and take the extremes of what are numbers")
  func numbers() throws {
    let sum = try group(
      #"{"key":["country"],"initial":{"sum":0.0},"reduce":"function(doc,out){ out.sum += doc.age; }"}"#
    )
    #expect(
      sum.text
        == #"[{"country":null,"sum":1},{"country":"PT","sum":71.5},{"country":"US","sum":23}]"#)
    let minimum = try group(
      #"{"key":[],"initial":{"min":"Infinity"},"reduce":"function(doc,out){ out.min = Math.min(out.min, doc.age); }"}"#
    )
    #expect(minimum.text == #"[{"min":1}]"#)
    let maximum = try group(
      #"{"key":[],"initial":{"result":-2147483648},"reduce":"function(doc,out){ out.result = Math.max(out.result, doc.age); }"}"#
    )
    #expect(maximum.text == #"[{"result":50}]"#)
    let average = try group(
      #"{"key":["country"],"initial":{"sum":0,"count":0},"condition":{"country":"PT"},"reduce":"function(doc,out){ out.count++; out.sum += doc.age; out.avg = out.sum / out.count; }"}"#
    )
    #expect(average.text == #"[{"country":"PT","sum":71.5,"count":2,"avg":35.75}]"#)
  }

  /// The bodies that the published SDKs send, letter by letter, and what they read.
  @Test(
    "answer every SDK's requests",
    arguments: [
      // JavaScript 8: every member that its aggregation has.
      (
        #"{"key":{"country":true},"initial":{"count":0},"reduce":"function(doc, out) {  out.count += 1;  return out;}","reduceFn":"function(doc, out) {  out.count += 1;  return out;}","condition":{},"query":null}"#,
        #"[{"country":null,"count":1},{"country":"PT","count":2},{"country":"US","count":2}]"#
      ),
      // JavaScript 4 to 5.
      (
        #"{"initial":{"sum":0},"key":{},"reduceFn":"function(doc, out) { out.sum += doc[\"age\"]; return out; }","condition":{}}"#,
        #"[{"sum":95.5}]"#
      ),
      (
        #"{"initial":{"count":0,"average":0},"key":{"country":true},"reduce":"function(doc, out) {  out.average = (out.average * out.count + doc[\"age\"]) / (out.count + 1);  out.count += 1;  return out;}","condition":{"country":"PT"},"query":null}"#,
        #"[{"country":"PT","count":2,"average":35.75}]"#
      ),
      (
        #"{"initial":{"min":9007199254740991},"key":{},"reduce":"function(doc, out) {  out.min = Math.min(out.min, doc[\"age\"]);  return out;}","condition":{}}"#,
        #"[{"min":1}]"#
      ),
      (
        #"{"initial":{"max":-9007199254740991},"key":{},"reduce":"function(doc, out) {  out.max = Math.max(out.max, doc[\"age\"]);  return out;}","condition":{}}"#,
        #"[{"max":50}]"#
      ),
      // .NET.
      (
        #"{"key":{"country":true},"initial":{"result":0,"count":0},"reduce":"function(doc,out){ out.result = (((out.result * out.count) + doc.age) / (out.count += 1)); }","condition":{"country":"PT"}}"#,
        #"[{"country":"PT","result":35.75,"count":2}]"#
      ),
      (
        #"{"key":{},"initial":{"result":2147483647},"reduce":"function(doc,out){ out.result = Math.min(out.result, doc.age); }"}"#,
        #"[{"result":1}]"#
      ),
      // Android and Objective-C.
      (
        #"{"condition":{"country":"PT"},"initial":{"_result":0},"key":{"country":true},"reduce":"function(doc,out){ var count = (out._kcs_count == undefined) ? 0 : out._kcs_count; out._result =(out._result * count + doc.age) / (count + 1); out._kcs_count = count+1;}"}"#,
        #"[{"country":"PT","_result":35.75,"_kcs_count":2}]"#
      ),
      (
        #"{"key":{"country":true},"initial":{"sum":0},"reduce":"function(doc,out){ out.sum = out.sum + doc.age;}","condition":{"country":"PT"}}"#,
        #"[{"country":"PT","sum":71.5}]"#
      ),
      // Swift.
      (
        #"{"key":["country"],"initial":{"sum":0.0,"count":0},"reduce":"function(doc, out) { out.count++; out.sum += doc.age; out.avg = out.sum / out.count; }","condition":{"country":"PT"}}"#,
        #"[{"country":"PT","sum":71.5,"count":2,"avg":35.75}]"#
      ),
    ] as [(String, String)])
  func sdks(body: String, answer: String) throws {
    #expect(try group(body).text == answer)
  }

  @Test("hold what the user may read, and nothing else")
  func access() throws {
    _ = try server.send(as: ana, "POST", path, body: #"{"country":"XX","_acl":{"gr":false}}"#)
    let bob = try server.user("bob")
    let body = #"{"key":[],"initial":{"count":0},"reduce":"function(doc,out){ out.count++; }"}"#
    #expect(
      try server.send(as: bob, "POST", path + "/_group", body: body).text == #"[{"count":5}]"#)
    #expect(try group(body).text == #"[{"count":6}]"#)
    #expect(try server.send(as: ana, "POST", "/appdata/kid/void/_group", body: body).text == "[]")
    #expect(
      try server.send(as: .app, "POST", path + "/_group", body: body).error
        == "InsufficientCredentials")
  }

  @Test("are refused when they are not understood")
  func misuse() throws {
    let count = #""initial":{"count":0},"reduce":"function(doc,out){ out.count++; }""#
    for (body, error) in [
      (#"{"key":[]}"#, "IncompleteRequestBody"), (#"{"key":[7],\#(count)}"#, "BadRequest"),
      (#"{"key":{"a":false},\#(count)}"#, "BadRequest"), (#"{"key":"a",\#(count)}"#, "BadRequest"),
      (#"{"key":[],\#(count),"condition":{"a":{"$x":1}}}"#, "InvalidQuerySyntax"),
      (
        #"{"key":[],"initial":{},"reduce":"function(doc,out){ out.x = 1; }"}"#, "FeatureUnavailable"
      ),
      ("[", "JSONParseError"),
    ] {
      let answer = try group(body)
      #expect(answer.status == 400 && answer.error == error, "\(body)")
    }
  }
}
