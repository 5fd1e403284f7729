internal import CSQLite

extension Connection {
  /// Lets the triggers of the file run in a step of its schema, having refused those that are not among `known`.
  package func runningTriggers(
    _ known: (borrowing Connection) throws(SQLiteError) -> [String],
    _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try SchemaCheck.run(on: self, known: known)
    kv_sqlite_configure(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
    defer { kv_sqlite_configure(raw, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0) }
    try body()
  }
}

/// Compares the schema of a file with what this software makes, so that a file from elsewhere runs no code of its own.
///
/// SQLite runs the text of each row of `sqlite_schema`, whatever the row says that it is: so only the text counts. Texts
/// are compared without white space and comments, and with all string literals equal: these are paths of members, which
/// depend on the application, and which our functions read as data.
enum SchemaCheck {
  /// Throws `.corrupt` for a trigger that is not among `known`, for any view, and for virtual tables of other modules than ours.
  static func run(
    on connection: borrowing Connection,
    known: (borrowing Connection) throws(SQLiteError) -> [String]
  ) throws(SQLiteError) {
    let schema = try connection.prepare("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
    var triggers: [(name: String, words: [[UInt8]])] = []
    while try schema.step() {
      let (name, text) = (schema.text(0) ?? "", [UInt8](schema.bytes(1)))
      switch kind(of: text) {
      case .data: continue
      case .trigger: triggers.append((name, words(of: text)))
      case .other: throw refusal(of: name)
      }
    }
    guard !triggers.isEmpty else { return }
    var allowed: Set<[[UInt8]]> = []
    for text in try known(connection) { allowed.formUnion(self.triggers(in: text)) }
    for trigger in triggers where !allowed.contains(trigger.words) {
      throw refusal(of: trigger.name)
    }
  }

  private static func refusal(of name: String) -> SQLiteError {
    SQLiteError(
      .corrupt,
      """
      The file has a trigger, view or virtual table that this software has not made, "\(name)", and could run code by it. It was left \
      unchanged.
      """)
  }

  private enum Kind { case data, trigger, other }

  private static func kind(of text: [UInt8]) -> Kind {
    var reader = SQLWords(text)
    guard reader.next().map(lowercased) == "create" else { return .other }
    switch reader.next().map(lowercased) {
    case "table", "index", "unique": return .data
    case "trigger": return .trigger
    case "virtual":
      // CREATE VIRTUAL TABLE name USING module
      let rest = (0..<4).map { _ in reader.next().map(lowercased) }
      return rest[3] == "fts5" || rest[3] == "rtree" ? .data : .other
    default: return .other
    }
  }

  private static func lowercased(_ word: [UInt8]) -> String {
    String(decoding: word, as: UTF8.self).lowercased()
  }

  private static func words(of text: [UInt8]) -> [[UInt8]] {
    var reader = SQLWords(text)
    var words: [[UInt8]] = []
    while let word = reader.next() { words.append(word) }
    return words
  }

  /// The triggers that statements make, each as SQLite stores it: without `IF NOT EXISTS`.
  static func triggers(in statements: String) -> [[[UInt8]]] {
    let words = words(of: Array(statements.utf8))
    let (create, trigger) = (Array("CREATE".utf8), Array("TRIGGER".utf8))
    let condition = ["IF", "NOT", "EXISTS"].map { Array($0.utf8) }
    var (found, rest) = ([[[UInt8]]](), words[...])
    while let start = rest.firstIndex(of: create) {
      rest = rest[(start + 1)...]
      guard rest.first == trigger else { continue }
      rest = rest.dropFirst()
      if rest.starts(with: condition) { rest = rest.dropFirst(condition.count) }
      let body = rest.prefix(length(ofTrigger: rest))
      found.append([create, trigger] + body)
      rest = rest.dropFirst(body.count)
    }
    return found
  }

  /// How many words there are up to the END of a trigger.
  private static func length(ofTrigger words: ArraySlice<[UInt8]>) -> Int {
    var depth = 0
    for (count, word) in words.enumerated() {
      switch String(decoding: word, as: UTF8.self) {
      case "BEGIN", "CASE": depth += 1
      case "END":
        depth -= 1
        if depth == 0 { return count + 1 }
      default: continue
      }
    }
    return words.count
  }
}

/// The words of an SQL text: names, numbers and signs. All string literals are the same word; comments are none.
struct SQLWords {
  private let text: [UInt8]
  private var at = 0

  init(_ text: [UInt8]) { self.text = text }

  private func byte(_ index: Int) -> UInt8? { index < text.count ? text[index] : nil }

  mutating func next() -> [UInt8]? {
    skipSpace()
    guard let first = byte(at) else { return nil }
    let start = at
    switch first {
    case UInt8(ascii: "'"):
      passQuoted(until: first)
      return Array("''".utf8)
    case UInt8(ascii: "\""), UInt8(ascii: "`"): passQuoted(until: first)
    case UInt8(ascii: "["): passQuoted(until: UInt8(ascii: "]"))
    case _ where Self.isName(first):
      while let next = byte(at), Self.isName(next) { at += 1 }
    default: at += 1
    }
    return Array(text[start..<at])
  }

  private static func isName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...0xFF:
      true
    default: false
    }
  }

  /// Goes behind the end of what begins here; a mark that stands there twice belongs to it.
  private mutating func passQuoted(until end: UInt8) {
    at += 1
    while let next = byte(at) {
      at += 1
      guard next == end else { continue }
      guard byte(at) == end, end != UInt8(ascii: "]") else { return }
      at += 1
    }
  }

  private mutating func skipSpace() {
    while let next = byte(at) {
      switch (next, byte(at + 1)) {
      case (0x20, _), (0x09, _), (0x0A, _), (0x0C, _), (0x0D, _): at += 1
      case (UInt8(ascii: "-"), UInt8(ascii: "-")):
        while let passed = byte(at), passed != 0x0A { at += 1 }
      case (UInt8(ascii: "/"), UInt8(ascii: "*")):
        at += 2
        while at < text.count, !(byte(at) == UInt8(ascii: "*") && byte(at + 1) == UInt8(ascii: "/"))
        { at += 1 }
        at += 2
      default: return
      }
    }
  }
}
