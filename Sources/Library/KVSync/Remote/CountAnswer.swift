package struct CountAnswer: Sendable, Equatable {
  package var count: Int
  package var startedAt: BackendMoment?
  package init(count: Int, startedAt: BackendMoment?) {
    self.count = count
    self.startedAt = startedAt
  }
}
