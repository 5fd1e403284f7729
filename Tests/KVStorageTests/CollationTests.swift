import KVBase
import KVJSON
import KVQuery
import KVSQLite
import KVStorage
import KVSync
import KVTestSupport
import Testing

@Suite("Order by language") struct CollationTests {
  let directory = TemporaryDirectory()
  let storage: Storage

  init() throws {
    storage = try openStorage(in: directory)
    let names = ["Zoe", "Ärger", "anna", "ärger", "Öl", "zon"]
    try storage.store(
      names.enumerated().map { #"{"_id":"\#($0.offset + 1)","name":"\#($0.element)","n":1}"# })
  }

  @Test(
    "is the same with an index and without",
    arguments: [
      ("{}", #"{"sort":{"name":1}}"#, "Zoe anna zon Ärger Öl ärger"),
      ("{}", #"{"sort":{"name":1},"collation":"de"}"#, "anna ärger Ärger Öl Zoe zon"),
      ("{}", #"{"sort":{"name":-1},"collation":"sv"}"#, "Öl Ärger ärger zon Zoe anna"),
      ("{}", #"{"sort":{"name":1},"collation":"de","skip":1,"limit":3}"#, "ärger Ärger Öl"),
      (
        #"{"name":{"$gte":"b","$lt":"za"}}"#,
        #"{"sort":{"name":1},"collation":{"locale":"de","ignoreCase":true}}"#, "Öl"
      ),
      (
        #"{"name":"ARGER"}"#,
        #"{"collation":{"locale":"de","ignoreCase":true,"ignoreAccents":true}}"#, "Ärger ärger"
      ),
      (#"{"n":1}"#, #"{"sort":{"n":1,"name":1},"limit":2,"collation":"sv"}"#, "anna Zoe"),
    ])
  func answers(filter: String, modifiers: String, expected: String) throws {
    let orders = [nil, #""de""#, #""sv""#, #"{"locale":"de","ignoreCase":true}"#, Self.loose]
    for keys in [nil, #"{"name":1}"#, #"{"n":1,"name":1}"#, #"{"name":-1}"#] {
      for collation in orders {
        if let keys { try storage.createIndex(keys, collation: collation) }
        let found = try storage.find(filter, modifiers)
        #expect(
          found.map { name(of: $0) }.joined(separator: " ") == expected,
          "\(keys ?? "") \(collation ?? "")")
      }
    }
  }

  private static let loose = #"{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#

  @Test(
    "an index serves comparisons and sorts with its collation",
    arguments: [
      ("{}", #"{"sort":{"name":1},"limit":2,"collation":"de"}"#, true),
      // Both have the root's order.
      ("{}", #"{"sort":{"name":-1},"limit":2,"collation":"en-GB"}"#, true),
      ("{}", #"{"sort":{"name":1},"limit":2,"collation":"sv"}"#, false),
      (
        "{}", #"{"sort":{"name":1},"limit":2,"collation":{"locale":"de","ignoreCase":true}}"#, false
      ),
      ("{}", #"{"sort":{"name":1},"limit":2}"#, false),
      (#"{"name":"anna"}"#, #"{"collation":"de"}"#, true),
      (#"{"name":{"$in":["anna","Zoe"]}}"#, #"{"collation":"de"}"#, true),
      (#"{"name":{"$gt":"A","$lt":"b"}}"#, #"{"collation":"de"}"#, true),
      (#"{"name":"anna"}"#, "{}", false),
      (#"{"name":{"$regex":"^a"}}"#, #"{"collation":"de"}"#, false),
      // Numbers are the same in every order.
      (#"{"name":{"$gt":5}}"#, "{}", true),
      (#"{"name":null}"#, "{}", true),
    ])
  func serves(filter: String, modifiers: String, isServed: Bool) throws {
    try storage.createIndex(#"{"name":1}"#, collation: #""de""#)
    let explained = try storage.explained(filter, modifiers)
    #expect(explained.indexes == (isServed ? ["name_1_de"] : []))
    if isServed {
      #expect(explained.isExact)
      // Whether the last one has ties, the next one says.
      #expect(explained.examined <= explained.returned + 1)
    }
  }

  @Test("an empty array is no number in an index", arguments: [nil, #""de""#])
  func nothing(collation: String?) throws {
    try storage.createIndex(#"{"l":1}"#, collation: collation)
    try storage.store(
      #"{"_id":"none","l":[]}"#, #"{"_id":"seven","l":[7]}"#, #"{"_id":"b","l":["b"]}"#)
    for test in [#"{"$gt":5}"#, #"{"$gte":5,"$lt":8}"#, #"{"$lt":8}"#] {
      let filter = #"{"l":\#(test)}"#
      #expect(try storage.explained(filter, "{}").indexes.count == 1)
      #expect(try storage.find(filter, "{}") == [#"{"_id":"seven","l":[7]}"#], "\(test)")
    }
  }

  @Test("what an index with a collation is, can be read back") func listed() throws {
    try storage.createIndex(#"{"name":1}"#, collation: Self.loose)
    try storage.createIndex(
      #"{"name":1}"#, collation: #"{"locale":"de","ignoreCase":true,"ignoreAccents":true}"#)
    let listed = try storage.indexes(in: "c")
    #expect(
      listed.map(\.json.text) == [
        #"{"name":"name_1_de_ignoreCase_ignoreAccents","keys":{"name":1},"collation":\#(Self.loose),"#
          + #""state":"ready","arrays":false}"#
      ])
    #expect(throws: StoreError.self) {
      try storage.createIndex(
        #"{"name":1}"#, name: "name_1_de_ignoreCase_ignoreAccents", collation: #""de""#)
    }
  }

  @Test(
    "an index of words, points or totals has no collation, and an unknown one is refused",
    arguments: [
      (#"{"keys":{"a":"text"},"collation":"de"}"#, "only an index of values in order", 21),
      (#"{"keys":{"a":"2dsphere"},"collation":"de"}"#, "only an index of values in order", 25),
      (#"{"keys":{"a":1,"b":1},"totals":true,"collation":"de"}"#, "without totals", 36),
      (#"{"keys":{"a":1},"collation":"xx"}"#, "no order is known for the locale xx", 16),
      (#"{"keys":{"a":1},"collationVersion":1}"#, "unknown member collationVersion", 16),
    ])
  func refuses(spec: String, message: String, position: Int) throws {
    let error = #expect(throws: QueryError.self) { try IndexSpec(parsing: spec) }
    #expect(error?.message.contains(message) == true)
    #expect(error?.position == position)
  }

  // MARK: Versions of the weights

  private static let version =
    (try? IndexSpec(parsing: #"{"keys":{"a":1},"collation":"de"}"#))?.collationVersion ?? 0

  @Test("an index of other weights is made anew when the file is opened") func renewed() throws {
    try storage.createIndex(#"{"name":1}"#, collation: #""de""#)
    let sorted = #"{"sort":{"name":1},"collation":"de","limit":9}"#
    let expected = try storage.find("{}", sorted)
    storage.close()
    try tamper(
      """
      UPDATE indexes SET spec = replace(spec, '"collationVersion":\(Self.version)', '"collationVersion":7');
      UPDATE x1 SET k0 = zeroblob(n);
      """, in: directory)
    let again = try openStorage(in: directory)
    #expect(try again.indexes(in: "c").map(\.spec.isOutdated) == [false])
    #expect(try again.explained("{}", sorted).indexes == ["name_1_de"])
    #expect(try again.find("{}", sorted) == expected)
    try again.save(#"{"_id":"7","name":"Änne"}"#)
    #expect(try again.find("{}", sorted).count == 7)
    #expect(try again.find(#"{"name":"Änne"}"#, #"{"collation":"de"}"#).count == 1)
  }

  @Test("what a process with other weights writes, an open index is not asked for")
  func mixed() throws {
    try storage.createIndex(#"{"name":1}"#, collation: #""de""#)
    let sorted = #"{"sort":{"name":1},"collation":"de","limit":9}"#
    #expect(try storage.explained("{}", sorted).indexes == ["name_1_de"])
    for sql in [
      "INSERT INTO e1 (n, id, gen, at, version, body) VALUES (90, '90', 1, 1, 1, '{\"_id\":\"90\",\"name\":\"Bo\"}')",
      "UPDATE e1 SET body = '{\"_id\":\"90\",\"name\":\"Bob\"}' WHERE n = 90",
      "DELETE FROM e1 WHERE n = 90",
    ] {
      // The other one has other triggers, whose functions are of our version here.
      try change(asOther: sql)
      #expect(try storage.indexes(in: "c").map(\.shape) == [.outdated])
      #expect(try storage.explained("{}", sorted).access == .scan)
      let again = try openStorage(in: directory)
      #expect(try again.indexes(in: "c").map(\.shape) == [.plain])
      #expect(try again.explained("{}", sorted).indexes == ["name_1_de"])
      again.close()
    }
    #expect(try storage.find("{}", sorted).count == 6)
  }

  private func change(asOther sql: String) throws {
    let file = DataDirectory(root: directory.path, appKey: "kid_test").file(tag: "kinvey")
    let database = try Database(
      StorageSchema.configuration(file), migrations: StorageMigrations.all)
    defer { database.close() }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      let row = try db.prepare("SELECT number, spec FROM indexes")
      _ = try row.step()
      let text = (row.text(1) ?? "")
      let other = text.replacing(
        "\"collationVersion\":\(Self.version)", with: "\"collationVersion\":7")
      guard let spec = try? IndexSpec(stored: other), let mine = try? IndexSpec(stored: text) else {
        return
      }
      let number = row.int64(0)
      row.reset()
      try db.execute(IndexTable(number: number, spec, on: "e1").renewTriggers)
      try db.execute(sql)
      try db.execute(IndexTable(number: number, mine, on: "e1").renewTriggers)
    }
  }

  @Test("an index that was found outdated is made anew when it is asked for") func asked() throws {
    let outdate = "UPDATE indexes SET spec = replace(spec, '\(Self.version)', '7')"
    try storage.createIndex(#"{"name":1}"#, collation: #""de""#)
    try tamper(outdate, in: directory)
    let other = try openStorage(in: directory)
    other.close()
    try tamper(outdate, in: directory)
    #expect(try storage.indexes(in: "c").map(\.spec.isOutdated) == [true])
    try storage.createIndex(#"{"name":1}"#, collation: #""de""#)
    #expect(try storage.indexes(in: "c").map(\.spec.isOutdated) == [false])
    #expect(try storage.explained(#"{"name":"anna"}"#, #"{"collation":"de"}"#).returned == 1)
  }

  private func name(of entity: String) -> String {
    entity.split(separator: "\"").drop { $0 != "name" }.dropFirst(2).first.map(String.init) ?? ""
  }

  @Test(
    "texts that it finds equal are one group, whose key is the first by code point",
    arguments: [
      (#""de""#, "anna ärger Ärger Öl Zoe zon", "1 1 1 1 1 1"),
      (#"{"locale":"sv","ignoreCase":true}"#, "anna Zoe zon Ärger Öl", "1 1 1 2 1"),
      (#"{"locale":"de","ignoreCase":true}"#, "anna Ärger Öl Zoe zon", "1 2 1 1 1"),
    ])
  func equalKeys(collation: String, keys: String, counts: String) throws {
    let grouping = try Grouping(
      parsing: #"{"keys":["name"],"aggregates":{"x":"count"},"collation":\#(collation)}"#)
    let index = [nil, #"{"name":1}"#, #"{"name":1,"n":1}"#]
    for (number, index) in index.enumerated() {
      if let index { try storage.createIndex(index, totals: number == 2) }
      let groups = try storage.group(grouping, of: Query(), in: "c", writtenSince: nil)
      #expect(groups.compactMap { $0["name"]?.stringValue }.joined(separator: " ") == keys)
      #expect(
        groups.compactMap { $0["x"]?.intValue?.description }.joined(separator: " ") == counts)
    }
    // Whichever comes first, and in whichever part.
    var (whole, first, second) = (Groups(grouping), Groups(grouping), Groups(grouping))
    for (number, name) in ["ärger", "Ärger", "ärger", "Zoe"].enumerated() {
      let entity = Array(#"{"name":"\#(name)"}"#.utf8)
      whole.add(entity)
      if number % 2 == 0 { first.add(entity) } else { second.add(entity) }
    }
    first.add(second)
    #expect(first.results == whole.results)
  }

  @Test("rows of groups are ordered by it") func groups() throws {
    let filter = #"{"name":{"$gte":"ö","$collation":"de"}}"#
    let groups = try storage.group(
      Grouping(parsing: #"{"keys":["name"],"aggregates":{"x":"count"}}"#), of: query(filter),
      in: "c", writtenSince: nil)
    #expect(groups.count == 3)
    #expect(try storage.count(query(filter), in: "c", writtenSince: nil) == 3)
  }
}
