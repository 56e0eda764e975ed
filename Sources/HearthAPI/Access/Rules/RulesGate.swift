import DocumentModel
import DocumentStore
import SecurityRules
import UTF8Text

/// The decisions of a database's rules about one end user.
struct RulesGate: Sendable {
    /// The rules of the database.
    let rules: DatabaseRules
    /// The end user; `nil` for nobody signed in.
    let user: EndUser?

    /// Returns the rules that decide now.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` if there are none; ``StatusCode/unauthenticated`` if nobody is signed in, either.
    func activeRules() throws(StatusError) -> ActiveRules {
        if let user, !user.isAccepted(for: rules.database) {
            throw StatusError(.permissionDenied, "ID tokens of this issuer are not accepted for the database.")
        }
        if let rules = rules.active { return rules }
        let advice = "The database has no security rules, so it is closed to end users."
        guard user != nil || rules.explainsDenials else {
            throw StatusError(.unauthenticated, "\(advice) Send the header Authorization: Bearer KEY, with an API key.")
        }
        throw StatusError(.permissionDenied, "\(advice) Set them with hearth rules deploy, or serve with --rules.")
    }

    /// Decides a request that is not a write.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - read: Returns a document that the rules need, of the same snapshot.
    /// - Throws: ``StatusCode/permissionDenied`` if it is not allowed; the errors of `read`.
    @discardableResult
    func requireGrant(
        _ operation: RulesRequest.Operation,
        reading read: (DocumentPath) async throws(StatusError) -> MapValue?
    ) async throws(StatusError) -> RulesDecision {
        try await requireGrant(operation, by: activeRules(), reading: read)
    }

    private func requireGrant(
        _ operation: RulesRequest.Operation,
        by active: ActiveRules,
        reading read: (DocumentPath) async throws(StatusError) -> MapValue?
    ) async throws(StatusError) -> RulesDecision {
        let request = request(operation, at: .current())
        var session = newSession(operationCount: 1)
        while true {
            switch active.ruleset.evaluate(request, in: &session) {
            case .decided(let decision):
                rules.record(decision, of: active, session.coverage)
                guard decision.isAllowed else { throw denial(decision) }
                return decision
            case .needs(let access):
                do throws(StatusError) {
                    session.add(try await read(access.path), for: access)
                } catch {
                    throw error.concealingDamage
                }
            }
        }
    }

    /// Requires that a user may read a document, which may not exist.
    ///
    /// - Parameter read: Returns a document that the rules need, of the same snapshot.
    @discardableResult
    func requireReadAccess(
        to path: DocumentPath,
        _ document: EncodedDocument?,
        reading read: (DocumentPath) async throws(StatusError) -> MapValue?
    ) async throws(StatusError) -> RulesDecision {
        let active = try activeRules()
        // Coverage shows documents whole.
        let names = rules.explainsDenials ? nil : active.ruleset.fieldsForGet
        let fields = try document.map { document throws(StatusError) in
            if let names { try document.fields(named: names) } else { try document.decoded().fields }
        }
        return try await requireGrant(.get(path, stored: fields), by: active, reading: read)
    }

    /// Requires that a user may read all documents that a query could find.
    ///
    /// - Returns: The decision, and the version of the rules.
    @discardableResult
    func requireReadAccess(
        to query: NormalizedQuery,
        reading read: (DocumentPath) async throws(StatusError) -> MapValue?
    ) async throws(StatusError) -> (decision: RulesDecision, version: UTF8Key) {
        let active = try activeRules()
        let operation = RulesRequest.Operation.list(ListQuery(query, orders: query.orders.filter { !$0.isByName }))
        return (try await requireGrant(operation, by: active, reading: read), active.version)
    }

    func request(_ operation: RulesRequest.Operation, at time: Timestamp) -> RulesRequest {
        RulesRequest(
            database: rules.database.database,
            authentication: user?.authentication,
            // The value that server timestamps store.
            time: time.roundedDownToMilliseconds,
            operation: operation
        )
    }

    func newSession(operationCount: Int) -> RulesSession {
        RulesSession(
            operationCount: operationCount,
            environment: .standard,
            collectsCoverage: rules.explainsDenials
        )
    }

    /// Returns the error of a denied request. In emulator mode only, it tells the reason, which depends on the documents.
    func denial(_ decision: RulesDecision) -> StatusError {
        rules.explainsDenials ? StatusError(.permissionDenied, decision.explanation) : .deniedByRules
    }

    /// Reads a document. Whether one is damaged is not for end users to know, and rules cannot decide about it.
    func concealingDamage<Result>(_ read: () async throws(StatusError) -> Result) async throws(StatusError) -> Result {
        do throws(StatusError) {
            return try await read()
        } catch {
            throw error.concealingDamage
        }
    }
}

extension StatusError {
    /// The error of a request that rules deny, in the words of Firestore. It tells nothing of the documents.
    static let deniedByRules = StatusError(.permissionDenied, "Missing or insufficient permissions.")

    /// The error for end users: a denial instead of the location of damage.
    var concealingDamage: StatusError { code == .dataLoss ? .deniedByRules : self }
}
