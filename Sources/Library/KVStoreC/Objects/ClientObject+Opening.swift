internal import KVClient
internal import KVJSON
internal import KVSync

extension ClientObject {
  /// Opens a client and gives its handle. Of the options `callbacks` is the facade's own.
  static func opened(_ options: JSONObject) throws(StoreError) -> Handle {
    var options = options
    let callbacks = try CallbackQueue(isPumped: isPumped(options["callbacks"]))
    options["callbacks"] = nil
    let log = LogSink(callbacks)
    let core = try Client(options)
    let client = ClientObject(core, callbacks: callbacks, log: log)
    do throws(StoreError) { return try client.open() } catch {
      client.close()
      throw error
    }
  }

  private static func isPumped(_ value: JSONValue?) throws(StoreError) -> Bool {
    switch value {
    case nil, .string("thread"): false
    case .string("pump"): true
    default: throw StoreError(.invalid, #"The option "callbacks" must be "thread" or "pump"."#)
    }
  }

  func openStore(
    _ collection: String, type: String, _ options: JSONObject?
  ) throws(StoreError) -> StoreObject {
    try during { () throws(StoreError) in
      StoreObject(try core.store(collection, type: type, options), client: self)
    }
  }

  /// Replaces where the log goes; nil: nowhere. If it throws, `callback` will not be called or retired.
  func setLog(_ callback: LogCallback?, level: Int32) throws(StoreError) {
    try during { () throws(StoreError) in
      guard let callback else {
        core.log.set(level: 0, nil)
        log.set(nil)
        return
      }
      guard (1...4).contains(level) else {
        throw StoreError(.invalid, "A log level must be 1, 2, 3 or 4.")
      }
      try callbacks.prepare()
      log.set(callback)
      core.log.set(level: level) { [log] in log.write($0, $1) }
    }
  }
}
