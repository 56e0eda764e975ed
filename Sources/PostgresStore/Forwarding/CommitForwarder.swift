internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// Forwards commits to the server that has the lease of their database.
///
/// It may fail at any point. The outcome of commits without an answer is determined under the lock of the database, where the next term
/// is begun, so that the other server does not make them afterward. This server then makes those that were not made.
struct CommitForwarder: Sendable {
    private let database: Int64
    private let engine: Engine

    init(_ database: Int64, _ engine: Engine) {
        self.database = database
        self.engine = engine
    }

    /// The server that has the lease; `nil` if it is this one, or commits cannot be forwarded to it.
    var holder: LeaseKeeper.Holder? { engine.peers.forwarding == nil ? nil : engine.leases.holder(of: database) }

    /// The outcome of a batch.
    struct Outcome: Sendable {
        let batch: ForwardedBatch
        /// The results of the commits; `nil` for those that this server has to make.
        var results: [Result<CommitResult, StatusError>?]
        /// The reason not to forward to the other server for a while; `nil` if it makes commits.
        var failure: Failure?
    }

    /// The reason not to forward to a server for a while.
    enum Failure: Sendable {
        /// It gave no answer.
        case noAnswer
        /// It has lost the lease, or does not know its term yet.
        case otherLease
    }

    /// Forwards commits.
    ///
    /// - Parameters:
    ///   - requests: The commits, of which ``ForwardedBatch/canForward(_:)`` is true, with their JSON.
    ///   - known: The last commit that this server knows.
    func forward(
        _ requests: [(request: CommitRequest, json: [UInt8])],
        to holder: LeaseKeeper.Holder,
        knowing known: StorePosition
    ) async -> Outcome {
        let batch = ForwardedBatch(
            requests.map(\.request),
            database,
            term: holder.term,
            after: LogAnchor(known),
            at: engine.leases.engineTime ?? 0
        )
        var outcome = Outcome(batch: batch, results: Array(repeating: nil, count: requests.count))
        var unknown: [Int] = []
        do {
            for (index, outcomeOfCommit) in try await send(batch, requests.map(\.json), to: holder).outcomes.enumerated() {
                switch outcomeOfCommit {
                case .decided(let result): outcome.results[index] = result
                case .notMade: break
                case .otherLease: outcome.failure = .otherLease
                case .unknown: unknown.append(index)
                }
            }
            engine.log.forwardedCount.add(outcome.results.count { $0 != nil }, ordering: .relaxed)
        } catch {
            engine.log.didFailToForward(to: holder.address)
            outcome.failure = .noAnswer
            // A server that has received nothing makes nothing. The next term would keep others from forwarding.
            if !(error is PeerNotReached) { unknown = Array(batch.requests.indices) }
        }
        if !unknown.isEmpty { await resolveOutcomes(of: unknown, in: &outcome) }
        return outcome
    }

    /// The error of an answer that is none to the batch.
    private struct InvalidAnswer: Error {}

    private func send(
        _ batch: ForwardedBatch,
        _ commits: [[UInt8]],
        to holder: LeaseKeeper.Holder
    ) async throws -> ForwardedAnswer {
        guard let forwarding = engine.peers.forwarding else { throw PeerNotReached() }
        let limit = engine.configuration.forwardTimeout
        let bytes = try await forwarding.forward(batch.encoded(commits), to: holder.address, within: limit)
        guard let answer = ForwardedAnswer(bytes, count: commits.count) else { throw InvalidAnswer() }
        return answer
    }

    /// Determines which of some commits were made, and keeps the others from being made by the other server.
    private func resolveOutcomes(of indices: [Int], in outcome: inout Outcome) async {
        let batch = outcome.batch
        let deadline = ContinuousClock.now + engine.configuration.timeout
        do throws(StatusError) {
            let made = try await engine.resolve(by: deadline) { connection throws(StatusError) in
                try batch.resolveOutcomes(of: indices, connection)
            }
            for (index, _) in made { outcome.results[index] = .failure(Engine.unknownOutcome(cause: nil)) }
            let results = try? await engine.resolve(by: deadline) { connection throws(StatusError) in
                try batch.results(of: made, by: deadline, connection)
            }
            for (index, result) in results ?? [] { outcome.results[index] = .success(result) }
        } catch {
            for index in indices { outcome.results[index] = .failure(error) }
        }
    }
}

