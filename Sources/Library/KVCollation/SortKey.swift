/// The bytes of a key: the weights of the first level, an end, those of the second, an end, those of the third.
enum SortKey {
  static func bytes(
    of elements: some Collection<Element>, strength: Collation.Strength, upperFirst: Bool = false
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(2 * elements.count + 8)
    for element in elements where element.primary != 0 {
      bytes.append(UInt8(truncatingIfNeeded: element.primary >> 8))
      bytes.append(UInt8(truncatingIfNeeded: element.primary))
    }
    guard strength != .primary else { return bytes }
    // Not the beginning of any primary weight: the least is 1.
    bytes.append(0)
    bytes.append(0)
    appendSecondaries(of: elements, to: &bytes)
    guard strength != .secondary else { return bytes }
    bytes.append(0)
    if upperFirst {
      for element in elements where element.tertiary != 0 {
        bytes.append(element.upperFirstTertiary)
      }
    } else {
      appendTertiaries(of: elements, to: &bytes)
    }
    return bytes
  }

  /// The usual weight, which is the least, in one byte, others in two; usual ones at the end are left out.
  private static func appendSecondaries(
    of elements: some Collection<Element>, to bytes: inout [UInt8]
  ) {
    var end = bytes.count
    for element in elements where element.secondary != 0 {
      if element.secondary == Element.common.secondary {
        bytes.append(1)
      } else {
        bytes.append(UInt8(truncatingIfNeeded: 2 + element.secondary >> 8))
        bytes.append(UInt8(truncatingIfNeeded: element.secondary))
        end = bytes.count
      }
    }
    bytes.removeLast(bytes.count - end)
  }

  private static func appendTertiaries(
    of elements: some Collection<Element>, to bytes: inout [UInt8]
  ) {
    var end = bytes.count
    for element in elements where element.tertiary != 0 {
      bytes.append(UInt8(truncatingIfNeeded: element.tertiary))
      if element.tertiary != Element.common.tertiary { end = bytes.count }
    }
    bytes.removeLast(bytes.count - end)
  }
}
