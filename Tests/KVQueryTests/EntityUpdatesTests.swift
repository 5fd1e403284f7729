import KVBase
import KVJSON
import KVQuery
import Testing

@Suite("Updates that are kept") struct EntityUpdatesTests {
  /// Updates that are added one after the other; nil: they cannot be kept.
  private func kept(_ updates: [String]) throws -> EntityUpdates? {
    var all: EntityUpdates? = EntityUpdates()
    for update in updates { all = try all?.adding(EntityUpdate(update), .default) }
    return all
  }

  @Test(
    "are joined where that is exact",
    arguments: [
      ([#"{"$inc":{"a":1}}"#, #"{"$inc":{"a":2}}"#], #"[{"$inc":{"a":3}}]"#),
      ([#"{"$inc":{"a":1}}"#, #"{"$inc":{"b":2}}"#], #"[{"$inc":{"a":1,"b":2}}]"#),
      (
        [#"{"$inc":{"a":1}}"#, #"{"$push":{"l":1}}"#, #"{"$inc":{"a":-3}}"#],
        #"[{"$inc":{"a":-2},"$push":{"l":1}}]"#
      ),
      (
        [#"{"$inc":{"a":0.1}}"#, #"{"$inc":{"a":0.2}}"#],
        #"[{"$inc":{"a":0.1}},{"$inc":{"a":0.2}}]"#
      ),
      (
        [#"{"$inc":{"a":9223372036854775807}}"#, #"{"$inc":{"a":1}}"#],
        #"[{"$inc":{"a":9223372036854775807}},{"$inc":{"a":1}}]"#
      ),
      ([#"{"$inc":{"a":1}}"#, #"{"$mul":{"a":2}}"#], #"[{"$inc":{"a":1}},{"$mul":{"a":2}}]"#),
      ([#"{"$mul":{"a":2}}"#, #"{"$mul":{"a":3}}"#], #"[{"$mul":{"a":2}},{"$mul":{"a":3}}]"#),
      ([#"{"$min":{"a":2}}"#, #"{"$min":{"a":"x"}}"#], #"[{"$min":{"a":2}}]"#),
      ([#"{"$max":{"a":2}}"#, #"{"$max":{"a":3}}"#], #"[{"$max":{"a":3}}]"#),
      (
        [#"{"$push":{"l":1}}"#, #"{"$push":{"l":{"$each":[2,3]}}}"#],
        #"[{"$push":{"l":{"$each":[1,2,3]}}}]"#
      ),
      (
        [#"{"$push":{"l":1}}"#, #"{"$push":{"l":{"$each":[2],"$slice":-5}}}"#],
        #"[{"$push":{"l":1}},{"$push":{"l":{"$each":[2],"$slice":-5}}}]"#
      ),
      (
        [#"{"$addToSet":{"l":1}}"#, #"{"$addToSet":{"l":1}}"#],
        #"[{"$addToSet":{"l":{"$each":[1,1]}}}]"#
      ),
      ([#"{"$pull":{"l":1}}"#, #"{"$pull":{"l":2}}"#], #"[{"$pull":{"l":1}},{"$pull":{"l":2}}]"#),
      (
        [#"{"$inc":{"a":1}}"#, #"{"$unset":{"b":""}}"#, #"{"$unset":{"b":""}}"#],
        #"[{"$inc":{"a":1},"$unset":{"b":""}}]"#
      ),
      (
        [#"{"$currentDate":{"t":true}}"#, #"{"$currentDate":{"t":{"$type":"date"}}}"#],
        #"[{"$currentDate":{"t":{"$type":"date"}}}]"#
      ),
      (
        [#"{"$rename":{"a":"b"}}"#, #"{"$inc":{"b":1}}"#],
        #"[{"$rename":{"a":"b"}},{"$inc":{"b":1}}]"#
      ),
      (
        [#"{"$inc":{"a":1}}"#, #"{"$rename":{"a":"b"}}"#],
        #"[{"$inc":{"a":1}},{"$rename":{"a":"b"}}]"#
      ),
      ([#"{"$unset":{"a":1}}"#, #"{"$inc":{"a":1}}"#], #"[{"$unset":{"a":1}},{"$inc":{"a":1}}]"#),
      (
        [#"{"$push":{"l":{"a":1}}}"#, #"{"$inc":{"l.0.a":1}}"#],
        #"[{"$push":{"l":{"a":1}}},{"$inc":{"l.0.a":1}}]"#
      ),
    ])
  func joining(_ updates: [String], _ kept: String) throws {
    #expect(try self.kept(updates)?.text == kept)
  }

  @Test("make of an entity what they make one after the other")
  func applying() throws {
    let updates = [
      #"{"$inc":{"a":1}}"#, #"{"$push":{"l":1}}"#, #"{"$inc":{"a":2,"c.d":1}}"#,
      #"{"$mul":{"a":2}}"#,
      #"{"$addToSet":{"l":{"$each":[1,5]}}}"#, #"{"$pull":{"l":1}}"#, #"{"$max":{"c.d":7}}"#,
      #"{"$pop":{"l":-1}}"#, #"{"$unset":{"a":1}}"#, #"{"$rename":{"c.d":"a"}}"#,
      #"{"$inc":{"a":1}}"#,
      #"{"$currentDate":{"t":true}}"#,
    ]
    var expected = Array(#"{"_id":"x","a":1,"l":[1,2]}"#.utf8)
    let all = try #require(try kept(updates))
    let now = Timestamp(milliseconds: 0)
    let whole = try #require(try all.apply(to: expected, now: now))
    for update in updates {
      expected = try EntityUpdate(update).apply(to: expected, now: now) ?? expected
    }
    #expect(try JSONValue(parsing: whole) == JSONValue(parsing: expected))
    let read = try EntityUpdates(JSONValue(parsing: all.text))
    #expect(try read.apply(to: Array(#"{"_id":"x","a":1,"l":[1,2]}"#.utf8), now: now) == whole)
  }

  @Test(
    "do not include what sets a value",
    arguments: [#"{"$set":{"a":1}}"#, #"{"$inc":{"a":1},"$set":{"b":1}}"#])
  func setting(_ update: String) throws {
    #expect(try kept([update]) == nil)
    #expect(try !EntityUpdate(update).isRelative)
  }

  @Test("are no more than a number, and so many bytes")
  func bounds() throws {
    let many = Array(repeating: #"{"$mul":{"a":2}}"#, count: EntityUpdates.maxCount)
    #expect(try kept(many) != nil)
    #expect(try kept(many + many.prefix(1)) == nil)
    let long = String(repeating: "x", count: EntityUpdates.maxBytes)
    #expect(try kept([#"{"$push":{"a":"\#(long)"}}"#]) == nil)
    #expect(throws: QueryError.self) {
      try EntityUpdates(
        JSONValue(parsing: "[" + (many + many.prefix(1)).joined(separator: ",") + "]"))
    }
  }

  @Test("are in the backend's names")
  func names() throws {
    let update = try EntityUpdate(#"{"$inc":{"age.x":1}}"#).renamed(by: ["age": "years"])
    #expect(EntityUpdates().adding(update, .default)?.text == #"[{"$inc":{"years.x":1}}]"#)
    let other = try EntityUpdate(#"{"$rename":{"age":"x","y":"z"}}"#).renamed(by: ["age": "years"])
    #expect(other.text == #"{"$rename":{"years":"x","y":"z"}}"#)
  }
}
