internal import KVBase
internal import KVJSON
internal import KVSync
internal import KVTransport

extension ArraySplitter {
  /// Whether what waits is worth to be handed over: enough to make a transaction cheap, little enough for flat memory
  /// and for others to get their turn to write.
  var isFull: Bool { count >= 5_000 || byteCount >= 1 << 18 }
}

extension KinveyRemote {
  /// A read answers with so many entities at the most; what exceeds it is left out silently. So is what
  /// exceeds 100 MB: an answer that was cut there has at least these bytes, because no entity has more
  /// than 16 MB. (The limits of the hosted service; kvstored's are the same.)
  static let silentLimit = (records: 10_000, bytes: 80_000_000)

  /// Reads an array of entities, and hands them over in batches.
  func records(
    _ url: String, isCollated: Bool, _ call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> ReadAnswer {
    var splitter = ArraySplitter(allowsStrings: true)
    var count = 0
    var bytes = 0
    let head = try stream(url, call, headers: [Self.namesDamaged], isCollated: isCollated) {
      (head, piece) throws(StoreError) in
      bytes += piece.count
      do throws(JSONError) { try splitter.append(piece) } catch {
        throw Self.noRecords(head, error)
      }
      if splitter.isFull { count += try Self.deliver(&splitter, head.requestStart, to: receive) }
    }
    do throws(JSONError) { try splitter.finish() } catch { throw Self.noRecords(head, error) }
    count += try Self.deliver(&splitter, head.requestStart, to: receive)
    // One that answers with more has no such limits.
    let limit = Self.silentLimit
    return ReadAnswer(
      startedAt: head.requestStart,
      mayBeCut: count == limit.records || count < limit.records && bytes >= limit.bytes,
      lacksDamaged: splitter.hasStrings)
  }

  /// kvstored then puts the id of a damaged entity, a string, where the entity would stand, so that it is not taken for deleted.
  /// Other backends do not know the header.
  private static let namesDamaged = HTTPHeader("X-Kvstored-Damaged", "named")

  private static func deliver(
    _ splitter: inout ArraySplitter, _ moment: BackendMoment?,
    to receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> Int {
    try splitter.drain { (bytes, outlines) throws(StoreError) in
      if !outlines.isEmpty { try receive(RecordBatch(bytes, outlines, moment: moment)) }
      return outlines.count
    }
  }

  private static func noRecords(_ head: HTTPHead, _ error: JSONError) -> StoreError {
    KinveyErrors.unusable(
      head, "The backend's answer is not valid", cause: error)
  }
}
