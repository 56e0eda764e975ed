import DocumentModel
import UTF8Text

/// The version of a document to delete.
struct SelectedDocument: Hashable, Sendable {
    let path: DocumentPath
    let updateTime: Timestamp
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

    /// The value of the row's checkbox.
    var formValue: String { "\(PercentEncoding.encode(path.id.key)):\(updateTime.formValue)" }
}
