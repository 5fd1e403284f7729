internal import KVQuery
internal import KVSync

/// A query as C holds it. A value, so safe from any thread.
final class QueryObject: HandleObject {
  static let kind = HandleKind.query

  let query: Query

  init(_ query: Query) { self.query = query }

  /// The query of a handle; everything for NULL.
  static func all(or handle: OpaquePointer?) throws(StoreError) -> Query {
    try optional(handle) ?? Query()
  }

  /// The query of a handle; nil for NULL.
  static func optional(_ handle: OpaquePointer?) throws(StoreError) -> Query? {
    guard handle != nil else { return nil }
    return try borrow(handle).query
  }
}
