internal import KVBase
internal import KVJSON
internal import KVSync

/// The answer to a long poll: `{"t":{"t":…,"r":…},"m":[{"c":…,"p":{…},"d":…,"u":{…}},…]}`.
///
/// The payload `d` stays the bytes that it is. What is no message of ours is left out; only an answer without a
/// position to go on from is an error.
struct LiveMessages {
  private(set) var messages: [LiveMessage] = []
  let next: LivePosition
  /// Said by our server only: messages are missing between the position that was asked for and these.
  let isIncomplete: Bool

  private let appKey: String
  private let userId: String

  init(_ body: [UInt8], appKey: String, userId: String) throws(JSONError) {
    self.appKey = appKey
    self.userId = userId
    let members = try Self.members(body)
    let position = try members["t"].map(JSONValue.init(parsing:))
    guard let time = position?["t"]?.stringValue, !time.isEmpty else {
      throw JSONError(.syntax("the message has no time"), at: 0)
    }
    next = LivePosition(time: time, region: position?["r"]?.plainText)
    let ours = try members["kvstore"].map(JSONValue.init(parsing:))
    isIncomplete = ours?["incomplete"]?.boolValue == true
    guard let list = members["m"] else { return }
    for element in try Self.elements(list) {
      if let message = try ifMessage(element) { messages.append(message) }
    }
  }

  /// A message; nil for anything else. A message that there is no memory to read is an error: it would be lost.
  private func ifMessage(_ bytes: [UInt8]) throws(JSONError) -> LiveMessage? {
    do throws(JSONError) { return try message(bytes) } catch {
      guard error.reason == .noMemory else { return nil }
      throw error
    }
  }

  private func message(_ bytes: [UInt8]) throws(JSONError) -> LiveMessage? {
    let members = try Self.members(bytes)
    guard let channel = try members["c"].map(JSONValue.init(parsing:))?.stringValue,
      let token = try members["p"].map(JSONValue.init(parsing:))?["t"]?.stringValue,
      let route = LiveChannel(channel, appKey: appKey, userId: userId), let payload = members["d"]
    else { return nil }
    let cause = try members["u"].map(JSONValue.init(parsing:))?["kvstore"]?["change"]?.stringValue
    guard let change = try Self.change(route.kind, payload, cause: cause) else { return nil }
    return LiveMessage(key: "\(channel)\n\(token)", topic: route.topic, change: change)
  }

  private static func change(
    _ kind: LiveChannel.Kind, _ payload: [UInt8], cause: String?
  ) throws(JSONError) -> LiveChange? {
    if kind == .said { return .said(payload) }
    let outline = try EntityScanner.outline(of: payload)
    guard let id = outline.id else { return nil }
    let known = cause.flatMap(LiveChange.Cause.init(rawValue:)) ?? .save
    if kind == .entities { return .saved(Array(payload[outline.range]), id: id, known) }
    if cause != "delete" { return .tooLarge(id: id, known) }
    return .deleted(id: id, at: outline.version(in: payload)?.text)
  }

  // MARK: JSON

  private static func members(_ bytes: [UInt8]) throws(JSONError) -> [String: [UInt8]] {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      let scanner = ByteScanner(buffer)
      var cursor = try MemberCursor(scanner, at: scanner.skipSpace(0))
      // The callers look up names of the protocol only.
      var members: [String: [UInt8]] = [:]
      while let member = try cursor.next() {
        let name = String(decoding: buffer[member.name], as: UTF8.self)
        members[name] = Array(buffer[member.value])
      }
      return members
    }
  }

  private static func elements(_ bytes: [UInt8]) throws(JSONError) -> [[UInt8]] {
    try bytes.withBorrowedBytes { (buffer) throws(JSONError) in
      let scanner = ByteScanner(buffer)
      var cursor = try ElementCursor(scanner, at: scanner.skipSpace(0))
      var elements: [[UInt8]] = []
      while let range = try cursor.next() { elements.append(Array(buffer[range])) }
      return elements
    }
  }
}

/// What a channel's name says: `<kid>.c-<coll>` and `<kid>.c-<coll>.u-<userId>` are a collection's, and our server's
/// notices with `x` instead of `c`; `<kid>.s-<stream>.u-<userId>` is a user's part of a stream.
struct LiveChannel {
  enum Kind { case entities, notices, said }

  let kind: Kind
  let topic: LiveTopic

  /// Nil: it is of another app or user. `userId` nil: there is no user.
  init?(_ channel: String, appKey: String, userId: String? = nil) {
    guard var rest = channel.dropping(prefix: "\(appKey).") else { return nil }
    if let substream = rest.dropping(prefix: "s-") {
      guard let dot = substream.utf8.firstIndex(of: UInt8(ascii: ".")),
        let owner = substream[dot...].dropping(prefix: ".u-")
      else { return nil }
      kind = .said
      topic = .substream(String(substream[..<dot]), of: String(owner))
      return
    }
    rest = userId.flatMap { rest.dropping(suffix: ".u-\($0)") } ?? rest
    let entities = rest.dropping(prefix: "c-")
    guard let name = entities ?? rest.dropping(prefix: "x-") else { return nil }
    kind = entities == nil ? .notices : .entities
    topic = .collection(String(name))
  }
}

extension JSONValue {
  /// A text, or a whole number as text.
  fileprivate var plainText: String? { stringValue ?? intValue.map { String($0) } }
}
