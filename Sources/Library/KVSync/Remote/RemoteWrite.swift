/// One request of a push.
package indirect enum RemoteWrite: Sendable, Equatable {
  /// One new entity; its bytes have an `_id` (chosen by us, or none in a network store).
  case create([UInt8])
  /// New entities in one request, at most `limits.createsPerRequest`.
  case createMany([[UInt8]])
  /// Creates or replaces the entity of this id. `base`: the backend's version that it started from, if that is known and
  /// the backend needs it.
  case update(id: String, [UInt8], if: RemoteCondition = .none, base: [UInt8]? = nil)
  case delete(id: String, if: RemoteCondition = .none)
  /// Carries out updates on what the backend has, one after the other: `[{"$inc":{"a":1}},…]`. Only asked of a backend that
  /// carries out operators, and with a token.
  case change(id: String, [UInt8])
  /// Creates, updates and deletions in one request, each to another entity and with a result of its own; at most
  /// `limits.writesPerBatch`. A backend that turns out to take none fails it with `unsupported`.
  case batch([RemoteWrite])
}
