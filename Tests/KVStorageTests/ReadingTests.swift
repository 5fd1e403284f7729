import KVBase
import KVQuery
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Reading") struct ReadingTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws {
    storage = try openStorage(in: directory)
    try storage.store(
      (1...9).map { #"{"_id":"\#($0)","n":\#($0),"odd":\#($0 % 2 == 1)}"# })
  }

  private func ids(_ entities: [String]) -> String {
    entities.compactMap { $0.split(separator: "\"").dropFirst(3).first.map(String.init) }.joined()
  }

  @Test("nothing is found where nothing was written") func empty() throws {
    #expect(try storage.find(in: "none").isEmpty)
    #expect(try storage.get("1", in: "none") == nil)
    #expect(try storage.get("none") == nil)
    #expect(try storage.count(query("{}"), in: "none", writtenSince: nil) == 0)
  }

  @Test(
    "filter, order and page are the query's",
    arguments: [
      ("{}", nil, "123456789"),
      (#"{"odd":true}"#, nil, "13579"),
      (#"{"n":{"$gt":3}}"#, #"{"sort":{"odd":-1,"n":-1}}"#, "975864"),
      (#"{"n":{"$gt":3}}"#, #"{"sort":{"n":-1},"skip":1,"limit":3}"#, "876"),
      ("{}", #"{"skip":7}"#, "89"),
      ("{}", #"{"limit":0}"#, "123456789"),
      ("{}", #"{"skip":7,"limit":0}"#, "89"),
      (#"{"_id":"4"}"#, nil, "4"),
      (#"{"_id":{"$in":["7","none","3"]}}"#, nil, "37"),
    ])
  func queries(_ filter: String, modifiers: String?, expected: String) throws {
    #expect(try ids(storage.find(filter, modifiers)) == expected)
    let count = try storage.count(query(filter, modifiers), in: "c", writtenSince: nil)
    #expect(count == expected.count)
  }

  @Test("entities are given as they are, or with the wanted fields only") func fields() throws {
    #expect(try storage.find(#"{"_id":"1"}"#) == [#"{"_id":"1","n":1,"odd":true}"#])
    let projected = try storage.find(#"{"_id":"1"}"#, #"{"fields":["odd"]}"#)
    #expect(projected == [#"{"_id":"1","odd":true}"#])
  }

  @Test("entities of ids come in their order, each as often as it is asked for")
  func byIds() throws {
    func found(_ ids: [String], in collection: String = "c", since: Timestamp? = nil) throws
      -> [String?]
    {
      var found: [String?] = []
      try storage.lend(ids, in: collection, writtenSince: since, within: .unlimited) { entity in
        found.append(entity.map { String(decoding: $0, as: UTF8.self) })
      }
      return found
    }
    let (three, five) = (#"{"_id":"3","n":3,"odd":true}"#, #"{"_id":"5","n":5,"odd":true}"#)
    #expect(try found(["5", "none", "3", "5", ""]) == [five, nil, three, five, nil])
    #expect(try found([]) == [])
    #expect(try found(["5"], in: "none") == [nil])
    let error = StoreError(.internal, "Enough.")
    var count = 0
    #expect(throws: error) {
      try storage.lend(["5", "3", "1"], in: "c", writtenSince: nil, within: .unlimited) {
        (_) throws(StoreError) in
        count += 1
        if count == 2 { throw error }
      }
    }
    #expect(count == 2)
    #expect(try found(["3"]) == [three])
  }

  @Test("a cursor gives the moment of its find and blocks no writer") func snapshot() throws {
    let cursor = try storage.find(query("{}"), in: "c", writtenSince: nil)
    _ = try storage.remove("5", in: "c")
    try storage.save(#"{"_id":"new"}"#)
    #expect(try ids(drain(cursor)) == "123456789")
    #expect(try cursor.next { _ in } == nil)
    #expect(try storage.find().count == 9)
  }

  @Test("a cursor that was closed is at its end, and outlives the storage") func closing() throws {
    let one = try storage.find(query("{}"), in: "c", writtenSince: nil)
    let other = try storage.find(query("{}"), in: "c", writtenSince: nil)
    one.close()
    #expect(try one.next { _ in } == nil)
    storage.close()
    #expect(try drain(other).count == 9)
    let error = #expect(throws: StoreError.self) { try storage.get("1") }
    #expect(error?.kind == .misuse)
  }

  @Test("rows that were written too long ago are ignored, not removed") func timeToLive() throws {
    let future = Timestamp(milliseconds: Timestamp.now().milliseconds + 60_000)
    let past = Timestamp(milliseconds: future.milliseconds - 120_000)
    for (since, count) in [(future, 0), (past, 9)] {
      let found = try drain(storage.find(query("{}"), in: "c", writtenSince: since))
      #expect(found.count == count)
      #expect(try storage.count(query("{}"), in: "c", writtenSince: since) == count)
      let byQuery = try query(#"{"odd":false}"#, #"{"sort":{"n":1},"limit":2}"#)
      #expect(try drain(storage.find(byQuery, in: "c", writtenSince: since)).count == min(2, count))
      #expect(try (storage.entity("1", in: "c", writtenSince: since) == nil) == (count == 0))
    }
  }

  @Test("many threads read while one writes") func threads() throws {
    let storage = self.storage
    let problems = concurrently(6) { thread -> String? in
      do {
        for round in 0..<100 {
          if thread == 0 {
            try storage.save(#"{"_id":"1","n":1,"round":\#(round)}"#)
          } else if try storage.find(#"{"n":{"$lt":4}}"#).count != 3 || storage.get("9") == nil {
            return "wrong result"
          }
        }
        return nil
      } catch { return "\(error)" }
    }
    #expect(problems == [])
  }

  @Test("an expression that takes too many steps for one entity is an error that names it")
  func tooManySteps() throws {
    let long = String(repeating: "a", count: 3000)
    try storage.store(["{\"_id\":\"long \\\"one\\\"\",\"text\":\"\(long)\"}"])
    let slow = try query(#"{"text":{"$regex":"[a-z]*[a-z]*[a-z]*[0-9]"}}"#)
    for counting in [false, true] {
      let error = try #require(throws: StoreError.self) {
        if counting {
          _ = try storage.count(slow, in: "c", writtenSince: nil)
        } else {
          _ = try drain(storage.find(slow, in: "c", writtenSince: nil))
        }
      }
      #expect(error.kind == .invalid)
      #expect(error.id == #"long "one""#)
      #expect(error.message.hasSuffix(#"for the entity "long \"one\"""#))
    }
  }

  @Test("a long text that is searched for a word is found or not, and no error")
  func longTexts() throws {
    let line = String(repeating: "some more words ", count: 70_000)
    try storage.store([
      "{\"_id\":\"long\",\"text\":\"\(line)\"}", "{\"_id\":\"cat\",\"text\":\"\(line)Cät!\"}",
    ])
    for format in [
      "text CONTAINS 'Cät'", "text CONTAINS[c] 'cäT'", "text CONTAINS[cd] 'cat'",
      "text ENDSWITH 'Cät!'", "text ENDSWITH[cd] 'CAT!'", "text LIKE 'some*words*C?t!'",
      "text LIKE[cd] '*cat?'", "text MATCHES '.*(?:Cät|Dög)!'",
    ] {
      let found = try drain(
        storage.find(Query(format: format), in: "c", writtenSince: nil))
      #expect(ids(found) == "cat", "\(format)")
    }
    #expect(try storage.find(#"{"text":{"$regex":" $"}}"#).count == 1)
  }
}
