import Glibc
import KVJSON
import KVQuery
import Testing

/// Every row of the tables in docs/queries.md.
@Suite("The manual's examples") struct DocumentationTests {
  @Test("of filters select and leave what it says", arguments: rows(columns: 4, header: "operator"))
  func filters(row: [String]) throws {
    let query = try Query(filter: row[1])
    #expect(query.filterText == row[1])
    try check(query, selects: row[2], leaves: row[3])
  }

  @Test(
    "of text searches select and leave what it says", arguments: rows(columns: 4, header: "search"))
  func searches(row: [String]) throws {
    let query = try Query(filter: row[1])
    #expect(query.filterText == row[1])
    try check(query, selects: row[2], leaves: row[3])
  }

  @Test("of formats become the filters it says", arguments: rows(columns: 5, header: "form"))
  func formats(row: [String]) throws {
    let query = try Query(format: row[1])
    #expect(query.filterText == row[2])
    #expect(query.isRemote)
    try check(query, selects: row[3], leaves: row[4])
  }

  @Test(
    "of formats without a filter select and leave what it says",
    arguments: rows(columns: 4, header: "form"))
  func localFormats(row: [String]) throws {
    let query = try Query(format: row[1])
    #expect(!query.isRemote)
    try check(query, selects: row[2], leaves: row[3])
  }

  @Test(
    "of what the original client sends are right about both",
    arguments: rows(columns: 3, header: "predicate"))
  func originalForms(row: [String]) throws {
    let query = try Query(format: row[0])
    #expect(query.originalFilter.text == row[1])
    #expect(query.filterText == row[2])
  }

  @Test(
    "of orders, pages and fields give what it says", arguments: rows(columns: 4, header: "modifier")
  )
  func modifiers(row: [String]) throws {
    try check(Query(filter: nil, modifiers: row[1]), of: row[2], gives: row[3])
  }

  @Test("of what is computed give what it says", arguments: rows(columns: 5, header: "computed"))
  func computed(row: [String]) throws {
    try check(Query(filter: row[1], modifiers: row[2]), of: row[3], gives: row[4])
  }

  private func check(_ query: Query, of entities: String, gives result: String) throws {
    var entities = try #require(JSONValue(parsing: entities).arrayValue).map(\.bytes)
    if let sorter = query.sorter {
      let id = Sorter([Query.SortKey(.id)])
      let keyed = entities.map { (sorter.key(of: $0) + id.key(of: $0), $0) }
      entities = keyed.sorted { $0.0.lexicographicallyPrecedes($1.0) }.map(\.1)
    }
    let page = entities.dropFirst(query.skip).prefix(query.limit ?? .max)
    let shown = page.map { query.projection?.apply(to: $0) ?? $0 }
    #expect(
      "[" + shown.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ",") + "]" == result
    )
  }

  @Test("of groups give what it says", arguments: rows(columns: 3, header: "grouping"))
  func groups(row: [String]) throws {
    var groups = Groups(try Grouping(parsing: row[0]))
    for entity in try #require(JSONValue(parsing: row[1]).arrayValue) { groups.add(entity.bytes) }
    #expect(JSONValue.array(groups.results.map { .object($0) }).text == row[2])
  }

  private func check(_ query: Query, selects: String, leaves: String) throws {
    let matcher = Matcher(query.filter)
    #expect(try matcher.matches(Array(selects.utf8)), "\(selects)")
    #expect(try !matcher.matches(Array(leaves.utf8)), "\(leaves)")
  }

  /// The rows of the tables with so many columns whose first header is the given word; without the marks
  /// of code.
  private static func rows(columns: Int, header: String) -> [[String]] {
    var found: [[String]] = []
    var isWanted = false
    for line in manual.split(separator: "\n", omittingEmptySubsequences: false) {
      let cells = line.split(separator: "|").map { cell in
        String(cell).trimmed(of: " ").trimmed(of: "`")
      }
      if cells.count != columns {
        isWanted = false
      } else if cells[0] == header {
        isWanted = true
      } else if isWanted, !cells[0].hasPrefix("-") {
        found.append(cells)
      }
    }
    return found
  }

  private static let manual: String = {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    guard let file = fopen("/\(root)/docs/queries.md", "r") else { return "" }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[0..<count], as: UTF8.self)
  }()

  @Test("are there") func areThere() {
    #expect(Self.rows(columns: 4, header: "operator").count > 30)
    #expect(Self.rows(columns: 4, header: "search").count >= 10)
    #expect(Self.rows(columns: 5, header: "form").count > 25)
    #expect(Self.rows(columns: 4, header: "form").count >= 10)
    #expect(Self.rows(columns: 3, header: "predicate").count >= 9)
    #expect(Self.rows(columns: 4, header: "modifier").count >= 6)
    #expect(Self.rows(columns: 5, header: "computed").count >= 6)
    #expect(Self.rows(columns: 3, header: "grouping").count >= 11)
  }
}

extension String {
  fileprivate func trimmed(of mark: Character) -> String {
    var text = self[...]
    while text.first == mark { text.removeFirst() }
    while text.last == mark { text.removeLast() }
    return String(text)
  }
}
