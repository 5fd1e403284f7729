import KVJSON
import KVQuery
import Testing

@Suite("Distinct values") struct DistinctTests {
  @Test("are those of arrays one by one, in the order of a sort, 1 and 1.0 as one")
  func values() throws {
    var values = Distinct(Path("a.b"))
    for entity in [
      #"{"a":{"b":2}}"#, #"{"a":{"b":[3,"x",[1]]}}"#, #"{"a":[{"b":2.0},{"b":null}]}"#,
      #"{"a":{}}"#,
      "{}", #"{"a":{"b":[]}}"#, #"{"a":{"b":true}}"#, #"{"a":{"b":{"c":1}}}"#,
    ] { values.add(Array(entity.utf8)) }
    #expect(JSONValue.array(values.results).text == #"[null,2,3,"x",{"c":1},[1],true]"#)
  }
}
