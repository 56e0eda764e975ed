public import DocumentModel
internal import StrictJSON

extension HearthConnection {
    /// Reads a document.
    ///
    /// - Throws: `.notFound` when there is none.
    public func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument {
        let result = try await call("documents.get") { params in
            params.key("path")
            params.string(path.string)
        }
        return try EncodedDocument(rpc: result)
    }

    /// Reads a page of a collection's documents in the order of their ids.
    ///
    /// - Parameters:
    ///   - pageSize: How many documents at most; nil leaves it to the server.
    ///   - pageToken: The ``DocumentPage/nextPageToken`` of the page before.
    ///   - showMissing: Whether documents that don't exist but have subcollections are listed too.
    ///   - transaction: What ``beginTransaction(isReadOnly:)`` gave; nil for a read of its own.
    public func documents(
        in collection: CollectionPath,
        pageSize: Int? = nil,
        pageToken: String? = nil,
        showMissing: Bool = false,
        transaction: String? = nil
    ) async throws(StatusError) -> DocumentPage {
        let result = try await call("documents.list") { params in
            params.key("collection")
            params.string(collection.string)
            params.page(size: pageSize, token: pageToken)
            if showMissing {
                params.key("showMissing")
                params.boolean(true)
            }
            params.transaction(transaction)
        }
        return try DocumentPage(rpc: result)
    }

    /// Creates a document that must not exist yet, with an id of the server's choosing when none is given.
    ///
    /// - Throws: `.alreadyExists` when the document exists.
    public func create(
        in collection: CollectionPath,
        id: DocumentModel.DocumentID? = nil,
        _ fields: MapValue
    ) async throws(StatusError) -> EncodedDocument {
        let result = try await call("documents.create") { params in
            params.key("collection")
            params.string(collection.string)
            if let id {
                params.key("id")
                params.string(id.key.string)
            }
            params.key("fields")
            fields.write(to: &params)
        }
        return try EncodedDocument(rpc: result)
    }

    /// Replaces a document, or creates it; with ``Write/Merge/all`` only the fields that are given change.
    @discardableResult
    public func set(
        _ path: DocumentPath,
        _ fields: MapValue,
        merge: Write.Merge = .none
    ) async throws(StatusError) -> WriteResult {
        try await write(.set(path, fields, merge: merge))
    }

    /// Changes fields of a document.
    ///
    /// - Throws: `.notFound` when the document doesn't exist.
    @discardableResult
    public func update(
        _ path: DocumentPath,
        _ fields: [(FieldPath, Value)],
        delete: [FieldPath] = []
    ) async throws(StatusError) -> WriteResult {
        try await write(.update(path, fields, delete: delete))
    }

    /// Deletes a document; one that doesn't exist is no error. Documents below it stay.
    public func delete(_ path: DocumentPath) async throws(StatusError) {
        _ = try await write(.delete(path))
    }

    /// Carries out one write of any kind.
    public func write(_ write: Write) async throws(StatusError) -> WriteResult {
        try WriteResult(rpc: await call(write.method) { write.writeMembers(to: &$0) })
    }

    /// Carries out writes together: all of them, or none.
    ///
    /// - Parameter transaction: The transaction that ends with them; nil for writes by themselves.
    /// - Throws: `.aborted` when something that the transaction has read has changed.
    public func commit(_ writes: [Write], in transaction: String? = nil) async throws(StatusError) -> [WriteResult] {
        let result = try await call("documents.commit") { params in
            params.key("writes")
            params.beginArray()
            for write in writes { write.write(to: &params) }
            params.endArray()
            params.transaction(transaction)
        }
        return try result.array("writeResults").map { json throws(StatusError) in try WriteResult(rpc: json) }
    }

    /// Reads a page of the collections under a document, or of those at the root, in the order of their ids.
    public func collections(
        under parent: DocumentPath? = nil,
        pageSize: Int? = nil,
        pageToken: String? = nil
    ) async throws(StatusError) -> CollectionPage {
        try CollectionPage(
            rpc: await call("collections.list") { $0.collectionPage(under: parent, size: pageSize, token: pageToken) }
        )
    }

    /// Reads the first page of the collections under each of many documents, in a single request.
    package func collections(underEach parents: [DocumentPath]) async throws(StatusError) -> [CollectionPage] {
        let calls = parents.map { parent in
            RPCCall("collections.list") { $0.collectionPage(under: parent, size: nil, token: nil) }
        }
        return try await call(calls).map { result throws(StatusError) in try CollectionPage(rpc: result.get()) }
    }

    /// Asks the server what it is, what it has committed, and what its limits are.
    public func serverInformation() async throws(StatusError) -> ServerInformation {
        try ServerInformation(rpc: await call("server.info") { _ in })
    }
}

extension JSONWriter {
    fileprivate mutating func collectionPage(under parent: DocumentPath?, size: Int?, token: String?) {
        if let parent {
            key("parent")
            string(parent.string)
        }
        page(size: size, token: token)
    }

    mutating func transaction(_ transaction: String?) {
        guard let transaction else { return }
        key("transaction")
        string(transaction)
    }

    fileprivate mutating func page(size: Int?, token: String?) {
        if let size {
            key("pageSize")
            integer(Int64(size))
        }
        if let token {
            key("pageToken")
            string(token)
        }
    }
}
