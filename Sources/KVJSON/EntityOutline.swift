/// Where the reserved members of one entity are in its bytes, found in one pass that also proves that
/// the bytes are valid JSON in valid UTF-8.
///
/// Offsets count from the start of the buffer that was scanned, so that the outlines of many entities can
/// share one buffer.
package struct EntityOutline: Sendable, Equatable {
  /// The whole object, from `{` to `}`.
  package var range: Range<Int>
  /// The value of `_id`, decoded; nil if the member is missing. Never empty.
  package var id: String?
  /// The value of `_kmd.lmt`, without its quotes; nil if missing or no string.
  package var lastModified: Range<Int>?
  /// The value of `_acl`, an object; nil if missing.
  package var acl: Range<Int>?
  /// The value of `_kmd`, an object; nil if missing.
  package var kmd: Range<Int>?

  package init(
    range: Range<Int>, id: String?, lastModified: Range<Int>? = nil, acl: Range<Int>? = nil,
    kmd: Range<Int>? = nil
  ) {
    self.range = range
    self.id = id
    self.lastModified = lastModified
    self.acl = acl
    self.kmd = kmd
  }
}
