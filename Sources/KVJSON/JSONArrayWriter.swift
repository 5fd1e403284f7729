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

  /// The array with what was added so far.
  package var bytes: [UInt8] { text + [UInt8(ascii: "]")] }
}

extension [[UInt8]] {
  /// These JSON texts as one JSON array.
  package var jsonArray: [UInt8] {
    var array = JSONArrayWriter(reservingCapacity: reduce(1) { $0 + $1.count + 1 })
    for element in self { array.add(json: element) }
    return array.bytes
  }

  /// The same, in one copy. Throws `failure` if there is no memory for it.
  package func jsonArray<E: Error>(or failure: @autoclosure () -> E) throws(E) -> [UInt8] {
    let byteCount = reduce(2) { $0 + $1.count + 1 }
    try Memory.require(byteCount, or: failure())
    var text: [UInt8] = []
    text.reserveCapacity(byteCount)
    text.append(UInt8(ascii: "["))
    for (index, element) in enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text += element
    }
    text.append(UInt8(ascii: "]"))
    return text
  }
}
