package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.get`: reads a document.
package enum GetDocument: RPCMethod {
    /// The parameters of `documents.get`.
    package struct Params: Sendable {
        package var path: DocumentPath
        /// The fields to return, or `nil` for all.
        package var mask: [FieldPath]?
        package var consistency: ReadConsistency

        package init(path: DocumentPath, mask: [FieldPath]? = nil, consistency: ReadConsistency = ReadConsistency()) {
            self.path = path
            self.mask = mask
            self.consistency = consistency
        }
    }

    /// A document, and the time of what it shows.
    package struct Result: Sendable {
        package let document: EncodedDocument
        /// The position of the read.
        package let position: DocumentReadPosition
    }

    private static let path = Parameter<DocumentPath>(GetParameterKeys.path, "The document to read.")
    private static let mask = Parameter<[FieldPath]?>(GetParameterKeys.mask, "The fields to return. Default: all fields.")

    package static let name: UTF8Key = "documents.get"
    package static let summary = "Reads a document."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] = [path, mask] + ReadConsistency.parameters
    package static let result = ResultDescription(
        "document",
        .object(
            JSONSchema.documentProperties + [
                .init(
                    QueryResponseKeys.readTime,
                    Timestamp.schema,
                    "The time as of which the document was read. Without a readTime or transaction, a lower bound: it is as of this time or "
                        + "later."
                ),
                .epoch,
            ]
        ),
        "The document."
    )
    /// Few documents are larger, and many calls run concurrently.
    package static let expectedResponseBytes = 64 << 10
    package static let errors =
        [
            ErrorDescription(
                status: .notFound,
                "The document does not exist, as of the readTime in the error data, which has the epoch as well."
            ),
            ErrorDescription(status: .dataLoss, "The document file is damaged; the error includes the location."),
            ErrorDescription(status: .unavailable, "The document cannot currently be read."),
        ] + .readErrors
    package static let examples = [
        RPCExample(
            "a book",
            params: #"{"path": "books/hitchhiker"}"#,
            result: #"""
                {
                    "path": "books/hitchhiker",
                    "fields": {"author": "Douglas Adams", "numberOfPages": 816, "title": "The Hitchhiker's Guide to the Galaxy"},
                    "createTime": "2024-02-29T12:00:00.000000Z",
                    "updateTime": "2024-02-29T12:00:00.000000Z",
                    "readTime": "2024-02-29T12:00:00.000000Z",
                    "epoch": "e29374f1fe60fe125e13fe28432e8144"
                }
                """#
        ),
        RPCExample(
            "only its title",
            params: #"{"path": "books/hitchhiker", "mask": ["title"]}"#,
            result: #"""
                {
                    "path": "books/hitchhiker",
                    "fields": {"title": "The Hitchhiker's Guide to the Galaxy"},
                    "createTime": "2024-02-29T12:00:00.000000Z",
                    "updateTime": "2024-02-29T12:00:00.000000Z",
                    "readTime": "2024-02-29T12:00:00.000000Z",
                    "epoch": "e29374f1fe60fe125e13fe28432e8144"
                }
                """#
        ),
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(path: try arguments[path], mask: try arguments[mask], consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        // Taken before the read, so that it shows no earlier state, and is not taken for one of a later history. What is published is a
        // lower bound that nothing has to wait for.
        let published = context.store.position
        let view = try await ReadView(params.consistency, in: context)
        let time = view.readTime ?? published.lastCommitTime ?? .minimum
        do throws(StatusError) {
            let document = try await document(params, in: view)
            // It may be of a commit that is not published yet.
            return Result(
                document: document,
                position: DocumentReadPosition(time: max(time, document.updateTime), epoch: published.epoch)
            )
        } catch {
            guard error.code == .notFound else { throw error }
            var error = error
            error.readPosition = DocumentReadPosition(time: time, epoch: published.epoch)
            throw error
        }
    }

    /// Reads a document without the time of what it shows.
    ///
    /// - Throws: The errors of the method.
    package static func document(_ params: Params, in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        try await document(params, in: ReadView(params.consistency, in: context))
    }

    private static func document(_ params: Params, in view: ReadView) async throws(StatusError) -> EncodedDocument {
        guard let document = try await view.document(at: params.path) else {
            throw StatusError(.notFound, "Document not found: \(params.path.escapedString)", path: params.path.string)
        }
        return if let mask = params.mask { try document.masked(mask) } else { document }
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        result.document.writeMembers(to: &writer)
        result.position.writeMembers(to: &writer)
        writer.endObject()
    }
}
