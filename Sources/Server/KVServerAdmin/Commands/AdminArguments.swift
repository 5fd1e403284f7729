/// A command line of `kvstored admin`, read by the table of commands.
package struct AdminArguments: Sendable {
  package let command: AdminCommand
  package var operands: [String] = []
  package var options: [(name: String, value: String)] = []

  /// The last value of an option.
  package subscript(_ name: String) -> String? { options.last { $0.name == name }?.value }

  package enum Request: Sendable {
    case help(String)
    case run(AdminArguments)
  }

  /// Reads the words after `admin`.
  package static func parse(_ words: [String]) throws(AdminFailure) -> Request {
    let isHelpWanted = words.contains { $0 == "--help" || $0 == "-h" }
    let names = commandWords(words)
    guard !names.isEmpty, names != ["help"] else { return .help(AdminHelp.text()) }
    guard let command = command(names) else {
      let group = AdminCommand.all.filter { $0.words.first == names.first }
      guard group.isEmpty || !(isHelpWanted || names.count == 1) else {
        return .help(AdminHelp.text(of: group))
      }
      throw AdminFailure(.misuse, "there is no command \(names.prefix(2).joined(separator: " "))")
    }
    if isHelpWanted { return .help(AdminHelp.text(of: command)) }
    return .run(try AdminArguments(command, words))
  }

  /// The words that may be a command's name or its operands: without options.
  private static func commandWords(_ words: [String]) -> [String] {
    var found: [String] = []
    var rest = words[...]
    while let word = rest.popFirst() {
      guard word.hasPrefix("--") else {
        if word != "-h" { found.append(word) }
        continue
      }
      let isKnown = AdminCommand.valued.contains(String(word.dropFirst(2)))
      if isKnown { _ = rest.popFirst() }
    }
    return found
  }

  private static func command(_ names: [String]) -> AdminCommand? {
    AdminCommand.all.first { $0.words == Array(names.prefix($0.words.count)) }
  }

  private init(_ command: AdminCommand, _ words: [String]) throws(AdminFailure) {
    self.command = command
    let allowed = AdminCommand.globalOptions + command.options
    var rest = words[...]
    var areOptionsOver = false
    while let word = rest.popFirst() {
      if word == "--", !areOptionsOver {
        areOptionsOver = true
      } else if word.hasPrefix("--"), !areOptionsOver {
        let sides = word.dropFirst(2).split(
          separator: "=", maxSplits: 1, omittingEmptySubsequences: false
        ).map(String.init)
        guard let option = allowed.first(where: { $0.name == sides[0] }) else {
          throw AdminFailure(.misuse, "\(command.name) has no option --\(sides[0])")
        }
        let given = sides.count == 2 ? sides[1] : nil
        guard let value = given ?? (option.placeholder.isEmpty ? "true" : rest.popFirst()) else {
          throw AdminFailure(.misuse, "--\(option.name) needs a value: \(option.placeholder)")
        }
        options.append((option.name, value))
      } else {
        operands.append(word)
      }
    }
    operands.removeFirst(command.words.count)
    try checkCount()
    for (operand, text) in zip(command.operands, operands) {
      if let fault = operand.fault(text) { throw AdminFailure(.misuse, fault) }
    }
  }

  private func checkCount() throws(AdminFailure) {
    let needed = command.operands.count { !$0.isOptional }
    let takesMore = command.operands.contains(where: \.isRepeated)
    guard operands.count >= needed else {
      throw AdminFailure(.misuse, "\(command.operands[operands.count].name) is missing")
    }
    guard takesMore || operands.count <= command.operands.count else {
      throw AdminFailure(.misuse, "unexpected argument \(operands[command.operands.count])")
    }
  }
}
