internal import KVBase
internal import KVJSON
internal import KVStorage
internal import KVSync

/// The owner of the local data: it, the queue and the session belong to one user.
extension Client {
  // MARK: Logging in

  /// Makes a user the active one: whose data this is from now on. What the former user left is deleted, unless the
  /// device is shared, or the user adopts it.
  ///
  /// Throws `.pending`, and all stays as it was, if writes of another user wait that are not adopted.
  func begin(
    _ user: Account, grant: Grant? = nil, adopting isAdopting: Bool = false
  ) throws(StoreError) {
    let session = try usersSession()
    let id = RecordID(user.id)
    if let active = try? session.current(), RecordID(active.id) == id {
      try session.adopt(user, token: nil, grant: grant)
    } else {
      // With nothing else under way: what is sent and read goes on for the user who began it.
      try operations.exclusively { () throws(StoreError) in
        if !isAdopting { try checkUnsent(before: id) }
        live?.stop()
        try changeOwner(to: id, isAdopting ? .adopting : takeover)
        try session.adopt(user, token: nil, grant: grant)
      }
    }
    revive()
  }

  /// Throws `.pending` if writes wait that are not this user's; nil: a user who does not exist yet.
  func checkUnsent(before user: RecordID?) throws(StoreError) {
    var unsent = 0
    try eachOwnStorage { (storage, owner) throws(StoreError) in
      guard let owner, owner != user else { return }
      unsent += try storage.unsentCount()
    }
    guard unsent == 0 else { throw Storage.unsent(unsent) }
  }

  private func changeOwner(
    to user: RecordID, _ takeover: Storage.Takeover
  ) throws(StoreError) {
    let session = try usersSession()
    try eachOwnStorage { (storage, _) throws(StoreError) in
      try storage.claim(for: user, takeover, former: try session.formerUser())
    }
  }

  /// What a claim does with another user's data, where no other client is logged in.
  private var takeover: Storage.Takeover { options.isSharedDevice ? .sharing : .deleting }

  /// Says for whom a tag's data is opened. Without a backend there are no users, and it is anybody's.
  ///
  /// Throws `.conflict` if another user is logged in with a client of that tag.
  func claim(_ storage: Storage, ofTag tag: String) throws(StoreError) {
    guard let session else { return }
    let user = try session.current().map { RecordID($0.id) }
    if let other = try otherUser(ofTag: tag, session), other != user {
      throw StoreError(
        .conflict,
        "Another client of the tag \(tag) has logged in another user, who owns the local data.")
    }
    try storage.claim(for: user, takeover, former: try session.formerUser())
  }

  // MARK: Leaving

  /// With nothing else under way: what is read for a user who is gone must not end up in what was wiped.
  /// The data is deleted before the session: should the process die in between, no other user finds it.
  /// `ending`: the token of the session, for the backend to end it as well; nil: there is none any more.
  func endSession(_ leaving: Leaving, ending token: String? = nil) throws(StoreError) {
    let session = try usersSession()
    try operations.exclusively { () throws(StoreError) in
      try checkUnsent(leaving)
      live?.stop()
      if !keepsData(leaving) {
        try eachOwnStorage { (storage, _) throws(StoreError) in
          try storage.wipe(discardingPending: leaving.discardPending)
        }
        session.forgetActor()
      }
      try session.clear(ending: token)
    }
    openResults.endAll()
    events.publish(.loggedOut(nil))
    follows.receive(.revived)
    synced.running?.receive(.revived)
  }

  /// Throws `.pending` if a logout would lose unsent work.
  func checkUnsent(_ leaving: Leaving) throws(StoreError) {
    guard !keepsData(leaving), !leaving.discardPending else { return }
    var unsent = 0
    try eachOwnStorage { (storage, _) throws(StoreError) in
      unsent += try storage.unsentCount()
    }
    guard unsent == 0 else {
      throw StoreError(
        .pending,
        "\(unsent) pending writes would be lost: push them, or set keepData or discardPending.")
    }
  }

  private func keepsData(_ leaving: Leaving) -> Bool { leaving.keepData ?? options.isSharedDevice }

  // MARK: Which data

  /// The user who is logged in with clients of another tag.
  private func otherUser(ofTag tag: String, _ session: Session) throws(StoreError) -> RecordID? {
    tag == options.tag ? nil : try session.user(ofTag: tag)
  }

  /// Runs `body` on the local data that belongs to this client's session: of its own tag, of the tags that it has
  /// opened stores of, and of those where no other user is logged in and the data is the user's.
  private func eachOwnStorage(
    _ body: (Storage, _ owner: RecordID?) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let session else { return }
    let former = try session.formerUser()
    for tag in try directory.tags() {
      guard try otherUser(ofTag: tag, session) == nil else { continue }
      if let open = openStorage(tag) {
        try body(open, try open.owner(former: former))
        continue
      }
      let storage = try openFile(ofTag: tag)
      defer { storage.close() }
      let owner = try storage.owner(former: former)
      if tag == options.tag || owner == session.actor { try body(storage, owner) }
    }
  }
}
