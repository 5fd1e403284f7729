internal import KVJSON

extension EntityScanner {
  /// Whether a stored body is still an entity in JSON. Costs one pass over it.
  package static func isEntity(_ body: UnsafeRawBufferPointer) -> Bool {
    (try? outline(of: body, isInput: false)) != nil
  }
}
