import Crypto
import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// What there is of a document now.
enum DocumentState: Sendable {
    /// The document, or nil where there is none.
    case whole(EncodedDocument?)
    /// A file that can't be read as one.
    case damaged(Damage)

    /// What is wrong with the file of a document, and what is in it.
    struct Damage: Sendable {
        let error: StatusError
        /// Nil where no file is in its place, but something that no document replaces.
        let contents: [UInt8]?
    }

    /// The document, where there is one that can be read.
    var document: EncodedDocument? {
        if case .whole(let document) = self { document } else { nil }
    }

    /// What is wrong with the file, where something is.
    var damage: Damage? {
        if case .damaged(let damage) = self { damage } else { nil }
    }
}

extension DocumentState.Damage {
    /// By what a form knows the file that was shown with it; nil where there is none to be replaced.
    var mark: UTF8Key? {
        contents.map { UTF8Key(Hexadecimal.encode(SHA256.hash(data: $0).prefix(16))) }
    }
}

extension AdminPages {
    /// What there is of a document now, damaged or not.
    func state(of path: DocumentPath) async throws(StatusError) -> DocumentState {
        do throws(StatusError) {
            return .whole(try await context.store.document(at: path))
        } catch {
            guard error.code == .dataLoss, error.file != nil else { throw error }
            return try await damagedState(of: path, error)
        }
    }

    private func damagedState(of path: DocumentPath, _ error: StatusError) async throws(StatusError) -> DocumentState {
        let contents: [UInt8]?
        do throws(StatusError) {
            contents = try await context.store.file(of: path)
        } catch let obstacle {
            // Anything else says nothing of what is in the file's place.
            guard obstacle.code == .dataLoss else { throw obstacle }
            return .damaged(.init(error: error, contents: nil))
        }
        // Where there is no file any more, somebody has moved it out meanwhile.
        guard let contents else { return .whole(try await context.store.document(at: path)) }
        return .damaged(.init(error: error, contents: contents))
    }
}
