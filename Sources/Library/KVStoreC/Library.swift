public import CKVStore
internal import Glibc
internal import KVSync

@_cdecl("kv_version") @implementation
public func kv_version() -> UnsafePointer<CChar>? { LibraryTexts.version }

@_cdecl("kv_version_number") @implementation
public func kv_version_number() -> Int32 {
  KV_VERSION_MAJOR * 1_000_000 + KV_VERSION_MINOR * 1000 + KV_VERSION_PATCH
}

@_cdecl("kv_status_name") @implementation
public func kv_status_name(_ status: kv_status) -> UnsafePointer<CChar>? {
  LibraryTexts.statuses[status] ?? LibraryTexts.unknownStatus
}

@_cdecl("kv_has_feature") @implementation
public func kv_has_feature(_ name: UnsafePointer<CChar>?) -> Int32 {
  guard let name, let name = String(validatingCString: name) else { return 0 }
  return LibraryTexts.features.contains(name) ? 1 : 0
}

@_cdecl("kv_live_objects") @implementation
public func kv_live_objects(_ kind: UnsafePointer<CChar>?) -> Int64 {
  guard let kind else { return HandleTable.count(nil) }
  let found = HandleKind.allCases.first { strcmp($0.name, kind) == 0 }
  return found.map { HandleTable.count($0) } ?? 0
}

@_cdecl("kv_free") @implementation
public func kv_free(_ memory: UnsafeMutableRawPointer?) { free(memory) }

/// Texts that live as long as the process.
enum LibraryTexts {
  nonisolated(unsafe) static let version = lasting(
    "\(KV_VERSION_MAJOR).\(KV_VERSION_MINOR).\(KV_VERSION_PATCH)")

  nonisolated(unsafe) static let unknownStatus = lasting("KV_UNKNOWN")

  /// The names of statuses, for `kv_status_name`.
  nonisolated(unsafe) static let statuses: [kv_status: UnsafePointer<CChar>] = {
    let successes = [
      (Status.ok, "KV_OK"), (Status.partial, "KV_PARTIAL"), (Status.done, "KV_DONE"),
    ]
    let failures = StoreError.Kind.allCases.map { ($0.code, $0.name) }
    var names: [kv_status: UnsafePointer<CChar>] = [:]
    for (status, name) in successes + failures { names[status] = lasting(name) }
    return names
  }()

  /// What docs/options.md lists.
  static let features: Set<String> = [
    "async",
    "authorization-code",
    "auto-pagination",
    "auto-push",
    "backends",
    "conditions",
    "conflicts",
    "delta-set",
    "delta-set-caching",
    "groups",
    "indexes",
    "kinvey",
    "known-members",
    "live",
    "log",
    "models",
    "multi-insert",
    "observers",
    "follow",
    "pending",
    "policies",
    "pump",
    "quarantine",
    "query",
    "retries",
    "store",
    "streams",
    "sync-events",
    "transactions",
    "updates",
  ]

  /// A C string that is never freed.
  static func lasting(_ text: String) -> UnsafePointer<CChar>? { UnsafePointer(strdup(text)) }
}
