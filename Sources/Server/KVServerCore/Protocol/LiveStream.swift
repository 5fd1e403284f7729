internal import KVBase

/// One user's part of a stream, to which others may send and listen: a substream.
package struct LiveStream: Sendable, Equatable {
  /// A user who has more substreams than this may only change the existing ones.
  package static let maxPerUser = 1000

  package let name: String
  package let owner: String

  /// The topic that subscriptions know it by. Collections do not start with an underscore.
  package var topic: String { "_s-\(name).u-\(owner)" }

  package func channel(in app: String) -> String { "\(app).\(topic.dropFirst())" }

  package init(_ name: String, of owner: String) {
    self.name = name
    self.owner = owner
  }

  /// nil: it is not the channel of a stream of this app. A name has no dot, so that there is one reading.
  package init?(channel: String, in app: String) {
    guard let rest = channel.dropping(prefix: "\(app).s-"),
      let dot = rest.utf8.firstIndex(of: UInt8(ascii: ".")),
      let owner = rest[dot...].dropping(prefix: ".u-")
    else { return nil }
    self.init(String(rest[..<dot]), of: String(owner))
    guard Self.isName(name), !owner.isEmpty else { return nil }
  }

  package static func isName(_ name: String) -> Bool {
    (1...128).contains(name.utf8.count) && name.hasOnlyLettersDigits(and: "-_")
  }
}
