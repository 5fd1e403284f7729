internal import KVBase
internal import KVJSON

/// One message, without what differs from receiver to receiver.
package struct LiveMessage: Sendable {
  package enum Source: Sendable {
    /// The server: `"create"`, `"update"` or `"delete"`.
    case change(String)
    /// A user, on a stream.
    case user(String)
  }

  /// The metadata of a message.
  package struct About: Sendable {
    package var audience: Audience
    /// On the channels of notices, `x-`, which only libkvstore listens to.
    package var isNotice: Bool
    package var from: Source
  }

  package let time: Int64
  /// The collection that it is about, or the topic of a stream.
  package let collection: String
  package let about: About
  package let payload: [UInt8]

  package init(time: Int64, collection: String, about: About, payload: [UInt8]) {
    self.time = time
    self.collection = collection
    self.about = about
    self.payload = payload
  }
}

extension LiveMessage.About {
  /// The form that the journal stores.
  package var text: String {
    var object: JSONObject = ["audience": audience.json]
    if isNotice { object["notice"] = true }
    switch from {
    case .change(let name): object["change"] = .string(name)
    case .user(let id): object["user"] = .string(id)
    }
    return JSONValue.object(object).text
  }

  /// Reads what `text` gives; nil for anything else.
  package init?(_ text: String) {
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
