internal import KVServer
