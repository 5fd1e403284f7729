internal import KVBase
internal import KVJSON
internal import KVQuery

/// Messages, and what they leave out.
extension LiveFeed {
  /// Milliseconds by which messages may come in another order than the changes were made in.
  private static let disorder: Int64 = 60_000

  /// Tells of a message, unless it has been told.
  func deliver(_ message: LiveMessage, _ call: Call, step: Cancellation) {
    guard state.withLock({ $0.messages.insert(message.key) }) else { return }
    guard let change = fetched(message.change, message.topic, call: call) else { return }
    notify(change, to: message.topic, during: step)
  }

  /// Fetches an entity that is too large for a message; nil if it is gone by now, which is told by itself.
  private func fetched(
    _ change: LiveChange, _ topic: LiveTopic, call: Call
  ) -> LiveChange? {
    guard case .tooLarge(let id, let cause) = change, let collection = topic.collection else {
      return change
    }
    var fetching = call
    fetching.deadline = .after(seconds: 60)
    fetching.retry = Retry(limit: 3, clock: clock)
    do throws(StoreError) {
      return .saved(try entities.find(id: id, in: collection, call: fetching), id: id, cause)
    } catch {
      return error.kind == .notFound ? nil : change
    }
  }

  private func notify(_ change: LiveChange, to topic: LiveTopic, during step: Cancellation) {
    let collection = topic.collection ?? ""
    let format = entities.format(of: collection)
    if let version = change.version(format) {
      let isNew = state.withLock { state in
        if format.versionsAreTimes {
          Self.advance(&state.joined[topic], to: version.at)
        }
        return state.versions.insert("\(collection)\n\(version.id)\n\(version.at)")
      }
      guard isNew else { return }
    }
    notify(.changed(change), to: topic, during: step)
  }

  /// Advances the position up to which all changes have been delivered.
  private static func advance(_ joined: inout Joined?, to moment: String) {
    guard let since = joined?.since, let received = Timestamp(moment) else { return }
    let safe = Timestamp(milliseconds: received.milliseconds - disorder).description
    if since.text < safe { joined?.since?.text = safe }
  }

  // MARK: Catching up

  /// Tells what has changed since everything was told last; that it cannot be told, if so.
  func catchUp(
    _ topic: LiveTopic, _ call: Call, step: Cancellation
  ) throws(StoreError) {
    // Streams have no history.
    guard let collection = topic.collection, let since = state.withLock({ $0.joined[topic]?.since })
    else { return missed(topic, step) }
    let answer = try entities.changes(of: Query(), since: since, in: collection, call: call) {
      batch in
      notify(batch, to: topic, during: step)
    }
    guard let answer else {
      // Joined anew, so that there is a moment again since which the backend can tell.
      state.withLock { if $0.step === step { $0.joined[topic] = nil } }
      return missed(topic, step)
    }
    state.withLock { state in
      guard state.step === step else { return }
      state.joined[topic]?.mustCatchUp = false
      if let startedAt = answer.startedAt { state.joined[topic]?.since = startedAt }
    }
  }

  private func notify(_ batch: ChangeBatch, to topic: LiveTopic, during step: Cancellation) {
    switch batch {
    case .saved(let records):
      for outline in records.outlines {
        guard let id = outline.id else { continue }
        notify(.saved(Array(records.record(outline)), id: id, .save), to: topic, during: step)
      }
    case .deleted(let gone):
      for one in gone {
        notify(.deleted(id: one.id, at: one.version?.text), to: topic, during: step)
      }
    // Of everything nothing leaves.
    case .left: break
    }
  }

  func missed(_ topic: LiveTopic, _ step: Cancellation) {
    state.withLock { $0.joined[topic]?.mustCatchUp = false }
    notify(.missed, to: topic, during: step)
  }
}

extension LiveChange {
  /// The entity and the time of its change; nil where that is not known.
  fileprivate func version(_ format: RecordFormat) -> (id: String, at: String)? {
    switch self {
    case .saved(let entity, let id, _):
      return format.version(of: entity).map { (id, $0.text) }
    case .deleted(let id, let at): return at.map { (id, "deleted \($0)") }
    case .tooLarge, .said: return nil
    }
  }
}
