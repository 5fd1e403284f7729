public import CKVStore
internal import KVBase
internal import KVClient
internal import KVJSON
internal import KVQuery
internal import KVSync

@_cdecl("kv_transaction_begin") @implementation
public func kv_transaction_begin(
  _ client: OpaquePointer?, _ transactionOptions: CString?, _ transactionOut: HandleOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(transactionOut, named: "transaction_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let core = try client.core.beginTransaction(options(transactionOptions))
    out.write(try client.adopt(TransactionObject(core, client: client)))
  }
}

@_cdecl("kv_transaction_find_by_id") @implementation
public func kv_transaction_find_by_id(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ id: CString?, _ jsonOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    try out.require()
    try out.write(try core.find(id: try text(id, named: "id"), in: store))
  }
}

@_cdecl("kv_transaction_find") @implementation
public func kv_transaction_find(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ query: OpaquePointer?,
  _ cursorOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = HandleOutput(cursorOut, named: "cursor_out")
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    try out.require()
    let entities = try core.find(try QueryObject.all(or: query), in: store)
    let client = try TransactionObject.borrow(transaction).client
    out.write(try client.adopt(CursorObject(entities, client: client)))
  }
}

@_cdecl("kv_transaction_count") @implementation
public func kv_transaction_count(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ query: OpaquePointer?,
  _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    try out.require()
    out.write(try core.count(try QueryObject.all(or: query), in: store))
  }
}

@_cdecl("kv_transaction_save") @implementation
public func kv_transaction_save(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ entity: CString?, _ length: Int,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  kv_transaction_save_if(
    transaction, store, entity, length, nil, jsonOut, lengthOut, errorOut)
}

@_cdecl("kv_transaction_save_if") @implementation
public func kv_transaction_save_if(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ entity: CString?, _ length: Int,
  _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    let entity = try JSONArgument(entity, length, named: "entity_json").bytes()
    try out.write(try core.save(entity, if: try condition(options), in: store))
  }
}

@_cdecl("kv_transaction_remove_by_id") @implementation
public func kv_transaction_remove_by_id(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ id: CString?, _ countOut: CountOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  kv_transaction_remove_by_id_if(transaction, store, id, nil, countOut, errorOut)
}

@_cdecl("kv_transaction_remove_by_id_if") @implementation
public func kv_transaction_remove_by_id_if(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ id: CString?, _ options: CString?,
  _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    let id = try text(id, named: "id")
    out.write(try core.remove(id: id, if: try condition(options), in: store))
  }
}

@_cdecl("kv_transaction_remove") @implementation
public func kv_transaction_remove(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ query: OpaquePointer?,
  _ countOut: CountOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = CountOutput(countOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    out.write(try core.remove(try QueryObject.all(or: query), in: store))
  }
}

@_cdecl("kv_transaction_update") @implementation
public func kv_transaction_update(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ query: OpaquePointer?,
  _ update: CString?, _ length: Int, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return within(transaction, store, errorOut) { (core, store) throws(StoreError) in
    let update = try JSONArgument(update, length, named: "update_json").text()
    try out.write(
      try core.update(try QueryObject.all(or: query), store.parsedUpdate(update), in: store).json)
  }
}

@_cdecl("kv_transaction_commit") @implementation
public func kv_transaction_commit(
  _ transaction: OpaquePointer?, _ errorOut: HandleOut?
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let transaction = try TransactionObject.borrow(transaction)
    try transaction.client.during { () throws(StoreError) in try transaction.core.commit() }
  }
}

@_cdecl("kv_transaction_close") @implementation
public func kv_transaction_close(_ transaction: OpaquePointer?) {
  guard let closed = try? TransactionObject.close(transaction) else { return }
  closed.client.disown(Handle(transaction))
  closed.core.close()
}

@_cdecl("kv_client_transaction") @implementation
public func kv_client_transaction(
  _ client: OpaquePointer?, _ transactionOptions: CString?, _ body: kv_transaction_fn?,
  _ context: UnsafeMutableRawPointer?, _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) -> kv_status in
    let client = try ClientObject.borrow(client)
    guard let body else { throw missing("body") }
    return try client.transact(try options(transactionOptions)) { transaction in
      body(context, transaction)
    }
  }
}

/// Runs the body of an entry point that works in a transaction on one of its stores.
private func within(
  _ transaction: OpaquePointer?, _ store: OpaquePointer?, _ errorOut: HandleOut?,
  _ body: (Transaction, DataStore) throws(StoreError) -> Void
) -> kv_status {
  perform(errorOut) { () throws(StoreError) in
    let transaction = try TransactionObject.borrow(transaction)
    let store = try StoreObject.borrow(store)
    try transaction.client.during { () throws(StoreError) in
      try body(transaction.core, store.core)
    }
  }
}

private func condition(_ text: CString?) throws(StoreError) -> WriteCondition {
  guard let object = try options(text) else { return .none }
  return try Transaction.condition(object)
}

extension ClientObject {
  /// Runs a function of the host's in transactions until one commits. A status of its own that is not KV_OK
  /// ends it, and comes out.
  fileprivate func transact(
    _ options: JSONObject?, _ body: (OpaquePointer?) -> kv_status
  ) throws(StoreError) -> kv_status {
    var answer = Status.ok
    do throws(StoreError) {
      try during { () throws(StoreError) in
        try core.transact(options, cancellation: cancellation) { (core) throws(StoreError) in
          let handle = try adopt(TransactionObject(core, client: self))
          // Not closed: it is committed once the host's function has returned.
          defer {
            disown(handle)
            HandleTable.discard(handle)
          }
          answer = try suspended { () throws(StoreError) in body(handle.pointer) }
          if answer != Status.ok { throw StoreError(.cancelled, "The transaction was cancelled.") }
        }
      }
    } catch {
      if answer == Status.ok { throw error }
    }
    return answer
  }
}
