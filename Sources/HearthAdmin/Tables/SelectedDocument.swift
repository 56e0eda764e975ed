import DocumentModel
import UTF8Text

/// The version of a document to delete or to change.
struct SelectedDocument: Hashable, Sendable {
    let path: DocumentPath
    let updateTime: Timestamp
    /// The approximate size of the document; `nil` if it was not read.
    var byteCount: Int?
}

extension SelectedDocument {
    /// Selects a document in the version that was read.
    init(_ document: EncodedDocument) {
        self.init(path: document.path, updateTime: document.updateTime, byteCount: document.fieldsJSON.count)
    }
}

extension SelectedDocument {
    /// Parses the value of a selected table row: the percent-encoded ID, a colon and the update time; `nil` if it is malformed.
    init?(formValue text: UTF8Key, in collection: CollectionPath) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2, let time = Timestamp(formValue: UTF8Key(Substring(parts[1]))),
            let key = PercentEncoding.decode(parts[0]).flatMap({ UTF8Key(validating: $0) }),
            let id = try? DocumentPath.ID(key.string)
        else { return nil }
        self.init(path: collection.document(id), updateTime: time)
    }

    /// Returns the selected rows of a form, without duplicates; `nil` if one is malformed.
    ///
    /// - Throws: `invalidArgument` for too many rows.
    static func rows(of form: Form, in collection: CollectionPath) throws(StatusError) -> [SelectedDocument]? {
        var documents: [SelectedDocument] = []
        var known: Set<DocumentPath> = []
        for row in form.values("row") {
            guard let document = SelectedDocument(formValue: row, in: collection) else { return nil }
            if known.insert(document.path).inserted { documents.append(document) }
        }
        guard documents.count <= maximumCount else {
            throw StatusError(
                .invalidArgument,
                "Expected at most \(maximumCount) selected documents, found \(documents.count). Take several steps or use filters."
            )
        }
        return documents
    }

    /// The maximum number of selected rows.
    private static let maximumCount = 1_000

    /// The value of the row's checkbox.
    var formValue: String { "\(PercentEncoding.encode(path.id.key)):\(updateTime.formValue)" }
}
