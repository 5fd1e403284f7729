package import KVBase

/// What must be true of the stored entity for a write to happen: `If-Match` with a revision, which is the
/// entity's `_kmd.lmt`, and `If-None-Match: *`. An extension; the protocol's own clients never ask.
package enum Precondition: Sendable, Equatable {
  case none
  /// There is one.
  case exists
  /// There is one, and this is its revision.
  case revision(Timestamp)
  /// There is none.
  case isMissing

  /// Reads both headers: `"2024-03-12T21:00:01.120Z"`, with or without quotes, or `*`.
  package init(ifMatch: String?, ifNoneMatch: String?) throws(ServerError) {
    switch (ifMatch, ifNoneMatch) {
    case (nil, nil): self = .none
    case ("*", nil): self = .exists
    case (nil, "*"): self = .isMissing
    case (let text?, nil):
      var text = text[...]
      if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
        text = text.dropFirst().dropLast()
      }
      guard let revision = Timestamp(text) else {
        throw ServerError(.parameterValueOutOfRange, "If-Match must be the entity's _kmd.lmt or *")
      }
      self = .revision(revision)
    default:
      throw ServerError(
        .badRequest, "If-None-Match must be *, and cannot be combined with If-Match")
    }
  }

  /// Throws unless it holds; `stored` is nil if there is no entity.
  package func check(_ stored: Timestamp?) throws(ServerError) {
    switch (self, stored) {
    case (.none, _), (.exists, _?), (.isMissing, nil): return
    case (.revision(let wanted), let stored?):
      if wanted == stored { return }
      throw ServerError(.staleRequest, "the entity was modified at \(stored), not at \(wanted)")
    case (.exists, nil), (.revision, nil): throw ServerError(.entityNotFound)
    case (.isMissing, _?): throw ServerError(.staleRequest, "the entity exists")
    }
  }
}
