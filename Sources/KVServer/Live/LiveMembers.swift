/// Who listens to what: the devices of the users, and the collections that each has subscribed to. A user's devices
/// share one channel group.
struct LiveMembers: Sendable {
  /// A user with more devices loses the one that registered first: a device that is gone for good never says so.
  static let mostDevices = 100
  static let mostCollections = 1000

  private struct Device: Sendable {
    var id: String
    var collections: Set<String> = []
  }

  /// By channel group; the oldest device first.
  private var devices: [String: [Device]] = [:]
  private var groups: [String: Set<String>] = [:]

  func isRegistered(_ group: String) -> Bool { devices[group] != nil }

  func isRegistered(_ group: String, device: String) -> Bool {
    devices[group]?.contains { $0.id == device } == true
  }

  func hears(_ group: String, _ collection: String) -> Bool {
    groups[collection]?.contains(group) == true
  }

  /// The groups that have subscribed to a collection.
  func groups(hearing collection: String) -> Set<String> { groups[collection] ?? [] }

  /// Gives the device that had to make room.
  @discardableResult
  mutating func register(_ group: String, device: String) -> String? {
    if isRegistered(group, device: device) { return nil }
    devices[group, default: []].append(Device(id: device))
    guard let all = devices[group], all.count > Self.mostDevices else { return nil }
    unregister(group, device: all[0].id)
    return all[0].id
  }

  mutating func unregister(_ group: String, device: String) {
    guard let place = devices[group]?.firstIndex(where: { $0.id == device }),
      let gone = devices[group]?.remove(at: place)
    else { return }
    if devices[group]?.isEmpty == true { devices[group] = nil }
    for collection in gone.collections { settle(group, collection) }
  }

  mutating func unregister(_ group: String) {
    for device in devices[group] ?? [] { unregister(group, device: device.id) }
  }

  /// False: the device has as many as it may have, or is not registered.
  mutating func subscribe(_ group: String, device: String, _ collection: String) -> Bool {
    guard let place = devices[group]?.firstIndex(where: { $0.id == device }),
      let had = devices[group]?[place].collections,
      had.contains(collection) || had.count < Self.mostCollections
    else { return false }
    devices[group]?[place].collections.insert(collection)
    groups[collection, default: []].insert(group)
    return true
  }

  mutating func unsubscribe(_ group: String, device: String, _ collection: String) {
    guard let place = devices[group]?.firstIndex(where: { $0.id == device }) else { return }
    devices[group]?[place].collections.remove(collection)
    settle(group, collection)
  }

  /// For all devices of a group.
  mutating func unsubscribe(_ group: String, _ collection: String) {
    for device in devices[group] ?? [] { unsubscribe(group, device: device.id, collection) }
  }

  /// Takes the group out of a collection that none of its devices wants.
  private mutating func settle(_ group: String, _ collection: String) {
    if devices[group]?.contains(where: { $0.collections.contains(collection) }) == true { return }
    groups[collection]?.remove(group)
    if groups[collection]?.isEmpty == true { groups[collection] = nil }
  }
}
