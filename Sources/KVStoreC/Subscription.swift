public import CKVStore
internal import KVSync

@_cdecl("kv_subscription_close") @implementation
public func kv_subscription_close(_ subscription: OpaquePointer?) -> kv_status {
  guard subscription != nil else { return Status.ok }
  return perform(nil) { () throws(StoreError) in
    let closed = try SubscriptionObject.close(subscription)
    closed.client.disown(Handle(subscription))
    closed.close()
  }
}
