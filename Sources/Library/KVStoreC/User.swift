public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_user_login_page") @implementation
public func kv_user_login_page(
  _ client: OpaquePointer?, _ redirectURI: CString?, _ options: CString?, _ urlOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(urlOut, lengthOut, named: "url_out")
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let redirectURI = try text(redirectURI, named: "redirect_uri")
    let options = try KVStoreC.options(options) ?? [:]
    let page = try client.during { () throws(StoreError) in
      try client.core.loginPage(redirectURI: redirectURI, options)
    }
    try out.write(Array(page.utf8))
  }
}

@_cdecl("kv_user_active") @implementation
public func kv_user_active(
  _ client: OpaquePointer?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    try out.write(client.during { () throws(StoreError) in try client.core.activeUser() })
  }
}

// MARK: Operations

func ping(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.ping(options: options, cancellation: running.cancellation)))
  }
}

func userSignup(
  _ client: OpaquePointer?, _ user: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let joining = try Client.Joining(KVStoreC.options(options) ?? [:])
  let user = try user.optionalObject() ?? [:]
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(
        try client.core.signup(
          user, adopting: joining.adopt, options: joining.call, cancellation: running.cancellation))
    )
  }
}

func userLogin(
  _ client: OpaquePointer?, _ credentials: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let joining = try Client.Joining(KVStoreC.options(options) ?? [:])
  let credentials = try credentials.object()
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(
        try client.core.login(
          credentials, adopting: joining.adopt, options: joining.call,
          cancellation: running.cancellation)))
  }
}

func userLoginWithCode(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let code = try text(code, named: "code")
  let redirectURI = try text(redirectURI, named: "redirect_uri")
  let options = try KVStoreC.options(options) ?? [:]
  return Operation(on: client) { (running) throws(StoreError) in
    let user = try client.core.login(
      code: code, redirectURI: redirectURI, options, running.cancellation)
    return .remote(.json(user))
  }
}

func userLogout(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let leaving = try Client.Leaving(KVStoreC.options(options) ?? [:], isDeletion: false)
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.logout(leaving, running.cancellation)
    return .remote(.nothing)
  }
}

func userMe(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.me(options: options, cancellation: running.cancellation)))
  }
}

func userUpdate(
  _ client: OpaquePointer?, _ user: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let user = try user.object()
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(try client.core.updateUser(user, options: options, cancellation: running.cancellation)))
  }
}

func userDelete(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let leaving = try Client.Leaving(KVStoreC.options(options) ?? [:], isDeletion: true)
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.deleteUser(leaving, running.cancellation)
    return .remote(.nothing)
  }
}

func userLookup(
  _ client: OpaquePointer?, _ members: JSONArgument, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let members = try members.object()
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(
      .json(
        try client.core.lookupUsers(members, options: options, cancellation: running.cancellation)))
  }
}

func userExists(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let name = try text(username, named: "username")
  return Operation(on: client) { (running) throws(StoreError) in
    let exists = try client.core.userExists(
      name, options: options, cancellation: running.cancellation)
    return .remote(.count(exists ? 1 : 0))
  }
}
