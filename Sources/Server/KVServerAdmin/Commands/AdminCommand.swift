/// One command of `kvstored admin`: what help, the manual and completion say of it, and what it does.
package struct AdminCommand: Sendable {
  /// What stands on the command line without a name.
  package struct Operand: Sendable {
    package let name: String
    var isOptional = false
    /// Whether there may be several.
    var isRepeated = false
    /// What is wrong with a text; nil: nothing, as far as can be told without the data.
    var fault: @Sendable (String) -> String? = { _ in nil }

    package var usage: String {
      let text = isRepeated ? "\(name)..." : name
      return isOptional ? "[\(text)]" : text
    }
  }

  package struct Option: Sendable {
    package let name: String
    /// What the value looks like; empty for a switch.
    package let placeholder: String
    package let help: String

    package init(_ name: String, _ placeholder: String, help: String) {
      self.name = name
      self.placeholder = placeholder
      self.help = help
    }

    var usage: String { placeholder.isEmpty ? "--\(name)" : "--\(name) \(placeholder)" }
  }

  package enum Work: Sendable {
    /// Asks a server or its data.
    case requests(@Sendable (AdminCall) throws(AdminFailure) -> Void)
    /// Works on files, which the program itself knows.
    case files(FileWork)
    /// Only writes something of this table.
    case text(@Sendable (AdminArguments) throws(AdminFailure) -> String)
  }

  package enum FileWork: Sendable {
    case backup, restore, migrate, encrypt, audit
    case listSecrets, addSecret, removeSecret
  }

  /// One or two words.
  package let words: [String]
  package let operands: [Operand]
  package let options: [Option]
  /// A sentence.
  package let summary: String
  package let work: Work

  package var name: String { words.joined(separator: " ") }

  package var usage: String {
    let parts = words + operands.map(\.usage) + options.map { "[\($0.usage)]" }
    return "kvstored admin " + parts.joined(separator: " ")
  }

  init(
    _ name: String, _ summary: String, operands: [Operand] = [], options: [Option] = [], work: Work
  ) {
    words = name.split(separator: " ").map(String.init)
    self.operands = operands
    self.summary = summary
    self.options = options
    self.work = work
  }
}

/// A command as it was called.
package struct AdminCall {
  let app: AdminApp
  let arguments: AdminArguments
  let terminal: AdminTerminal

  package init(_ app: AdminApp, _ arguments: AdminArguments, to terminal: AdminTerminal) {
    self.app = app
    self.arguments = arguments
    self.terminal = terminal
  }

  /// The operand at an index. The parser has seen to it that those which are required are there.
  func operand(_ index: Int) -> String {
    arguments.operands.indices.contains(index) ? arguments.operands[index] : ""
  }
}
