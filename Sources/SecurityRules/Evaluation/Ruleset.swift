package import DocumentModel
package import UTF8Text

/// Compiled rules, which decide requests.
///
/// ```swift
/// let ruleset = try Ruleset(text)
/// var session = RulesSession()
/// let decision = try await ruleset.decide(request, in: &session) { access in
///     try await snapshot.document(at: access.path)?.fields
/// }
/// guard decision.isAllowed else { throw StatusError(.permissionDenied, "Missing or insufficient permissions.") }
/// ```
package struct Ruleset: Sendable {
    /// The warnings of the compiler, in the order of the text.
    package let warnings: [RulesIssue]
    let program: Program

    /// The top-level fields that decisions about ``RulesRequest/Operation/get(_:stored:)`` use, in ascending order: its document may
    /// lack all others. `nil` for all fields.
    package var fieldsForGet: [UTF8Key]? { program.fieldsForGet }

    /// Compiles a rules file.
    ///
    /// - Throws: ``RulesError`` with all errors and warnings.
    package init(_ text: String) throws(RulesError) {
        let (program, issues) = Compiler.compile(text)
        guard let program else { throw RulesError(issues: issues) }
        self.program = program
        warnings = issues
    }

    /// An outcome of ``evaluate(_:in:)``.
    package enum Outcome: Sendable {
        /// The decision.
        case decided(RulesDecision)
        /// A document that must be added to the session before the next evaluation.
        case needs(DocumentAccess)
    }

    /// Decides a request, or tells which document has to be read first.
    ///
    /// Does no I/O and is bounded in time and memory. After ``Outcome/needs(_:)`` call it again with the same request. The session
    /// changes only with a decision, except that the work of every evaluation counts.
    package func evaluate(_ request: RulesRequest, in session: inout RulesSession) -> Outcome {
        var evaluation = RulesEvaluation(program, session)
        let alternatives = EvaluationInputs.all(of: request, documents: session.documents, environment: session.environment)
        do throws(EvaluationError) {
            // Every disjunct of a query has to be allowed. A query with too many of them is not.
            for inputs in alternatives ?? [] {
                guard try evaluation.isGranted(request.operation.method, inputs) else { break }
            }
        } catch {
            if case .missingDocument(let access) = error.reason {
                session.chargeWork(of: evaluation)
                return .needs(access)
            }
        }
        let decision = evaluation.decision(request.operation.method, isAllowed: evaluation.grants.count == alternatives?.count)
        session.finish(evaluation)
        return .decided(decision)
    }

    /// Decides a request, and reads the documents that its rules need.
    ///
    /// - Parameter read: Returns the fields of a document, or `nil` if it does not exist. It is called at most once for each
    ///   access of the session.
    package func decide<Failure: Error>(
        _ request: RulesRequest,
        in session: inout RulesSession,
        isolation: isolated (any Actor)? = #isolation,
        read: (DocumentAccess) async throws(Failure) -> MapValue?
    ) async throws(Failure) -> RulesDecision {
        while true {
            switch evaluate(request, in: &session) {
            case .decided(let decision): return decision
            case .needs(let access): session.add(try await read(access), for: access)
            }
        }
    }

    /// Decides a request, and reads the documents that its rules need, without suspending.
    ///
    /// - Parameter read: Returns the fields of a document, or `nil` if it does not exist.
    package func decide<Failure: Error>(
        _ request: RulesRequest,
        in session: inout RulesSession,
        reading read: (DocumentAccess) throws(Failure) -> MapValue?
    ) throws(Failure) -> RulesDecision {
        while true {
            switch evaluate(request, in: &session) {
            case .decided(let decision): return decision
            case .needs(let access): session.add(try read(access), for: access)
            }
        }
    }
}
