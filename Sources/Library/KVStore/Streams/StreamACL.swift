/// The access list of a part of a stream: who may listen and send, besides the owner. See `UserStream.setACL`.
///
///     var acl = StreamACL(subscribe: ["bob", "cy"], publish: ["bob"])
///     acl.groups = .init(subscribe: ["friends"])
public struct StreamACL: Codable, Sendable, Equatable {
  /// The same rights for groups of users, by the ids of the groups.
  public struct Groups: Codable, Sendable, Equatable {
    /// The ids of the groups whose members may listen.
    public var subscribe: [String]?
    /// The ids of the groups whose members may send.
    public var publish: [String]?

    /// Creates the rights of these groups.
    public init(subscribe: [String]? = nil, publish: [String]? = nil) {
      self.subscribe = subscribe
      self.publish = publish
    }
  }

  /// The ids of the users who may listen.
  public var subscribe: [String]
  /// The ids of the users who may send.
  public var publish: [String]
  /// The rights of groups of users; nil: none.
  public var groups: Groups?

  /// Creates the rights of these users.
  public init(subscribe: [String] = [], publish: [String] = []) {
    self.subscribe = subscribe
    self.publish = publish
  }

  /// Members that the backend leaves out are empty.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    subscribe = try container.decodeIfPresent([String].self, forKey: .subscribe) ?? []
    publish = try container.decodeIfPresent([String].self, forKey: .publish) ?? []
    groups = try container.decodeIfPresent(Groups.self, forKey: .groups)
  }
}
