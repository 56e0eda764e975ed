internal import DocumentModel
internal import DocumentStore
internal import StorageIO

/// A file beside a document with an edit that did not become a commit. It is no document.
struct RejectedEdit: Hashable, Sendable {
    /// The reason why an edit was rejected.
    enum Reason: Hashable, Sendable {
        /// The text is not a document, or the store refuses it. The file is `NAME.json.rejected`, `NAME.json.rejected.2` and so on.
        case invalid
        /// The edit and later commits have changed the same fields. The file is `NAME.json.conflict-TIME`.
        case conflict
    }

    /// The collection of the folder.
    let collection: CollectionPath
    /// The name of the file.
    let name: String
    /// The reason, from the name.
    let reason: Reason
    /// The name of the document's file, from the name. Without its last characters if the name would be too long with them.
    let documentFile: String

    /// Parses the name of a file; `nil` if it is none of an edit.
    init?(_ name: String, in collection: CollectionPath) {
        let stem: Substring
        if let suffix = name.ranges(of: Self.conflictSuffix).last {
            guard (try? Timestamp(rfc3339: String(name[suffix.upperBound...]))) != nil else { return nil }
            (stem, reason) = (name[..<suffix.lowerBound], .conflict)
        } else if let suffix = name.ranges(of: Self.invalidSuffix).last {
            let number = name[suffix.upperBound...]
            guard number.isEmpty || number.first == "." && Int(number.dropFirst()).map({ $0 > 1 }) == true else { return nil }
            (stem, reason) = (name[..<suffix.lowerBound], .invalid)
        } else {
            return nil
        }
        documentFile = stem + FileNaming.suffix
        self.collection = collection
        self.name = name
    }

    /// Calls `body` with names for an edit until it succeeds.
    ///
    /// - Parameters:
    ///   - documentFile: The name of the document's file.
    ///   - body: Throws an error for a name that exists.
    static func withUnusedName(
        for reason: Reason,
        of documentFile: String,
        _ body: (String) throws(FileSystemError) -> Void
    ) throws(FileSystemError) {
        var number: Int64 = 1
        while true {
            let suffix =
                switch reason {
                case .invalid: invalidSuffix + (number == 1 ? "" : ".\(number)")
                case .conflict: conflictSuffix + Timestamp.current().rfc3339
                }
            var stem = documentFile.dropLast(FileNaming.suffix.count)
            while stem.utf8.count + suffix.utf8.count > maximumNameBytes { stem.removeLast() }
            do throws(FileSystemError) {
                return try body(stem + suffix)
            } catch {
                guard error.alreadyExists else { throw error }
                number += 1
            }
        }
    }

    private static let invalidSuffix = FileNaming.suffix + ".rejected"
    private static let conflictSuffix = FileNaming.suffix + ".conflict-"
    /// The maximum length of a name on Linux file systems.
    private static let maximumNameBytes = 255
}
