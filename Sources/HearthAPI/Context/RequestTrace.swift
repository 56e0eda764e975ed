package import Concurrency
package import DocumentModel
import DocumentStore
import Synchronization

/// The facts about a request in progress that the access log, the log of slow calls and the audit log name.
///
/// Exists only while one of them is on. The parts of the server that learn a fact add it to ``current``.
package final class RequestTrace: Sendable {
    /// The facts that become known while the request is processed.
    package struct Facts: Sendable {
        /// The address of the client.
        package var clientAddress: String?
        /// The authenticated caller.
        package var caller: Caller?
        /// The database of the last call.
        package var database: DatabaseID?
        /// The methods of the API that were called, the first ones only, and the number of all.
        package fileprivate(set) var methods: [String] = []
        package fileprivate(set) var callCount = 0
        /// The status of the last call that failed.
        package fileprivate(set) var failure: String?
        /// The plan of the query that read most, and what all queries read.
        package fileprivate(set) var plan: [String] = []
        package fileprivate(set) var entriesScanned = 0
        package fileprivate(set) var documentsRead = 0
        fileprivate var planCost = -1
    }

    /// The request that the current task works for.
    @TaskLocal package static var current: RequestTrace?

    /// The ID of the request.
    package let requestID: String
    /// The time since the head of the request was received.
    package let time = Stopwatch()
    private let state = Mutex(Facts())

    /// The number of methods of a batch that are named.
    private static let maximumMethodCount = 8

    package init(requestID: String) {
        self.requestID = requestID
    }

    package var facts: Facts { state.withLock { $0 } }

    /// Adds facts.
    package func update(_ change: (inout Facts) -> Void) {
        state.withLock { change(&$0) }
    }

    /// Records a call of a method.
    ///
    /// - Parameter failure: The name of its status; `nil` if it succeeded.
    func recordCall(of method: String, failure: String?) {
        update { facts in
            facts.callCount += 1
            if facts.methods.count < Self.maximumMethodCount { facts.methods.append(method) }
            if let failure { facts.failure = failure }
        }
    }

    /// Records a query.
    func recordQuery(_ metrics: QueryMetrics) {
        update { facts in
            let cost = metrics.entriesScanned + metrics.documentsRead
            facts.entriesScanned += metrics.entriesScanned
            facts.documentsRead += metrics.documentsRead
            guard cost > facts.planCost else { return }
            facts.planCost = cost
            facts.plan = metrics.plan
        }
    }
}
