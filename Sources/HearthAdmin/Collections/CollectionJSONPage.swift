import DocumentModel
import StrictJSON

/// The documents of a page as JSON, each in the form that the API returns.
struct CollectionJSONPage: Page {
    static let template = TemplateLibrary.Name.collectionJSON

    var layout: PageLayout
    private let model: CollectionViewModel
    private let json: String?

    init(_ model: CollectionViewModel) {
        self.model = model
        let documents = model.documents
        var writer = JSONWriter()
        writer.beginArray()
        for document in documents { EncodedDocument(document).write(to: &writer) }
        writer.endArray()
        // The writer produces valid JSON.
        json = documents.isEmpty ? nil : (try? JSONText(writer.finish()).root).map(JSONPrettyPrinter.text)
        layout = PageLayout(at: model.results.request.path.segments)
    }

    func content(named name: String) -> Any? {
        switch name {
        case "json": json.orAbsent
        default: model.child(named: name)
        }
    }
}
