internal import KVServerCore

/// The command line of kvstored.
package enum Arguments {
  /// What the command line asks for.
  package enum Request: Sendable {
    case help
    case version
    case run(Options)
    /// Copies a data directory into a new one.
    case backup(data: String, to: String, keyFile: String?)
    /// Makes a data directory of such a copy.
    case restore(data: String, from: String, keyFile: String?)
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

  /// An error in a command line or a configuration file: one sentence.
  package struct Misuse: Error, Equatable, CustomStringConvertible {
    package var description: String
  }

  /// Reads the arguments after the program's name: `backup` or `restore` if it is there, then `--name value` or `--name=value`.
  package static func parse(_ arguments: [String]) throws(Misuse) -> Request {
    switch arguments.first {
    case "backup":
      let (data, copy, key) = try directories(arguments.dropFirst(), "to")
      return .backup(data: data, to: copy, keyFile: key)
    case "restore":
      let (data, copy, key) = try directories(arguments.dropFirst(), "from")
      return .restore(data: data, from: copy, keyFile: key)
    default: return try serving(arguments[...])
    }
  }

  private static func serving(_ arguments: ArraySlice<String>) throws(Misuse) -> Request {
    var options = Options()
    var rest = arguments
    while let argument = rest.popFirst() {
      if argument == "--help" || argument == "-h" { return .help }
      if argument == "--version" { return .version }
      let (name, given) = try option(argument)
      guard let setting = Setting.named(name) else {
        throw Misuse(description: "unknown option --\(name)")
      }
      guard let value = given ?? (setting.isFlag ? "true" : rest.popFirst())
      else { throw Misuse(description: "--\(name) needs a value: \(setting.placeholder)") }
      options.all.append(.init(name: name, value: value))
    }
    return .run(options)
  }

  private static let keyFile = "encryption-key-file"

  /// The values of `--data`, of one other option, and of `--encryption-key-file`: a command that takes nothing else.
  private static func directories(
    _ arguments: ArraySlice<String>, _ other: String
  ) throws(Misuse) -> (data: String, copy: String, keyFile: String?) {
    var values: [String: String] = [:]
    var rest = arguments
    while let argument = rest.popFirst() {
      let (name, given) = try option(argument)
      guard name == "data" || name == other || name == keyFile else {
        throw Misuse(description: "unknown option --\(name)")
      }
      guard let value = given ?? rest.popFirst(), !value.isEmpty else {
        throw Misuse(description: "--\(name) needs a value: DIR")
      }
      values[name] = value
    }
    guard let data = values["data"] else { throw Misuse(description: "--data DIR is missing") }
    guard let copy = values[other] else { throw Misuse(description: "--\(other) DIR is missing") }
    return (data, copy, values[keyFile])
  }

  /// `--name` or `--name=value`.
  private static func option(
    _ argument: String
  ) throws(Misuse) -> (name: String, value: String?) {
    guard argument.hasPrefix("--") else {
      throw Misuse(description: "unexpected argument \(argument)")
    }
    let sides = argument.dropFirst(2).split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false
    ).map(String.init)
    return (sides.first ?? "", sides.count == 2 ? sides[1] : nil)
  }
}
