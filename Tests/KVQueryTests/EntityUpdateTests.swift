import KVBase
import KVQuery
import Testing

@Suite("Updates") struct EntityUpdateTests {
  static let now = Timestamp(milliseconds: 1_710_277_201_120)

  /// The entity after the update; nil if it stays as it is.
  static func updated(_ entity: String, _ update: String) throws -> String? {
    try EntityUpdate(update).apply(to: Array(entity.utf8), now: now)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    "change what they name",
    arguments: [
      (#"{"a":1}"#, #"{"$set":{"a":"x"}}"#, #"{"a":"x"}"#),
      (#"{"a":1}"#, #"{"$set":{"b.c":[1]}}"#, #"{"a":1,"b":{"c":[1]}}"#),
      (#"{"a":[1,2]}"#, #"{"$set":{"a.1":5}}"#, #"{"a":[1,5]}"#),
      (#"{"a":[1]}"#, #"{"$set":{"a.3":5}}"#, #"{"a":[1,null,null,5]}"#),
      (#"{"a":[{"b":1}]}"#, #"{"$set":{"a.0.b":2}}"#, #"{"a":[{"b":2}]}"#),
      (#"{}"#, #"{"$set":{"a.0":1}}"#, #"{"a":{"0":1}}"#),
      (#"{"a":1,"b":2}"#, #"{"$unset":{"a":""}}"#, #"{"b":2}"#),
      (#"{"a":[1,2]}"#, #"{"$unset":{"a.0":1}}"#, #"{"a":[null,2]}"#),
      (#"{"a":1}"#, #"{"$inc":{"a":2}}"#, #"{"a":3}"#),
      (#"{"a":1}"#, #"{"$inc":{"a":0.5}}"#, #"{"a":1.5}"#),
      (#"{}"#, #"{"$inc":{"a":2}}"#, #"{"a":2}"#),
      (#"{"a":3}"#, #"{"$mul":{"a":-2}}"#, #"{"a":-6}"#),
      (#"{}"#, #"{"$mul":{"a":7}}"#, #"{"a":0}"#),
      (#"{"a":3}"#, #"{"$min":{"a":2}}"#, #"{"a":2}"#),
      (#"{"a":3}"#, #"{"$max":{"a":"x"}}"#, #"{"a":"x"}"#),
      (#"{"a":"x"}"#, #"{"$min":{"a":9}}"#, #"{"a":9}"#),
      (#"{}"#, #"{"$max":{"a":0}}"#, #"{"a":0}"#),
      (#"{"a":1,"b":2}"#, #"{"$rename":{"a":"c"}}"#, #"{"b":2,"c":1}"#),
      (#"{"a":{"x":1},"b":2}"#, #"{"$rename":{"a.x":"b"}}"#, #"{"a":{},"b":1}"#),
      (#"{"a":[1]}"#, #"{"$push":{"a":[2]}}"#, #"{"a":[1,[2]]}"#),
      (#"{}"#, #"{"$push":{"a":2}}"#, #"{"a":[2]}"#),
      (#"{"a":[1]}"#, #"{"$push":{"a":{"$each":[2,3],"$position":0}}}"#, #"{"a":[2,3,1]}"#),
      (#"{"a":[1,2]}"#, #"{"$push":{"a":{"$each":[3],"$position":-1}}}"#, #"{"a":[1,3,2]}"#),
      (#"{"a":[5,1]}"#, #"{"$push":{"a":{"$each":[3],"$sort":-1,"$slice":2}}}"#, #"{"a":[5,3]}"#),
      (#"{"a":[5,1]}"#, #"{"$push":{"a":{"$each":[3],"$slice":-2}}}"#, #"{"a":[1,3]}"#),
      (#"{"a":[5,1]}"#, #"{"$push":{"a":{"$each":[],"$slice":0}}}"#, #"{"a":[]}"#),
      (
        #"{"a":[{"n":2},{"n":1,"m":0}]}"#, #"{"$push":{"a":{"$each":[{"n":1}],"$sort":{"n":1}}}}"#,
        #"{"a":[{"n":1,"m":0},{"n":1},{"n":2}]}"#
      ),
      (#"{"a":[1]}"#, #"{"$addToSet":{"a":2}}"#, #"{"a":[1,2]}"#),
      (#"{"a":[1]}"#, #"{"$addToSet":{"a":{"$each":[1.0,3,3]}}}"#, #"{"a":[1,3]}"#),
      (#"{"a":[1,2,3]}"#, #"{"$pop":{"a":1}}"#, #"{"a":[1,2]}"#),
      (#"{"a":[1,2,3]}"#, #"{"$pop":{"a":-1}}"#, #"{"a":[2,3]}"#),
      (#"{"a":[1,2,1]}"#, #"{"$pull":{"a":1}}"#, #"{"a":[2]}"#),
      (#"{"a":[1,2,3]}"#, #"{"$pull":{"a":{"$gte":2}}}"#, #"{"a":[1]}"#),
      (#"{"a":[{"n":1},{"n":2},7]}"#, #"{"$pull":{"a":{"n":{"$lt":2}}}}"#, #"{"a":[{"n":2},7]}"#),
      (#"{"a":[[1],1]}"#, #"{"$pull":{"a":[1]}}"#, #"{"a":[1]}"#),
      (#"{}"#, #"{"$currentDate":{"at":true}}"#, #"{"at":"2024-03-12T21:00:01.120Z"}"#),
      ("{\"\u{e9}\":1}", "{\"$set\":{\"e\u{301}\":2}}", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
      (#"{"\u0061":1}"#, #"{"$inc":{"a":1}}"#, #"{"\u0061":2}"#),
      (
        #"{"b":0}"#, #"{"$set":{"z":1,"a":2},"$inc":{"b":1,"m":1}}"#,
        #"{"b":1,"a":2,"m":1,"z":1}"#
      ),
      (#"{}"#, #"{"$set":{"a.10":1,"a.9":2}}"#, #"{"a":{"9":2,"10":1}}"#),
    ] as [(String, String, String)])
  func change(entity: String, update: String, expected: String) throws {
    // By bytes: two spellings of an accent are two names.
    #expect(try Self.updated(entity, update).map { Array($0.utf8) } == Array(expected.utf8))
  }

  @Test(
    "change nothing where there is nothing to change",
    arguments: [
      (#"{ "a": 1 }"#, #"{"$set":{"a":1}}"#),
      (#"{ "a": 1 }"#, #"{"$unset":{"b.c":1}}"#),
      (#"{"a":[1]}"#, #"{"$unset":{"a.5":1}}"#),
      (#"{"a":1}"#, #"{"$min":{"a":1.0}}"#),
      (#"{"a":1}"#, #"{"$max":{"a":null}}"#),
      (#"{"a":1}"#, #"{"$rename":{"b":"a"}}"#),
      (#"{"a":[1]}"#, #"{"$addToSet":{"a":1}}"#),
      (#"{"a":[]}"#, #"{"$pop":{"a":1}}"#),
      (#"{}"#, #"{"$pop":{"a":1}}"#),
      (#"{"a":[1]}"#, #"{"$pull":{"a":2}}"#),
      (#"{"a":1}"#, #"{"$pull":{"a.b":2}}"#),
      (#"{"a":1}"#, #"{"$set":{}}"#),
    ] as [(String, String)])
  func unchanged(entity: String, update: String) throws {
    #expect(try Self.updated(entity, update) == nil)
  }

  @Test("leave every other byte as it is")
  func untouched() throws {
    let entity = #"{ "price" : 1.10, "s":"\u00e9", "big":[1e2 , {"x":1}], "n":1}"#
    #expect(
      try Self.updated(entity, #"{"$inc":{"n":1}}"#)
        == #"{"price":1.10,"s":"\u00e9","big":[1e2 , {"x":1}],"n":2}"#)
  }

  @Test(
    "that do not fit the entity are errors that name path and reason",
    arguments: [
      (
        #"{"a":"x"}"#, #"{"$inc":{"a":1}}"#,
        "$inc of \"a\": $inc needs a number, but there is a string"
      ),
      (#"{"a":null}"#, #"{"$mul":{"a":1}}"#, "there is null"),
      (#"{"a":9223372036854775807}"#, #"{"$inc":{"a":1}}"#, "does not fit 64 bits"),
      (#"{"a":1e308}"#, #"{"$mul":{"a":10.5}}"#, "too large"),
      (#"{"a":1}"#, #"{"$push":{"a":1}}"#, "$push needs an array, but there is a number"),
      (#"{"a":1}"#, #"{"$pop":{"a":1}}"#, "$pop needs an array"),
      (#"{"a":1}"#, #"{"$set":{"a.b":1}}"#, "the member \"b\" cannot be created in a number"),
      (#"{"a":[1]}"#, #"{"$set":{"a.b":1}}"#, "cannot be created in an array"),
      (#"{"a":[1]}"#, #"{"$set":{"a.100002":1}}"#, "too far beyond the end"),
      (#"{"a":[{"b":1}]}"#, #"{"$rename":{"a.0.b":"c"}}"#, "cannot be inside an array"),
      (#"{"a":1,"b":[1]}"#, #"{"$rename":{"a":"b.0"}}"#, "cannot be inside an array"),
    ] as [(String, String, String)])
  func mismatches(entity: String, update: String, message: String) throws {
    let error = try #require(throws: QueryError.self) { try Self.updated(entity, update) }
    #expect(error.message.contains(message))
  }

  @Test(
    "that mean nothing are refused with the position",
    arguments: [
      ("{}", "must be an object with operators", 0),
      ("[]", "must be an object with operators", 0),
      (#"{"a":1}"#, "may have operators only", 1),
      (#"{"$set":1}"#, "$set needs an object", 1),
      (#"{"$put":{"a":1}}"#, "unknown operator $put", 1),
      (#"{"$put":{}}"#, "unknown operator $put", 1),
      (#"{"$setOnInsert":{"a":1}}"#, "an update never inserts", 1),
      (#"{"$set":{"a..b":1}}"#, "empty part", 9),
      (#"{"$set":{"a.$[].b":1}}"#, "positional operators", 9),
      (#"{"$set":{"_id":"x"}}"#, "cannot be changed", 9),
      (#"{"$rename":{"a":"_id"}}"#, "cannot be changed", 12),
      (#"{"$set":{"a":1},"$inc":{"a.b":1}}"#, "two operators", 24),
      (#"{"$set":{"a.b":1,"a":1}}"#, "two operators", 17),
      (#"{"$rename":{"a":"a"}}"#, "two operators", 12),
      (#"{"$inc":{"a":"1"}}"#, "$inc needs a number", 9),
      (#"{"$pop":{"a":2}}"#, "$pop needs 1", 9),
      (#"{"$push":{"a":{"$each":1}}}"#, "with an array", 10),
      (#"{"$push":{"a":{"$each":[],"$up":1}}}"#, "unknown operator $up", 26),
      (#"{"$push":{"a":{"$slice":1}}}"#, "is required here", 10),
      (#"{"$push":{"a":{"$each":[],"$sort":2}}}"#, "$sort needs", 26),
      (#"{"$push":{"a":{"$each":[],"$slice":-9223372036854775808}}}"#, "needs an integer", 26),
      (#"{"$push":{"a":{"$each":[],"$sort":-9223372036854775808}}}"#, "$sort needs", 26),
      (#"{"$push":{"a":{"$each":[],"$sort":{"b":-9223372036854775808}}}}"#, "needs 1 or -1", 35),
      (#"{"$currentDate":{"a":{"$type":"timestamp"}}}"#, "$currentDate needs", 17),
      (#"{"$pull":{"a":{"$foo":1}}}"#, "unknown operator $foo", 15),
    ] as [(String, String, Int)])
  func refused(update: String, message: String, position: Int) throws {
    let error = try #require(throws: QueryError.self) { try EntityUpdate(update) }
    #expect(error.message.contains(message))
    #expect(error.position == position)
  }
}
