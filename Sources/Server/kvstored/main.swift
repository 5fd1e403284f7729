internal import Glibc
internal import KVServer

exit(Command.run(Array(CommandLine.arguments.dropFirst())))
