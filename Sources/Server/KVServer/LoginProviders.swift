internal import KVServerCore
internal import KVServerOpenID

/// The providers by which users log in, as settings name them.
struct LoginProviders: Sendable {
  private struct Entry: Sendable {
    let settings: OpenIDSettings
    let provider: OpenIDProvider
  }

  private var entries: [Entry] = []
  private let used: UsedTokens
  /// The provider of each app.
  private(set) var table = AppTable<any IdentityProvider>()

  /// `former`: those that are replaced by these, if a server has any.
  ///
  /// A provider whose settings are as before stays, with the keys that it knows, unless it has a file of authorities: that may
  /// be another one now. Logins that have begun with a former one go on with it; it ends with the last of them.
  init(
    of configuration: Server.Configuration, former: LoginProviders? = nil
  ) throws(Server.Failure) {
    used = former?.used ?? UsedTokens()
    for settings in configuration.identity {
      let known = former?.entries.first { $0.settings == settings && settings.caFile == nil }
      let provider: OpenIDProvider
      do { provider = try known?.provider ?? OpenIDProvider(settings, used) } catch {
        throw Server.Failure("openid: \(error)")
      }
      try configuration.add(provider, of: settings.app, to: &table, as: "a provider of logins")
      entries.append(Entry(settings: settings, provider: provider))
    }
  }

  /// Ends the calls under way.
  func close() {
    for entry in entries { entry.provider.close() }
  }
}
