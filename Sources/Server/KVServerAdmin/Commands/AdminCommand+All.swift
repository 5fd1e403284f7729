internal import KVBase
internal import KVServerCore

extension AdminCommand {
  /// The options that every command takes: whose data it works on, and how it answers.
  package static let globalOptions: [Option] = [
    Option("data", "DIR", help: "the data directory of a server that does not run"),
    Option(
      "storage", "URI", help: "the PostgreSQL database of servers, which may run: postgres://…"),
    Option(
      "url", "URL",
      help: "a running server, such as http://127.0.0.1:8778; needs --app and its master secret"),
    Option(
      "config", "FILE", help: "the configuration file of the server: its data, storage and apps"),
    Option("app", "KEY", help: "the key of the application; may be left out if there is only one"),
    Option(
      "master-secret-file", "FILE",
      help: "a file with the master secret, for --url [the variable KVSTORED_MASTER_SECRET]"),
    Option(
      "audit-log", "FILE",
      help: "the audit log: gets a line for what is done to data without a server; audit reads it"),
    Option(
      "encryption-key-file", "FILE", help: "the key of the data of --data, if it is encrypted"),
    Option("ca-file", "FILE", help: "certificates to trust, as PEM, for --url [the system's]"),
    Option("json", "", help: "write results as JSON, one object a line"),
    Option("help", "", help: "say what a command does"),
  ]

  /// The names of options that have a value.
  static let valued: Set<String> = Set(
    (globalOptions + all.flatMap(\.options)).filter { !$0.placeholder.isEmpty }.map(\.name))

  /// All commands, in the order in which help shows them.
  package static let all: [AdminCommand] =
    users + sessions + secrets + collections + settings + transfers + [
      AdminCommand(
        "backup", "Copies the data directory, also while a server uses it, and app.json with it.",
        options: [to("DIR", "a new directory for the copy")], work: .files(.backup)),
      AdminCommand(
        "restore",
        "Makes a data directory of such a copy. What clients remember of the data is void then.",
        options: [from("DIR", "the directory of the copy")], work: .files(.restore)),
      AdminCommand(
        "migrate",
        "Moves the data of a directory to PostgreSQL, also while a server uses it: then again without.",
        options: [to("URI", "the address of a new database, postgres://…")], work: .files(.migrate)),
      AdminCommand(
        "encrypt",
        "Encrypts the data of a directory, encrypts it anew with another key, or decrypts it. No server may use it.",
        options: [
          Option(
            "new-key-file", "FILE",
            help: "the key that opens it afterwards"),
          Option("decrypt", "", help: "it is not encrypted afterwards"),
        ], work: .files(.encrypt)),
      AdminCommand(
        "audit", "Shows who did what, as the file of --audit-log or of --config says.",
        options: AuditCommand.options, work: .files(.audit)),
      AdminCommand(
        "completion", "Writes the completion of this command for bash or zsh.",
        operands: [Operand(name: "SHELL")],
        work: .text { arguments throws(AdminFailure) in
          try AdminCompletion.script(for: arguments.operands[0])
        }),
      AdminCommand(
        "commands", "Writes this table of commands as JSON.", work: .text { _ in AdminHelp.json }),
    ]

  private static let user = Operand(name: "USER")
  /// What USER is, where it could be both.
  private static let kindOfUser = [
    Option("id", "", help: "USER is an id"), Option("name", "", help: "USER is a name"),
  ]
  /// A collection that may be read only: an older version may have saved entities under the name of the accounts.
  private static let source = Operand(name: "COLLECTION") { CollectionName.fault(in: $0) }
  private static let collection = Operand(name: "COLLECTION", fault: fault)
  private static let newName = Operand(name: "NEW", fault: fault)

  /// What is wrong with the name of a collection that may be written to; nil: nothing.
  @Sendable private static func fault(in name: String) -> String? {
    guard !name.hasSameBytes(as: CollectionName.accounts) else {
      return "\(name) stands for the accounts, which kvstored admin users is for"
    }
    return CollectionName.fault(in: name)
  }

  private static let passwordFile = Option(
    "password-file", "FILE", help: "a file whose first line is the password; -: standard input")
  private static let query = Option("query", "FILTER", help: "only those that this filter selects")

  private static func to(_ placeholder: String, _ help: String) -> Option {
    Option("to", placeholder, help: help)
  }

  private static func from(_ placeholder: String, _ help: String) -> Option {
    Option("from", placeholder, help: help)
  }

