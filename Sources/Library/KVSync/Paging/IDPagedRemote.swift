internal import KVBase
internal import KVJSON
package import KVQuery

/// A backend whose queries can order records by their ids and select those after one: that makes pages, each of which
/// starts after the last id of the one before, so that what others write meanwhile moves no page.
///
///     ids    ├────────── b₁ ────────── b₂ ──────────┤      three parts, read at the same time
///     pages   ▭ ▭ ▭ ▭    │ ▭ ▭ ▭ ▭     │ ▭ ▭ ▭ ▭
///
/// Counting pages off with `skip` could be done at the same time too, but an entity that is deleted meanwhile would move
/// all pages after it, and one be missed.
///
/// A backend that turns out to order ids in a way of its own ends too early with that. Then everything is read once more
/// by counting on, and it is not complete unless at least as many came as the backend had counted.
package protocol IDPagedRemote: Remote {}

extension IDPagedRemote {
  package func pages(
    of query: Query, _ wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> Pages {
    var pages = Pages(starts: [], wish)
    var bounds: [String] = []
    if wish.isCounted {
      let total = try count(query.selection, in: collection, call: call)
      (pages.expected, pages.startedAt) = (total.count, total.startedAt)
      bounds = try self.bounds(of: query, total.count, wish: wish, in: collection, call: call)
    }
    pages.starts = (0...bounds.count).map { index in
      IDPosition.range(
        after: index > 0 ? bounds[index - 1] : nil,
        through: index < bounds.count ? bounds[index] : nil
      ).token
    }
    return pages
  }

  package func page(
    at token: PageToken, of query: Query, wish: PageWish, in collection: String, call: Call,
    receive: (RecordBatch) throws(StoreError) -> Void
  ) throws(StoreError) -> PageAnswer {
    let position = try IDPosition(token)
    var count = 0
    var last: String?
    let page = position.page(of: query, wish.size)
    var answer = try find(page, in: collection, call: call) { (batch) throws(StoreError) in
      count += batch.count
      last = batch.outlines.last?.id ?? last
      try receive(batch)
    }
    // A backend may cap pages below the wanted size: only an empty one is the end. So nothing is cut, either.
    answer.mayBeCut = false
    let next = count == 0 ? nil : try position.next(count, last)
    return PageAnswer(count: count, next: next?.token, answer: answer)
  }

  package func end(
    of pages: Pages, _ query: Query, having received: Int, in collection: String, call: Call
  ) throws(StoreError) -> PagesEnd {
    guard let expected = pages.expected, received < expected else { return .complete }
    if !pages.starts.contains(IDPosition.counted(0).token),
      try firstId(of: query, skipping: received, in: collection, call: call) != nil
    {
      var again = pages
      again.starts = [IDPosition.counted(0).token]
      return .again(again)
    }
    // Some may have been deleted meanwhile.
    let now = try count(query.selection, in: collection, call: call).count
    return received >= now ? .complete : .incomplete
  }

  /// Ids that divide the selection into ranges of about the same size, of several pages each. Where exactly
  /// they are does not matter, nor whether they stay.
  private func bounds(
    of query: Query, _ count: Int, wish: PageWish, in collection: String, call: Call
  ) throws(StoreError) -> [String] {
    let parts = min(wish.parts, count / max(1, wish.size))
    guard parts > 1 else { return [] }
    var bounds: [String] = []
    for number in 1..<parts {
      let skip = count / parts * number
      guard let id = try firstId(of: query, skipping: skip, in: collection, call: call),
        bounds.last.map({ RecordID($0) < RecordID(id) }) ?? true
      else { break }
      bounds.append(id)
    }
    return bounds
  }

  /// The first id of a page: the one after so many others.
  private func firstId(
    of query: Query, skipping skip: Int, in collection: String, call: Call
  ) throws(StoreError) -> String? {
    var query = query.selection
    query.sort = [Query.SortKey(.id)]
    query.fields = [.id]
    query.skip = skip
    query.limit = 1
    var id: String?
    _ = try find(query, in: collection, call: call) { batch in id = id ?? batch.outlines.first?.id }
    return id
  }
}

/// Where a page begins.
private enum IDPosition {
  /// Behind an id, or at the first one, through another one, or the last.
  case range(after: String?, through: String?)
  /// Behind so many, in the order of ids.
  case counted(Int)

  var token: PageToken {
    func value(_ id: String?) -> JSONValue { id.map { .string($0) } ?? .null }
    return switch self {
    case .range(let after, let through):
      PageToken(JSONValue.array([value(after), value(through)]).text)
    case .counted(let count): PageToken(JSONValue.array([.int(Int64(count))]).text)
    }
  }

  init(_ token: PageToken) throws(StoreError) {
    let values = try JSONValue.ifValid(token.text)?.arrayValue ?? []
    switch values.count {
    case 1: self = .counted(values[0].intValue.flatMap { Int(exactly: $0) } ?? 0)
    case 2: self = .range(after: values[0].stringValue, through: values[1].stringValue)
    default: throw StoreError(.misuse, "The token of a page belongs to another backend.")
    }
  }

  func page(of query: Query, _ size: Int) -> Query {
    var page = query
    page.sort = [Query.SortKey(.id)]
    page.limit = size
    switch self {
    case .range(let after, let through):
      var tests: [Test] = []
      if let after { tests.append(.compare(.greater, .string(after))) }
      if let through { tests.append(.compare(.lessOrEqual, .string(through))) }
      if !tests.isEmpty { page.filter = query.and(.field(.id, tests)).filter }
    case .counted(let count): page.skip = count
    }
    return page
  }

  func next(_ count: Int, _ last: String?) throws(StoreError) -> IDPosition {
    switch self {
    case .range(let after, let through):
      guard let last, after.map({ !$0.hasSameBytes(as: last) }) ?? true else {
        throw .badAnswer("The backend sent the same page twice.")
      }
      return .range(after: last, through: through)
    case .counted(let before): return .counted(before + count)
    }
  }
}
