package import KVBase
package import KVSync

extension Client {
  /// Lets the active user listen to collections, until unregistered or logged out.
  package func registerLive(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    try ensureLive(options: options, cancellation: cancellation)
    live?.isWanted = true
    follows.receive(.liveWanted)
    synced.running?.receive(.liveWanted)
  }

  /// The same for the library's own use, which says nothing about what the application wants.
  func ensureLive(options: Options, cancellation: Cancellation) throws(StoreError) {
    try asking("register for live data", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      let user = session == nil ? nil : try active().id
      try hasLive().register(user, call)
    }
  }

  /// Ends all subscriptions here, then says so to the backend; follows poll from now on. No more happens if the user is
  /// not registered.
  package func unregisterLive(
    options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    let live = try hasLive()
    live.isWanted = false
    guard let registration = live.registered else { return }
    live.stop()
    try asking("unregister from live data", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      try renewing(call) { () throws(StoreError) in
        let token = session == nil ? nil : try active().token
        try backend?.live?.unregister(registration, token: token, call: call)
      }
    }
  }

  /// Ends a subscription, and waits until the backend has heard of it. Throws what it says if it refuses; nothing is told
  /// any more in any case.
  package func unsubscribe(
    _ subscription: LiveSubscription, options: Options, cancellation: Cancellation
  ) throws(StoreError) {
    try asking("unsubscribe", options: options, cancellation: cancellation) {
      (call) throws(StoreError) in
      try recordingRefusal { () throws(StoreError) in try subscription.end(call) }
    }
  }

  func hasLive() throws(StoreError) -> LiveData { try liveData.get() }

  /// Live data, or why there is none.
  var liveData: Result<LiveData, StoreError> {
    Result { () throws(StoreError) in
      guard let live else { throw try existing().lacks("live data") }
      return live
    }
  }
}
