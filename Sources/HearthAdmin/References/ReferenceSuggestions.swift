import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON
import UTF8Text

/// The suggestions for a reference that is entered: documents, and collections whose documents the next suggestions are.
struct ReferenceSuggestions: Sendable {
    /// The paths as form input.
    let paths: [String]

    /// Finds what the text of a form field may become: the collections and documents that the search box suggests for it, or the root
    /// collections if it is empty.
    ///
    /// - Parameter collection: The collection of the document that is edited; `nil` if it is unknown.
    init(for text: String, in collection: CollectionPath?, for request: AdminRequest) async {
        let input = FinderInput(UTF8Key(FormTextCoding.decodeLine(text) ?? text))
        if case .nothing = input.target {
            paths = (await request.roots?.collections ?? []).prefix(Self.limit)
                .map { Self.text(of: CollectionPath(parent: nil, id: $0)) }
            return
        }
        let finder = Finder(request: request, location: collection.map { .collection($0) })
        let results = await finder.results(for: input, isSuggestion: true, limit: Self.limit)
        // Not what the text already is.
        let entered = input.text
        paths =
            results.documents.map(Self.text).filter { !($0 + "/").utf8.elementsEqual(entered.utf8) }
            + results.collections.map(Self.text).filter { !$0.utf8.elementsEqual(entered.utf8) }
    }

    /// The suggestions as JSON for the script of the pages.
    var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("paths")
        writer.beginArray()
        for path in paths { writer.string(path) }
        writer.endArray()
        writer.endObject()
        return writer.finish()
    }

    /// Returns the form input of a document.
    private static func text(of path: DocumentPath) -> String { FormTextCoding.encodeLine(path.string) }

    /// Returns the form input of a collection, with which the input of one of its documents begins.
    private static func text(of path: CollectionPath) -> String { FormTextCoding.encodeLine(path.string + "/") }

    private static let limit = 50
}
