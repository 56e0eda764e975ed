package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.restore`: writes an earlier version of a document again.
package enum RestoreDocument: RPCMethod {
    /// The parameters of `documents.restore`.
    package struct Params: Sendable {
        package var path: DocumentPath
        /// The commit time of the version; `nil` for the newest one in which the document exists.
        package var commitTime: Timestamp?
        package var precondition: Precondition

        package init(path: DocumentPath, commitTime: Timestamp? = nil, precondition: Precondition = .none) {
            self.path = path
            self.commitTime = commitTime
            self.precondition = precondition
        }
    }

    private static let path = Parameter<DocumentPath>(
        "path",
        "The document, which may have been deleted, or have a damaged file."
    )
    private static let commitTime = Parameter<UpdateTime?>(
        RestoreParameterKeys.commitTime,
        "The commitTime of the version in documents.history. Default: that of the newest version in which the document exists, "
            + "so that a deleted document, or one whose file is damaged, is restored as it was last committed."
    )
    private static let precondition = Parameter<PreconditionParameter?>(
        RestoreParameterKeys.precondition,
        "The condition under which the version is written. The current version of a document with a damaged file is its last "
            + "committed one."
    )

    package static let name: UTF8Key = "documents.restore"
    package static let summary =
        "Writes a retained version of a document again, also over a damaged file, which other writes do not replace."
    package static let requiredPermission = Permission.writer
    package static let parameters: [any ParameterDescription] = [path, commitTime, precondition]
    package static let result = ResultDescription("result", .writeResult, "The result of the write.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path or the time is invalid."),
        ErrorDescription(
            status: .notFound,
            "No such version is retained, the commit deleted the document, or the precondition requires a document."
        ),
        ErrorDescription(status: .alreadyExists, "The document exists, but the precondition forbids it."),
        ErrorDescription(
            status: .failedPrecondition,
            "The update time of the document differs from the precondition, or its damaged file was changed in the meantime."
        ),
        ErrorDescription(status: .aborted, "The document was changed in the meantime, and no commit time was given."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
        ErrorDescription(status: .dataLoss, "A required part of the journal is damaged, or the file is not a regular one."),
        ErrorDescription(status: .unavailable, "The store does not currently accept writes."),
    ]
    package static let examples = [
        RPCExample(
            "a document as it was last committed",
            params: #"{"path": "books/hitchhiker"}"#,
            result: #"{"updateTime": "2024-02-29T12:02:00.000000Z"}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        Params(
            path: try arguments[path],
            commitTime: try arguments[commitTime]?.time,
            precondition: try arguments[precondition]?.precondition ?? .none
        )
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> WriteResult {
        // A commit after the newest version is not replaced by it.
        var reads = ReadSet()
        if params.commitTime == nil, let current = try? await context.store.document(at: params.path, readTime: nil) {
            reads.recordRead(current, at: params.path)
        }
        let version =
            if let time = params.commitTime {
                try await context.version(of: params.path, at: time)
            } else {
                try await context.newestVersion(of: params.path)
            }
        guard let version else {
            let time = params.commitTime.map { " from \($0)" } ?? ""
            throw StatusError(
                .notFound,
                "There is no retained version of \(params.path.escapedString)\(time). List the versions with documents.history.",
                path: params.path.string
            )
        }
        let write = try Write.set(params.path, try version.decoded().fields, precondition: params.precondition)
        do throws(StatusError) {
            return try await context.apply(write, validating: reads)
        } catch {
            guard error.code == .dataLoss, let file = try await context.file(of: params.path) else { throw error }
            return try await context.apply(write, replacingDamaged: file)
        }
    }

    package static func write(_ result: WriteResult, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
