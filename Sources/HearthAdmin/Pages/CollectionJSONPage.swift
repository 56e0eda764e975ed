import DocumentModel
import StrictJSON

/// The documents of a page as JSON, to be read and copied: each as calls give it.
struct CollectionJSONPage: Page {
    static let template = TemplateLibrary.Name.collectionJSON

    var chrome: PageChrome
    private let frame: CollectionFrame
    private let json: String?

    init(_ frame: CollectionFrame) {
        self.frame = frame
        let documents = frame.documents
        var writer = JSONWriter()
        writer.beginArray()
        for document in documents { EncodedDocument(document).write(to: &writer) }
        writer.endArray()
        // What was just written is JSON.
        json = documents.isEmpty ? nil : (try? JSONText(writer.finish()).root).map(JSONOutline.text)
        chrome = PageChrome(at: frame.listing.request.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "json": json.orAbsent
        default: frame.child(named: name)
        }
    }
}
