internal import KVSync
internal import KVTransport

extension TransportOptions {
  /// Reads the transport's options from those of a client.
  init(from reader: inout OptionReader) throws(StoreError) {
    self.init(
      caFile: try reader.string("caFile"), caFallback: try reader.string("caFallback"),
      proxy: try reader.string("proxy"),
      connections: try reader.integer("connections", 1...64) ?? 6)
  }
}

extension Transport {
  /// Makes a transport that logs its requests to the client's log. The caller closes it.
  convenience init(_ options: TransportOptions, _ context: BackendContext) throws(StoreError) {
    do throws(TransportError) {
      try self.init(options) { trace in context.debug { trace.text } }
    } catch {
      throw StoreError(.storage, error.message)
    }
  }
}
