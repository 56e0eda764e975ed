package import DocumentModel
import HearthWire
package import JSONRPC
import SecurityRules
package import StrictJSON
package import UTF8Text

/// `rules.get`: returns the security rules of a database.
package enum GetRules: RPCMethod {
    /// The rules of a database, and what they have denied.
    package struct Result: Sendable {
        /// The rules that decide now; `nil` if there are none.
        package let active: ActiveRules?
        /// The rules with the requested version; those that decide now if none is requested.
        package let text: String?
        /// The error of the database's own file if its rules could not be used.
        package let problem: StatusError?
        /// The versions that later ones have replaced.
        package let history: RulesHistory
        /// The requests that the active rules have denied.
        package let denials: RulesDenials
    }

    private static let version = Parameter<String?>(
        RulesKeys.version,
        "The version of the rules to return. Default: the active ones."
    )

    package static let name: UTF8Key = "rules.get"
    package static let summary = "Returns the security rules of the database, the earlier versions, and what has been denied."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [version]
    package static let result = ResultDescription(
        "rules",
        .object([
            .init(RulesKeys.rules, .string(), "The text of the rules; absent if there are none.", isRequired: false),
            .init(
                RulesKeys.version,
                .string(),
                "The version of the active rules, the beginning of the SHA-256 of their text; absent if there are none: then the "
                    + "database is closed to end users.",
                isRequired: false
            ),
            .init(
                RulesKeys.source,
                .string(values: ActiveRules.Source.allCases.map(\.rawValue)),
                "The place that the active rules are from: the database's own file, the server's (--rules), or a test program.",
                isRequired: false
            ),
            .init(
                RulesKeys.activeSince,
                Timestamp.schema,
                "The time from which the active rules have decided.",
                isRequired: false
            ),
            .init(
                RulesKeys.problem,
                .string(),
                "The reason why the database's own file is not in use, with line and column; absent without one.",
                isRequired: false
            ),
            .init(
                RulesKeys.versions,
                .array(
                    of: .object([
                        .init(RulesKeys.version, .string(), "The version."),
                        .init(RulesKeys.replaceTime, Timestamp.schema, "The time at which other rules replaced it."),
                    ])
                ),
                "The earlier versions, newest first."
            ),
            .init(
                RulesKeys.denials,
                .array(
                    of: .object([
                        .init(RulesKeys.method, .string(), "The method of the denied requests, such as list."),
                        .init(
                            RulesKeys.line,
                            .integer(minimum: 1),
                            "The line of the last statement that did not allow them; absent if none is about their path and method.",
                            isRequired: false
                        ),
                        .init(RulesKeys.count, .integer(minimum: 1), "The number of requests."),
                    ])
                ),
                "The requests that the active rules have denied since they became active, most frequent first."
            ),
        ]),
        "The rules."
    )
    package static let errors = [
        ErrorDescription(status: .notFound, "No rules have the version."),
        ErrorDescription(status: .dataLoss, "The file of the earlier versions is damaged."),
    ]
    package static let examples = [
        RPCExample(
            "the active rules",
            params: "{}",
            result: #"""
                {
                    "rules": "service cloud.firestore {\n  match /databases/{database}/documents {\n    match /books/{id} { allow read; }\n  }\n}\n",
                    "version": "fbbd261fd0306369",
                    "source": "database",
                    "activeSince": "2024-02-29T12:00:00.000000Z",
                    "versions": [],
                    "denials": []
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> String? {
        try arguments[version]
    }

    package static func call(_ params: String?, in context: ServiceContext) async throws(StatusError) -> Result {
        try context.caller.requireAccessToDatabase()
        let rules = context.rules
        let (active, history) = (rules.active, try await rules.history())
        var text = active?.text
        if let params, UTF8Key(params) != active?.version {
            guard let version = history.versions.first(where: { $0.version == UTF8Key(params) }) else {
                throw .unknownRulesVersion(params)
            }
            text = version.text
        }
        return Result(active: active, text: text, problem: rules.problem, history: history, denials: rules.denials)
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        if let text = result.text { writer.member(RulesKeys.rules, text) }
        if let active = result.active {
            writer.member(RulesKeys.version, active.version.string)
            writer.member(RulesKeys.source, active.source.rawValue)
            writer.member(RulesKeys.activeSince, active.activationTime.rfc3339)
        }
        if let problem = result.problem { writer.member(RulesKeys.problem, problem.message) }
        writer.array(RulesKeys.versions, of: result.history.versions) { version, writer in
            writer.beginObject()
            writer.member(RulesKeys.version, version.version.string)
            writer.member(RulesKeys.replaceTime, version.replaceTime.rfc3339)
            writer.endObject()
        }
        writer.array(RulesKeys.denials, of: result.denials.mostFrequentFirst) { denial, writer in
            writer.beginObject()
            writer.member(RulesKeys.method, denial.reason.method.rawValue)
            if let line = denial.reason.line { writer.member(RulesKeys.line, line) }
            writer.member(RulesKeys.count, denial.count)
            writer.endObject()
        }
        writer.endObject()
    }
}

extension StatusError {
    /// The error for a version of the rules that is not kept.
    static func unknownRulesVersion(_ version: String) -> StatusError {
        StatusError(.notFound, "No rules have the version \(Excerpt(version)). rules.get lists the versions that are kept.")
    }
}
