public import DocumentModel
internal import HearthWire
internal import StrictJSON
internal import UTF8Text

extension HearthConnection {
    /// Reads documents by path, in the order of the paths; `nil` for those that don't exist.
    ///
    /// - Parameter transaction: A transaction ID returned by ``beginTransaction(isReadOnly:)``; `nil` to read outside a transaction.
    public func documents(
        at paths: [DocumentPath],
        in transaction: String? = nil
    ) async throws(StatusError) -> [Document?] {
        let result = try await call("documents.batchGet") { params in
            params.array(GetParameterKeys.paths, of: paths) { $1.string($0.string) }
            params.transaction(transaction)
        }
        return try BatchGetResponse.documents(json: result)
    }

    /// Begins a transaction, which expires after one minute without use.
    ///
    /// - Returns: The transaction ID.
    public func beginTransaction(isReadOnly: Bool = false) async throws(StatusError) -> String {
        try await call("transactions.begin") { params in
            guard isReadOnly else { return }
            params.key(TransactionKeys.readOnly)
            params.beginObject()
            params.endObject()
        }
        .string(TransactionKeys.transaction)
    }

    /// Rolls back a transaction.
    public func rollBack(_ transaction: String) async throws(StatusError) {
        _ = try await call("transactions.rollback") { $0.transaction(transaction) }
    }
}
