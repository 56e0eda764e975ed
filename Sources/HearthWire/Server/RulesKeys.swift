package import UTF8Text

/// The member names of `rules.get`, `rules.set` and the `rules` of `server.info`.
package enum RulesKeys {
    package static let rules: UTF8Key = "rules"
    package static let version: UTF8Key = "version"
    package static let source: UTF8Key = "source"
    package static let activeSince: UTF8Key = "activeSince"
    package static let problem: UTF8Key = "problem"
    package static let versions: UTF8Key = "versions"
    package static let replaceTime: UTF8Key = "replaceTime"
    package static let denials: UTF8Key = "denials"
    package static let method: UTF8Key = "method"
    package static let line: UTF8Key = "line"
    package static let count: UTF8Key = "count"
    package static let warnings: UTF8Key = "warnings"
}
