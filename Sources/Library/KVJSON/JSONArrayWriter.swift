internal import KVBase

/// Writes a JSON array element by element, of which each is JSON already.
package struct JSONArrayWriter {
  private var text: [UInt8] = [UInt8(ascii: "[")]

  package init(reservingCapacity count: Int = 0) { text.reserveCapacity(count) }

  /// Adds an element that is valid JSON text.
  package mutating func add(json: some Sequence<UInt8>) {
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    text += json
  }

  /// The same for an element whose size comes from outside; nil: null. Throws `failure` if there is no memory.
  package mutating func add<E: Error>(
    json: UnsafeRawBufferPointer?, or failure: @autoclosure () -> E
  ) throws(E) {
    // With a comma before it and the bracket behind the last one.
    try text.makeRoom(for: (json?.count ?? 4) + 2, or: failure())
    if let json { add(json: json) } else { add(json: "null".utf8) }
  }

  /// Gives the array with what was added, which is not copied: the writer is of no more use.
  package mutating func finish() -> [UInt8] {
    var array: [UInt8] = []
    swap(&array, &text)
    array.append(UInt8(ascii: "]"))
    return array
  }
}

extension [[UInt8]] {
  /// A JSON array of these JSON texts.
  package var jsonArray: [UInt8] {
    var array = JSONArrayWriter(reservingCapacity: jsonArrayByteCount)
    for element in self { array.add(json: element) }
    return array.finish()
  }

  /// A JSON array of these JSON texts. Throws `failure` if there is no memory for it.
  package func jsonArray<E: Error>(or failure: @autoclosure () -> E) throws(E) -> [UInt8] {
    try Memory.require(jsonArrayByteCount, or: failure())
    return jsonArray
  }

  /// With a comma too many.
  private var jsonArrayByteCount: Int { reduce(2) { $0 + $1.count + 1 } }
}
