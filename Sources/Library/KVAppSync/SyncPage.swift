internal import KVBase
internal import KVJSON
internal import KVSync

/// What a page of a sync query is asked for.
struct SyncPageRequest {
  let token: PageToken
  let size: Int
  /// Milliseconds since 1970: what has changed since then.
  var since: Int64?
  /// In the backend's words.
  var filter: JSONObject?

  init(_ token: PageToken, size: Int) { (self.token, self.size) = (token, size) }

  var variables: JSONObject {
    var variables: JSONObject = ["limit": .int(Int64(size))]
    if !token.text.isEmpty { variables["nextToken"] = .string(token.text) }
    if let since { variables["lastSync"] = .int(since) }
    if let filter { variables["filter"] = .object(filter) }
    return variables
  }
}

/// A page of a sync query. What cannot be read is left out: one bad record must not hold up the others.
struct SyncPage {
  let items: ReceivedItems
  let next: PageToken?
  let startedAt: Int64
  /// Whether items are missing that could not be given.
  let isCut: Bool

  /// What changes can be asked for since; nil where something is missing.
  var moment: BackendMoment? { isCut ? nil : BackendMoment(String(startedAt)) }

  /// Reads a page from its members; nil if there are no items. `hasErrors`: the backend told of something that went wrong.
  init?(
    _ members: TrustedMembers, of scanner: ByteScanner, format: RecordFormat, hasErrors: Bool
  ) throws(StoreError) {
    var members = members
    var items: Range<Int>?
    var (startedAt, token): (Int64?, Range<Int>?) = (nil, nil)
    while let member = members.next() {
      if scanner.text(member.name, equals: "items") {
        if scanner.isArray(at: member.value) { items = member.value }
      } else if scanner.text(member.name, equals: "startedAt") {
        startedAt = Int64(scanner.digits(member.value))
      } else if scanner.text(member.name, equals: "nextToken") {
        token = member.value
      }
    }
    guard let items else { return nil }
    guard let startedAt else {
      throw .badAnswer("The backend's answer does not say when it began.")
    }
    var received = ReceivedItems(format)
    received.append(elementsAt: items, of: scanner)
    self.items = received
    self.startedAt = startedAt
    next = try Self.token(token, of: scanner)
    isCut = received.unreadable > 0 || hasErrors
  }

  private static func token(
    _ value: Range<Int>?, of scanner: ByteScanner
  ) throws(StoreError) -> PageToken? {
    guard let value, !scanner.isNull(at: value) else { return nil }
    guard scanner.isText(at: value), value.count > 2 else {
      throw .badAnswer("The backend's nextToken is no text.")
    }
    return PageToken(scanner.text(scanner.inside(value)))
  }
}
