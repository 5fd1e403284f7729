/// Completion scripts for shells, from the table of commands.
enum AdminCompletion {
  static func script(for shell: String) throws(AdminFailure) -> String {
    switch shell {
    case "bash": return bash
    case "zsh": return "#compdef kvstored\nautoload -U +X bashcompinit && bashcompinit\n" + bash
    default: throw AdminFailure(.misuse, "SHELL must be bash or zsh")
    }
  }

  /// The words that may follow, by the words of the command that are there already.
  private static var bash: String {
    let groups = unique(AdminCommand.all.compactMap(\.words.first))
    var next: [(pattern: String, choices: [String])] = [("\"\"", groups)]
    for group in groups {
      let second = AdminCommand.all.filter { $0.words.first == group }.compactMap {
        $0.words.count > 1 ? $0.words[1] : nil
      }
      if !second.isEmpty { next.append(("\"\(group)\"", second)) }
    }
    for command in AdminCommand.all where !command.options.isEmpty {
      let name = command.name
      next.append(("\"\(name)\"|\"\(name) \"*", command.options.map { "--\($0.name)" }))
    }
    next.append(("\"completion\"", ["bash", "zsh"]))
    let cases = next.map {
      "    \($0.pattern)) words=\"\($0.choices.joined(separator: " "))\" ;;"
    }
    let global = AdminCommand.globalOptions.map { "--\($0.name)" }.joined(separator: " ")
    return """
      _kvstored_admin() {
        local current=${COMP_WORDS[COMP_CWORD]} words="" path="" word i
        [ "${COMP_WORDS[1]}" = admin ] || {
          [ "$COMP_CWORD" = 1 ] && COMPREPLY=($(compgen -W "admin backup restore" -- "$current"))
          return
        }
        for ((i = 2; i < COMP_CWORD; i++)); do
          word=${COMP_WORDS[i]}
          [[ $word == -* ]] && break
          path="${path:+$path }$word"
        done
        case "$path" in
      \(cases.joined(separator: "\n"))
        esac
        [[ $current == -* ]] && words="$words \(global)"
        COMPREPLY=($(compgen -W "$words" -- "$current"))
      }
      complete -o default -F _kvstored_admin kvstored

      """
  }

  private static func unique(_ words: [String]) -> [String] {
    words.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
