package import DocumentModel

/// The answers to the last identified commits of one client, and the decision on the next one.
///
/// A client has few commits without an answer, and says up to which number it has all answers; those are not kept.
package struct ClientReceipts: Sendable {
    /// The answer to a commit.
    package struct Answer: Sendable {
        /// The number of the commit.
        package let number: UInt64
        /// The fingerprint of its writes.
        package let fingerprint: UInt64
        /// The result, or the error with which it was refused for good.
        package private(set) var outcome: Result<CommitResult, StatusError>
        /// The approximate memory of the results of its writes, or of its error. Kept, since it takes their encoding.
        fileprivate private(set) var byteCount: Int

        fileprivate init(_ number: UInt64, fingerprint: UInt64, _ outcome: Result<CommitResult, StatusError>) {
            self.number = number
            self.fingerprint = fingerprint
            self.outcome = outcome
            byteCount =
                switch outcome {
                case .success(let result): CommitReceipt.byteCount(of: result.writeResults)
                case .failure(let error): 128 + error.message.utf8.count + (error.path?.utf8.count ?? 0)
                }
        }

        fileprivate mutating func dropResults() {
            guard case .success(let result) = outcome else { return }
            outcome = .success(result.withoutWriteResults)
            byteCount = 0
        }
    }

    /// The highest number that has been decided; 0 if none has.
    package private(set) var last: UInt64
    /// The highest number that was committed; 0 if none was.
    package private(set) var lastCommitted: UInt64
    /// The time of the last decision.
    package private(set) var lastUse: Timestamp
    /// The answers that the client may ask for, in order.
    package private(set) var answers: [Answer] = []

    /// The maximum number of answers.
    package static let maximumAnswerCount = 16

    /// The approximate memory of the receipts.
    package var byteCount: Int { answers.reduce(128) { $0 + 128 + $1.byteCount } }

    /// The decision on a commit.
    package enum Decision: Sendable {
        /// It is the next one: evaluate it.
        case evaluate
        /// It has been decided, or cannot be.
        case answer(Result<CommitResult, StatusError>)
    }

    /// The decision on a commit of the client; that on the first one if nothing is known of the client.
    package func decision(on identity: CommitIdentity) -> Decision {
        if last == 0, identity.after > 0 {
            return .answer(
                .failure(
                    StatusError(
                        .outOfRange,
                        "No commit of this client is known any more. Nothing was written. Read the documents before the commit is made "
                            + "again with a new client ID, unless it was never sent before.",
                        identityMismatch: .forgotten(expected: nil)
                    )
                )
            )
        }
        guard identity.number <= last else {
            let expected = max(last, identity.after) + 1
            return identity.number == expected ? .evaluate : .answer(.failure(Self.gap(expected: expected)))
        }
        guard let answer = answers.first(where: { $0.number == identity.number }) else {
            return .answer(
                .failure(
                    StatusError(
                        .outOfRange,
                        "The answer to commit \(identity.number) of this client is not known any more. Nothing was written now. Read the "
                            + "documents to see whether it was applied.",
                        identityMismatch: .forgotten(expected: max(last, identity.after) + 1)
                    )
                )
            )
        }
        guard answer.fingerprint == identity.fingerprint else {
            return .answer(
                .failure(
                    StatusError(
                        .invalidArgument,
                        "Commit \(identity.number) of this client had other writes. Nothing was written. Give each commit a number of its "
                            + "own.",
                        identityMismatch: .reused
                    )
                )
            )
        }
        return .answer(answer.outcome.map(\.replayed))
    }

    private static func gap(expected: UInt64) -> StatusError {
        StatusError(
            .failedPrecondition,
            "The next commit of this client is number \(expected): one before this commit has not arrived. Nothing was written. Send "
                + "the commits from that number on.",
            identityMismatch: .gap(expected: expected)
        )
    }
}

extension ClientReceipts {
    /// Creates the answers of a client without commits.
    package init() {
        self.init(last: 0, lastCommitted: 0, lastUse: .minimum)
    }

    /// Creates the answers of a client without any answers.
    ///
    /// - Parameters:
    ///   - last: The highest number that was decided.
    ///   - lastCommitted: The highest number that was committed.
    package init(last: UInt64, lastCommitted: UInt64, lastUse: Timestamp) {
        self.last = last
        self.lastCommitted = lastCommitted
        self.lastUse = lastUse
    }

    /// Records a commit with a receipt: a new one, or in order one that is read from the log. One without has no effect.
    package mutating func record(_ commit: Commit) {
        guard let receipt = commit.receipt else { return }
        let result = CommitResult(
            sequence: commit.changes.isEmpty ? nil : commit.sequence,
            commitTime: commit.time,
            writeResults: receipt.writeResults ?? [],
            hasDroppedResults: receipt.writeResults == nil
        )
        lastCommitted = max(lastCommitted, receipt.identity.number)
        record(receipt.identity, .success(result), at: commit.time)
    }

    /// Records that a commit was refused for good, so that a copy of it that arrives later is refused, too.
    package mutating func record(_ identity: CommitIdentity, refusedWith error: StatusError, at time: Timestamp) {
        record(identity, .failure(error), at: time)
    }

    private mutating func record(
        _ identity: CommitIdentity,
        _ outcome: Result<CommitResult, StatusError>,
        at time: Timestamp
    ) {
        last = max(last, identity.number)
        lastUse = max(lastUse, time)
        answers.removeAll { $0.number <= identity.after || $0.number == identity.number }
        answers.append(Answer(identity.number, fingerprint: identity.fingerprint, outcome))
        if answers.count > Self.maximumAnswerCount { answers.removeFirst() }
        // The oldest results are dropped first.
        var rest = CommitReceipt.maximumResultBytes
        for index in answers.indices.reversed() {
            rest -= answers[index].byteCount
            if rest < 0 { answers[index].dropResults() }
        }
    }

    /// Adds an answer that was stored.
    package mutating func restore(number: UInt64, fingerprint: UInt64, _ outcome: Result<CommitResult, StatusError>) {
        answers.append(Answer(number, fingerprint: fingerprint, outcome))
    }
}

extension StatusError {
    /// The error as that of a commit with an identity that was evaluated: it was not made.
    package var decided: StatusError {
        var error = self
        error.isDecided = true
        return error
    }

    /// True if an identified commit that failed with this error is refused for good: the same commit is not evaluated again.
    ///
    /// Other errors may pass, and their commits may be sent again under the same number.
    package var isFinalRefusal: Bool {
        switch code {
        case .invalidArgument, .notFound, .alreadyExists, .failedPrecondition, .aborted, .outOfRange, .unimplemented: true
        // A caller without the right to write has nothing recorded.
        case .permissionDenied, .unauthenticated: false
        case .cancelled, .unknown, .deadlineExceeded, .resourceExhausted, .internal, .unavailable, .dataLoss: false
        }
    }
}

extension StatusError {
    /// Creates the error for a commit that is refused for its identity.
    fileprivate init(_ code: StatusCode, _ message: String, identityMismatch: CommitIdentityMismatch) {
        self.init(code, message)
        self.identityMismatch = identityMismatch
    }
}
