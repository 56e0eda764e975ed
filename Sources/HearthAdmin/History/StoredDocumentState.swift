import Cryptography
import DocumentModel
import DocumentStore
import HearthAPI
import UTF8Text

/// The current state of a document in the store.
enum StoredDocumentState: Sendable {
    /// A readable document, or `nil` if there is none.
    case readable(EncodedDocument?)
    /// A file that cannot be read as a document.
    case damaged(Damage)

    /// The error of reading a document's file, with the file's bytes.
    struct Damage: Sendable {
        let error: StatusError
        /// The bytes; `nil` if the path is occupied by something other than a file, which no write replaces.
        let contents: [UInt8]?
    }

    /// The document, if there is a readable one.
    var document: EncodedDocument? {
        if case .readable(let document) = self { document } else { nil }
    }

    /// The damage, if the file cannot be read.
    var damage: Damage? {
        if case .damaged(let damage) = self { damage } else { nil }
    }
}

extension StoredDocumentState.Damage {
    /// A digest by which a form identifies the shown file; `nil` if there is no replaceable file.
    var fingerprint: UTF8Key? {
        contents.map { UTF8Key(Hexadecimal.encode(SHA256.digest(of: $0).prefix(16))) }
    }
}

extension StoredDocumentState {
    /// Reads the current state of a document.
    init(of path: DocumentPath, in context: ServiceContext) async throws(StatusError) {
        do throws(StatusError) {
            self = .readable(try await context.document(at: path))
        } catch {
            guard error.code == .dataLoss, error.file != nil else { throw error }
            self = try await Self.damaged(path, error, in: context)
        }
    }

    private static func damaged(
        _ path: DocumentPath,
        _ error: StatusError,
        in context: ServiceContext
    ) async throws(StatusError) -> StoredDocumentState {
        let contents: [UInt8]?
        do throws(StatusError) {
            contents = try await context.file(of: path)
        } catch let fileError {
            // Any other error reveals nothing about the file.
            guard fileError.code == .dataLoss else { throw fileError }
            return .damaged(.init(error: error, contents: nil))
        }
        // The file was removed in the meantime.
        guard let contents else { return .readable(try await context.document(at: path)) }
        return .damaged(.init(error: error, contents: contents))
    }
}
