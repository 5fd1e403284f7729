internal import CKVStore
internal import KVSync

/// Text that comes in, ending with NUL.
public typealias CString = UnsafePointer<CChar>

/// A required text: a copy, proven to be UTF-8.
func text(_ start: CString?, named name: StaticString) throws(StoreError) -> String {
  guard let start else { throw missing(name) }
  guard let text = String(validatingCString: start) else {
    throw StoreError(.invalid, "\(name) is not valid UTF-8.")
  }
  return text
}

/// A text that may be left out.
func optionalText(_ start: CString?, named name: StaticString) throws(StoreError) -> String? {
  guard start != nil else { return nil }
  return try text(start, named: name)
}

/// What a NULL gives where something is required.
func missing(_ name: StaticString) -> StoreError { StoreError(.misuse, "\(name) is NULL.") }
