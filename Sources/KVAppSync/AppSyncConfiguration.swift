/// Where an API of AppSync is, and as whom it is asked.
package struct AppSyncConfiguration: Sendable {
  /// What a request proves its right with.
  package enum Authorization: Sendable {
    case apiKey(String)
    /// The token of a Cognito user pool, an OpenID provider or a Lambda authorizer.
    case token(String)
  }

  /// `https://….appsync-api.….amazonaws.com/graphql`.
  package var endpoint: String
  package var authorization: Authorization
  /// How many records a page is asked for.
  package var pageSize = 100
  /// A larger answer is `.tooLarge`.
  package var maxAnswerBytes = 100 << 20
  /// How long changes are asked for since a moment, in seconds; after that everything is read: the backend forgets
  /// what was deleted, in the end.
  package var syncInterval = 86_400.0

  package init(endpoint: String, _ authorization: Authorization) {
    (self.endpoint, self.authorization) = (endpoint, authorization)
  }
}
