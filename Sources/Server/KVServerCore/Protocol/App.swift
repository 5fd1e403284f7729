internal import KVBase

/// One app that the server serves: its credentials, its number in the database, and by whom its users log in.
struct App: Sendable {
  var key: String
  var secret: String
  /// The secrets of its administrators.
  var masterSecrets: [MasterSecret]
  /// What invitations are sealed with, and what former ones may have been.
  let seals: [String]
  var number: Int64
  /// Nil: users log in with a name and a password only.
  var provider: (any IdentityProvider)?
  /// Whether one of the secrets could be guessed.
  let isGuessable: Bool

  init(
    _ credentials: AppCredentials, number: Int64, provider: (any IdentityProvider)? = nil
  ) {
    key = credentials.key
    secret = credentials.secret
    masterSecrets =
      credentials.masterSecrets + (credentials.masterSecret.map { [MasterSecret(plain: $0)] } ?? [])
    seals = [credentials.seal, credentials.masterSecret].compactMap(\.self)
    self.number = number
    self.provider = provider
    isGuessable = credentials.isGuessable
  }

  func hasSameSecrets(as other: App) -> Bool {
    secret == other.secret && masterSecrets == other.masterSecrets && seals == other.seals
  }
}

/// The key of an app, and the secrets that prove that a request is its own or its administrator's.
package struct AppCredentials: Sendable, Equatable {
  package var key: String
  package var secret: String
  /// One that may do everything.
  package var masterSecret: String?
  /// Those that are known by their hashes.
  package var masterSecrets: [MasterSecret]
  /// What the server seals invitations with, so that no single master secret opens them; nil: `masterSecret`.
  package var seal: String?

  package init(
    key: String, secret: String, masterSecret: String? = nil, masterSecrets: [MasterSecret] = [],
    seal: String? = nil
  ) {
    self.key = key
    self.secret = secret
    self.masterSecret = masterSecret
    self.masterSecrets = masterSecrets
    self.seal = seal
  }
}

extension AppCredentials {
  /// The least strength of a secret: nothing that could be guessed, however fast.
  private static let leastBits = 128.0

  /// Whether one secret is as good as the other: then every client of the app is its administrator, or none is.
  package var hasOneSecretTwice: Bool {
    masterSecret?.hasSameBytes(as: secret) == true
      || masterSecrets.contains { $0.sha256 == MasterSecret.hash(secret) }
  }

  /// Whether one of the secrets could be guessed.
  package var isGuessable: Bool {
    Self.isGuessable(secret) || masterSecret.map(Self.isGuessable) == true
  }

  /// Whether a secret has less than 128 bits, if its characters were drawn at random from those of their kinds.
  static func isGuessable(_ secret: String) -> Bool {
    var kinds: Set<Int> = []
    for byte in secret.utf8 {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): kinds.insert(10)
      // Hex digits of one case are one kind, with the digits: 16 characters.
      case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
        kinds.insert(6)
      case UInt8(ascii: "g")...UInt8(ascii: "z"), UInt8(ascii: "G")...UInt8(ascii: "Z"):
        kinds.insert(46)
      default: kinds.insert(32)
      }
    }
    // Few different characters are no random ones.
    let different = Set(secret.utf8).count
    return different < 8 || Double(secret.utf8.count) * bits(kinds.reduce(0, +)) < leastBits
  }

  /// How many bits a character of an alphabet has.
  private static func bits(_ size: Int) -> Double {
    switch size {
    case ..<17: 4
    case ..<33: 5
    case ..<63: 5.8
    default: 6
    }
  }
}
