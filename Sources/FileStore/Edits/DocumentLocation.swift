internal import DocumentModel
internal import QueryEngine
internal import UTF8Text

/// A place in the hierarchy that has a folder.
enum DocumentLocation: Hashable, Sendable {
    /// The root collections.
    case root
    /// A collection: its documents, and the folders of their subcollections.
    case collection(CollectionPath)
    /// The subcollections of a document.
    case subcollections(of: DocumentPath)

    /// The path of the folder.
    var segments: [UTF8Key] {
        switch self {
        case .root: []
        case .collection(let path): path.segments
        case .subcollections(let path): path.segments
        }
    }

    /// The level of the folder.
    var level: FolderEntry.Level {
        if case .collection = self { .collection } else { .belowDocument }
    }

    /// Returns the location of a folder in this one; `nil` if the ID is not valid.
    func location(ofFolder id: UTF8Key) -> DocumentLocation? {
        switch self {
        case .root: (try? CollectionID(id.string)).map { .collection(CollectionPath(parent: nil, id: $0)) }
        case .subcollections(let path): (try? CollectionID(id.string)).map { .collection(CollectionPath(parent: path, id: $0)) }
        case .collection(let path): (try? DocumentPath.ID(id.string)).map { .subcollections(of: path.document($0)) }
        }
    }

    /// Returns whether a location is this one, or below it.
    func contains(_ other: DocumentLocation) -> Bool {
        let segments = segments
        return other.segments.starts(with: segments)
    }

    /// The names of the documents below the location, in the index of all documents.
    var names: Range<NameBound> {
        switch self {
        case .root: .allNames
        case .collection(let path): Range(from: NameKey(path).bytes, to: NameKey(path).prefixUpperBound)
        case .subcollections(let path): Range(from: NameKey(path).bytes + [0], to: NameKey(path).prefixUpperBound)
        }
    }
}
