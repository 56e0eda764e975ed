import ArgumentParser
import DocumentModel

/// A path on the command line, which its number of segments makes a collection's or a document's.
enum DataPath {
    case collection(CollectionPath)
    case document(DocumentPath)

    init(_ text: String) throws(StatusError) {
        let slashes = text.utf8.count { $0 == UInt8(ascii: "/") }
        self = slashes.isMultiple(of: 2) ? .collection(try CollectionPath(text)) : .document(try DocumentPath(text))
    }

    var string: String {
        switch self {
        case .collection(let path): path.string
        case .document(let path): path.string
        }
    }
}

extension DataPath {
    /// Reads an argument, as the command line parser wants it.
    static func argument(_ text: String) throws -> DataPath {
        do {
            return try DataPath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}

extension DocumentPath {
    /// Reads an argument, as the command line parser wants it.
    static func argument(_ text: String) throws -> DocumentPath {
        do {
            return try DocumentPath(text)
        } catch {
            throw ValidationError(error.message)
        }
    }
}
