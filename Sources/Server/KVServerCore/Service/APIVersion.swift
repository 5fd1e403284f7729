/// `X-Kinvey-API-Version`.
enum APIVersion {
  static let newest = 6
  /// From this one on, arrays can be posted.
  static let multiInsert = 5
  /// Up to this one, signing up also logs in.
  static let lastWithTokenAtSignup = 5

  /// The version a request is made for; the oldest if it does not say.
  static func read(_ header: String?) throws(ServerError) -> Int {
    guard let header else { return 1 }
    guard let version = Int(header), version >= 1 else {
      throw ServerError(
        .apiVersionNotAvailable, "X-Kinvey-API-Version must be a number from 1 to \(newest)")
    }
    guard version <= newest else {
      throw ServerError(.apiVersionNotImplemented, "the newest version is \(newest)")
    }
    return version
  }
}
