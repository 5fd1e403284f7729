/// Who may listen to a part of a stream and send to it besides its owner: see `UserStream.setACL`.
///
///     var acl = StreamACL(subscribe: ["bob", "cy"], publish: ["bob"])
///     acl.groups = .init(subscribe: ["friends"])
public struct StreamACL: Codable, Sendable, Equatable {
  /// The same for groups of users, by the ids of the groups.
  public struct Groups: Codable, Sendable, Equatable {
    public var subscribe: [String]?
    public var publish: [String]?

    public init(subscribe: [String]? = nil, publish: [String]? = nil) {
      self.subscribe = subscribe
      self.publish = publish
    }
  }

  /// Ids of users who may listen.
  public var subscribe: [String]
  /// Ids of users who may send.
  public var publish: [String]
  public var groups: Groups?

  public init(subscribe: [String] = [], publish: [String] = []) {
    self.subscribe = subscribe
    self.publish = publish
  }

  /// What the backend leaves out is empty.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    subscribe = try container.decodeIfPresent([String].self, forKey: .subscribe) ?? []
    publish = try container.decodeIfPresent([String].self, forKey: .publish) ?? []
    groups = try container.decodeIfPresent(Groups.self, forKey: .groups)
  }
}
