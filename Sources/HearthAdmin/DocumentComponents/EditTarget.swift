import DocumentModel
import UTF8Text

/// The document that an editor changes or creates.
struct EditTarget: Sendable {
    /// The existing document; `nil` for a new one.
    let document: DocumentPath?
    let collection: CollectionPath
    /// The input for the ID of a new document.
    var id = ""
    /// The page that the editor was opened from and returns to; `nil` for that of the document or collection.
    var next: ReturnURL?

    init(_ document: DocumentPath) {
        self.document = document
        collection = document.collection
    }

    init(newIn collection: CollectionPath, id: String = "") {
        document = nil
        self.collection = collection
        self.id = id
    }

    /// Returns the URL of the editor.
    func url(asJSON: Bool) -> String {
        let action = document == nil ? "new" : "edit"
        let next = next.map { "&next=" + PercentEncoding.encode(UTF8Key($0.url)) } ?? ""
        return pageURL + "?" + action + (asJSON ? "=json" : "") + next
    }

    /// The URL of the page that the editor returns to.
    var returnURL: String { next?.url ?? pageURL }

    /// The page of the document, or of the collection for a new document.
    private var pageURL: String {
        document.map { AdminURL.document($0) } ?? AdminURL.collection(collection)
    }

    /// The segments of the path of the document, or of the collection for a new document.
    var segments: [UTF8Key] {
        document?.segments ?? collection.segments
    }
}
