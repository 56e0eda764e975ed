import DocumentModel
import DocumentStore

/// What the watcher of a query has been told so far, and so what it must be told next.
///
/// The state is the query's result as of one commit. After it, each commit is compared with the result: of a query with an
/// order or a limit the stream knows where each document stands, and asks the store again, as of the commit, when a document
/// for which there was no room may have come in. Any other query says by a document before and after whether it came or left,
/// so that the memory needed does not grow with the result.
struct QueryWatch: Sendable {
    let watched: WatchedQuery
    private let database: DatabaseID?
    private let epoch: String
    /// The last commit that was taken.
    var sequence: SequenceNumber
    var time: Timestamp
    /// The commit up to which the watcher must be told before it is told to be current.
    private let barrier: SequenceNumber
    private var progress: Progress
    /// How many documents are in the result; nil when not known.
    var count: Int?
    /// The result; nil for a query without an order.
    var result: RankedResult?

    private enum Progress {
        /// The state is read; the documents up to this one have been told.
        case reading(after: NormalizedQuery.SortKey?)
        /// The state has been told.
        case read
        /// The result as of the token is yet to be found.
        case restoring
        case current
    }

    /// How many documents of the state are read at a time.
    private static let pageSize = 256

    /// How large the documents of a result with an order may be together.
    private static let maximumResultBytes = 16 << 20

    /// Begins with nothing told.
    init(_ watched: WatchedQuery, at position: StorePosition) {
        self.watched = watched
        database = position.database
        epoch = position.epoch
        sequence = position.lastSequence
        time = position.lastCommitTime ?? .minimum
        barrier = sequence
        progress = .reading(after: nil)
        count = 0
    }

    /// Goes on with a watcher that knows the result as of a token.
    init(_ watched: WatchedQuery, resumingAfter token: WatchToken, at position: StorePosition) {
        self.watched = watched
        database = position.database
        epoch = position.epoch
        sequence = token.sequence
        time = token.time
        barrier = position.lastSequence
        progress = watched.isRanked ? .restoring : .current
        count = nil
    }
}

extension QueryWatch {
    /// Whether the commits were taken that came before the stream was opened.
    var isSettled: Bool { sequence >= barrier }

    /// The frame that ends the initial state; nil while it is incomplete, and after it was given.
    mutating func current() -> WatchFrame? {
        guard case .read = progress, let count else { return nil }
        progress = .current
        return .current(sequence: sequence, count: count, token: token)
    }

    /// The sign of life; nil while the initial state is incomplete.
    var checkpoint: WatchFrame? {
        bookmark.map { .checkpoint(sequence: sequence, count: count, token: $0) }
    }

    /// The bookmark after the last commit; nil while the initial state is incomplete.
    var bookmark: WatchToken? {
        if case .current = progress { token } else { nil }
    }

    private var token: WatchToken {
        WatchToken(target: .query(watched), database: database, epoch: epoch, sequence: sequence, time: time)
    }
}

// The initial state.
extension QueryWatch {
    /// Reads the next part of the state.
    mutating func read(from store: any DocumentStore) async throws(StatusError) -> [WatchFrame] {
        guard case .reading(let last) = progress else { return [] }
        if watched.isRanked {
            let (result, answer) = try await run(in: store)
            self.result = result
            count = result.count
            progress = .read
            return try frames(of: answer)
        }
        let page = watched.query.page(after: last, limit: Self.pageSize)
        let answer = try await store.run(page, maximumBytes: Self.maximumResultBytes, readTime: time)
        count = count.map { $0 + answer.documents.count }
        if answer.documents.count == Self.pageSize, let document = answer.documents.last, let key = try watched.key(of: document)
        {
            progress = .reading(after: key)
        } else {
            progress = .read
        }
        return try frames(of: answer)
    }

    /// Finds the result as of the token, where it is needed to tell what later commits change.
    mutating func restore(from store: any DocumentStore) async throws(StatusError) {
        guard case .restoring = progress else { return }
        let (result, _) = try await run(in: store)
        self.result = result
        count = result.count
        progress = .current
    }

    private func frames(of answer: QueryAnswer) throws(StatusError) -> [WatchFrame] {
        var frames: [WatchFrame] = []
        for (index, document) in answer.documents.enumerated() {
            let change = WatchFrame.Change(
                .added,
                document.path,
                try watched.shaped(document),
                newIndex: watched.isRanked ? index : nil
            )
            frames.append(.change(change, position: nil))
        }
        return frames + answer.damaged.map { .damaged(DamagedDocument(error: $0)) }
    }

    /// The result as of the last commit that was taken.
    func run(in store: any DocumentStore) async throws(StatusError) -> (RankedResult, QueryAnswer) {
        let answer = try await store.run(watched.query, maximumBytes: Self.maximumResultBytes, readTime: time)
        var result = RankedResult(of: watched)
        for document in answer.documents {
            guard let key = try watched.key(of: document) else { continue }
            result.insert(document.path, key)
        }
        return (result, answer)
    }
}
