/// The command line of kvstored.
package enum Arguments {
  /// What the command line asks for.
  package enum Request: Sendable {
    case help
    case version
    case run(Options)
  }

  /// Options as they were written: names and texts, in order.
  package struct Options: Sendable, Equatable {
    package struct Option: Sendable, Equatable {
      package var name: String
      package var value: String
    }

    package var all: [Option] = []

    /// The last value of an option.
    package subscript(_ name: String) -> String? { all.last { $0.name == name }?.value }
  }

  /// What is wrong with a command line or a configuration file: one sentence.
  package struct Misuse: Error, Equatable, CustomStringConvertible {
    package var description: String
  }

  /// Reads the arguments behind the program's name: `--name value` or `--name=value`.
  package static func parse(_ arguments: [String]) throws(Misuse) -> Request {
    var options = Options()
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { return .help }
      if argument == "--version" { return .version }
      guard argument.hasPrefix("--") else {
        throw Misuse(description: "unexpected argument \(argument)")
      }
      let sides = argument.dropFirst(2).split(
        separator: "=", maxSplits: 1, omittingEmptySubsequences: false
      ).map(String.init)
      let name = sides.first ?? ""
      guard let setting = Setting.named(name) else {
        throw Misuse(description: "unknown option --\(name)")
      }
      guard let value = sides.count == 2 ? sides[1] : setting.isFlag ? "true" : rest.popFirst()
      else { throw Misuse(description: "--\(name) needs a value: \(setting.placeholder)") }
      options.all.append(.init(name: name, value: value))
    }
    return .run(options)
  }
}
