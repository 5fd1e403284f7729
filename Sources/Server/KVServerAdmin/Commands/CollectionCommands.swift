internal import KVJSON

/// `kvstored admin collections`, `permissions` and `history`.
enum CollectionCommands {
  @Sendable static func list(_ call: AdminCall) throws(AdminFailure) {
    let list = try call.app.value("GET", "appdata", path: ["_collections"])
    try call.terminal.show(
      list.arrayValue ?? [],
      columns: [.init("name", "NAME"), .init("count", "ENTITIES"), .init("bytes", "BYTES")])
  }

  @Sendable static func drop(_ call: AdminCall) throws(AdminFailure) {
    let name = call.operand(0)
    let answer = try call.app.value(
      "POST", "rpc", path: ["remove-collection"],
      headers: [("X-Kinvey-Delete-Entire-Collection", "true")],
      body: ["collectionName": .string(name)])
    let count = answer["count"]?.intValue ?? 0
    try call.terminal.report(
      "\(count) entities of \(name) were deleted", ["name": .string(name), "count": .int(count)])
  }

  @Sendable static func rename(_ call: AdminCall) throws(AdminFailure) {
    let (old, new) = (call.operand(0), call.operand(1))
    _ = try call.app.value("POST", "appdata", path: [old, "_rename"], body: ["name": .string(new)])
    try call.terminal.report("\(old) is called \(new) now", ["name": .string(new)])
  }

  @Sendable static func showPermissions(_ call: AdminCall) throws(AdminFailure) {
    try call.terminal.show(
      try call.app.value("GET", "appdata", path: [call.operand(0), "_permissions"]))
  }

  @Sendable static func setPermissions(_ call: AdminCall) throws(AdminFailure) {
    var rules = JSONObject()
    for text in call.arguments.operands.dropFirst() {
      let sides = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2 else {
        throw AdminFailure(.misuse, "\(text) is not OPERATION=RULE, such as read=acl")
      }
      rules[sides[0]] = .string(sides[1])
    }
    try call.terminal.show(
      try call.app.value(
        "PUT", "appdata", path: [call.operand(0), "_permissions"], body: .object(rules)))
  }

  @Sendable static func showHistory(_ call: AdminCall) throws(AdminFailure) {
    try call.terminal.show(
      try call.app.value("GET", "appdata", path: [call.operand(0), "_history"]))
  }

  @Sendable static func setHistory(_ call: AdminCall) throws(AdminFailure) {
    let text = call.operand(1)
    var wanted: JSONObject = ["enabled": false]
    if text != "off" {
      guard let days = Int64(text) else {
        throw AdminFailure(.misuse, "DAYS must be a number from 1 to 30, or off")
      }
      wanted = ["enabled": true, "days": .int(days)]
    }
    try call.terminal.show(
      try call.app.value(
        "PUT", "appdata", path: [call.operand(0), "_history"], body: .object(wanted)))
  }
}
