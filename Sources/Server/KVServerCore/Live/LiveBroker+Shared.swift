internal import KVBase

/// What a store that several servers share tells of commits, its own and those of the others.
extension LiveBroker {
  /// Publishes messages, whose order is that of the commits. No message up to `position` comes any more, and none up to
  /// `floor` is known.
  func receive(_ messages: [LiveMessage], until position: Int64, floor: Int64) {
    let isCut = cut(at: floor)
    let topics = add(messages, until: position)
    if isCut { return deliverToAll() }
    for topic in topics { announce(topic.text) }
  }

  /// Says what a user listens to now, and refuses the polls for which that is nothing.
  func replaceListeners(of user: String, by rows: [LiveRegistration]) {
    let group = wire.group(of: user)
    let now = now().milliseconds
    let members = members { members in
      members.replace(group, by: rows, at: now)
      return members
    }
    refuse(group: group) { poll in
      if let device = poll.device {
        guard members.isRegistered(group, device: device) else { return true }
      } else if !members.isRegistered(group) {
        return true
      }
      return poll.collections?.contains { !members.isSubscribed(group, to: $0.text) } ?? false
    }
  }
}
