import KVQuery
import Testing

@Suite("Sorter") struct SorterTests {
  @Test("orders types and values as MongoDB does, strings by code point") func ordersValues() throws
  {
    let ascending = [
      "[]", "null", "-1e300", "-2", "-1.5", "0", "1e-300", "1", "9007199254740992",
      "9007199254740993",
      "9223372036854775806", "9223372036854775807", "9223372036854775808", "1e300", #""""#,
      #""\u0000""#,
      #""A""#, #""a""#, #""a\u0000b""#, #""ab""#, #""é""#, "\"\u{FFFD}\"", #""😀""#, "{}",
      #"{"a":1}"#,
      #"{"a":1,"b":0}"#, #"{"b":1}"#, #"{"a":"x"}"#, "false", "true",
    ]
    for isAscending in [true, false] {
      let sorter = Sorter([.init(Path("v"), ascending: isAscending)])
      let keys = ascending.map { sorter.key(of: Array("{\"v\":\($0)}".utf8)) }
      for (left, right) in zip(keys, keys.dropFirst()) {
        #expect(left.lexicographicallyPrecedes(right) == isAscending)
      }
    }
  }

  @Test("takes the smallest element of an array, descending the largest") func takesExtremes() {
    #expect(key(#"{"v":[3,1,2]}"#, ascending: true) == key(#"{"v":1}"#, ascending: true))
    #expect(key(#"{"v":[3,1,2]}"#, ascending: false) == key(#"{"v":3}"#, ascending: false))
    #expect(
      key(#"{"v":[{"w":5},{"w":4}]}"#, ascending: true, path: "v.w")
        == key(#"{"v":{"w":4}}"#, ascending: true, path: "v.w"))
    #expect(
      key(#"{"v":[7,8]}"#, ascending: true, path: "v.1")
        == key(#"{"v":{"1":8}}"#, ascending: true, path: "v.1"))
  }

  /// As MongoDB makes the keys of a sort.
  @Test(
    "finds null where a path leads to nothing",
    arguments: [
      (#"{"v":[7]}"#, "v.1"), (#"{"v":[]}"#, "v.0"), (#"{"v":[]}"#, "v.w"), (#"{"v":[7]}"#, "v.w"),
      (#"{"v":[{"w":1}]}"#, "v.1"), (#"{"v":[{"w":1}]}"#, "v.1.w"), (#"{"v":[[7]]}"#, "v.0.1"),
      (#"{"v":7}"#, "v.0"), (#"{"v":"text"}"#, "v.0"), (#"{"v":[null]}"#, "v"), ("{}", "v.0"),
      (#"{"v":[7,8]}"#, "v.01"), (#"{"v":[7,8]}"#, "v.-1"),
    ])
  func findsNothing(entity: String, path: String) {
    for isAscending in [true, false] {
      #expect(key(entity, ascending: isAscending, path: path) == key("{}", ascending: isAscending))
    }
  }

  @Test("takes a number past an array's end as a name in its elements") func namesInElements() {
    #expect(
      key(#"{"v":[{"1":5}]}"#, ascending: true, path: "v.1") == key(#"{"v":5}"#, ascending: true))
    #expect(
      key(#"{"v":[{"1":5},{"1":6}]}"#, ascending: true, path: "v.1")
        == key(#"{"v":{"1":6}}"#, ascending: true))
  }

  @Test("takes an empty array among others as one below null") func emptyAmongOthers() {
    let entity = #"{"v":[{"w":[]},{"w":1},{}]}"#
    #expect(key(entity, ascending: true, path: "v.w") == key(#"{"v":[]}"#, ascending: true))
    #expect(key(entity, ascending: false, path: "v.w") == key(#"{"v":1}"#, ascending: false))
    #expect(key(#"{"v":[[]]}"#, ascending: true) != key(#"{"v":[]}"#, ascending: true))
  }

  @Test("treats missing and null alike, and equal numbers of two kinds") func treatsAlike() {
    #expect(key("{}", ascending: true) == key(#"{"v":null}"#, ascending: true))
    #expect(key(#"{"v":1}"#, ascending: true) == key(#"{"v":1.0}"#, ascending: true))
    #expect(key(#"{"v":0}"#, ascending: true) == key(#"{"v":-0.0}"#, ascending: true))
  }

  private func key(_ entity: String, ascending: Bool, path: String = "v") -> [UInt8] {
    Sorter([.init(Path(path), ascending: ascending)]).key(of: Array(entity.utf8))
  }
}
