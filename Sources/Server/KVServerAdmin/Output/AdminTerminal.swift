package import KVJSON

/// Where a command writes.
package struct AdminTerminal {
  /// Whether results are for programs.
  package var isJSON: Bool
  /// Takes bytes of the result. Throws if they cannot be written.
  package var write: ([UInt8]) throws(AdminFailure) -> Void
  /// Takes lines for the terminal, without their ends.
  package var tell: (String) -> Void

  package init(
    isJSON: Bool, write: @escaping ([UInt8]) throws(AdminFailure) -> Void,
    tell: @escaping (String) -> Void
  ) {
    self.isJSON = isJSON
    self.write = write
    self.tell = tell
  }

  /// Shows rows that are objects: as they are, one a line, or as a table of some of their members.
  package func show(_ rows: [JSONValue], columns: [TextTable.Column]) throws(AdminFailure) {
    if isJSON {
      for row in rows { try write(row.bytes + [UInt8(ascii: "\n")]) }
    } else {
      try write(Array(TextTable.text(rows, columns).utf8))
    }
  }

  /// Shows one object: as it is, or its members one a line.
  func show(_ object: JSONValue) throws(AdminFailure) {
    if isJSON { return try write(object.bytes + [UInt8(ascii: "\n")]) }
    let rows = object.objectValue?.members.map { member -> JSONValue in
      ["name": .string(member.name), "value": member.value]
    }
    try write(Array(TextTable.text(rows ?? [], [.init("name", ""), .init("value", "")]).utf8))
  }

  /// Says what was done: a sentence, or an object.
  package func report(_ sentence: String, _ object: JSONValue) throws(AdminFailure) {
    try write(isJSON ? object.bytes + [UInt8(ascii: "\n")] : Array((sentence + "\n").utf8))
  }
}
