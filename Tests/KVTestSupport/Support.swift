internal import KVBase
