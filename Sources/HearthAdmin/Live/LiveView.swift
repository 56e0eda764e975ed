import DocumentModel
import DocumentStore
import HearthService
import JSONRPC
import StrictJSON

/// How a page follows what it shows: the address of the stream that brings what changes, from before the page was made.
///
/// It is the page's own address with what the page shows of it and the token of the commit before: `?live=TOKEN`. The columns of a
/// table are named, since those of the page depend on the documents that were in it: `columns=all&column=string:title`.
struct LiveView: Sendable {
    /// The page's address without its query.
    private let page: String
    private var items: [(name: StaticString, value: UTF8Key)]
    /// What there may be more of than the page shows.
    private let added: String

    /// Follows a document.
    init(_ document: DocumentPath, since position: StorePosition) {
        page = AdminURL.document(document)
        items = [("live", UTF8Key(WatchToken(.document(document), at: position).text))]
        added = localized("New fields")
    }

    /// Follows a part of a collection; nil where that isn't possible.
    ///
    /// - Parameter request: The part. Its place is what the documents stand behind, or before.
    init?(of request: CollectionRequest, since position: StorePosition) {
        guard let target = try? WatchTarget(request) else { return nil }
        page = AdminURL.collection(request.path)
        items = request.items + [("live", UTF8Key(WatchToken(target, at: position).text))]
        added = localized("New documents")
    }

    /// The same for a table with these columns; nil where they are more than an address holds.
    func showing(_ columns: CollectionColumns) -> LiveView? {
        var view = self
        view.items.removeAll { $0.name.description.utf8.elementsEqual("cols".utf8) }
        view.items += LiveColumns(columns).items
        return view.url.utf8.count <= Self.maximumURLBytes ? view : nil
    }

    private var url: String { page + AdminURL.query(items) }

    /// An address is part of a request's head, which has its limits.
    private static let maximumURLBytes = 8_000
}

extension LiveView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "url": url
        case "added": added
        default: nil
        }
    }
}

extension WatchTarget {
    /// What a page of a collection shows a part of.
    init(_ request: CollectionRequest) throws {
        let stated = try CollectionQuery(following: request)
        self = .query(try WatchedQuery(json: JSONText(stated.params).root, at: .params))
    }
}
