package import KVQuery

/// The part of a fetched record that is read.
package enum RecordForm: Sendable {
  /// The record, or what a projection leaves of it.
  case body(Projection?)
  /// Its id as a JSON text; the body is not read.
  case id
}
