public import CKVStore
internal import KVClient
internal import KVJSON
internal import KVSync

@_cdecl("kv_ping") @implementation
public func kv_ping(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try ping(client, options).run(givingTo: out)
  }
}

@_cdecl("kv_ping_async") @implementation
public func kv_ping_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try ping(client, options)
  }
}

@_cdecl("kv_user_signup") @implementation
public func kv_user_signup(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try signup(client, user, length, options).run(givingTo: out)
  }
}

@_cdecl("kv_user_signup_async") @implementation
public func kv_user_signup_async(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try signup(client, user, length, options)
  }
}

@_cdecl("kv_user_login") @implementation
public func kv_user_login(
  _ client: OpaquePointer?, _ credentials: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try login(client, credentials, length, options).run(givingTo: out)
  }
}

@_cdecl("kv_user_login_async") @implementation
public func kv_user_login_async(
  _ client: OpaquePointer?, _ credentials: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try login(client, credentials, length, options)
  }
}

@_cdecl("kv_user_login_page") @implementation
public func kv_user_login_page(
  _ client: OpaquePointer?, _ redirectURI: CString?, _ options: CString?, _ urlOut: TextOut?,
  _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(urlOut, lengthOut)
  return perform(errorOut) { () throws(StoreError) in
    try out.require()
    let client = try ClientObject.borrow(client)
    let redirectURI = try text(redirectURI, named: "redirect_uri")
    let options = try KVStoreC.options(options) ?? [:]
    let page = try client.during { () throws(StoreError) in
      try client.core.loginPage(redirectURI: redirectURI, options)
    }
    try out.give(Array(page.utf8))
  }
}

@_cdecl("kv_user_login_with_code") @implementation
public func kv_user_login_with_code(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?, _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try loginWithCode(client, code, redirectURI, options).run(givingTo: out)
  }
}

@_cdecl("kv_user_login_with_code_async") @implementation
public func kv_user_login_with_code_async(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?, _ freeContext: kv_free_fn?,
  _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try loginWithCode(client, code, redirectURI, options)
  }
}

@_cdecl("kv_user_logout") @implementation
public func kv_user_logout(
  _ client: OpaquePointer?, _ options: CString?,
  _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try logout(client, options).run(givingTo: TextOutput.nowhere)
  }
}

@_cdecl("kv_user_logout_async") @implementation
public func kv_user_logout_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try logout(client, options)
  }
}

@_cdecl("kv_user_me") @implementation
public func kv_user_me(
  _ client: OpaquePointer?, _ options: CString?, _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try out.require()
    return try me(client, options).run(givingTo: out)
  }
}

@_cdecl("kv_user_me_async") @implementation
public func kv_user_me_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try me(client, options)
  }
}

@_cdecl("kv_user_update") @implementation
public func kv_user_update(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?,
  _ jsonOut: TextOut?, _ lengthOut: LengthOut?,
  _ errorOut: HandleOut?
) -> kv_status {
  let out = TextOutput(jsonOut, lengthOut)
  return status(errorOut) { () throws(StoreError) in
    try update(client, user, length, options).run(givingTo: out)
  }
}

@_cdecl("kv_user_update_async") @implementation
public func kv_user_update_async(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?,
  _ done: kv_answer_fn?, _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try update(client, user, length, options)
  }
}

@_cdecl("kv_user_delete") @implementation
public func kv_user_delete(
  _ client: OpaquePointer?, _ options: CString?,
  _ errorOut: HandleOut?
) -> kv_status {
  status(errorOut) { () throws(StoreError) in
    try delete(client, options).run(givingTo: TextOutput.nowhere)
  }
}

@_cdecl("kv_user_delete_async") @implementation
public func kv_user_delete_async(
  _ client: OpaquePointer?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try delete(client, options)
  }
}

@_cdecl("kv_user_exists") @implementation
public func kv_user_exists(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?,
  _ existsOut: UnsafeMutablePointer<Int32>?,
  _ errorOut: HandleOut?
) -> kv_status {
  existsOut?.pointee = 0
  return status(errorOut) { () throws(StoreError) in
    guard let existsOut else { throw missing("exists_out") }
    return try exists(client, username, options).run(givingTo: existsOut)
  }
}

@_cdecl("kv_user_exists_async") @implementation
public func kv_user_exists_async(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?, _ done: kv_answer_fn?,
  _ context: UnsafeMutableRawPointer?,
  _ freeContext: kv_free_fn?, _ requestOut: HandleOut?, _ errorOut: HandleOut?
) -> kv_status {
  start(AnswerCallback(done, context, free: freeContext), requestOut, errorOut) {
    () throws(StoreError) in try exists(client, username, options)
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
    try out.give(client.during { () throws(StoreError) in try client.core.activeUser() })
  }
}

// MARK: Operations

private func ping(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.ping(options, running.cancellation)))
  }
}

private func signup(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let user = try optionalObject(user, length, named: "user_json") ?? [:]
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.signup(user, options, running.cancellation)))
  }
}

private func login(
  _ client: OpaquePointer?, _ credentials: CString?, _ length: Int, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let credentials = try requiredObject(credentials, length, named: "credentials_json")
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.login(credentials, options, running.cancellation)))
  }
}

private func loginWithCode(
  _ client: OpaquePointer?, _ code: CString?, _ redirectURI: CString?, _ given: CString?
) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let code = try text(code, named: "code")
  let redirectURI = try text(redirectURI, named: "redirect_uri")
  let options = try options(given) ?? [:]
  return Operation(on: client) { (running) throws(StoreError) in
    let user = try client.core.login(
      code: code, redirectURI: redirectURI, options, running.cancellation)
    return .remote(.json(user))
  }
}

private func logout(_ client: OpaquePointer?, _ given: CString?) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let leaving = try Client.Leaving(options(given) ?? [:], isDeletion: false)
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.logout(leaving, running.cancellation)
    return .remote(.nothing)
  }
}

private func me(_ client: OpaquePointer?, _ options: CString?) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.me(options, running.cancellation)))
  }
}

private func update(
  _ client: OpaquePointer?, _ user: CString?, _ length: Int, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let user = try requiredObject(user, length, named: "user_json")
  return Operation(on: client) { (running) throws(StoreError) in
    .remote(.json(try client.core.updateUser(user, options, running.cancellation)))
  }
}

private func delete(_ client: OpaquePointer?, _ given: CString?) throws(StoreError) -> Operation {
  let client = try ClientObject.borrow(client)
  let leaving = try Client.Leaving(options(given) ?? [:], isDeletion: true)
  return Operation(on: client) { (running) throws(StoreError) in
    try client.core.deleteUser(leaving, running.cancellation)
    return .remote(.nothing)
  }
}

private func exists(
  _ client: OpaquePointer?, _ username: CString?, _ options: CString?
) throws(StoreError) -> Operation {
  let (client, options) = (try ClientObject.borrow(client), try callOptions(options) ?? Options())
  let name = try text(username, named: "username")
  return Operation(on: client) { (running) throws(StoreError) in
    let exists = try client.core.userExists(name, options, running.cancellation)
    return .remote(.count(exists ? 1 : 0))
  }
}
