/// The pending writes as a push needs them: what to send, and what came of it. Safe from any thread; each call is one
/// transaction, durable when it returns.
package protocol Outbox: AnyObject, Sendable {
  /// Pending writes, oldest first, those after `order`; `onlyWaiting`: without those that were set aside.
  func pending(
    in collection: String, after order: Int64, limit: Int, onlyWaiting: Bool
  ) throws(StoreError) -> [PendingWrite]

  /// Pending writes of all collections that wait to be sent, oldest first, those after `order`.
  func waiting(after order: Int64, limit: Int) throws(StoreError) -> [PendingWrite]

  /// One pending write and what is kept with it.
  func pending(_ id: String, in collection: String) throws(StoreError) -> PendingDetail?

  /// How many there are, those included that were set aside. nil: of all collections.
  func pendingCount(in collection: String?) throws(StoreError) -> Int

  /// How many wait to be sent. nil: of all collections.
  func waitingCount(in collection: String?) throws(StoreError) -> Int

  /// Counts an attempt for each row whose revision is unchanged, and gives their entities at this
  /// moment: what is sent is exactly the revision that is named. Rows that are gone are left out, and
  /// those whose entity is damaged: `pending` throws of these.
  ///
  /// `asOperators`: the backend carries out operators. What was made of these is sent so, and stays as it is sent until its
  /// answer comes; else the entity is sent that they have made.
  func beginSending(
    _ writes: [PendingWrite], asOperators: Bool
  ) throws(StoreError) -> [OutgoingWrite]

  /// Notes that the backend has accepted these writes. For each: if its revision is unchanged the row goes and `stored` (what
  /// the backend answered) replaces the entity; else the row stays, a create becomes an update, and
  /// `stored` becomes its base. One transaction for all.
  func confirm(_ done: [AcceptedWrite]) throws(StoreError)

  /// Takes operators off a write that an earlier request has carried out, although nothing can be said of the entity now. False: the
  /// write has nothing else to send.
  func finishOperators(_ write: PendingWrite, token: String) throws(StoreError) -> Bool

  /// Has operators that the backend has refused, and surely not carried out, be sent in another form.
  func reopenOperators(_ write: PendingWrite, token: String) throws(StoreError)

  /// Makes a write that was made of operators one of the whole entity.
  func turnIntoWhole(_ id: String, in collection: String) throws(StoreError)

  /// Notes which data the backend has, as an answer to a write says: what it confirms from now on is of these data, what is here
  /// already and was confirmed is of those that it had before.
  func note(_ data: BackendData, in collection: String) throws(StoreError)

  /// What becomes of a change whose base was confirmed when the backend had other data, where it meets what the backend has
  /// now; nil: the base is not lost, or the application gives up what is.
  func fate(
    ofChange base: [UInt8], meeting theirs: RemoteVersion, in collection: String
  ) throws(StoreError) -> LostBaseFate?

  /// Notes that the backend has deleted these, which have gone from here, because this device has asked it to.
  func noteDeletions(_ ids: [String], in collection: String) throws(StoreError)

  /// The backend refused these, or no answer came: their error is kept with the row.
  func recordFailure(_ failed: [(write: PendingWrite, error: StoreError)]) throws(StoreError)

  /// A create that turned out to exist already is sent as an update from now on.
  func turnIntoUpdate(_ id: String, in collection: String) throws(StoreError)

  /// Sets writes aside whose revision is unchanged: they stay, with their error and what the backend has,
  /// and are not sent until they are changed, edited or released.
  func quarantine(_ refused: [QuarantinedWrite]) throws(StoreError)

  /// Replaces what was changed here by the backend's versions. Where the revision is unchanged, the row goes and the entity becomes
  /// theirs; else it stays, and what the backend has is its base.
  func acceptRemote(_ settled: [(write: PendingWrite, theirs: RemoteVersion)]) throws(StoreError)

  /// Our version wins, or another one, over what the backend has: that becomes the base, and the write
  /// waits. `replacesUnseen`: what is sent replaces theirs although no program has seen it; that is remembered until the
  /// backend has answered. False: it was changed, or is gone; nothing happens then.
  func rebase(
    _ write: PendingWrite, onto theirs: RemoteVersion, as change: RebasedChange,
    replacesUnseen: Bool
  ) throws(StoreError) -> Bool
}

extension Outbox {
  /// The same for a backend that takes whole entities.
  package func beginSending(_ writes: [PendingWrite]) throws(StoreError) -> [OutgoingWrite] {
    try beginSending(writes, asOperators: false)
  }
}
