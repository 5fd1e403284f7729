internal import CKVStore
internal import KVSync

/// The asynchronous form of an operation: makes it, starts it, and gives the context back if either
/// fails.
func start(
  _ callback: AnswerCallback, _ requestOut: HandleOut?, _ errorOut: HandleOut?,
  _ operation: () throws(StoreError) -> Operation
) -> kv_status {
  let out = HandleOutput(requestOut, named: "request_out")
  return perform(errorOut) { () throws(StoreError) in
    do throws(StoreError) {
      let operation = try operation()
      try operation.client.start(
        operation, Delivery(callback, on: operation.client.callbacks), handle: out)
    } catch {
      out.clear()
      callback.retire()
      throw error
    }
  }
}

/// The form of a function that begins a subscription: finds the client and what will supply it, and gives the
/// context back if anything fails. `handlers` nil: the host gave no function.
func subscribe(
  _ handlers: EventHandlers?, _ context: UnsafeMutableRawPointer?, _ free: kv_free_fn?,
  _ subscriptionOut: HandleOut?, _ errorOut: HandleOut?,
  _ prepare: () throws(StoreError) -> (
    ClientObject, (SubscriptionObject) throws(StoreError) -> any EventSource
  )
) -> kv_status {
  let out = HandleOutput(subscriptionOut, named: "subscription_out")
  return perform(errorOut) { () throws(StoreError) in
    let client: ClientObject
    let begin: (SubscriptionObject) throws(StoreError) -> any EventSource
    let callback: EventCallback
    do throws(StoreError) {
      guard let handlers else {
        throw StoreError(.misuse, "The function that receives the events is NULL.")
      }
      callback = EventCallback(handlers, context, free: free)
      (client, begin) = try prepare()
    } catch {
      free?(context)
      throw error
    }
    try client.subscribe(callback, handle: out, begin)
  }
}

extension Operation {
  /// The blocking form, for a result that is a text or nothing.
  func run(into out: TextOutput) throws(StoreError) -> kv_status {
    let outcome = try client.run(body)
    try outcome.write(to: out)
    return outcome.status
  }

  /// The blocking form, for a result that is a number.
  func run(into out: CountOutput) throws(StoreError) -> kv_status {
    out.write(try count())
    return Status.ok
  }

  /// The blocking form, for a result that is yes or no.
  func run(into out: FlagOutput) throws(StoreError) -> kv_status {
    out.write(try count() != 0)
    return Status.ok
  }

  private func count() throws(StoreError) -> Int {
    guard case .count(let count) = try client.run(body) else {
      throw StoreError(.internal, "A count has no result.")
    }
    return Int(clamping: count)
  }

  /// The blocking form, for the entities of a find and the results of a fetch.
  func run(into out: HandleOutput) throws(StoreError) -> kv_status {
    switch try client.run(body) {
    case .entities(let entities):
      out.write(try client.adopt(CursorObject(entities, client: client)))
    case .results(let results):
      out.write(try client.adopt(ResultsObject(results, client: client)))
    case .nothing, .json, .partial, .saved, .count:
      throw StoreError(.internal, "A find has no result.")
    }
    return Status.ok
  }
}
