internal import Glibc
internal import KVJSON

/// `kvstored admin indexes`.
enum IndexCommands {
  private static let columns: [TextTable.Column] = [
    .init("name", "NAME"), .init("keys", "KEYS"), .init("state", "STATE"),
  ]

  @Sendable static func list(_ call: AdminCall) throws(AdminFailure) {
    try call.terminal.show(try indexes(call), columns: columns)
  }

  @Sendable static func add(_ call: AdminCall) throws(AdminFailure) {
    let spec: JSONValue
    do { spec = try JSONValue(parsing: call.operand(1)) } catch {
      throw AdminFailure(.misuse, "INDEX is no JSON: \(error.message)")
    }
    var index = try call.app.value(
      "PUT", "appdata", path: [call.operand(0), "_indexes"], body: spec)
    // The request ends when its time does; the server goes on, or the next request does.
    while index["state"]?.stringValue == "building" {
      call.terminal.tell("the index is being filled")
      sleep(1)
      index = try call.app.value("PUT", "appdata", path: [call.operand(0), "_indexes"], body: spec)
    }
    try call.terminal.show([index], columns: columns)
  }

  @Sendable static func drop(_ call: AdminCall) throws(AdminFailure) {
    let name = call.operand(1)
    try call.app.send(
      "DELETE", "appdata", path: [call.operand(0), "_indexes"], parameters: [("name", name)])
    try call.terminal.report("the index \(name) was removed", ["name": .string(name)])
  }

  private static func indexes(_ call: AdminCall) throws(AdminFailure) -> [JSONValue] {
    try call.app.value("GET", "appdata", path: [call.operand(0), "_indexes"]).arrayValue ?? []
  }
}
