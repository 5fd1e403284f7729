internal import KVBase
internal import KVJSON
internal import KVServerCore

/// `kvstored admin audit`.
package enum AuditCommand {
  static let options = [
    AdminCommand.Option("since", "TIME", help: "from then on: 2026-11-28, or 2026-11-28T09:30:00Z"),
    AdminCommand.Option("until", "TIME", help: "before then"),
    AdminCommand.Option(
      "actor", "WHO", help: "who did it: user:ID, app, master, master:NAME, local:UID, server"),
    AdminCommand.Option("action", "ACTION", help: "an action, or all of a kind: user.delete, user"),
    AdminCommand.Option("subject", "TEXT", help: "to what it was done: an id or a name"),
    AdminCommand.Option("outcome", "OUTCOME", help: "success, refused or failed"),
  ]

  private static let columns: [TextTable.Column] = [
    .init("time", "TIME"), .init("action", "ACTION"), .init("actor", "ACTOR"),
    .init("subject", "SUBJECT"), .init("app", "APP"), .init("address", "ADDRESS"),
    .init("outcome", "OUTCOME"),
  ]

  /// Shows the lines of an audit log that the options select.
  package static func run(
    _ path: String, _ arguments: AdminArguments, to terminal: AdminTerminal
  ) throws(AdminFailure) {
    let filter = try Filter(arguments)
    let lines = try LineReader(path)
    var events: [JSONValue] = []
    var (number, unreadable) = (0, 0)
    while let line = try lines.next() {
      number += 1
      guard let event = try? JSONValue(parsing: line), event["action"]?.stringValue != nil else {
        terminal.tell("line \(number) is no line of an audit log")
        unreadable += 1
        continue
      }
      guard filter.selects(event) else { continue }
      if terminal.isJSON { try terminal.show([event], columns: []) } else { events.append(event) }
    }
    if !terminal.isJSON { try terminal.show(events, columns: columns) }
    if unreadable > 0 {
      throw AdminFailure(.partly, "\(unreadable) line(s) of \(path) were left out")
    }
  }

  private struct Filter {
    private let since: Timestamp?
    private let until: Timestamp?
    private let texts: [(member: String, value: String)]
    private let action: String?

    init(_ arguments: AdminArguments) throws(AdminFailure) {
      since = try Self.time("since", arguments)
      until = try Self.time("until", arguments)
      action = arguments["action"]
      texts = ["actor", "subject", "app", "outcome"].compactMap { name in
        arguments[name].map { (name, $0) }
      }
    }

    func selects(_ event: JSONValue) -> Bool {
      if let action {
        let name = event["action"]?.stringValue ?? ""
        guard name == action || name.hasPrefix(action + ".") else { return false }
      }
      for (member, value) in texts {
        guard event[member]?.stringValue?.hasSameBytes(as: value) == true else { return false }
      }
      guard since != nil || until != nil else { return true }
      guard let time = event["time"]?.stringValue.flatMap({ Timestamp($0) }) else { return false }
      if let since, time < since { return false }
      if let until, time >= until { return false }
      return true
    }

    private static func time(
      _ option: String, _ arguments: AdminArguments
    ) throws(AdminFailure) -> Timestamp? {
      guard let text = arguments[option] else { return nil }
      guard let time = Timestamp(text) ?? Timestamp(text + "T00:00:00Z") else {
        throw AdminFailure(
          .misuse, "--\(option) needs a day or a time in UTC: 2026-11-28, or 2026-11-28T09:30:00Z")
      }
      return time
    }
  }
}
