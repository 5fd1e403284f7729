/// Where an API of AppSync is, and as whom it is asked.
package struct AppSyncConfiguration: Sendable {
  /// What a request proves its right with.
  package enum Credential: Sendable {
    case apiKey(String)
    /// A token; nil: the application is asked for one.
    case token(String?)
    /// Signed for IAM, in this region.
    case iam(AWSCredentials, region: String)
  }

  /// Where the request for the WebSocket has what it is allowed by.
  package enum Upgrade: String, Sendable {
    /// In a second subprotocol.
    case subprotocol
    /// In headers of HTTP.
    case headers
    /// In the query of the URL, which servers and proxies may log.
    case query
  }

  /// `https://….appsync-api.….amazonaws.com/graphql`.
  package var endpoint: String
  /// Never empty.
  package var credentials: [AuthorizationMode: Credential]
  /// The mode of what the schema gives no rules for; one of the credentials.
  package var usualMode: AuthorizationMode
  /// The address of the WebSocket, as one of HTTP; nil: it follows from the endpoint.
  package var realtimeEndpoint: String?
  package var upgrade = Upgrade.subprotocol
  /// How many records a page is asked for.
  package var pageSize = 100
  /// A larger answer is `.tooLarge`.
  package var maxAnswerBytes = 100 << 20
  /// How long changes are asked for since a moment, in seconds; after that everything is read: the backend forgets
  /// what was deleted, in the end.
  package var syncInterval = 86_400.0

  package init(
    endpoint: String, _ credentials: [AuthorizationMode: Credential], usual: AuthorizationMode
  ) {
    (self.endpoint, self.credentials, usualMode) = (endpoint, credentials, usual)
  }
}
