internal import KVJSON

/// `kvstored admin sessions`.
enum SessionCommands {
  @Sendable static func list(_ call: AdminCall) throws(AdminFailure) {
    var parameters: [(name: String, value: String)] = []
    if let user = call.arguments["user"] {
      parameters.append(("user", try UserCommands.id(of: user, call)))
    }
    var sessions: [JSONValue] = []
    var last: String?
    while true {
      let page = try call.app.value(
        "GET", "user", path: ["_sessions"],
        parameters: parameters + (last.map { [("after", $0)] } ?? []))
      guard let rows = page.arrayValue, let id = rows.last?["_id"]?.stringValue else { break }
      sessions += rows
      last = id
    }
    try call.terminal.show(
      sessions,
      columns: [
        .init("_id", "SESSION"), .init("user", "USER"), .init("used", "USED"),
        .init("address", "ADDRESS"), .init("device", "DEVICE"), .init("expires", "ENDS"),
      ])
  }

  @Sendable static func end(_ call: AdminCall) throws(AdminFailure) {
    let id = try UserCommands.id(of: call.operand(0), call)
    if let session = call.arguments["session"] {
      try call.app.send(
        "DELETE", "user", path: ["_sessions", session], parameters: [("user", id)])
      return try call.terminal.report(
        "the session \(session) of user \(id) has ended",
        ["user": .string(id), "session": .string(session)])
    }
    try call.app.send("DELETE", "user", path: [id, "tokens"])
    try call.terminal.report("the sessions of user \(id) have ended", ["user": .string(id)])
  }
}
