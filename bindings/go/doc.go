// Package kvstore is an offline-first data store that synchronises: the Go binding of libkvstore.
//
// A program opens a [Client] (one application on one backend, one data directory), opens a
// [Collection] of a type of its own, and reads and writes entities: JSON objects with an "_id". What
// is written offline waits in the queue of [Pending] writes until it is pushed.
//
// Every call that may wait takes a [context.Context], and ending the context really cancels it: the
// transfer is stopped, and the error is the context's. A write that is cancelled after its local step
// stays pending.
//
// Errors are *[Error], and errors.Is compares them with the statuses: errors.Is(err,
// kvstore.ErrNotFound). Where one of many fails the call succeeds, and its result lists the errors.
//
// All types may be used by many goroutines at once, but an [Iterator] by one at a time. Close what
// you open; finalizers are only a net.
//
// The library is found by pkg-config, so PKG_CONFIG_PATH must name the folder of kvstore.pc unless
// it is installed. With the build tag kvstore_static it is linked statically in its place, from the folder static
// of this package, which `make go-static` fills.
package kvstore
