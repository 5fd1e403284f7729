internal import KVBase

/// Entities as a JSON array, written one after the other; null stands for one that is not there.
struct EntityList {
  private var bytes = [UInt8(ascii: "[")]

  /// Closes the array and gives it.
  consuming func json() -> [UInt8] {
    bytes.append(UInt8(ascii: "]"))
    return bytes
  }

  /// Throws `.storage` if there is no memory.
  mutating func append(_ entity: UnsafeRawBufferPointer?) throws(StoreError) {
    // With a comma before it and the bracket behind the last one.
    try bytes.makeRoom(for: (entity?.count ?? 4) + 2, or: StoreError.noMemory)
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    if let entity {
      bytes.append(contentsOf: entity)
    } else {
      bytes.append(contentsOf: "null".utf8)
    }
  }
}
