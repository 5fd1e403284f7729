/// Where a page of a read begins, in the backend's notation: only the backend reads it.
package struct PageToken: Sendable, Equatable {
  package var text: String
  package init(_ text: String) { self.text = text }

  package static func == (left: PageToken, right: PageToken) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }
}

/// The wishes of a reader for its pages.
package struct PageWish: Sendable {
  /// Records of a page. A backend may send fewer, and decides by itself where there are none any more.
  package var size: Int
  /// Into how many parts to divide the read, to be read at the same time; a backend may divide it into fewer.
  package var parts = 1
  /// Whether to find out how many records to expect, and whether all have come.
  package var isCounted = true
  /// No page is asked for once so many records have come; nil: all are.
  package var maxRecords: Int?

  package init(size: Int, parts: Int = 1, isCounted: Bool = true) {
    self.size = size
    self.parts = parts
    self.isCounted = isCounted
  }
}

/// A read in pages that has begun.
package struct Pages: Sendable {
  /// Where its parts begin. Together they have everything, each record once unless it is changed meanwhile.
  package var starts: [PageToken]
  package var wish: PageWish
  /// How many records it has; nil: unknown.
  package var expected: Int?
  /// When the backend began to evaluate it; nil: when it evaluated the first page, if there is but one part.
  package var startedAt: BackendMoment?

  package init(
    starts: [PageToken], _ wish: PageWish, expected: Int? = nil, startedAt: BackendMoment? = nil
  ) {
    self.starts = starts
    self.wish = wish
    self.expected = expected
    self.startedAt = startedAt
  }
}

package struct PageAnswer: Sendable {
  /// How many records the page had.
  package var count: Int
  /// Where the next page of this part begins; nil: this was the last one.
  package var next: PageToken?
  package var answer: ReadAnswer

  package init(count: Int, next: PageToken?, answer: ReadAnswer) {
    self.count = count
    self.next = next
    self.answer = answer
  }
}

/// The end of a read in pages.
package enum PagesEnd: Sendable {
  /// Everything has come.
  case complete
  /// Something may be missing, and reading once more would not help.
  case incomplete
  /// Something is missing, and these pages have it.
  case again(Pages)
}
