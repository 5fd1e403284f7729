internal import CCollation

/// Text in characters that do not decompose any further, combining marks in their canonical order (NFD).
enum Decomposition {
  private static let firstSyllable: UInt32 = 0xAC00
  private static let syllables: UInt32 = 11172
  private static let vowels: UInt32 = 21
  private static let finals: UInt32 = 28

  static func scalars(of text: String) -> [UInt32] {
    var scalars: [UInt32] = []
    scalars.reserveCapacity(text.utf8.count)
    var hasMarks = false
    for scalar in text.unicodeScalars {
      append(scalar.value, to: &scalars, &hasMarks)
    }
    if hasMarks { reorder(&scalars) }
    return scalars
  }

  private static func append(
    _ scalar: UInt32, to scalars: inout [UInt32], _ hasMarks: inout Bool
  ) {
    // No character before U+00C0 decomposes, and none before U+0300 is a mark.
    guard scalar >= 0xC0 else { return scalars.append(scalar) }
    if scalar >= firstSyllable, scalar < firstSyllable + syllables {
      return appendSyllable(scalar - firstSyllable, to: &scalars)
    }
    let value = Value(kvcollation_value(scalar))
    guard case .decomposition(let start, let count) = value.meaning else {
      hasMarks = hasMarks || kvcollation_class(scalar) != 0
      return scalars.append(scalar)
    }
    hasMarks = true
    for index in start..<start + count { scalars.append(kvcollation_weight(index)) }
  }

  private static func appendSyllable(_ syllable: UInt32, to scalars: inout [UInt32]) {
    scalars.append(0x1100 + syllable / (vowels * finals))
    scalars.append(0x1161 + syllable % (vowels * finals) / finals)
    if syllable % finals != 0 { scalars.append(0x11A7 + syllable % finals) }
  }

  /// Puts the marks of each character in the order of their classes; those of one class stay as they are.
  private static func reorder(_ scalars: inout [UInt32]) {
    var start = 0
    while start < scalars.count {
      guard kvcollation_class(scalars[start]) != 0 else {
        start += 1
        continue
      }
      var end = start
      var isOrdered = true
      var before: UInt8 = 0
      while end < scalars.count {
        let order = kvcollation_class(scalars[end])
        guard order != 0 else { break }
        isOrdered = isOrdered && order >= before
        before = order
        end += 1
      }
      if !isOrdered { sortMarks(&scalars[start..<end]) }
      start = end
    }
  }

  /// A stable sort, which the standard library does not promise.
  private static func sortMarks(_ marks: inout ArraySlice<UInt32>) {
    let sorted = marks.enumerated().sorted { first, second in
      (kvcollation_class(first.element), first.offset)
        < (kvcollation_class(second.element), second.offset)
    }
    for (place, mark) in zip(marks.indices, sorted) { marks[place] = mark.element }
  }
}
