import DocumentModel
import Synchronization

@testable import PostgresStore

/// A connection to the first of some servers, which are in this process, with faults.
final class LoopbackForwarding: CommitForwarding {
    /// A fault of the connection.
    enum Fault: Sendable {
        /// The batch does not arrive.
        case loseBatch
        /// The batch arrives, and its answer does not.
        case loseAnswer
        /// The answer is something else.
        case garbleAnswer
        /// The batch arrives twice, one after the other.
        case repeatBatch
        /// The batch arrives only after the sender has given it up.
        case delayBatch
        /// No connection can be made.
        case refuseConnection
        /// The batch arrives only after another server has answered that it makes none of its commits.
        case answerNotMade
        /// The answer arrives when ``release()`` is called.
        case holdAnswer
    }

    struct Failure: Error {}

    private let host = Mutex<PostgresHost?>(nil)
    private let faults = Mutex<[Fault]>([])
    private let delayed = Mutex<[[UInt8]]>([])
    private let last = Mutex<[UInt8]?>(nil)
    private let held = AsyncStream<Void>.makeStream()
    /// True while an answer is held.
    let isHolding = Atomic(false)
    /// The number of batches that have arrived.
    let batchCount = Atomic(0)

    /// Sets the server that has the leases.
    func connect(to host: PostgresHost) { self.host.withLock { $0 = host } }

    /// Lets the next batches fail, one for each fault.
    func prepare(_ faults: [Fault]) { self.faults.withLock { $0 += faults } }

    func forward(_ batch: [UInt8], to address: String, within limit: Duration) async throws -> [UInt8] {
        let fault = faults.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        last.withLock { $0 = batch }
        if fault == .loseBatch { throw Failure() }
        if fault == .refuseConnection { throw PeerNotReached() }
        if fault == .delayBatch || fault == .answerNotMade {
            delayed.withLock { $0.append(batch) }
            guard fault == .answerNotMade else { throw Failure() }
            return ForwardedAnswer.overload
        }
        let answer = try await deliver(batch)
        switch fault {
        case .loseAnswer: throw Failure()
        case .garbleAnswer: return Array(answer.dropLast())
        case .repeatBatch: return try await deliver(batch)
        case .holdAnswer:
            isHolding.store(true, ordering: .relaxed)
            for await _ in held.stream { break }
            return answer
        case .loseBatch, .delayBatch, .refuseConnection, .answerNotMade, nil: return answer
        }
    }

    /// Lets an answer that is held arrive.
    func release() { held.continuation.yield() }

    /// Delivers the last batch again, and returns the answer.
    func deliverAgain() async throws -> [UInt8] {
        guard let batch = last.withLock({ $0 }) else { throw Failure() }
        return try await deliver(batch)
    }

    /// Delivers the batches that were delayed.
    func deliverDelayed() async throws -> Int {
        let batches = delayed.withLock { delayed in
            defer { delayed = [] }
            return delayed
        }
        for batch in batches { _ = try await deliver(batch) }
        return batches.count
    }

    private func deliver(_ batch: [UInt8]) async throws -> [UInt8] {
        guard let host = host.withLock({ $0 }) else { throw Failure() }
        batchCount.add(1, ordering: .relaxed)
        return try await host.commit(forwarded: batch).get()
    }
}
