import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HTTPTypes
import HearthAPI
import HearthHTTP
import HummingbirdCore
import JSONRPC
import NIOCore
import SecurityRules
import StrictJSON
import UTF8Text

/// `/emulator/v1/projects/PROJECT…`: the calls of Firestore's emulator that test programs make between their tests.
///
/// - `DELETE …/databases/DATABASE/documents` deletes all documents of a database, if the server allows it.
/// - `PUT …:securityRules` replaces the security rules of a project, in emulator mode.
/// - `GET …:ruleCoverage` and `…:ruleCoverage.html` return which expressions of them have had which values.
struct EmulatorRoute: Sendable {
    private let context: ServiceContext
    private let allowsClearing: Bool
    private let deadlines: CallDeadlines

    /// The prefix of the paths before the project.
    private static let prefix = "/emulator/v1/projects/"

    init(_ context: ServiceContext, allowsClearing: Bool) {
        self.context = context
        self.allowsClearing = allowsClearing || context.rulesRegistry.isEmulator
        deadlines = CallDeadlines(timeout: context.server.limits.callTimeout)
    }

    func respond(to request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        do {
            switch (request.method, Self.projectCall(at: request.uri.path)) {
            case (.delete, _): return try await clearDatabase(request, in: requestContext)
            case (.put, (let project, "securityRules")?): return try await setRules(of: project, request, in: requestContext)
            case (.get, (let project, "ruleCoverage")?), (.head, (let project, "ruleCoverage")?):
                let (ruleset, coverage) = try coverage(of: project, in: requestContext)
                return Response(json: coverage.emulatorJSON(of: ruleset))
            case (.get, (let project, "ruleCoverage.html")?), (.head, (let project, "ruleCoverage.html")?):
                let (ruleset, coverage) = try coverage(of: project, in: requestContext)
                return Response(
                    status: .ok,
                    headers: [
                        .contentType: "text/html; charset=utf-8", .cacheControl: "no-store",
                        .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
                    ],
                    body: ResponseBody(byteBuffer: ByteBuffer(bytes: coverage.html(of: ruleset)))
                )
            case (_, nil):
                throw HTTPFailure(
                    .methodNotAllowed,
                    .unimplemented,
                    "Method not allowed. This path supports DELETE.",
                    headers: [.allow: "DELETE, OPTIONS"]
                )
            default:
                throw StatusError(.notFound, "No such call of the emulator at this path.")
            }
        } catch let error as StatusError where error.code != .internal {
            throw HTTPFailure(firestore: error)
        }
    }

    /// Returns the project and the verb of a path such as `/emulator/v1/projects/demo:securityRules`.
    private static func projectCall(at path: String) -> (project: UTF8Key, verb: String)? {
        guard path.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = path.utf8.dropFirst(prefix.utf8.count)
        guard !rest.contains(UInt8(ascii: "/")), let colon = rest.lastIndex(of: UInt8(ascii: ":")),
            let bytes = PercentEncoding.decode(rest[..<colon]), let project = UTF8Key(validating: bytes)
        else { return nil }
        return (project, String(Substring(rest[rest.index(after: colon)...])))
    }

    private func clearDatabase(_ request: Request, in requestContext: HearthRequestContext) async throws -> Response {
        guard allowsClearing else {
            throw HTTPFailure(
                .forbidden,
                .permissionDenied,
                "Deleting all documents is disabled. Start the server with --allow-clearing to enable it."
            )
        }
        let context = context.withCaller(requestContext.caller)
        let call = try ClearDatabaseCall(path: request.uri.path.utf8)
        _ = try await deadlines.run(on: requestContext.executor) {
            let context = try await context.inDatabase(call.database.id)
            return try await context.audited(.clearDatabase) { () async throws(StatusError) in try await call.run(in: context) }
        }
        return Response(json: Array("{}".utf8))
    }

    /// Replaces the rules of a project's databases. With `ignore_errors`, rules that do not compile are answered with their issues;
    /// in either case the earlier rules remain.
    private func setRules(
        of project: UTF8Key,
        _ request: Request,
        in requestContext: HearthRequestContext
    ) async throws -> Response {
        try context.withCaller(requestContext.caller).authorize(.admin)
        // Test programs send JSON without its media type.
        let body = try await request.bytes(atMost: 2 * RulesLimits.sourceBytes + (64 << 10))
        let (text, ignoresErrors) = try Self.rules(in: body)
        do throws(StatusError) {
            let rules = try context.rulesRegistry.replaceRules(ofProject: DatabaseID(project: project).project, with: text)
            await context.withCaller(requestContext.caller).audit(.setRules, on: project.string)
            return Response(json: RulesIssue.emulatorJSON(rules.ruleset.warnings))
        } catch {
            guard ignoresErrors, let rulesError = error.cause as? RulesError else { throw error }
            return Response(json: RulesIssue.emulatorJSON(rulesError.issues))
        }
    }

    /// Returns the text of the rules in a request, `{"rules": {"files": [{"content": …}]}}`.
    private static func rules(in body: [UInt8]) throws(StatusError) -> (text: String, ignoresErrors: Bool) {
        let root: JSONNode
        do throws(JSONSyntaxError) {
            root = try JSONText(body).root
        } catch {
            throw StatusError(.invalidArgument, "Invalid JSON payload received. \(error)")
        }
        let files = (root["rules"]?["files"]?.elements).map { Array($0) } ?? []
        guard files.count == 1, let text = files[0]["content"]?.string else {
            throw StatusError(.invalidArgument, "Expected one file with the rules in rules.files[0].content.")
        }
        return (text, (root["ignore_errors"] ?? root["ignoreErrors"])?.boolean == true)
    }

    private func coverage(
        of project: UTF8Key,
        in requestContext: HearthRequestContext
    ) throws(StatusError) -> (Ruleset, RulesCoverage) {
        try context.withCaller(requestContext.caller).authorize(.admin)
        guard let rules = context.rulesRegistry.coverage(ofProject: project) else {
            throw StatusError(
                .notFound,
                "The project \(Excerpt(project.string)) has no rules, or the server is not in emulator mode."
            )
        }
        return rules
    }
}
