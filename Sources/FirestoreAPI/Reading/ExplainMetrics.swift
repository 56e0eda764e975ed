import DocumentModel
import DocumentStore
import HearthAPI
package import UTF8Text

/// The plan and cost of a query that `explain_options` request, beside its result or instead of it.
package enum ExplainMode: Sendable {
    /// The plan instead of the result. The query is run: only then is its plan known.
    case plan
    /// The plan and the cost of the query, after its result.
    case analyze
}

/// The `ExplainMetrics` of a query.
package struct ExplainMetrics: Sendable {
    /// The steps of the plan, in human-readable form.
    package let plan: [String]
    /// The cost; `nil` if only the plan was requested.
    package let statistics: Statistics?

    /// The cost of a query.
    package struct Statistics: Sendable {
        package let resultCount: Int
        package let duration: Duration
        package let documentsRead: Int
        package let entriesScanned: Int

        /// The `debug_stats`, whose values are strings as in Firestore's.
        package var debugStatistics: [(name: UTF8Key, value: String)] {
            [("documents_scanned", String(documentsRead)), ("index_entries_scanned", String(entriesScanned))]
        }
    }

    init(_ metrics: QueryMetrics, _ mode: ExplainMode, resultCount: Int, since start: ContinuousClock.Instant) {
        plan = metrics.plan
        statistics =
            mode == .plan
            ? nil
            : Statistics(
                resultCount: resultCount,
                duration: .now - start,
                documentsRead: metrics.documentsRead,
                entriesScanned: metrics.entriesScanned
            )
    }
}

extension ExplainMode? {
    /// Requires that the caller may see plans, if one is requested.
    func authorize(in context: ServiceContext) throws(StatusError) {
        if self != nil { try context.authorize(ExplainQuery.requiredPermission) }
    }
}
