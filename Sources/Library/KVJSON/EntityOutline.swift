/// The positions of an entity's reserved members in its bytes, found in one pass that also proves that
/// the bytes are valid JSON in valid UTF-8. Which members these are, a `RecordFormat` says.
///
/// Offsets count from the start of the buffer that was scanned, so that the outlines of many entities can
/// share one buffer.
package struct EntityOutline: Sendable, Equatable {
  /// The whole object, from `{` to `}`.
  package var range: Range<Int>
  /// The key that the id makes; nil if the record has none. Never empty.
  package var id: String?
  /// The version as it is written, without its quotes; nil if it is missing, or of another type than the
  /// format's versions.
  package var version: Range<Int>?
  /// The value of the permissions, an object; nil if missing.
  package var permissions: Range<Int>?

  package init(
    range: Range<Int>, id: String?, version: Range<Int>? = nil, permissions: Range<Int>? = nil
  ) {
    self.range = range
    self.id = id
    self.version = version
    self.permissions = permissions
  }

  /// The version, from the bytes that were scanned.
  package func version(in bytes: UnsafeRawBufferPointer) -> RecordVersion? {
    version.map { RecordVersion(ByteScanner(bytes).text($0)) }
  }

  package func version(in bytes: [UInt8]) -> RecordVersion? {
    bytes.withUnsafeBytes { version(in: $0) }
  }
}

extension RecordFormat {
  /// The version of a record; nil if it has none, or is no record.
  package func version(of record: [UInt8]) -> RecordVersion? {
    (try? EntityScanner.outline(of: record, self))?.version(in: record)
  }

  /// The key of a record; nil if it has no id, or is no record.
  package func key(of record: [UInt8]) -> String? {
    (try? EntityScanner.outline(of: record, self))?.id
  }
}
