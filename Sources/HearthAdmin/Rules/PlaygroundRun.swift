import DocumentModel
import HearthAPI
import SecurityRules
import Synchronization

/// The decision about a hypothetical request on the documents that are stored now. Nothing is written.
struct PlaygroundRun: Sendable {
    /// A document that rules have read.
    struct Access: Sendable {
        let access: DocumentAccess
        let exists: Bool
    }

    let decision: RulesDecision
    /// The documents that rules have read, beside that of the request.
    let accesses: [Access]
    /// The values of all expressions that were evaluated, an expression before its parts, with their depths.
    let values: [(report: RulesCoverage.Report, depth: Int)]
    /// The values that rules passed to `debug`.
    let debugOutput: [String]

    private static let maximumDebugCount = 100

    /// Decides a request.
    ///
    /// - Throws: `alreadyExists` for the creation of a document that exists; `notFound` for the update of one that doesn't; the
    ///   errors of the store.
    init(
        _ request: PlaygroundRequest,
        by ruleset: Ruleset,
        at time: Timestamp,
        in context: ServiceContext
    ) async throws(StatusError) {
        var environment = RulesEnvironment.standard
        let collector = DebugCollector(limit: Self.maximumDebugCount)
        environment.debug = { collector.append($0) }
        var session = RulesSession(environment: environment, collectsCoverage: true)
        let (operation, after) = try await Self.operation(request.operation, in: context)
        let rulesRequest = RulesRequest(
            database: context.databaseName.database,
            authentication: request.authentication,
            time: time.roundedDownToMilliseconds,
            operation: operation
        )
        var documents: [DocumentAccess: MapValue?] = [:]
        decision = try await ruleset.decide(
            rulesRequest,
            in: &session,
            read: { (access: DocumentAccess) async throws(StatusError) -> MapValue? in
                var fields: MapValue?
                if access.isAfterCommit, let after, after.path == access.path {
                    fields = after.fields
                } else {
                    fields = try await context.fieldsOfDocument(at: access.path)
                }
                documents.updateValue(fields, forKey: access)
                return fields
            }
        )
        accesses = decision.accesses.map { access in
            Access(access: access, exists: documents[access].flatMap(\.self) != nil)
        }
        var values: [(report: RulesCoverage.Report, depth: Int)] = []
        func append(_ reports: [RulesCoverage.Report], depth: Int) {
            for report in reports {
                if report.count > 0 { values.append((report, depth)) }
                append(report.children, depth: depth + 1)
            }
        }
        append(session.coverage?.reports(of: ruleset) ?? [], depth: 0)
        self.values = values
        debugOutput = collector.texts
    }

    /// The written document, as it would be after the request; `fields` is `nil` if it would not exist.
    private typealias After = (path: DocumentPath, fields: MapValue?)

    /// Returns the operation with the stored document, and the document as it would be after a write.
    private static func operation(
        _ operation: PlaygroundRequest.Operation,
        in context: ServiceContext
    ) async throws(StatusError) -> (RulesRequest.Operation, After?) {
        switch operation {
        case .list(let query): return (.list(query), nil)
        case .get(let path): return (.get(path, stored: try await context.fieldsOfDocument(at: path)), nil)
        case .delete(let path):
            return (.delete(path, stored: try await context.fieldsOfDocument(at: path)), (path, nil))
        case .create(let path, let fields):
            guard try await context.fieldsOfDocument(at: path) == nil else {
                throw StatusError(.alreadyExists, "A document exists at the path.")
            }
            return (.create(path, written: fields), (path, fields))
        case .update(let path, let fields, let keepsFields):
            guard let stored = try await context.fieldsOfDocument(at: path) else {
                throw StatusError(.notFound, "No document exists at the path.")
            }
            var written = keepsFields ? stored : MapValue()
            for (key, value) in fields { written[key] = value }
            return (.update(path, stored: stored, written: written), (path, written))
        }
    }
}

/// The texts that rules pass to `debug`, up to a limit.
private final class DebugCollector: Sendable {
    private let limit: Int
    private let state = Mutex<[String]>([])

    init(limit: Int) {
        self.limit = limit
    }

    var texts: [String] { state.withLock(\.self) }

    func append(_ text: String) {
        state.withLock { texts in if texts.count < limit { texts.append(text) } }
    }
}

extension ServiceContext {
    /// Reads the fields of a document; `nil` if it does not exist.
    fileprivate func fieldsOfDocument(at path: DocumentPath) async throws(StatusError) -> MapValue? {
        do throws(StatusError) {
            return try await GetDocument.document(.init(path: path), in: self).decoded().fields
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
