package import DocumentModel
import HearthWire
package import JSONRPC
import SecurityRules
package import StrictJSON
package import UTF8Text

/// `rules.set`: replaces the security rules of a database.
package enum SetRules: RPCMethod {
    /// The new rules.
    package enum Params: Sendable {
        /// The text of the rules.
        case text(String, RulesPrecondition = .none)
        /// An earlier version.
        case version(String, RulesPrecondition = .none)
    }

    private static let rules = Parameter<String?>(RulesKeys.rules, "The text of the rules.")
    private static let version = Parameter<String?>(RulesKeys.version, "An earlier version to go back to, instead of a text.")

    package static let name: UTF8Key = "rules.set"
    package static let summary =
        "Replaces the security rules of the database. They decide every next request and every open stream when the call returns."
    package static let requiredPermission = Permission.admin
    package static let parameters: [any ParameterDescription] = [rules, version]
    package static let result = ResultDescription(
        "result",
        .object([
            .init(RulesKeys.version, .string(), "The version of the rules."),
            .init(RulesKeys.warnings, .array(of: .string()), "The warnings of the compiler, with line and column."),
        ]),
        "The result."
    )
    package static let errors = [
        ErrorDescription(
            status: .invalidArgument,
            "The rules do not compile; the message has all errors with line and column. The earlier rules remain."
        ),
        ErrorDescription(status: .notFound, "No rules have the version."),
        ErrorDescription(status: .failedPrecondition, "The server does not store rules of the database."),
        ErrorDescription(status: .dataLoss, "The file of the earlier versions is damaged."),
        ErrorDescription(status: .resourceExhausted, "The disk is full, or there are too many databases."),
    ]
    package static let examples = [
        RPCExample(
            "everybody may read the books",
            params: #"""
                {
                    "rules": "service cloud.firestore {\n  match /databases/{database}/documents {\n    match /books/{id} { allow read; }\n  }\n}\n"
                }
                """#,
            result: #"{"version": "fbbd261fd0306369", "warnings": []}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        switch (try arguments[rules], try arguments[version]) {
        case (let text?, nil): return .text(text)
        case (nil, let version?): return .version(version)
        default:
            throw RPCError.invalidParams(
                at: "\(arguments.location(of: rules))",
                reason: "expected exactly one of rules and version"
            )
        }
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> ActiveRules {
        try context.requirePrimary()
        return try await context.audited(.setRules) { () async throws(StatusError) in try await set(params, in: context) }
    }

    private static func set(_ params: Params, in context: ServiceContext) async throws(StatusError) -> ActiveRules {
        try context.caller.requireAccessToDatabase()
        let text: String
        let required: RulesPrecondition
        switch params {
        case .text(let new, let precondition):
            required = precondition
            text = try ActiveRules.text(of: Array(new.utf8))
        case .version(let version, let precondition):
            required = precondition
            let history = try await context.rules.history()
            guard let earlier = history.versions.first(where: { $0.version == UTF8Key(version) }) else {
                throw .unknownRulesVersion(version)
            }
            text = earlier.text
        }
        try await context.createDatabaseIfNeeded()
        return try await context.rules.set(text, requiring: required)
    }

    package static func write(_ result: ActiveRules, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(RulesKeys.version, result.version.string)
        writer.array(RulesKeys.warnings, of: result.ruleset.warnings) { warning, writer in writer.string("\(warning)") }
        writer.endObject()
    }
}
