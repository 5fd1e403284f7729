// The models of schema.graphql. Made by `python -m kvstore.codegen`: change the schema.

/// A value of the schema.
public enum PostStatus: String, Codable, Sendable {
  case active = "ACTIVE"
  case inactive = "INACTIVE"
}

/// A record of the model.
public struct Post: Codable, Sendable, Equatable {
  public var id: String?
  public var title: String
  public var rating: Int?
  public var status: PostStatus
  public var tags: [String]?

  public init(
    id: String? = nil,
    title: String,
    rating: Int? = nil,
    status: PostStatus,
    tags: [String]? = nil
  ) {
    self.id = id
    self.title = title
    self.rating = rating
    self.status = status
    self.tags = tags
  }
}

/// A record of the model.
public struct Comment: Codable, Sendable, Equatable {
  public var id: String?
  public var postID: String
  public var content: String

  public init(
    id: String? = nil,
    postID: String,
    content: String
  ) {
    self.id = id
    self.postID = postID
    self.content = content
  }
}

/// A record of the model.
public struct User: Codable, Sendable, Equatable {
  public var id: String?
  public var username: String

  public init(
    id: String? = nil,
    username: String
  ) {
    self.id = id
    self.username = username
  }
}

/// A record of the model.
public struct PostEditor: Codable, Sendable, Equatable {
  public var id: String?
  public var postID: String
  public var editorID: String

  public init(
    id: String? = nil,
    postID: String,
    editorID: String
  ) {
    self.id = id
    self.postID = postID
    self.editorID = editorID
  }
}
