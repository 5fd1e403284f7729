extension CollectionEngine {
  /// How a read brings the local store up to date.
  package struct Refreshing: Sendable, Equatable {
    package var paging: Paging
    /// Whether to ask only for what has changed since the last time, where the backend can tell.
    package var usesChanges: Bool
    /// Whether to list what there is and fetch what differs, where nothing better is possible.
    package var comparesVersions: Bool

    /// Whether reads ask when an entity was stored. Then a read of changes marks what has not changed, too.
    package var confirmsUnchanged = false

    /// A read of everything ends once it has so many records, and is not complete then; nil: it never does. Read page by
    /// page, it ends with the page.
    package var maxRecords: Int?

    package init(
      paging: Paging = .off, usesChanges: Bool = false, comparesVersions: Bool = false
    ) {
      self.paging = paging
      self.usesChanges = usesChanges
      self.comparesVersions = comparesVersions
    }
  }
}

extension CollectionEngine.Refreshing {
  /// How many ids are listed by one request; nil: as many as one may have.
  var pageSize: Int? {
    switch paging {
    case .off: nil
    case .pages(let size, _): max(1, size)
    }
  }
}
