internal import KVBase
internal import KVJSON
internal import KVServerCore

/// `kvstored admin users`.
enum UserCommands {
  private static let columns: [TextTable.Column] = [
    .init("_id", "ID"), .init("username", "NAME"), .init("email", "EMAIL"),
    .init("_kmd.status.val", "STATUS"), .init("_kmd.ect", "CREATED"),
    .init("_kmd.llt", "LAST LOGIN"),
  ]

  @Sendable static func list(_ call: AdminCall) throws(AdminFailure) {
    let pages = EntityPages(
      call.app, service: "user", filter: call.arguments["query"],
      limit: try call.number("limit"))
    var users: [JSONValue] = []
    try pages.read { (entity) throws(AdminFailure) in
      let user = try EntityPages.value(entity)
      // Programs read line by line; a table is as wide as its widest cell.
      if call.terminal.isJSON {
        try call.terminal.show([user], columns: [])
      } else {
        users.append(user)
      }
    }
    if !call.terminal.isJSON { try call.terminal.show(users, columns: columns) }
  }

  @Sendable static func find(_ call: AdminCall) throws(AdminFailure) {
    let text = JSONValue.string(call.operand(0))
    let found = try users(
      call.app, ["$or": [["_id": text], ["username": text], ["email": text]]])
    guard !found.isEmpty else { throw noUser(call.operand(0)) }
    try call.terminal.show(found, columns: columns)
  }

  @Sendable static func add(_ call: AdminCall) throws(AdminFailure) {
    let password = try Password(call)
    let user = try call.app.value(
      "POST", "user", path: [],
      body: ["username": .string(call.operand(0)), "password": .string(password.text)])
    let id = user["_id"]?.stringValue ?? ""
    var report: JSONObject = ["_id": .string(id), "username": .string(call.operand(0))]
    if password.isNew { report["password"] = .string(password.text) }
    let secret = password.isNew ? ", password \(password.text)" : ""
    try call.terminal.report("user \(id) was made\(secret)", .object(report))
  }

  @Sendable static func setPassword(_ call: AdminCall) throws(AdminFailure) {
    let id = try id(of: call.operand(0), call)
    let password = try Password(call)
    _ = try call.app.value(
      "PUT", "user", path: [id, "_password"], body: ["password": .string(password.text)])
    var report: JSONObject = ["_id": .string(id)]
    if password.isNew { report["password"] = .string(password.text) }
    let secret = password.isNew ? ": \(password.text)" : ""
    try call.terminal.report("user \(id) has a new password\(secret)", .object(report))
  }

  @Sendable static func disable(_ call: AdminCall) throws(AdminFailure) {
    try change(call, "DELETE", outcome: "was disabled")
  }

  @Sendable static func enable(_ call: AdminCall) throws(AdminFailure) {
    try change(call, "POST", path: ["_restore"], outcome: "may log in again")
  }

  @Sendable static func delete(_ call: AdminCall) throws(AdminFailure) {
    try change(call, "DELETE", parameters: [("hard", "true")], outcome: "was deleted")
  }

  @Sendable static func invite(_ call: AdminCall) throws(AdminFailure) {
    var body: JSONObject = ["username": .string(call.operand(0))]
    if let days = try call.number("days") { body["days"] = .int(Int64(days)) }
    let made = try call.app.value("POST", "user", path: ["_invitations"], body: .object(body))
    let text = made["_invitation"]?.stringValue ?? ""
    try call.terminal.report(text, made)
  }

  @Sendable static func link(_ call: AdminCall) throws(AdminFailure) {
    guard let issuer = call.arguments["issuer"], let subject = call.arguments["subject"] else {
      throw AdminFailure(.misuse, "--issuer and --subject are required")
    }
    let id = try id(of: call.operand(0), call)
    _ = try call.app.value(
      "PUT", "user", path: [id, "_identity"],
      body: ["issuer": .string(issuer), "subject": .string(subject)])
    try call.terminal.report("user \(id) is linked with \(subject)", ["_id": .string(id)])
  }

  @Sendable static func unlink(_ call: AdminCall) throws(AdminFailure) {
    try change(call, "DELETE", path: ["_identity"], outcome: "is linked with no identity")
  }

  private static func change(
    _ call: AdminCall, _ method: String, path: [String] = [],
    parameters: [(name: String, value: String)] = [], outcome: String
  ) throws(AdminFailure) {
    let id = try id(of: call.operand(0), call)
    try call.app.send(method, "user", path: [id] + path, parameters: parameters)
    try call.terminal.report("user \(id) \(outcome)", ["_id": .string(id)])
  }

  // MARK: Parts

  /// The id of the user of this name or id, as `--name` or `--id` says. Without them, a text that is the name of one user and the id of
  /// another is refused: users choose their names, and may choose the id of another user.
  static func id(of text: String, _ call: AdminCall) throws(AdminFailure) -> String {
    let (byID, byName) = (call.arguments["id"] != nil, call.arguments["name"] != nil)
    guard !(byID && byName) else {
      throw AdminFailure(.misuse, "--id and --name exclude each other")
    }
    let value = JSONValue.string(text)
    var ways: [JSONValue] = []
    if !byName { ways.append(["_id": value]) }
    if !byID { ways.append(["username": value]) }
    let found = try users(call.app, ["$or": .array(ways)])
    guard let id = found.first?["_id"]?.stringValue else { throw noUser(text) }
    guard found.count == 1 else {
      let others = found.compactMap { $0["_id"]?.stringValue }.filter { !$0.hasSameBytes(as: text) }
      throw AdminFailure(
        .failed,
        "\(text) is the id of one user and the name of another, \(others.joined(separator: ", ")): say --id or --name"
      )
    }
    return id
  }

  private static func users(
    _ app: AdminApp, _ filter: JSONValue
  ) throws(AdminFailure) -> [JSONValue] {
    try app.value("GET", "user", path: [], parameters: [("query", filter.text)]).arrayValue ?? []
  }

  private static func noUser(_ text: String) -> AdminFailure {
    AdminFailure(.notFound, "there is no user \(text)")
  }

  /// The password of a file, or a new one.
  private struct Password {
    let text: String
    let isNew: Bool

    init(_ call: AdminCall) throws(AdminFailure) {
      isNew = call.arguments["password-file"] == nil
      guard let path = call.arguments["password-file"] else {
        text = hexText(randomBytes(12))
        return
      }
      let lines = try LineReader(path == "-" ? nil : path)
      guard let line = try lines.next(), !line.isEmpty else {
        throw AdminFailure(.misuse, "\(path) has no password")
      }
      text = String(decoding: line, as: UTF8.self)
    }
  }
}

extension AdminCall {
  /// The value of an option that is a number.
  func number(_ option: String) throws(AdminFailure) -> Int? {
    guard let text = arguments[option] else { return nil }
    guard let number = Int(text), number >= 0 else {
      throw AdminFailure(.misuse, "--\(option) needs a number that is not negative")
    }
    return number
  }
}
