package import KVJSON

/// Keeps some members of entities, by copying slices. Immutable; safe from any thread.
///
/// The members that the format reserves are always kept: the id, the permissions, the backend's own members. A
/// dotted name keeps that member inside its object, or inside each object of an array; other elements of the array
/// are left out.
package final class Projection: Sendable {
  private final class Node: Sendable {
    /// The members that are kept, and what of them; nil: the whole value.
    let members: (names: NameTable, nodes: [Node])?

    init(_ paths: [ArraySlice<Path.Component>]) {
      guard paths.allSatisfy({ !$0.isEmpty }) else {
        members = nil
        return
      }
      var numbers: [[UInt8]: Int] = [:]
      var names: [[UInt8]] = []
      var rests: [[ArraySlice<Path.Component>]] = []
      for path in paths {
        guard let first = path.first else { continue }
        let number = numbers[first.name] ?? names.count
        if number == names.count {
          numbers[first.name] = number
          names.append(first.name)
          rests.append([])
        }
        rests[number].append(path.dropFirst())
      }
      members = (NameTable(names), rests.map { Node($0) })
    }
  }

  /// The members that are kept; nil: all.
  private let root: Node?
  private let computed: ComputedMembers?
  /// The members of an entity that are left out.
  private let omitted: NameTable?

  /// The members of these paths and those that the format reserves; all, if there are no paths.
  package convenience init(_ fields: [Path], _ format: RecordFormat = .default) {
    self.init(fields, format, computed: nil)
  }

  init(_ fields: [Path], _ format: RecordFormat, computed: ComputedMembers?) {
    let kept = fields.isEmpty ? [] : format.reservedNames.map { Path($0) } + fields
    root =
      kept.isEmpty
      ? nil : Node(kept.map { $0.components.prefix(EntityScanner.maximumDepth) })
    self.computed = computed
    omitted = computed?.names
  }

  /// The members of these paths alone; if there are no paths, all but those that the format reserves.
  fileprivate init(contentOf query: Query, computed: ComputedMembers?) {
    let fields = query.fields.map { $0.components.prefix(EntityScanner.maximumDepth) }
    root = fields.isEmpty ? nil : Node(fields)
    self.computed = computed
    let reserved = fields.isEmpty ? query.format.reservedNames.map { Array($0.utf8) } : []
    omitted = NameTable((computed?.names.names ?? []) + reserved)
  }

  /// The entity with only the wanted members, in their order, and what is computed after them; unchanged if it is no
  /// entity.
  package func apply(to entity: UnsafeRawBufferPointer) -> [UInt8] {
    guard let value = RawValue(entity: entity) else { return Array(entity) }
    var out: [UInt8] = []
    Projection.copyMembers(value, root?.members, without: omitted, to: &out)
    if let computed {
      out.removeLast()
      computed.append(of: value, to: &out)
      out.append(UInt8(ascii: "}"))
    }
    return out
  }

  package func apply(to entity: [UInt8]) -> [UInt8] {
    entity.withUnsafeBytes { apply(to: $0) }
  }

  private static func copy(_ value: RawValue, _ node: Node, to out: inout [UInt8]) {
    guard let wanted = node.members else { return append(value.scanner, value.range, to: &out) }
    value.kind == .array
      ? copyElements(value, node, to: &out) : copyMembers(value, wanted, to: &out)
  }

  /// `wanted`: nil for all. `omitted`: these are left out all the same.
  private static func copyMembers(
    _ object: RawValue, _ wanted: (names: NameTable, nodes: [Node])?,
    without omitted: NameTable? = nil, to out: inout [UInt8]
  ) {
    let scanner = object.scanner
    out.append(UInt8(ascii: "{"))
    var isFirst = true
    var members = TrustedMembers(scanner, at: object.range.lowerBound)
    while let member = members.next() {
      guard omitted?.index(of: member.name, in: scanner) == nil else { continue }
      var node: Node?
      if let wanted {
        guard let number = wanted.names.index(of: member.name, in: scanner) else { continue }
        node = wanted.nodes[number]
      }
      let value = RawValue(scanner, member.value)
      guard node?.members == nil || value.isContainer else { continue }
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      append(scanner, member.name.lowerBound &- 1..<member.name.upperBound &+ 1, to: &out)
      out.append(UInt8(ascii: ":"))
      if let node { copy(value, node, to: &out) } else { append(scanner, value.range, to: &out) }
    }
    out.append(UInt8(ascii: "}"))
  }

  private static func copyElements(_ array: RawValue, _ node: Node, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "["))
    var isFirst = true
    _ = array.containsElement { element, _ in
      guard element.isContainer else { return false }
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      copy(element, node, to: &out)
      return false
    }
    out.append(UInt8(ascii: "]"))
  }

  private static func append(_ scanner: ByteScanner, _ range: Range<Int>, to out: inout [UInt8]) {
    out.append(
      contentsOf: UnsafeBufferPointer(start: scanner.base + range.lowerBound, count: range.count))
  }
}

extension RawValue {
  fileprivate var isContainer: Bool { kind == .object || kind == .array }
}

extension Query {
  /// The projection that cuts entities down to the wanted fields and adds what is computed; nil: they are returned as
  /// they are.
  package var projection: Projection? {
    let computed = ComputedMembers(self)
    return fields.isEmpty && computed == nil ? nil : Projection(fields, format, computed: computed)
  }
  /// The projection that leaves what the application calls the content of an entity: the wanted fields, or all members
  /// but those that the format reserves.
  package var contentProjection: Projection {
    Projection(contentOf: self, computed: ComputedMembers(self))
  }
}
