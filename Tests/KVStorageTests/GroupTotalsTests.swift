import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVSQLite
@testable import KVStorage

@Suite("Groups by an index") struct GroupTotalsTests {
  private static let grouping = #"""
    {"keys":["g"],"aggregates":{"a":"count","b":{"sum":"n"},"c":{"avg":"n"},"d":{"min":"n"},"e":{"max":"n"}}}
    """#

  /// The version of files before the step that makes totals anew.
  private static let totalsMigration = 9

  private let directory = TemporaryDirectory()
  private var path: String { directory.file("data.kvs") }

  /// Numbers of all sizes, what is no number, and keys of every type that an index gives back.
  private static let entities = [
    #"{"_id":"1","g":"x","n":0.1}"#, #"{"_id":"2","g":"x","n":0.2}"#,
    #"{"_id":"3","g":"x","n":0.3}"#,
    #"{"_id":"4","g":1,"n":1e308}"#, #"{"_id":"5","g":1.0,"n":1e308}"#,
    #"{"_id":"6","g":1,"n":-7}"#,
    #"{"_id":"7","g":true,"n":"text"}"#, #"{"_id":"8","g":true}"#,
    #"{"_id":"9","g":false,"n":2.0}"#,
    #"{"_id":"10","n":9223372036854775807}"#, #"{"_id":"11","g":null,"n":9223372036854775807}"#,
    #"{"_id":"12","g":2.5,"n":null}"#, #"{"_id":"13","g":2.5,"n":true}"#,
    #"{"_id":"14","g":2.5,"n":1e18}"#,
    #"{"_id":"15","g":"","n":9007199254740993}"#, #"{"_id":"16","g":"","n":2.0}"#,
    #"{"_id":"17","g":"e","n":1e300}"#,
    #"{"_id":"18","g":"e","n":1}"#, #"{"_id":"19","g":"e","n":-1e300}"#,
  ]
  private static let answer = [
    #"{"g":null,"a":2,"b":1.8446744073709552e+19,"c":9.223372036854776e+18,"d":9223372036854775807,"e":9223372036854775807}"#,
    #"{"g":1,"a":3,"b":null,"c":6.666666666666666e+307,"d":-7,"e":1e+308}"#,
    #"{"g":2.5,"a":3,"b":1000000000000000000,"c":1000000000000000000,"d":1000000000000000000,"e":1000000000000000000}"#,
    #"{"g":"","a":2,"b":9007199254740995,"c":4503599627370498,"d":2,"e":9007199254740993}"#,
    #"{"g":"e","a":3,"b":1,"c":0.3333333333333333,"d":-1e+300,"e":1e+300}"#,
    #"{"g":"x","a":3,"b":0.6,"c":0.2,"d":0.1,"e":0.3}"#,
    #"{"g":false,"a":1,"b":2,"c":2,"d":2,"e":2}"#,
    #"{"g":true,"a":2,"b":0,"c":null,"d":null,"e":null}"#,
  ]

  private func groups(_ storage: Storage, _ text: String = Self.grouping) throws -> [String] {
    let found = try storage.group(
      Grouping(parsing: text), of: Query(), in: "c", writtenSince: nil)
    return found.map { JSONValue.object($0).text }
  }

  /// Takes the entities away from under the index.
  private func hideEntities() throws {
    try write(
      """
      DROP TRIGGER x1_update;
      UPDATE e1 SET body = '{}';
      """)
  }

  private func write(_ sql: String) throws {
    let configuration = StorageSchema.configuration(path)
    let database = try Database(configuration, migrations: StorageMigrations.all)
    defer { database.close() }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in try db.execute(sql) }
  }

  @Test("read no entity, and are what the entities give", arguments: [false, true])
  func indexAlone(hasTotals: Bool) throws {
    let storage = try Storage(path: path)
    try storage.store(Self.entities)
    let expected = try groups(storage)
    #expect(expected == Self.answer)
    try storage.createIndex(#"{"g":1,"n":-1}"#, totals: hasTotals)
    try hideEntities()
    #expect(try groups(storage) == expected)
    let sums = #"{"keys":["g"],"aggregates":{"s":{"sum":"n"}}}"#
    #expect(try groups(storage, sums).first == #"{"g":null,"s":1.8446744073709552e+19}"#)
    let counts = #"{"keys":["g"],"aggregates":{"n":"count"}}"#
    #expect(try groups(storage, counts).first == #"{"g":null,"n":2}"#)
  }

  @Test("give up on keys that an index does not give back", arguments: [false, true])
  func objects(hasTotals: Bool) throws {
    let storage = try Storage(path: path)
    try storage.store([#"{"_id":"1","g":{"b":1,"a":2.0},"n":0.5}"#, #"{"_id":"2","g":"x","n":1}"#])
    let expected = try groups(storage)
    try storage.createIndex(#"{"g":1,"n":-1}"#, totals: hasTotals)
    #expect(try groups(storage) == expected && expected.count == 2)
  }

  @Test("follow every change without a trace of what was")
  func changes() throws {
    let seed = Seed()
    var random = seed
    let plain = try openStorage(in: directory, tag: "plain")
    let storage = try Storage(path: path)
    try storage.createIndex(#"{"g":1,"n":1}"#, totals: true)
    let numbers = [
      "0.1", "0.2", "-0.3", "1e308", "-1e308", "1.7976931348623157e308", "5e-324", "7", "-7",
      "1e-9",
      "9223372036854775807", "-9223372036854775808", "null", "\"x\"", "123456.78", "1e16",
    ]
    for step in 0..<400 {
      let id = random.below(40)
      let g = "g\(random.below(3))"
      for each in [plain, storage] {
        if step % 5 == 4 {
          _ = try each.remove("\(id)", in: "c")
        } else {
          let number = numbers[(id * 7 + step) % numbers.count]
          try each.save(#"{"_id":"\#(id)","g":"\#(g)","n":\#(number)}"#)
        }
      }
      guard step % 7 == 0 else { continue }
      #expect(try groups(storage) == groups(plain), "\(seed), step \(step)")
    }
    _ = try storage.clear(nil, in: "c")
    #expect(try groups(storage) == [])
    try storage.store(Self.entities)
    try hideEntities()
    #expect(try groups(storage).count == Self.answer.count)
  }

  /// As files are that were written when totals were sums of integers.
  @Test("are made anew in a file of an older version")
  func migration() throws {
    do {
      let storage = try Storage(path: path)
      try storage.store(Self.entities)
      try storage.createIndex(#"{"g":1,"n":1}"#, totals: true)
      storage.close()
    }
    let previous = Self.totalsMigration
    try write(
      """
      DROP TRIGGER x1_add; DROP TRIGGER x1_subtract; DROP TABLE x1_totals;
      CREATE TABLE x1_totals (k0, n, integers, s, PRIMARY KEY (k0)) WITHOUT ROWID;
      INSERT INTO x1_totals VALUES ('x', 3, 0, 0);
      ALTER TABLE collections DROP COLUMN forgotten;
      ALTER TABLE collections DROP COLUMN purged;
      ALTER TABLE collections DROP COLUMN synced;
      ALTER TABLE collections DROP COLUMN epoch;
      ALTER TABLE collections DROP COLUMN renewed;
      ALTER TABLE collections DROP COLUMN restored;
      DROP TABLE gone;
      DROP INDEX pending_kept;
      ALTER TABLE pending DROP COLUMN confirmed;
      ALTER TABLE pending DROP COLUMN operators;
      ALTER TABLE pending DROP COLUMN sent_operators;
      DROP TABLE models;
      ALTER TABLE pending DROP COLUMN conditional;
      ALTER TABLE pending DROP COLUMN condition;
      ALTER TABLE pending DROP COLUMN base_checksum;
      ALTER TABLE pending DROP COLUMN replaces_unseen;
      ALTER TABLE e1 DROP COLUMN checksum;
      PRAGMA user_version = \(previous);
      """)
    let storage = try Storage(path: path)
    #expect(try groups(storage) == Self.answer)
    try storage.store([#"{"_id":"20","g":"x","n":0.4}"#])
    try hideEntities()
    #expect(try groups(storage)[5] == #"{"g":"x","a":4,"b":1,"c":0.25,"d":0.1,"e":0.4}"#)
  }
}
