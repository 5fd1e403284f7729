internal import KVBase

/// Who listens to what: the devices of the users, and the collections that each has subscribed to. A user's devices
/// share one channel group.
struct LiveMembers: Sendable {
  /// A user with more devices loses the one that registered first: a device that is gone for good never says so.
  static let mostDevices = 100
  static let mostCollections = 1000

  private struct Device: Sendable {
    var id: RecordID
    var collections: Set<RecordID> = []
  }

  /// By channel group, which is hexadecimal digits; the oldest device first.
  private var devices: [String: [Device]] = [:]
  private var groups: [RecordID: Set<String>] = [:]

  func isRegistered(_ group: String) -> Bool { devices[group] != nil }

  func isRegistered(_ group: String, device: String) -> Bool {
    place(of: device, group) != nil
  }

  func hears(_ group: String, _ collection: String) -> Bool {
    groups[RecordID(collection)]?.contains(group) == true
  }

  /// The groups that have subscribed to a collection.
  func groups(hearing collection: String) -> Set<String> {
    groups[RecordID(collection)] ?? []
  }

  /// Gives the device that had to make room.
  @discardableResult
  mutating func register(_ group: String, device: String) -> String? {
    if isRegistered(group, device: device) { return nil }
    devices[group, default: []].append(Device(id: RecordID(device)))
    guard let all = devices[group], all.count > Self.mostDevices else { return nil }
    unregister(group, device: all[0].id.text)
    return all[0].id.text
  }

  mutating func unregister(_ group: String, device: String) {
    guard let place = place(of: device, group),
      let gone = devices[group]?.remove(at: place)
    else { return }
    if devices[group]?.isEmpty == true { devices[group] = nil }
    for collection in gone.collections { settle(group, collection) }
  }

  mutating func unregister(_ group: String) {
    for device in devices[group] ?? [] { unregister(group, device: device.id.text) }
  }

  /// False: the device has as many as it may have, or is not registered.
  mutating func subscribe(_ group: String, device: String, _ collection: String) -> Bool {
    let collection = RecordID(collection)
    guard let place = place(of: device, group),
      let had = devices[group]?[place].collections,
      had.contains(collection) || had.count < Self.mostCollections
    else { return false }
    devices[group]?[place].collections.insert(collection)
    groups[collection, default: []].insert(group)
    return true
  }

  mutating func unsubscribe(_ group: String, device: String, _ collection: String) {
    guard let place = place(of: device, group) else { return }
    devices[group]?[place].collections.remove(RecordID(collection))
    settle(group, RecordID(collection))
  }

  /// For all devices of a group.
  mutating func unsubscribe(_ group: String, _ collection: String) {
    for device in devices[group] ?? [] { unsubscribe(group, device: device.id.text, collection) }
  }

  private func place(of device: String, _ group: String) -> Int? {
    devices[group]?.firstIndex { $0.id == RecordID(device) }
  }

  /// Takes the group out of a collection that none of its devices wants.
  private mutating func settle(_ group: String, _ collection: RecordID) {
    if devices[group]?.contains(where: { $0.collections.contains(collection) }) == true { return }
    groups[collection]?.remove(group)
    if groups[collection]?.isEmpty == true { groups[collection] = nil }
  }
}
