public import DocumentModel
internal import StrictJSON

extension HearthConnection {
    /// Reads documents by path, in the order of the paths; nil for those that don't exist.
    ///
    /// - Parameter transaction: What ``beginTransaction(isReadOnly:)`` gave; nil for a read of its own.
    public func documents(
        at paths: [DocumentPath],
        in transaction: String? = nil
    ) async throws(StatusError) -> [Document?] {
        let result = try await call("documents.batchGet") { params in
            params.key("paths")
            params.beginArray()
            for path in paths { params.string(path.string) }
            params.endArray()
            params.transaction(transaction)
        }
        return try result.array("documents").map { json throws(StatusError) in
            json["fields"] == nil ? nil : try Document(rpc: json)
        }
    }

    /// Reads all documents of a collection as of one time, in the order of their ids.
    func allDocuments(in collection: CollectionPath) async throws(StatusError) -> FoundDocuments {
        var found = FoundDocuments()
        var page = try await documents(in: collection, pageSize: Self.pageSize)
        guard page.nextPageToken != nil else {
            found.take(page)
            return found
        }
        // What doesn't fit on a page is read again, since the pages are of different times without a transaction.
        let transaction = try await beginTransaction(isReadOnly: true)
        var token: String?
        repeat {
            page = try await documents(in: collection, pageSize: Self.pageSize, pageToken: token, transaction: transaction)
            found.take(page)
            token = page.nextPageToken
        } while token != nil
        try await rollBack(transaction)
        return found
    }

    private static let pageSize = 1_000

    /// Begins a transaction, which the server forgets when it is not used for a minute.
    ///
    /// - Returns: What names the transaction in other calls.
    public func beginTransaction(isReadOnly: Bool = false) async throws(StatusError) -> String {
        try await call("transactions.begin") { params in
            guard isReadOnly else { return }
            params.key("readOnly")
            params.beginObject()
            params.endObject()
        }
        .string("transaction")
    }

    /// Ends a transaction without writes.
    public func rollBack(_ transaction: String) async throws(StatusError) {
        _ = try await call("transactions.rollback") { $0.transaction(transaction) }
    }
}

extension FoundDocuments {
    fileprivate mutating func take(_ page: DocumentPage) {
        for case .document(let document) in page.documents { documents.append(document) }
        damaged += page.damaged
    }
}
