internal import KVJSON
internal import KVSync

/// What Live Service knows a registration by: the opaque part of `LiveRegistration`.
struct LiveRights: Equatable {
  var publishKey: String
  var subscribeKey: String
  /// The channel group: all channels of this user.
  var group: String
  /// Where to poll, such as `https://ps.pndsn.com`.
  var origin: String
  /// Whether the service reads the session's token from `Authorization`. Else it is a parameter, as PubNub has it.
  var takesHeader = false
}

extension LiveRights {
  init(_ registration: LiveRegistration) throws(StoreError) {
    guard let rights = try JSONValue.ifValid(registration.rights)?.arrayValue,
      case let texts = rights.compactMap(\.stringValue), texts.count == 4
    else { throw StoreError(.misuse, "The registration belongs to another backend.") }
    self.init(
      publishKey: texts[0], subscribeKey: texts[1], group: texts[2], origin: texts[3],
      takesHeader: rights.last == true)
  }

  /// The rights as a registration carries them.
  var bytes: [UInt8] {
    let texts = [publishKey, subscribeKey, group, origin].map { JSONValue.string($0) }
    return JSONValue.array(takesHeader ? texts + [true] : texts).bytes
  }
}

/// A position of the service is a time, and perhaps a region after a space.
extension LivePosition {
  init(time: String, region: String?) { self.init(region.map { "\(time) \($0)" } ?? time) }

  /// The query of a poll for what comes after it.
  var items: [KinveyEndpoint.QueryItem] {
    let parts = text.utf8.split(separator: UInt8(ascii: " "), maxSplits: 1).map { String($0) ?? "" }
    return zip(["tt", "tr"], parts).map { .init($0, $1) }
  }
}
