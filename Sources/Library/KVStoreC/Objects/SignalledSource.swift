internal import KVBase
internal import KVSync

/// Feeds a subscription with what is there when its turn comes: however often it is signalled meanwhile, one look waits
/// for each subscriber.
final class SignalledSource: EventSource {
  /// The observed object.
  struct Subject: Sendable {
    /// Gives what there is to tell; nil: nothing.
    var look: @Sendable () -> Event?
    /// Stops the signals.
    var end: @Sendable () -> Void
  }

  private let subscription: SubscriptionObject
  private let subject = Monitor<Subject?>(nil)
  private let isWaiting = Monitor(false)

  /// `start` begins what is looked at, which calls its argument whenever there may be news; the first look is made in
  /// any case.
  init(
    _ subscription: SubscriptionObject,
    _ start: (@escaping @Sendable () -> Void) throws(StoreError) -> Subject
  ) throws(StoreError) {
    self.subscription = subscription
    let begun = try start { [weak self] in self?.signal() }
    subject.withLock { $0 = begun }
    signal()
  }

  func end() {
    let ended = subject.withLock { subject in
      defer { subject = nil }
      return subject
    }
    ended?.end()
  }

  private func signal() {
    let isFirst = isWaiting.withLock { isWaiting in
      defer { isWaiting = true }
      return !isWaiting
    }
    if isFirst { subscription.deliver { [self] in look() } }
  }

  private func look() -> Event? {
    isWaiting.withLock { $0 = false }
    return subject.withLock { $0 }?.look()
  }
}

extension SignalledSource.Subject {
  /// A state that is told whenever it is another one than was told last.
  init(
    state: @escaping @Sendable () throws(StoreError) -> [UInt8], end: @escaping @Sendable () -> Void
  ) {
    let told = Monitor<[UInt8]>([])
    look = {
      do throws(StoreError) {
        let now = try state()
        let isNews = told.withLock { told in
          defer { told = now }
          return told != now
        }
        return isNews ? .success(now) : nil
      } catch {
        return .failure(error)
      }
    }
    self.end = end
  }
}
