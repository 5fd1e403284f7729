import KVJSON
import Testing

@testable import KVQuery

@Suite("Grouping") struct GroupingTests {
  private static let books = [
    #"{"country":"PT","age":71,"tag":1}"#, #"{"country":"US","age":23,"tag":1.0}"#,
    #"{"country":"US","age":7.5}"#, #"{"country":"US","age":"old"}"#,
    #"{"country":null,"age":1}"#, #"{"age":2,"at":{"x":4}}"#,
  ]

  private func group(_ text: String, _ entities: [String] = books) throws -> String {
    var groups = Groups(try Grouping(parsing: text))
    for entity in entities { groups.add(Array(entity.utf8)) }
    return JSONValue.array(groups.results.map { .object($0) }).text
  }

  @Test("gives several numbers at once, of what are numbers, ordered by the keys")
  func numbers() throws {
    let all =
      #"{"n":"count","s":{"sum":"age"},"a":{"avg":"age"},"l":{"min":"age"},"h":{"max":"age"}}"#
    #expect(
      try group(#"{"keys":["country"],"aggregates":\#(all)}"#)
        == #"[{"country":null,"n":2,"s":3,"a":1.5,"l":1,"h":2},"#
        + #"{"country":"PT","n":1,"s":71,"a":71,"l":71,"h":71},"#
        + #"{"country":"US","n":3,"s":30.5,"a":15.25,"l":7.5,"h":23}]"#)
    #expect(
      try group(#"{"aggregates":{"s":{"sum":"at.x"},"none":{"sum":"x"},"no":{"min":"x"}}}"#)
        == #"[{"s":4,"none":0,"no":null}]"#)
    #expect(try group(#"{"aggregates":{"n":"count"}}"#, []) == "[]")
  }

  @Test("takes 1 and 1.0 for one key, missing and null too; keys alone give what there is")
  func keys() throws {
    #expect(try group(#"{"keys":["tag"]}"#) == #"[{"tag":null},{"tag":1}]"#)
    #expect(
      try group(#"{"keys":["at.x","tag"]}"#)
        == #"[{"at.x":null,"tag":null},{"at.x":null,"tag":1},{"at.x":4,"tag":null}]"#)
  }

  @Test("adds integers exactly, and overflows into a double")
  func exact() throws {
    let sum = #"{"aggregates":{"s":{"sum":"n"}}}"#
    #expect(
      try group(sum, [#"{"n":9007199254740993}"#, #"{"n":2}"#]) == #"[{"s":9007199254740995}]"#)
    #expect(
      try JSONValue(parsing: group(sum, [#"{"n":9223372036854775807}"#, #"{"n":1}"#]))
        == .array([["s": .double(0x1p63)]]))
    #expect(try group(sum, [#"{"n":1e308}"#, #"{"n":1e308}"#]) == #"[{"s":null}]"#)
  }

  @Test(
    "says what is wrong and where",
    arguments: [
      ("[]", 0), ("{}", 0), (#"{"keys":"a"}"#, 1), (#"{"keys":["a",7]}"#, 13), (#"{"key":[]}"#, 1),
      (#"{"keys":["a","a"]}"#, 0), (#"{"keys":["n"],"aggregates":{"n":"count"}}"#, 0),
      (#"{"aggregates":{"n":"sum"}}"#, 15), (#"{"aggregates":{"n":{"median":"a"}}}"#, 15),
    ] as [(String, Int)])
  func mismatches(text: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try Grouping(parsing: text) }
    #expect(error.kind == .syntax && error.position == position, "\(error)")
  }

  @Test("goes to a backend as a function that our server recognises, and comes back the same")
  func remote() throws {
    let text =
      #"{"keys":["country"],"aggregates":{"n":"count","s":{"sum":"at.x"},"a":{"avg":"age"},"l":{"min":"odd name"}}}"#
    let remote = try #require(RemoteGrouping(Grouping(parsing: text)))
    let function = try #require(ReduceFunction(remote.reduce))
    #expect(
      function.members.map(\.aggregate) == [
        .count, .sum(Path("at.x")), .numbers(Path("age")), .sum(Path("age")),
        .average(Path("age")), .minimum(Path("odd name")),
      ])
    #expect(Set(function.members.map(\.name)) == Set(remote.initial.members.map(\.name)))
    let answer = try JSONValue(
      parsing:
        #"[{"country":"US","v0":2,"v1":4.0,"v2":0,"v2s":0,"v2c":0,"v3":"Infinity"},{"country":null,"v0":1,"v1":0,"v2":7.5,"v2s":7.5,"v2c":1,"v3":3}]"#
    )
    let results = remote.results(try #require(answer.arrayValue).compactMap(\.objectValue))
    #expect(
      JSONValue.array(results.map { .object($0) }).text
        == #"[{"country":null,"n":1,"s":0,"a":7.5,"l":3},{"country":"US","n":2,"s":4,"a":null,"l":null}]"#
    )
  }

  @Test("without a number is a function too; names that JavaScript would need to escape have none")
  func odd() throws {
    let keysOnly = try #require(RemoteGrouping(Grouping(parsing: #"{"keys":["v"]}"#)))
    #expect(ReduceFunction(keysOnly.reduce)?.members == [Grouping.Member("v_", .count)])
    #expect(try RemoteGrouping(Grouping(parsing: #"{"aggregates":{"s":{"sum":"a\"b"}}}"#)) == nil)
    #expect(try RemoteGrouping(Grouping(parsing: #"{"aggregates":{"s":{"sum":"é"}}}"#)) == nil)
  }
}
