// Package kvstore is an offline-first data store that synchronises: the Go binding of libkvstore.
//
// A program opens a [Client] (one application on one backend, with one data directory). It opens a [Collection] of a
// type of its own, and reads and writes entities: JSON objects with an "_id". Offline writes are kept in the queue of
// [Pending] writes until they are pushed.
//
// Every call that may wait takes a [context.Context]. When the context ends, the transfer stops, and the call returns
// the error of the context. If the local step of a write was done by then, the write stays pending.
//
// Errors are of type *[Error]. errors.Is compares them with the statuses: errors.Is(err, kvstore.ErrNotFound). If a
// call handles several entities and some of them fail, the call succeeds, and its result lists the errors.
//
// All types are safe for concurrent use, except an [Iterator]. Close what you open; finalizers are only a safety net.
//
// The build finds the library through pkg-config: PKG_CONFIG_PATH must name the folder of kvstore.pc, unless the
// library is installed. With the build tag kvstore_static the library is linked statically instead, from the folder
// static of this package, which `make go-static` fills.
package kvstore