extension ForwardedBatch {
    /// A commit that was made.
    struct MadeCommit: Sendable {
        let sequence: SequenceNumber
        let time: Timestamp
    }

    /// Returns those of some commits that were made, and ends the term of the batch, so that the others are not. Waits until the
    /// transaction that may make them has ended.
    fileprivate func resolveOutcomes(
        of indices: [Int],
        _ connection: EngineConnection
    ) throws(StatusError) -> [(index: Int, MadeCommit)] {
        let indexes = Dictionary(uniqueKeysWithValues: indices.map { (token(of: $0), $0) })
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            EngineStatement("SELECT db FROM hearth.databases WHERE db = $1::bigint FOR UPDATE", .integer(database)),
            EngineStatement(
                "SELECT seq, time, token FROM hearth.commits WHERE db = $1::bigint AND seq > $2::bigint AND token = ANY($3::bytea[])",
                .integer(database),
                .integer(Int64(anchor?.sequence.rawValue ?? 0)),
                .byteStrings(Array(indexes.keys))
            ),
            EngineStatement(
                "UPDATE hearth.leases SET term = term + 1 WHERE db = $1::bigint AND term = $2::bigint",
                .integer(database),
                .integer(term)
            ),
            EngineStatement("COMMIT"),
        ])[2]
        var made: [(Int, MadeCommit)] = []
        for row in 0..<rows.count {
            guard let number = rows.integer(row, 0), let time = rows.time(row, 1),
                let index = rows.bytes(row, 2).flatMap({ indexes[$0] })
            else { throw .damagedRow("a commit has no number, time or token") }
            made.append((index, MadeCommit(sequence: SequenceNumber(UInt64(number)), time: time)))
        }
        return made
    }

    /// Returns the results of commits that were made, as far as they can be determined before a deadline.
    fileprivate func results(
        of made: [(index: Int, MadeCommit)],
        by deadline: ContinuousClock.Instant,
        _ connection: EngineConnection
    ) throws(StatusError) -> [(index: Int, CommitResult)] {
        var results: [(Int, CommitResult)] = []
        for (index, commit) in made where ContinuousClock.now < deadline {
            do throws(StatusError) {
                results.append((index, try result(of: index, commit, connection)))
            } catch {
                guard error.engineError == nil else { throw error }
            }
        }
        return results
    }

    /// Returns the result of a commit that was made, by evaluating it again on the documents before it.
    fileprivate func result(
        of index: Int,
        _ made: MadeCommit,
        _ connection: EngineConnection
    ) throws(StatusError) -> CommitResult {
        let page = try LogPage(connection, database, from: made.sequence, through: made.sequence)
        guard let commit = page.commits.first, commit.time == made.time else { throw HistoryLoss.abortedTransaction }
        let before = Dictionary(uniqueKeysWithValues: commit.changes.map { ($0.path, $0.before) })
        // Documents that the commit has not changed are those of its time.
        let view = try EngineSnapshot(connection, database, at: made.time)
        defer { connection.rollBack() }
        var batch = CommitBatch(
            after: (SequenceNumber(made.sequence.rawValue - 1), nil),
            maximumCommitBytes: .max,
            now: { made.time }
        )
        let read: CommitBatch.Reader = { path throws(StatusError) in
            if let document = before[path] { return document }
            return try view.document(at: path)
        }
        batch.add(
            CommitRequest(writes: requests[index].writes, reads: ReadSet(), author: nil, identity: nil),
            lastChange: { _ in .zero },
            earlierReceipts: CommitReceipts(),
            read: read
        )
        return try batch.outcomes[0].get()
    }
}
