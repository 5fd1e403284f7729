internal import KVJSON

/// What `--help` and the manual say, from the table of commands.
enum AdminHelp {
  static func text() -> String {
    """
    kvstored admin: what an administrator does with users, collections and data.

    usage: kvstored admin COMMAND [operands] [options]

    \(lines(AdminCommand.all.map { ($0.invocation, $0.summary) }))
    Options of all commands:
    \(options(AdminCommand.globalOptions))
    Exit status:
    \(lines(statuses))
    """
  }

  static func text(of commands: [AdminCommand]) -> String {
    lines(commands.map { ($0.invocation, $0.summary) })
  }

  static func text(of command: AdminCommand) -> String {
    let own = command.options.isEmpty ? "" : "Options:\n\(options(command.options))\n"
    return """
      usage: \(command.usage)

      \(command.summary)

      \(own)Options of all commands:
      \(options(AdminCommand.globalOptions))
      """
  }

  /// The whole table, as an object.
  static var json: String {
    let commands = AdminCommand.all.map { command -> JSONValue in
      [
        "name": .string(command.name), "usage": .string(command.usage),
        "summary": .string(command.summary), "options": json(command.options),
      ]
    }
    let statuses = statuses.map { status -> JSONValue in
      ["status": .string(status.0), "meaning": .string(status.1)]
    }
    let table: JSONValue = [
      "commands": .array(commands), "options": json(AdminCommand.globalOptions),
      "statuses": .array(statuses),
    ]
    return table.text + "\n"
  }

  private static var statuses: [(String, String)] {
    [("0", "It was done.")]
      + AdminFailure.Kind.allCases.map { (String($0.rawValue), $0.meaning) }
  }

  private static func json(_ options: [AdminCommand.Option]) -> JSONValue {
    .array(
      options.map { option -> JSONValue in
        ["usage": .string(option.usage), "help": .string(option.help)]
      })
  }

  private static func options(_ options: [AdminCommand.Option]) -> String {
    lines(options.map { ($0.usage, $0.help) })
  }

  private static func lines(_ pairs: [(String, String)]) -> String {
    let width = pairs.map(\.0.count).max() ?? 0
    return pairs.map { head, text in
      "  \(head)\(String(repeating: " ", count: width - head.count + 2))\(text)\n"
    }.joined()
  }
}

extension AdminCommand {
  /// The words and the operands.
  fileprivate var invocation: String { (words + operands.map(\.usage)).joined(separator: " ") }
}