  private static let users = [
    AdminCommand(
      "users list", "Lists the users.",
      options: [query, Option("limit", "N", help: "how many at the most [all]")],
      work: .requests(UserCommands.list)),
    AdminCommand(
      "users find", "Finds the users whose name, id or email is TEXT.",
      operands: [Operand(name: "TEXT")], work: .requests(UserCommands.find)),
    AdminCommand(
      "users add", "Makes a user. Without a password one is made and shown.",
      operands: [Operand(name: "NAME")], options: [passwordFile],
      work: .requests(UserCommands.add)),
    AdminCommand(
      "users password",
      "Sets a user's password; the user's sessions end. Without a password one is made and shown.",
      operands: [user],
      options: kindOfUser + [passwordFile], work: .requests(UserCommands.setPassword)),
    AdminCommand(
      "users disable", "Keeps a user from logging in; the user's sessions end.",
      operands: [user], options: kindOfUser,
      work: .requests(UserCommands.disable)),
    AdminCommand(
      "users enable", "Lets a disabled user log in again.",
      operands: [user], options: kindOfUser,
      work: .requests(UserCommands.enable)),
    AdminCommand(
      "users invite", "Makes an invitation, by which a person can sign up under this name.",
      operands: [Operand(name: "NAME")],
      options: [Option("days", "N", help: "for how many days it is good [7]")],
      work: .requests(UserCommands.invite)),
    AdminCommand(
      "users link", "Links a user with an identity of a provider, which logs in as this user.",
      operands: [user],
      options: kindOfUser + [
        Option("issuer", "URL", help: "the provider, as its tokens name it"),
        Option("subject", "SUB", help: "the provider's name of the user, the claim sub"),
      ], work: .requests(UserCommands.link)),
    AdminCommand(
      "users unlink", "Removes the link of a user with an identity.",
      operands: [user], options: kindOfUser, work: .requests(UserCommands.unlink)),
    AdminCommand(
      "users delete", "Deletes a user for good. What the user has written stays.",
      operands: [user], options: kindOfUser,
      work: .requests(UserCommands.delete)),
  ]

  private static let sessions = [
    AdminCommand(
      "sessions list", "Lists who is logged in.",
      options: [Option("user", "USER", help: "only the sessions of this user")] + kindOfUser,
      work: .requests(SessionCommands.list)),
    AdminCommand(
      "sessions end", "Ends all sessions of a user, or one.",
      operands: [user],
      options: kindOfUser + [
        Option("session", "ID", help: "only this one, by the id that sessions list shows")
      ], work: .requests(SessionCommands.end)),
  ]

  private static let secrets = [
    AdminCommand(
      "secrets list", "Lists the master secrets of an app in app.json: names, scopes and ends.",
      work: .files(.listSecrets)),
    AdminCommand(
      "secrets add",
      "Makes a master secret, shows it once, and keeps its hash in app.json. Reload the server then.",
      operands: [Operand(name: "NAME")],
      options: [
        Option("scopes", "LIST", help: "what it is good for: some of read,data,users,admin"),
        Option("days", "N", help: "for how many days it is good [for ever]"),
      ], work: .files(.addSecret)),
    AdminCommand(
      "secrets remove", "Removes a master secret from app.json. Reload the server then.",
      operands: [Operand(name: "NAME")], work: .files(.removeSecret)),
  ]

  private static let collections = [
    AdminCommand(
      "collections list", "Lists the collections with the numbers and bytes of their entities.",
      work: .requests(CollectionCommands.list)),
    AdminCommand(
      "collections rename",
      "Gives a collection another name. The old one stays, empty, with the same settings.",
      operands: [source, newName], work: .requests(CollectionCommands.rename)),
    AdminCommand(
      "collections drop",
      "Deletes all entities of a collection, with its permissions and its history.",
      operands: [collection],
      work: .requests(CollectionCommands.drop)),
  ]

  private static let settings = [
    AdminCommand(
      "permissions show", "Shows who may do what.",
      operands: [collection],
      work: .requests(CollectionCommands.showPermissions)),
    AdminCommand(
      "permissions set", "Sets who may create, read, update and delete, such as read=acl.",
      operands: [collection, Operand(name: "OPERATION=RULE", isRepeated: true)],
      work: .requests(CollectionCommands.setPermissions)),
    AdminCommand(
      "history show", "Shows whether deletions are kept for clients.",
      operands: [collection],
      work: .requests(CollectionCommands.showHistory)),
    AdminCommand(
      "history set", "Sets for how many days deletions are kept: 1 to 30, or off.",
      operands: [collection, Operand(name: "DAYS")],
      work: .requests(CollectionCommands.setHistory)),
    AdminCommand(
      "indexes list", "Lists the indexes of a collection.",
      operands: [collection],
      work: .requests(IndexCommands.list)),
    AdminCommand(
      "indexes add",
      "Adds an index, such as '{\"keys\":{\"title\":1}}', and waits until it is filled.",
      operands: [collection, Operand(name: "INDEX")],
      work: .requests(IndexCommands.add)),
    AdminCommand(
      "indexes drop", "Removes an index.",
      operands: [collection, Operand(name: "NAME")],
      work: .requests(IndexCommands.drop)),
  ]

  private static let transfers = [
    AdminCommand(
      "export", "Writes the entities of a collection as NDJSON: one a line.",
      operands: [source],
      options: [query, to("FILE", "a new file [standard output]")], work: .requests(Export.run)),
    AdminCommand(
      "import",
      "Saves the entities of an NDJSON file. Running it again saves the same entities again.",
      operands: [collection],
      options: [
        from("FILE", "the file [standard input]"),
        Option("skip", "N", help: "leave out the first N lines, which a former run has saved"),
      ], work: .requests(Import.run)),
  ]
}
