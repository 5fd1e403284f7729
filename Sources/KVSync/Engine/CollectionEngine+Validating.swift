internal import KVBase
internal import KVJSON
internal import KVQuery

extension CollectionEngine {
  func validate(_ bytes: [UInt8], _ outlines: [EntityOutline]) throws(StoreError) {
    try bytes.withBorrowedBytes { (bytes) throws(StoreError) in try validate(bytes, outlines) }
  }

  /// Proves that entities of the backend are what the store's `validation` says. Every one is looked at: that
  /// costs less than storing it. The first that is not ends the read; nothing of this batch is stored.
  func validate(
    _ bytes: UnsafeRawBufferPointer, _ outlines: [EntityOutline]
  ) throws(StoreError) {
    guard let validation else { return }
    for outline in outlines {
      let entity = UnsafeRawBufferPointer(rebasing: bytes[outline.range])
      let isValid: Bool
      do throws(QueryError) { isValid = try validation.matches(entity) } catch {
        throw StoreError(error)
      }
      guard isValid else {
        var error = StoreError.badAnswer(
          "The backend sent an entity that the option \"validation\" does not let in.")
        error.id = outline.id
        throw error
      }
    }
  }
}
