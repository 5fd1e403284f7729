import KVBase
import KVJSON
import KVQuery
import KVSync
import KVTestSupport
import Testing

@testable import KVSQLite
@testable import KVStorage

@Suite("Indexes of texts") struct TextIndexTests {
  let directory = TemporaryDirectory()

  private func search(_ text: String, _ options: String = "") -> String {
    #"{"$text":{"$search":"\#(text)"\#(options)}}"#
  }

  private func ids(_ storage: Storage, _ filter: String) throws -> [String] {
    try storage.find(filter).map { String($0.dropFirst(8).prefix(1)) }
  }

  @Test("find words, prefixes, phrases and, with a language, stems") func used() throws {
    let storage = try openStorage(in: directory)
    try storage.store([
      #"{"_id":"1","t":"The quick fox"}"#, #"{"_id":"2","t":"Foxes run"}"#,
      #"{"_id":"3","t":"He was running"}"#, #"{"_id":"4","t":"東京都"}"#,
      #"{"_id":"5","t":"nothing of it"}"#,
    ])
    let cases = [
      (search("fox*"), ["1", "2"]), (search(#"\"quick fo*\""#), ["1"]), (search("京都"), ["4"]),
      (search("runs", #","$language":"english""#), ["2", "3"]),
      (search("fox runs", #","$language":"english","$matchCriteria":"all""#), ["2"]),
      (search(#"runs \"foxes run\""#, #","$language":"english""#), ["2"]),
    ]
    for (filter, expected) in cases { #expect(try ids(storage, filter) == expected) }
    try storage.createIndex(#"{"$**":"text"},"language":"english""#)
    for (filter, expected) in cases {
      #expect(try ids(storage, filter) == expected)
      let explanation = try storage.explained(filter)
      #expect(explanation.access == .index)
      #expect(explanation.examined == expected.count, "\(filter)")
    }
    _ = try storage.remove(query(#"{"_id":"2"}"#), in: "c")
    #expect(try ids(storage, search("runs", #","$language":"english""#)) == ["3"])
  }

  @Test("without a language answer a search for stems by looking at everything") func unused()
    throws
  {
    let storage = try openStorage(in: directory)
    try storage.store([#"{"_id":"1","t":"runs"}"#, #"{"_id":"2","t":"walks"}"#])
    try storage.createIndex(#"{"t":"text"}"#)
    let filter = #"{"t":{"$text":{"$search":"running","$language":"english"}}}"#
    #expect(try ids(storage, filter) == ["1"])
    #expect(try storage.explained(filter).access == .scan)
  }

  @Test(
    "have a language that is known, and no other index has one",
    arguments: [
      (#"{"keys":{"a":1},"language":"english"}"#, 16),
      (#"{"keys":{"a":"text"},"language":"latin"}"#, 21),
    ])
  func refused(_ spec: String, _ position: Int) {
    let error = #expect(throws: QueryError.self) { try IndexSpec(parsing: spec) }
    #expect(error?.position == position)
  }

  /// As files are whose indexes have other words of scripts without spaces.
  @Test("are filled again in a file of an older version", arguments: [#""$**""#, #""it's""#])
  func migration(_ key: String) throws {
    let path = directory.file("data.kvs")
    let format = RecordFormat(id: [.init("key")])
    let entity = #"{"key":"1","it's":"東京都"}"#
    do {
      let storage = try Storage(path: path, layout: RecordLayout(format))
      let array = Array("[\(entity)]".utf8)
      let outlines = try EntityScanner.outlines(ofArray: array, format)
      _ = try array.withUnsafeBytes { try storage.store($0, outlines, in: "c") }
      try storage.createIndex("{\(key):\"text\"}")
      storage.close()
    }
    do {
      let database = try open(path, migrations: StorageMigrations.all)
      defer { database.close() }
      try database.write { (db: borrowing Connection) throws(SQLiteError) in
        try db.execute("INSERT INTO x1 (x1) VALUES ('delete-all')")
        try IndexRepair.refillWords(db)
      }
    }
    let storage = try Storage(path: path, layout: RecordLayout(format))
    let filter = search("京都")
    let wanted = key.contains("$") ? filter : #"{"it's":\#(filter)}"#
    #expect(try storage.find(wanted) == [entity])
    #expect(try storage.explained(wanted).access == .index)
  }

  private func open(_ path: String, migrations: [Database.Migration]) throws -> Database {
    let configuration = StorageSchema.configuration(path)
    return try Database(configuration, migrations: migrations)
  }

  /// FTS5's own tokenizer is asked for the stems of the same words.
  @Test("stem as FTS5's porter does") func stems() throws {
    var random = Seed()
    let roots = [
      "run", "hop", "hope", "fly", "agree", "relate", "condition", "valence", "digit", "vile",
      "radical", "operate", "feudal", "decisive", "form", "electric", "triplicate", "revive",
      "allow", "infer", "airline", "gyroscope", "adjust", "defend", "irritate", "replace",
      "depend", "adopt", "homolog", "commun", "activ", "angular", "effect", "bowdler", "prob",
      "rate", "ceas", "control", "roll", "y", "sky", "toy", "s", "ss", "ies", "eed", "ed", "ing",
      "abcdefghijklmnopqrstuvwxyz", "1st", "x2",
    ]
    let endings = [
      "", "s", "es", "sses", "ies", "ed", "eed", "ing", "at", "bl", "iz", "y", "ational", "tional",
      "enci", "anci", "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization", "ation",
      "ator", "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "icate",
      "ative", "alize", "iciti", "ical", "ful", "ness", "al", "ance", "ence", "er", "ic", "able",
      "ible", "ant", "ement", "ment", "ent", "ion", "sion", "tion", "ou", "ism", "ate", "iti",
      "ous", "ive", "ize", "e", "ll", "le", "ying", "yed",
    ]
    var words: Set<String> = []
    for root in roots { for ending in endings { words.insert(root + ending) } }
    for _ in 0..<2_000 {
      words.insert(
        roots[random.below(roots.count)] + endings[random.below(endings.count)]
          + endings[random.below(endings.count)])
    }
    let database = try open(directory.file("porter"), migrations: [])
    defer { database.close() }
    try database.write { (db: borrowing Connection) throws(SQLiteError) in
      try db.execute(
        """
        CREATE VIRTUAL TABLE t USING fts5(w, tokenize='porter ascii');
        CREATE VIRTUAL TABLE v USING fts5vocab(t, instance);
        """)
      for word in words.sorted() {
        let insert = try db.prepare("INSERT INTO t (w) VALUES (?1)")
        try insert.bind(word, at: 1)
        try insert.run()
      }
      let read = try db.prepare("SELECT w, term FROM v JOIN t ON t.rowid = v.doc")
      var count = 0
      while try read.step() {
        let (word, term) = (read.text(0) ?? "", read.text(1) ?? "")
        #expect(stem(word) == term, "\(word), \(random)")
        count += 1
      }
      #expect(count == words.count)
    }
  }

  private func stem(_ word: String) -> String {
    let spec = #"{"language":"english","of":["w"]}"#
    let body = Array(#"{"w":"\#(word)"}"#.utf8)
    let words = IndexWords(parsing: spec).map { words in
      body.withUnsafeBytes { words.words(of: $0) }
    }
    return String(decoding: (words ?? []).dropLast(), as: UTF8.self)
  }
}
