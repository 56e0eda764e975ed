package import DocumentModel

/// A store's commits after a sequence number, as they come.
///
/// Each iterator is a position and the few commits last fetched: nothing is queued for a reader that is slow, it reads
/// from memory or from the journal at its own pace. Iterating ends when the task is cancelled or the store is closed.
package struct CommitSequence: AsyncSequence, Sendable {
    package typealias Element = Commit
    package typealias Failure = StatusError

    /// Gives at least one commit after the position, in order, as soon as there is one; nil at the end.
    package typealias Source = @Sendable (_ after: SequenceNumber) async throws(StatusError) -> [Commit]?

    /// Gives commits after the position that are in memory, in order; none when there are none, or the first of them is not.
    package typealias Memory = @Sendable (_ after: SequenceNumber) -> [Commit]

    private let start: SequenceNumber
    private let memory: Memory
    private let source: Source

    /// Makes a sequence of what `source` gives, beginning after `start`.
    ///
    /// - Parameter memory: Gives at once what `source` would give, where it can.
    package init(after start: SequenceNumber, memory: @escaping Memory, source: @escaping Source) {
        self.start = start
        self.memory = memory
        self.source = source
    }

    /// The same commits as `transform` gives them, which keeps their sequence numbers.
    package func mapped(_ transform: @escaping @Sendable (Commit) -> Commit) -> CommitSequence {
        CommitSequence(after: start) { [memory] position in
            memory(position).map(transform)
        } source: { [source] position throws(StatusError) in
            try await source(position)?.map(transform)
        }
    }

    /// The first commits, at least one, as soon as there is one; nil at the end.
    package func firstPart() async throws(StatusError) -> [Commit]? {
        try await source(start)
    }

    /// The first commits, where they are in memory.
    package func firstPartInMemory() -> [Commit] {
        memory(start)
    }

    /// Begins to read after the start.
    package func makeAsyncIterator() -> Iterator {
        Iterator(position: start, memory: memory, source: source)
    }

    /// Reads the commits one by one.
    package struct Iterator: AsyncIteratorProtocol {
        private var position: SequenceNumber
        private let memory: Memory
        private let source: Source
        private var fetched: ArraySlice<Commit> = []

        fileprivate init(position: SequenceNumber, memory: @escaping Memory, source: @escaping Source) {
            self.position = position
            self.memory = memory
            self.source = source
        }

        /// The next commit, where it is in memory; nil where it must be read or waited for, and at the end.
        package mutating func nextInMemory() -> Commit? {
            if fetched.isEmpty { fetched = memory(position)[...] }
            return takeFetched()
        }

        /// The next commit, waiting for it where there is none yet; nil at the end.
        package mutating func next() async throws(StatusError) -> Commit? {
            try await next(isolation: nil)
        }

        /// The next commit, waiting for it where there is none yet; nil at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(StatusError) -> Commit? {
            if fetched.isEmpty {
                guard let commits = try await source(position) else { return nil }
                fetched = commits[...]
            }
            return takeFetched()
        }

        private mutating func takeFetched() -> Commit? {
            guard let commit = fetched.popFirst() else { return nil }
            position = commit.sequence
            return commit
        }
    }
}

/// A call that a store makes when there is a commit to read.
package struct CommitNotification: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Makes one that `onCancel` takes back.
    package init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Takes the call back where it was not made yet.
    package func cancel() {
        onCancel()
    }
}
