internal import CCollation

/// Reads the elements of a text: section 7 of the Unicode collation algorithm, contractions over other marks included.
struct ElementReader {
  let tailoring: Tailoring
  private var scalars: [UInt32] = []
  private var elements: [Element] = []
  /// The next character.
  private var position = 0

  init(tailoring: Tailoring) { self.tailoring = tailoring }

  mutating func elements(of text: String) -> [Element] {
    scalars = Decomposition.scalars(of: text)
    elements = []
    elements.reserveCapacity(scalars.count)
    position = 0
    while position < scalars.count {
      let scalar = scalars[position]
      position += 1
      append(Value(tailoring.value(of: scalar)), of: scalar)
    }
    return elements
  }

  private mutating func append(_ value: Value, of scalar: UInt32) {
    switch value.meaning {
    case .ignored: break
    case .element(let element): elements.append(element)
    case .computed, .decomposition: appendComputed(scalar)
    case .expansion(let start, let count):
      for index in start..<start + count {
        elements.append(Element(bits: kvcollation_weight(index)))
      }
    case .contractions(let start): append(contraction(in: start), of: scalar)
    }
  }

  /// The value of the longest text that begins here. Takes its characters out of what is still to be read.
  private mutating func contraction(in group: UInt32) -> Value {
    let found = longest(in: group)
    let text = Array(scalars[position..<position + (found?.count ?? 0)])
    position += text.count
    return extended(text, in: group) ?? found?.value ?? Value(kvcollation_weight(group))
  }

  /// The longest text of the group whose characters all follow.
  private func longest(in group: UInt32) -> (count: Int, value: Value)? {
    let rest = scalars[position...]
    return first(in: group) { $0.count <= rest.count && rest.starts(with: $0) }
  }

  /// The first text of a group for which `isWanted` holds: the longest ones come first.
  private func first(
    in group: UInt32, where isWanted: (LazyMapSequence<Range<UInt32>, UInt32>) -> Bool
  ) -> (count: Int, value: Value)? {
    var place = group + 2
    for _ in 0..<kvcollation_weight(group + 1) {
      let end = place + 1 + kvcollation_weight(place)
      let text = (place + 1..<end).lazy.map { kvcollation_weight($0) }
      if isWanted(text) { return (text.count, Value(kvcollation_weight(end))) }
      place = end + 1
    }
    return nil
  }

  /// The text continued by marks that follow it with other marks in between, which stay; nil if none continues it.
  private mutating func extended(_ text: [UInt32], in group: UInt32) -> Value? {
    var text = text
    var found: Value?
    var before: UInt8 = 0
    var next = position
    while next < scalars.count {
      let order = kvcollation_class(scalars[next])
      guard order != 0 else { break }
      // A mark of the same class in between blocks this one.
      if order != before || next == position,
        let value = value(of: text + [scalars[next]], in: group)
      {
        text.append(scalars[next])
        scalars.remove(at: next)
        found = value
        continue
      }
      before = order
      next += 1
    }
    return found
  }

  /// The value of exactly this text in a group.
  private func value(of text: [UInt32], in group: UInt32) -> Value? {
    first(in: group) { $0.elementsEqual(text) }?.value
  }

  /// Two elements from the number of a character that the table does not have: ideographs, and what is not assigned.
  private mutating func appendComputed(_ scalar: UInt32) {
    let (base, offset) = Self.computed(scalar)
    elements.append(
      Element(
        bits: base << 16 | Element.common.secondary << 6 | Element.common.tertiary))
    elements.append(Element(bits: (offset | 0x8000) << 16))
  }

  private static func computed(_ scalar: UInt32) -> (base: UInt32, offset: UInt32) {
    switch scalar {
    case 0x17000...0x18AFF, 0x18D00...0x18D8F: (0xFB00, scalar - 0x17000)
    case 0x1B170...0x1B2FF: (0xFB01, scalar - 0x1B170)
    case 0x18B00...0x18CFF: (0xFB02, scalar - 0x18B00)
    case 0x4E00...0x9FFF, 0xFA0E, 0xFA0F, 0xFA11, 0xFA13, 0xFA14, 0xFA1F, 0xFA21, 0xFA23, 0xFA24,
      0xFA27...0xFA29:
      (0xFB40 + scalar >> 15, scalar & 0x7FFF)
    case 0x3400...0x4DBF, 0x20000...0x2A6DF, 0x2A700...0x2B738, 0x2B740...0x2B81D,
      0x2B820...0x2CEA1, 0x2CEB0...0x2EBE0, 0x30000...0x3134A:
      (0xFB80 + scalar >> 15, scalar & 0x7FFF)
    default: (0xFBC0 + scalar >> 15, scalar & 0x7FFF)
    }
  }
}
