internal import KVClient
internal import KVJSON
internal import KVSync

func groupCreate(
  _ client: OpaquePointer?, _ group: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let group = try group.object()
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(
        try client.core.createGroup(group, options: options, cancellation: running.cancellation)))
  }
}

func groupRead(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let id = try text(id, named: "id")
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.group(id, options: options, cancellation: running.cancellation)))
  }
}

func groupList(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.allGroups(options: options, cancellation: running.cancellation)))
  }
}

func groupUpdate(
  _ client: OpaquePointer?, _ id: CString?, _ change: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let (id, change) = (try text(id, named: "id"), try UserGroupChange(change.object()))
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(
        try client.core.updateGroup(
          id, change: change, options: options, cancellation: running.cancellation)))
  }
}

func groupDelete(
  _ client: OpaquePointer?, _ id: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let id = try text(id, named: "id")
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.deleteGroup(id, options: options, cancellation: running.cancellation)
    return .remote(.nothing)
  }
}
