internal import KVBase
internal import KVJSON

/// One message, without what differs from receiver to receiver.
struct LiveMessage: Sendable {
  enum Source: Sendable {
    /// The server: `"create"`, `"update"` or `"delete"`.
    case change(String)
    /// A user, on a stream.
    case user(String)
  }

  /// The metadata of a message.
  struct About: Sendable {
    var audience: Audience
    /// On the channels of notices, `x-`, which only libkvstore listens to.
    var isNotice: Bool
    var from: Source
  }

  let time: Int64
  /// The collection that it is about, or the topic of a stream.
  let collection: String
  let about: About
  let payload: [UInt8]
}

extension LiveMessage.About {
  /// The form that the journal stores.
  var text: String {
    var object: JSONObject = ["audience": audience.json]
    if isNotice { object["notice"] = true }
    switch from {
    case .change(let name): object["change"] = .string(name)
    case .user(let id): object["user"] = .string(id)
    }
    return JSONValue.object(object).text
  }

  /// Reads what `text` gives; nil for anything else.
  init?(_ text: String) {
    guard let json = try? JSONValue(parsing: text),
      let audience = json["audience"].flatMap({ Audience(json: $0) })
    else { return nil }
    self.audience = audience
    isNotice = json["notice"]?.boolValue ?? false
    if let name = json["change"]?.stringValue {
      from = .change(name)
    } else if let id = json["user"]?.stringValue {
      from = .user(id)
    } else {
      return nil
    }
  }
}
