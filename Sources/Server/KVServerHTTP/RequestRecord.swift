package import KVBase
package import KVServerCore

/// The entry of one request in the access log.
package struct RequestRecord: Sendable {
  package var startedAt: Timestamp
  package var nanoseconds: Int64
  package var client: String
  package var method: String
  /// The path as it came: escaped, without parameters.
  package var path: String
  package var route: RouteName
  /// 0 if the connection ended before there was an answer.
  package var status: Int
  package var bytes: Int
  package var requestId: String
}
