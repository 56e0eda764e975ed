internal import DocumentModel

/// Which documents a query is about.
enum IndexTarget: Hashable, Sendable {
    /// The documents of one collection. Their names are the keys of their IDs.
    case collection(CollectionPath)
    /// The documents of all collections with an ID, anywhere or below a document. Their names are the keys of their paths.
    case group(CollectionID, below: DocumentPath?)
    /// All documents, anywhere or below a document. Their names are the keys of their paths; nothing is known of their fields.
    case all(below: DocumentPath?)

    /// The document that all are below; nil when they may be anywhere.
    var parent: DocumentPath? {
        switch self {
        case .collection: nil
        case .group(_, let parent), .all(let parent): parent
        }
    }
}

/// A run of entries or documents in the order of the index.
struct IndexScan: Sendable {
    /// What is run through.
    enum Subject: Hashable, Sendable {
        /// The documents in the order of their names; there are no values.
        case documents
        /// The documents that have a field, in the order of its values, and of their names where these are equal.
        case values(of: FieldPath)
        /// The documents that have an array in a field, once for each different element, in the order of the elements.
        case elements(of: FieldPath)
        /// The documents that have all fields of an index of several, in the order of their ``CompositeKey``s.
        case composite([IndexDefinition.Field])
    }

    /// The entries of one value.
    struct Point: Hashable, Sendable {
        let subject: Subject
        /// The value's key.
        let value: [UInt8]
    }

    /// Where in a scan a row is.
    struct Position: Hashable, Sendable {
        /// The value's key; empty for documents.
        var value: [UInt8]
        /// The name's key.
        var name: [UInt8]
    }

    let target: IndexTarget
    let subject: Subject
    /// The values; of no concern for documents.
    var values = ValueKeyRange.all
    /// The names, from the first bytes that are in the range to the first that are not; all when nil.
    var names: Range<NameBound>?
    var isDescending = false
    /// The rows behind this one, in the direction of the scan.
    var after: Position?
}

/// The least name of a range, or the least behind it.
struct NameBound: Hashable, Comparable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    static func < (left: NameBound, right: NameBound) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
