internal import KVJSON
internal import KVServerCore

/// Rows for people: columns as wide as what is in them.
package enum TextTable {
  package struct Column {
    /// The member, with dots between the names of nested ones.
    let member: String
    let title: String

    package init(_ member: String, _ title: String) { (self.member, self.title) = (member, title) }
  }

  /// A line for each row, after one of titles if there are any.
  static func text(_ rows: [JSONValue], _ columns: [Column]) -> String {
    var lines = rows.map { row in columns.map { cell(row, $0.member) } }
    if columns.contains(where: { !$0.title.isEmpty }) { lines.insert(columns.map(\.title), at: 0) }
    let widths = columns.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      var text = ""
      for (column, cell) in line.enumerated() {
        text += cell
        guard column < line.count - 1 else { continue }
        text += String(repeating: " ", count: widths[column] - cell.count + 2)
      }
      while text.last == " " { text.removeLast() }
      return text + "\n"
    }.joined()
  }

  private static func cell(_ row: JSONValue, _ member: String) -> String {
    var value: JSONValue? = row
    for name in member.split(separator: ".") { value = value?[String(name)] }
    return switch value {
    case nil, .null?: "-"
    case .string(let text)?: text.visible
    case let value?: value.text.visible
    }
  }
}
