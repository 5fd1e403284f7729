import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVSQLite
@testable import KVStorage

/// Names that Swift's strings take for equal: as one character, and as a letter with a mark.
private let composed = "caf\u{E9}"
private let decomposed = "cafe\u{301}"

@Suite("Names that only look the same") struct NamesTests {
  let directory = TemporaryDirectory()

  @Test("are two collections, whichever is used first") func collections() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"1"}"#, in: composed)
    try storage.save(#"{"_id":"2"}"#, in: decomposed)
    #expect(try storage.find(in: composed) == [#"{"_id":"1"}"#])
    #expect(try storage.find(in: decomposed) == [#"{"_id":"2"}"#])
    storage.close()
    let again = try openStorage(in: directory)
    #expect(try again.find(in: decomposed) == [#"{"_id":"2"}"#])
    #expect(try again.find(in: composed) == [#"{"_id":"1"}"#])
    try again.save(#"{"_id":"3"}"#, in: composed)
    #expect(try again.queue(in: decomposed).map(\.id) == ["2"])
    #expect(try again.queue(in: composed).map(\.id) == ["1", "3"])
  }

  @Test("are two ids") func ids() throws {
    let storage = try openStorage(in: directory)
    try storage.save(#"{"_id":"\#(composed)","n":1}"#)
    try storage.save(#"{"_id":"\#(decomposed)","n":2}"#)
    #expect(try storage.find().count == 2)
    #expect(try storage.find(#"{"_id":"\#(decomposed)"}"#) == [#"{"_id":"\#(decomposed)","n":2}"#])
    #expect(try storage.get(composed)?.hasSuffix(#""n":1}"#) == true)
  }

  /// What is indexed, an entity that it finds, and the question.
  struct Kind: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let index: String
    let value: String
    let filter: String
  }

  private static let kinds = [
    Kind(testDescription: "ordered", index: "1", value: "1", filter: "1"),
    Kind(
      testDescription: "words", index: #""text""#, value: #""word""#,
      filter: #"{"$text":{"$search":"word"}}"#),
    Kind(
      testDescription: "places", index: #""2dsphere""#, value: "[1,2]",
      filter: #"{"$geoWithin":{"$box":[[0,0],[3,3]]}}"#),
  ]

  private func check(_ kind: Kind, in storage: Storage) throws {
    for (id, name) in [("1", composed), ("2", decomposed)] {
      let filter = #"{"\#(name)":\#(kind.filter)}"#
      let found = try storage.find(filter)
      #expect(found.count == 1 && found.first?.hasPrefix(#"{"_id":"\#(id)""#) == true, "\(found)")
      #expect(try storage.explained(filter).access == .index)
    }
  }

  @Test("are two members, each with its own index", arguments: kinds)
  func indexes(_ kind: Kind) throws {
    let storage = try openStorage(in: directory)
    for name in [composed, decomposed] {
      try storage.createIndex(#"{"\#(name)":\#(kind.index)}"#)
    }
    try storage.save(
      #"{"_id":"1","\#(composed)":\#(kind.value)}"#,
      #"{"_id":"2","\#(decomposed)":\#(kind.value)}"#)
    try check(kind, in: storage)
    storage.close()
    try check(kind, in: try openStorage(in: directory))
  }

  /// As files are that were written when the two names of members were one for the index.
  @Test("have their indexes made anew in a file of an older version", arguments: kinds)
  func repair(_ kind: Kind) throws {
    let path = directory.file("data.kvs")
    try Self.makeDamagedFile(path, kind)
    let storage = try Storage(path: path)
    try check(kind, in: storage)
    // The triggers are there as well.
    _ = try storage.remove("1", in: "c")
    try storage.save(#"{"_id":"1","\#(composed)":\#(kind.value),"more":true}"#)
    try check(kind, in: storage)
    #expect(try storage.find(#"{"plain":{"$gt":4}}"#).count == 5)
  }

  /// Two members that look the same, and one beside them.
  private static func makeDamagedFile(_ path: String, _ kind: Kind) throws {
    let configuration = StorageSchema.configuration(path)
    let old = try Database(configuration, migrations: Array(StorageMigrations.all.prefix(4)))
    defer { old.close() }
    let table = Table(number: 1)
    let specs = try [(composed, kind.index), (decomposed, kind.index), ("plain", "1")].map {
      try IndexSpec(parsing: #"{"keys":{"\#($0)":\#($1)}}"#)
    }
    try old.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute("INSERT INTO collections (name, index_version) VALUES ('c', 1)")
      try db.execute(
        """
        CREATE TABLE e1 (
          n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, gen INTEGER NOT NULL,
          at INTEGER NOT NULL, body TEXT NOT NULL)
        """)
      for (index, spec) in specs.enumerated() {
        let add = try db.prepare(
          "INSERT INTO indexes (collection, name, spec, progress) VALUES (1, ?1, ?2, NULL)")
        try add.bind(spec.name, at: 1)
        try add.bind(spec.json.text, at: 2)
        try add.run()
        try db.execute(table.index(Int64(index) + 1, spec).create)
      }
      for (id, name) in [("1", composed), ("2", decomposed)] {
        try Self.insert(#"{"_id":"\#(id)","\#(name)":\#(kind.value)}"#, id: id, into: db)
      }
      for n in 0..<10 { try Self.insert(#"{"_id":"p\#(n)","plain":\#(n)}"#, id: "p\(n)", into: db) }
      try Self.damage(kind, db)
    }
  }

  private static func insert(
    _ body: String, id: String, into db: borrowing Connection
  ) throws(SQLiteError) {
    let insert = try db.prepare("INSERT INTO e1 (id, gen, at, body) VALUES (?1, 1, 0, ?2)")
    try insert.bind(id, at: 1)
    try insert.bind(body, at: 2)
    try insert.run()
  }

  /// The second index gets what the first one has.
  private static func damage(_ kind: Kind, _ db: borrowing Connection) throws(SQLiteError) {
    switch kind.testDescription {
    case "ordered": try db.execute("DELETE FROM x2; INSERT INTO x2 SELECT * FROM x1")
    case "words":
      try db.execute(
        """
        INSERT INTO x2 (x2, rowid, words) VALUES ('delete', 2, 'word ');
        INSERT INTO x2 (rowid, words) VALUES (1, 'word ')
        """)
    default: try db.execute("UPDATE x2 SET n = 1 WHERE n = 2")
    }
  }
}
