internal import KVClient
internal import KVQuery
internal import KVSync

extension DataStore {
  /// Returns the query that selects, in the store of another model, what a relation of a record leads to. The store has
  /// the models of a schema.
  ///
  ///     struct Post: Codable, Sendable { var id: String }
  ///     struct Comment: Codable, Sendable { var id: String, content: String }
  ///     let posts = try client.store("Post", of: Post.self)
  ///     let comments = try client.store("Comment", of: Comment.self)
  ///     let query = try await posts.related(to: "p1", by: "comments", in: comments)
  ///     for try await comment in comments.find(query) { print(comment.content) }
  ///
  /// The entities are read when the query is used. By a relation to many the query selects whatever belongs to the record
  /// then; by keys in the record itself, or in joining records, what they say now. `notFound` if such a record is not here.
  public func related<Other: Codable & Sendable>(
    to id: String, by relation: String, in other: DataStore<Other>
  ) async throws(KVStoreError) -> Query<Other> {
    let query = try await performing(isLocal: true) { (core, _) throws(StoreError) in
      try core.related(to: id, by: relation)
    }
    return Query<Other>(built: .success(query))
  }
}
