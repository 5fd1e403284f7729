import KVBase
import KVJSON
import KVSync
import KVTestSupport

/// What one write has made of a record of a backend; nil: there is none.
struct WorldChange {
  let id: String
  /// Whose write it was; nil: of no client.
  let user: String?
  let before: JSONObject?
  let after: JSONObject?
}

/// The backend of a simulated world. Its records have the members `name`, `owner`, `value`, `tags`, `by`, `note` and `marks`.
protocol WorldBackend: AnyObject {
  var collection: String { get }
  var format: RecordFormat { get }
  /// How many requests find nobody: the service is being restarted.
  var absence: Int { get set }
  /// What it has, as clients keep it.
  var contents: [String: JSONValue] { get }
  /// What writes have made of its records, in their order.
  var history: [WorldChange] { get }
  /// Whether it refuses a write of what has changed meanwhile.
  var keepsConditions: Bool { get }
  /// Whether it carries out operators; then it has a record `sumID`, which is never deleted.
  var carriesOutOperators: Bool { get }
  /// Which data it has; nil: it does not say.
  var data: BackendData? { get }
  /// Whether it goes back to older copies of its data now and then.
  var goesBack: Bool { get }

  /// A copy of its data is made.
  func makeCopy()
  /// The last copy takes the place of its data; gives when it was made.
  func putBack() -> String

  /// The way to it of one more client.
  func connect(_ user: String, _ random: inout Seed) throws -> any WorldConnection
  /// Creates arrive that are late, in any order: one of them, or all.
  func receiveDelayed(_ random: inout Seed, all: Bool)
  /// Time goes by.
  func wait(_ random: inout Seed)
}

extension WorldBackend {
  var carriesOutOperators: Bool { false }
  var data: BackendData? { nil }
  var goesBack: Bool { false }
  func makeCopy() {}
  func putBack() -> String { "" }
}

/// The id of a record to whose member `count` all clients add.
let sumID = "sum"

/// One client's way to the backend of a simulated world.
protocol WorldConnection: AnyObject {
  var line: FaultyLine { get }
  var remote: any Remote { get }

  /// Hands live messages to a client: some of those that have not arrived; `all`: whatever there is, unharmed.
  func listen(_ random: inout Seed, all: Bool, _ apply: (LiveChange) throws -> Void) throws
}

/// A backend as Kinvey's.
final class KeyValueWorld: WorldBackend {
  private let backend = FakeBackend()
  let keepsConditions: Bool
  let goesBack: Bool
  let carriesOutOperators: Bool
  private let writesPerBatch: Int

  init(_ random: inout Seed) {
    keepsConditions = random.next() % 2 == 0
    // Who takes batches, of so many writes, keeps conditions.
    writesPerBatch = keepsConditions ? max(1, Int(random.next() % 6)) : 1
    // Every fifth world, or every second one.
    let isDrawn = random.next() % 5 < 2
    goesBack = keepsConditions && (isDrawn || SimulatedWorlds.variable("KV_GOES_BACK") != nil)
    if goesBack { backend.tellData() }
    carriesOutOperators = keepsConditions && !goesBack && writesPerBatch % 2 == 1
    if carriesOutOperators {
      let sum: JSONObject = [
        "_id": .string(sumID), "name": "sum", "owner": -1, "value": 0, "tags": [0], "count": 0,
      ]
      _ = try? backend.create(JSONValue.object(sum).bytes, by: "nobody")
    }
  }

  let collection = "things"
  let format = RecordFormat.default

  var absence: Int {
    get { backend.absence }
    set { backend.absence = newValue }
  }

  var contents: [String: JSONValue] { backend.entities.mapValues { .object($0) } }
  var history: [WorldChange] { backend.history }
  var data: BackendData? { backend.data }

  func makeCopy() { backend.makeCopy() }
  func putBack() -> String {
    backend.putBack()
    return backend.lastCopied
  }

  func connect(_ user: String, _ random: inout Seed) throws -> any WorldConnection {
    let network = FakeNetwork(backend, user: user, seed: random.next())
    network.keepsConditions = keepsConditions
    network.limits.writesPerBatch = writesPerBatch
    network.carriesOutOperators = carriesOutOperators
    // What speaks JSON cannot say which data it has.
    let speaksJSON = random.next() % 3 == 0 && !goesBack
    let remote: any Remote =
      speaksJSON ? try JSONNetwork(network, pageSize: Int(1 + random.next() % 4)).remote : network
    return Connection(backend, over: network, remote: remote)
  }

  func receiveDelayed(_ random: inout Seed, all: Bool) {
    backend.receiveDelayed(&random, all: all)
  }

  /// Its times are those of its writes.
  func wait(_ random: inout Seed) {}

  private final class Connection: WorldConnection {
    let line: FaultyLine
    let remote: any Remote
    private let backend: FakeBackend
    /// How many live messages have arrived.
    private var received = 0

    init(_ backend: FakeBackend, over network: FakeNetwork, remote: any Remote) {
      (self.backend, line, self.remote) = (backend, network, remote)
    }

    func listen(_ random: inout Seed, all: Bool, _ apply: (LiveChange) throws -> Void) throws {
      let published = backend.published
      received = max(received, backend.missed)
      let end = all ? published.count : min(published.count, received + Int(random.next() % 4))
      while received < end {
        try apply(published[received])
        received += 1
      }
    }
  }
}
