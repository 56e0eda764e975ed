package import DocumentModel
package import DocumentStore

/// A client that identifies its commits.
package struct CommitClient: Sendable {
    private let id = CommitClientID.random()

    package init() {}

    /// Increments a counter by 1.
    @discardableResult
    package func increment(
        in store: any DocumentStore,
        number: UInt64,
        after: UInt64 = 0,
        fingerprint: UInt64 = 1,
        validating reads: ReadSet = ReadSet()
    ) async throws(StatusError) -> CommitResult {
        let increment = Write(
            path: try DocumentPath("c/counter"),
            operation: .patch([:], mask: []),
            transforms: [FieldTransform(field: try FieldPath("v"), operation: .increment(.integer(1)))]
        )
        return try await commit(
            [increment],
            in: store,
            number: number,
            after: after,
            fingerprint: fingerprint,
            validating: reads
        )
    }

    @discardableResult
    package func commit(
        _ writes: [Write],
        in store: any DocumentStore,
        number: UInt64,
        after: UInt64 = 0,
        fingerprint: UInt64 = 1,
        validating reads: ReadSet = ReadSet()
    ) async throws(StatusError) -> CommitResult {
        let identity = CommitIdentity(client: id, number: number, after: after, fingerprint: fingerprint)
        return try await store.commit(writes, validating: reads, by: nil, identity: identity)
    }

    /// Returns the error with which an increment is refused.
    package func failure(
        in store: any DocumentStore,
        number: UInt64,
        after: UInt64 = 0,
        fingerprint: UInt64 = 1,
        validating reads: ReadSet = ReadSet()
    ) async -> StatusError? {
        do throws(StatusError) {
            try await increment(in: store, number: number, after: after, fingerprint: fingerprint, validating: reads)
            return nil
        } catch {
            return error
        }
    }
}
