import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import StrictJSON
import UTF8Text

/// The URL of a page's stream of live updates, which starts before the page was rendered.
///
/// It is the page's URL with a resume token, `?live=TOKEN`. It lists the columns of a table, because they depend on the documents
/// on the page: `columns=all&column=string:title`.
struct LiveStreamURL: Sendable {
    /// The page's URL without its query.
    private let page: String
    private var items: [(name: StaticString, value: UTF8Key)]
    /// The label for the number of added fields or documents.
    fileprivate let addedLabel: String

    /// Creates the URL for a document.
    ///
    /// - Parameter expanded: The path of the map or array of which more than the first values are shown; `nil` for none.
    init(_ document: DocumentPath, since position: StorePosition, expanding expanded: String? = nil) {
        page = AdminURL.document(document)
        items = [("live", Self.token(of: document, at: position))]
        if let expanded { items.append(("all", UTF8Key(expanded))) }
        addedLabel = localized("New fields")
    }

    /// Creates the URL for a document with the token of an earlier stream, so that the changes since then are sent.
    init(_ document: DocumentPath, resumingAt token: UTF8Key) {
        page = AdminURL.document(document)
        items = [("live", token)]
        addedLabel = localized("New fields")
    }

    /// Returns the token of the stream of a document.
    static func token(of document: DocumentPath, at position: StorePosition) -> UTF8Key {
        UTF8Key(ResumeToken(.document(document), at: position).text)
    }

    /// Creates the URL for a page of a collection; returns `nil` if its query cannot be watched.
    ///
    /// - Parameter request: The request of the page, with a resolved cursor.
    init?(of request: CollectionRequest, since position: StorePosition) {
        guard let target = try? PreparedWatchTarget(request) else { return nil }
        page = AdminURL.collection(request.path)
        items = request.items + [("live", UTF8Key(ResumeToken(target, at: position).text))]
        addedLabel = localized("New documents")
    }

    /// Returns the URL for a table with columns; `nil` if it would exceed ``maximumURLBytes``.
    func showing(_ columns: CollectionColumns) -> LiveStreamURL? {
        var view = self
        view.items.removeAll { $0.name.description.utf8.elementsEqual("cols".utf8) }
        view.items += LiveColumns(columns).items
        return view.url.utf8.count <= Self.maximumURLBytes ? view : nil
    }

    fileprivate var url: String { page + AdminURL.query(items) }

    /// Servers and proxies limit the size of a request's head, which includes the URL.
    private static let maximumURLBytes = 8_000
}

/// The subscription of a page to live updates.
struct LiveStreamView: ViewModel {
    private let url: String
    private let addedLabel: String

    init(_ stream: LiveStreamURL) {
        (url, addedLabel) = (stream.url, stream.addedLabel)
    }
}

extension PreparedWatchTarget {
    /// Creates the watch target for a page of a collection.
    init(_ request: CollectionRequest) throws {
        let query = try CollectionQuery(watching: request)
        self = .query(try PreparedWatchQuery(json: JSONText(query.params).root, at: .params))
    }
}
