import DocumentModel
import StrictJSON

/// The documents of a page as JSON, each in the form that the API returns.
struct CollectionJSONPage: Page {
    static let template = TemplateLibrary.Name.collectionJSON

    var layout: PageLayout
    private let collection: CollectionControls
    private let liveStream: LiveStreamView?
    private let json: String?

    init(_ contents: CollectionContents) {
        collection = contents.controls
        liveStream = contents.liveStream
        let documents = contents.documents
        var writer = JSONWriter()
        writer.beginArray()
        for document in documents { EncodedDocument(document).write(to: &writer) }
        writer.endArray()
        // The writer produces valid JSON.
        json = documents.isEmpty ? nil : (try? JSONText(writer.finish()).root).map(JSONPrettyPrinter.text)
        layout = PageLayout(at: contents.results.request.path.segments)
    }
}
