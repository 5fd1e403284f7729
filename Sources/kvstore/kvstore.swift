@_exported import KVStoreC
