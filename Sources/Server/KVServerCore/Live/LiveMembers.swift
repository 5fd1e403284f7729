internal import KVBase

/// The subscribers: the devices of the users, and the collections that each has subscribed to. A user's devices
/// share one channel group.
struct LiveMembers: Sendable {
  /// A user with more devices loses the one that was not seen for the longest time: a device that is gone for good
  /// never says so.
  static let maxDevices = 100
  static let maxCollections = 1000
  /// A device that was not seen for so many milliseconds is gone.
  static let longestAbsence: Int64 = 30 * 86_400_000
  /// Milliseconds after which it is recorded in the database again that a device was seen.
  private static let recordingInterval: Int64 = 3_600_000

  private struct Device: Sendable {
    var id: RecordID
    /// The hash of the token of the session that it belongs to; nil: not known.
    var session: String?
    /// When something came from it, and when that was recorded, in milliseconds since 1970.
    var seen: Int64
    var recorded: Int64
    var collections: Set<RecordID> = []
  }

  /// By channel group, which is hexadecimal digits; in the order in which they registered.
  private var devices: [String: [Device]] = [:]
  private var groups: [RecordID: Set<String>] = [:]
  /// Collections that no device can subscribe to, whatever was stored when it could.
  private let isSilent: @Sendable (String) -> Bool
  /// When devices that are gone were looked for last.
  private var expiredAt: Int64 = 0

  init(isSilent: @escaping @Sendable (String) -> Bool = { _ in false }) { self.isSilent = isSilent }

  func isRegistered(_ group: String) -> Bool { devices[group] != nil }

  func isRegistered(_ group: String, device: String) -> Bool {
    index(of: device, group) != nil
  }

  func isSubscribed(_ group: String, to collection: String) -> Bool {
    groups[RecordID(collection)]?.contains(group) == true
  }

  /// The groups that have subscribed to a collection.
  func groups(subscribedTo collection: String) -> Set<String> {
    groups[RecordID(collection)] ?? []
  }

  /// Registers a device, or says that it belongs to another session now. Gives the device that had to make room.
  @discardableResult
  mutating func register(
    _ group: String, device: String, session: String? = nil, at now: Int64 = 0
  ) -> String? {
    if let index = index(of: device, group) {
      if let session { devices[group]?[index].session = session }
      devices[group]?[index].seen = now
      return nil
    }
    let others = devices[group] ?? []
    devices[group] =
      others + [Device(id: RecordID(device), session: session, seen: now, recorded: now)]
    guard others.count >= Self.maxDevices, let gone = others.min(by: { $0.seen < $1.seen }) else {
      return nil
    }
    unregister(group, device: gone.id.text)
    return gone.id.text
  }

  /// Something came from a device, or – whose it is not being known – from one of those of a session. Gives those for
  /// which that is to be recorded.
  mutating func recordActivity(
    _ group: String, device: String?, session: String, at now: Int64
  ) -> [String] {
    let named = device.flatMap { index(of: $0, group) }
    var overdue: [String] = []
    for (index, known) in (devices[group] ?? []).enumerated()
    where named.map({ $0 == index }) ?? (known.session == session) {
      devices[group]?[index].seen = now
      guard now - known.recorded >= Self.recordingInterval else { continue }
      devices[group]?[index].recorded = now
      overdue.append(known.id.text)
    }
    return overdue
  }

  /// Unregisters the devices that are gone, once an hour: all have to be looked at. Gives their groups.
  mutating func expire(at now: Int64) -> Set<String> {
    guard abs(now &- expiredAt) >= Self.recordingInterval else { return [] }
    expiredAt = now
    var expired: Set<String> = []
    for (group, all) in devices {
      for device in all where now - device.seen > Self.longestAbsence {
        unregister(group, device: device.id.text)
        expired.insert(group)
      }
    }
    return expired
  }

  mutating func unregister(_ group: String, device: String) {
    guard let index = index(of: device, group),
      let gone = devices[group]?.remove(at: index)
    else { return }
    if devices[group]?.isEmpty == true { devices[group] = nil }
    for collection in gone.collections { removeIfUnused(group, collection) }
  }

  /// Makes the devices of a group, and what they have subscribed to, what rows say.
  mutating func replace(_ group: String, by rows: [LiveRegistration], at now: Int64) {
    let wanted = Set(rows.map { RecordID($0.device) })
    for device in devices[group] ?? [] where !wanted.contains(device.id) {
      unregister(group, device: device.id.text)
    }
    for device in devices[group] ?? [] {
      let kept = Set(
        rows.filter { RecordID($0.device) == device.id }.map { RecordID($0.collection) })
      for collection in device.collections.subtracting(kept) {
        unsubscribe(group, device: device.id.text, collection: collection.text)
      }
    }
    for row in rows where row.collection.isEmpty {
      register(group, device: row.device, session: row.session, at: row.seen ?? now)
    }
    for row in rows where !row.collection.isEmpty {
      _ = subscribe(group, device: row.device, collection: row.collection)
    }
  }

  mutating func unregister(_ group: String) {
    for device in devices[group] ?? [] { unregister(group, device: device.id.text) }
  }

  /// False: the device has as many as it may have, or is not registered, or the collection is silent.
  mutating func subscribe(_ group: String, device: String, collection: String) -> Bool {
    if isSilent(collection) { return false }
    let collection = RecordID(collection)
    guard let index = index(of: device, group),
      let had = devices[group]?[index].collections,
      had.contains(collection) || had.count < Self.maxCollections
    else { return false }
    devices[group]?[index].collections.insert(collection)
    groups[collection, default: []].insert(group)
    return true
  }

  mutating func unsubscribe(_ group: String, device: String, collection: String) {
    guard let index = index(of: device, group) else { return }
    devices[group]?[index].collections.remove(RecordID(collection))
    removeIfUnused(group, RecordID(collection))
  }

  /// Unsubscribes all devices of a group.
  mutating func unsubscribe(_ group: String, _ collection: String) {
    for device in devices[group] ?? [] {
      unsubscribe(group, device: device.id.text, collection: collection)
    }
  }

  private func index(of device: String, _ group: String) -> Int? {
    devices[group]?.firstIndex { $0.id == RecordID(device) }
  }

  /// Takes the group out of a collection that none of its devices wants.
  private mutating func removeIfUnused(_ group: String, _ collection: RecordID) {
    if devices[group]?.contains(where: { $0.collections.contains(collection) }) == true { return }
    groups[collection]?.remove(group)
    if groups[collection]?.isEmpty == true { groups[collection] = nil }
  }
}
