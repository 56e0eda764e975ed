internal import DocumentModel
internal import DocumentStore
internal import StrictJSON
internal import UTF8Text

/// The answer to a ``ForwardedBatch``.
struct ForwardedAnswer: Sendable {
    /// The outcome of a commit.
    enum Outcome: Sendable {
        /// It was made, or refused for what it is.
        case decided(Result<CommitResult, StatusError>)
        /// It was not made, and is not going to be: its server makes it.
        case notMade
        /// It was not made either, since the server has not the lease of the batch, or does not know it yet.
        case otherLease
        /// It may have been made, or may still be.
        case unknown
    }

    /// The outcomes of the commits, in order.
    let outcomes: [Outcome]

    init(_ outcomes: [Outcome]) {
        self.outcomes = outcomes
    }

    /// The JSON of the answer of a server that has too much to do: none of the commits are made, however many there are.
    static let overload = Array(#"{"outcomes":null}"#.utf8)
}

extension ForwardedAnswer.Outcome {
    /// Creates the outcome of a commit for its server.
    init(_ result: Result<CommitResult, StatusError>) {
        switch result {
        case .success: self = .decided(result)
        case .failure(let error):
            if error.isOutcomeUnknown {
                self = .unknown
            } else if error.cause is ForwardedCommitNotMade {
                self = .otherLease
            } else if error.engineError != nil || error.identityMismatch != nil || Self.isOfServer(error.code) {
                // Trouble of this server or its connection need not be that of the other, which finds details of a refusal by itself.
                self = .notMade
            } else {
                self = .decided(result)
            }
        }
    }

    /// Returns whether an error says nothing about the commit, only about the server that should have made it.
    private static func isOfServer(_ code: StatusCode) -> Bool {
        [.unavailable, .cancelled, .deadlineExceeded, .internal, .unknown].contains(code)
    }
}

// MARK: - JSON

extension ForwardedAnswer {
    private enum Keys {
        static let outcomes: UTF8Key = "outcomes"
        static let lease = "lease"
        static let time: UTF8Key = "time"
        static let sequence: UTF8Key = "sequence"
        static let results: UTF8Key = "results"
        static let isReplayed: UTF8Key = "replayed"
        static let code: UTF8Key = "code"
        static let message: UTF8Key = "message"
        static let path: UTF8Key = "path"
        static let field: UTF8Key = "field"
        static let write: UTF8Key = "write"
        static let retryAfter: UTF8Key = "retryAfter"
        static let isDecided: UTF8Key = "decided"
    }

    /// The JSON of the answer: for each commit an object; null if it is not made, `"lease"` if that is since the server has
    /// another lease or none, and `false` if it is not known.
    var encoded: [UInt8] {
        var writer = JSONWriter(reservingCapacity: 64 + 96 * outcomes.count)
        writer.beginObject()
        writer.key(Keys.outcomes)
        writer.beginArray()
        for outcome in outcomes {
            switch outcome {
            case .decided(.success(let result)): Self.write(result, to: &writer)
            case .decided(.failure(let error)): Self.write(error, to: &writer)
            case .notMade: writer.null()
            case .otherLease: writer.string(Keys.lease)
            case .unknown: writer.boolean(false)
            }
        }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    private static func write(_ result: CommitResult, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key(Keys.time)
        writer.integer(result.commitTime.microseconds)
        if let sequence = result.sequence {
            writer.key(Keys.sequence)
            writer.integer(Int64(clamping: sequence.rawValue))
        }
        if !result.hasDroppedResults {
            writer.key(Keys.results)
            CommitReceipt.write(result.writeResults, to: &writer)
        }
        if result.isReplayed {
            writer.key(Keys.isReplayed)
            writer.boolean(true)
        }
        writer.endObject()
    }

    private static func write(_ error: StatusError, to writer: inout JSONWriter) {
        writer.beginObject()
        let texts: [(UTF8Key, String?)] = [
            (Keys.code, error.code.name), (Keys.message, error.message), (Keys.path, error.path), (Keys.field, error.field),
        ]
        for (key, text) in texts {
            guard let text else { continue }
            writer.key(key)
            writer.string(text)
        }
        if let index = error.writeIndex {
            writer.key(Keys.write)
            writer.integer(Int64(index))
        }
        if let delay = error.retryAfter {
            writer.key(Keys.retryAfter)
            writer.integer(Int64(delay / .microseconds(1)))
        }
        if error.isDecided {
            writer.key(Keys.isDecided)
            writer.boolean(true)
        }
        writer.endObject()
    }

    /// Decodes an answer; `nil` for anything else.
    ///
    /// - Parameter count: The number of commits.
    init?(_ bytes: [UInt8], count: Int) {
        let limits = JSONLimits(maximumBytes: JSONLimits.maximumTextBytes, maximumDepth: 64)
        guard let json = try? JSONText(bytes, limits: limits).root, let list = json[Keys.outcomes] else { return nil }
        if list.isNull {
            outcomes = Array(repeating: .notMade, count: count)
            return
        }
        guard list.count == count, let elements = list.elements else { return nil }
        var outcomes: [Outcome] = []
        for element in elements {
            guard let outcome = Self.outcome(element) else { return nil }
            outcomes.append(outcome)
        }
        self.outcomes = outcomes
    }

    private static func outcome(_ json: JSONNode) -> Outcome? {
        if json.isNull { return .notMade }
        if json.string == Keys.lease { return .otherLease }
        if json.boolean == false { return .unknown }
        if let code = json[Keys.code]?.string {
            guard let code = StatusCode(name: code), let message = json[Keys.message]?.string else { return nil }
            var error = StatusError(code, message, path: json[Keys.path]?.string, field: json[Keys.field]?.string)
            error.writeIndex = json[integer: Keys.write].flatMap { Int(exactly: $0) }
            error.retryAfter = json[integer: Keys.retryAfter].map { .microseconds($0) }
            return .decided(.failure(json[Keys.isDecided]?.boolean == true ? error.decided : error))
        }
        guard let time = json[integer: Keys.time], let commitTime = try? Timestamp(microseconds: time) else { return nil }
        var results: [WriteResult]?
        if let json = json[Keys.results] {
            guard let known = CommitReceipt.results(json) else { return nil }
            results = known
        }
        let result = CommitResult(
            sequence: json[integer: Keys.sequence].map { SequenceNumber(UInt64(clamping: $0)) },
            commitTime: commitTime,
            writeResults: results ?? [],
            hasDroppedResults: results == nil
        )
        return .decided(.success(json[Keys.isReplayed]?.boolean == true ? result.replayed : result))
    }
}
