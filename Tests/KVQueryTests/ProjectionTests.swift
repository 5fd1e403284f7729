import KVQuery
import Testing

@Suite("Projection") struct ProjectionTests {
  @Test(
    "keeps the wanted members and the reserved ones",
    arguments: [
      ("a", #"{"_id":"x","a":1,"_kmd":{"lmt":"t"}}"#),
      ("b.c", #"{"_id":"x","b":{"c":[1]},"_kmd":{"lmt":"t"}}"#),
      ("l.m", #"{"_id":"x","l":[{"m":1},{}],"_kmd":{"lmt":"t"}}"#),
      ("a.z", #"{"_id":"x","_kmd":{"lmt":"t"}}"#),
      ("b,b.c", #"{"_id":"x","b":{"c":[1],"d":2},"_kmd":{"lmt":"t"}}"#),
      ("_kmd.ect", #"{"_id":"x","_kmd":{"lmt":"t"}}"#),
    ] as [(String, String)])
  func keeps(fields: String, expected: String) {
    let entity =
      #" {"_id":"x", "a":1,"b":{"c":[1],"d":2},"l":[{"m":1,"n":2},5,{"n":1}],"_kmd":{"lmt":"t"}}"#
    let projected = Projection(Query.fields(parsing: fields)).apply(to: Array(entity.utf8))
    #expect(String(decoding: projected, as: UTF8.self) == expected)
  }
}
