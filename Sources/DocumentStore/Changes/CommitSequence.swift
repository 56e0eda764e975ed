package import DocumentModel

/// An asynchronous sequence of a store's commits after a sequence number.
///
/// An iterator holds a position and one fetched page of commits. Nothing is buffered for a slow reader, which reads recent commits
/// from memory and older ones from the stored commit log, at its own pace. Iteration ends when the task is cancelled or the store
/// is closed.
package struct CommitSequence: AsyncSequence, Sendable {
    package typealias Element = Commit
    package typealias Failure = StatusError

    /// Returns at least one commit after a position, in order, waiting for one if needed; `nil` at the end.
    package typealias Source = @Sendable (_ after: SequenceNumber) async throws(StatusError) -> [Commit]?

    /// Returns the commits after a position that are in memory, in order; empty when the first of them is not.
    package typealias MemorySource = @Sendable (_ after: SequenceNumber) -> [Commit]

    private let start: SequenceNumber
    private let memory: MemorySource
    private let source: Source

    /// Creates a sequence that starts after `start`.
    ///
    /// - Parameters:
    ///   - memory: Returns, without waiting, what `source` would return, if possible.
    ///   - source: Returns the next commits.
    package init(after start: SequenceNumber, memory: @escaping MemorySource, source: @escaping Source) {
        self.start = start
        self.memory = memory
        self.source = source
    }

    /// Returns the sequence with each commit transformed. The transform must not change sequence numbers.
    package func mapped(_ transform: @escaping @Sendable (Commit) -> Commit) -> CommitSequence {
        CommitSequence(after: start) { [memory] position in
            memory(position).map(transform)
        } source: { [source] position throws(StatusError) in
            try await source(position)?.map(transform)
        }
    }

    /// Returns the first page of commits, at least one, waiting for one if needed; `nil` at the end.
    package func firstBatch() async throws(StatusError) -> [Commit]? {
        try await source(start)
    }

    /// Returns the first page of commits when it is in memory; otherwise an empty array.
    package func firstBatchInMemory() -> [Commit] {
        memory(start)
    }

    /// Creates an iterator at the start.
    package func makeAsyncIterator() -> Iterator {
        Iterator(position: start, memory: memory, source: source)
    }

    /// An iterator over the commits.
    package struct Iterator: AsyncIteratorProtocol {
        private var position: SequenceNumber
        private let memory: MemorySource
        private let source: Source
        private var fetched: ArraySlice<Commit> = []

        fileprivate init(position: SequenceNumber, memory: @escaping MemorySource, source: @escaping Source) {
            self.position = position
            self.memory = memory
            self.source = source
        }

        /// Returns the next commit when it is in memory; `nil` if it has to be read or awaited, and at the end.
        package mutating func nextInMemory() -> Commit? {
            if fetched.isEmpty { fetched = memory(position)[...] }
            return popFetched()
        }

        /// Returns the next commit, waiting for it if needed; `nil` at the end.
        package mutating func next() async throws(StatusError) -> Commit? {
            try await next(isolation: nil)
        }

        /// Returns the next commit, waiting for it if needed; `nil` at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(StatusError) -> Commit? {
            if fetched.isEmpty {
                guard let commits = try await source(position) else { return nil }
                fetched = commits[...]
            }
            return popFetched()
        }

        private mutating func popFetched() -> Commit? {
            guard let commit = fetched.popFirst() else { return nil }
            position = commit.sequence
            // An empty slice retains its array.
            if fetched.isEmpty { fetched = [] }
            return commit
        }
    }
}

/// A registration made by ``DocumentStore/notify(after:_:)``.
package struct CommitNotification: Sendable {
    private let onCancel: @Sendable () -> Void

    /// Creates a registration that `onCancel` removes.
    package init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = onCancel
    }

    /// Removes the registration. Has no effect after the callback has been called.
    package func cancel() {
        onCancel()
    }
}
