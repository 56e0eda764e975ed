import DocumentModel
import DocumentStore
import HearthService
import JSONRPC
import StrictJSON

/// How a page follows what it shows: the address of the stream that tells of changes since it was made.
///
/// The stream tells only that something has changed. What it has become the page's script takes from the page itself, asked for
/// again: the server alone knows how a value looks.
struct LiveView: Sendable {
    private let url: String

    /// Follows a document.
    init?(_ document: DocumentPath, since position: StorePosition) {
        self.init(item: "document=" + PercentEncoding.encode(UTF8Key(document.string)), .document(document), since: position)
    }

    /// Follows what a query finds.
    ///
    /// - Parameter query: The query's parameters.
    init?(query: [UInt8], since position: StorePosition) {
        var target = JSONWriter()
        target.beginObject()
        target.key("query")
        target.raw(query)
        target.endObject()
        guard let json = try? JSONText(target.finish()).root, let text = UTF8Key(validating: query),
            text.byteCount <= Self.maximumQueryBytes,
            let arguments = try? Arguments(object: json, at: .params, declared: WatchTarget.parameters),
            let target = try? WatchTarget(from: arguments)
        else { return nil }
        self.init(item: "query=" + PercentEncoding.encode(text), target, since: position)
    }

    private init(item: String, _ target: WatchTarget, since position: StorePosition) {
        let token = PercentEncoding.encode(UTF8Key(WatchToken(target, at: position).text))
        let database = AdminURL.database.map { "&database=" + PercentEncoding.encode(UTF8Key($0.description)) } ?? ""
        url = "/watch?\(item)\(database)&include=paths&heartbeat=30&resume=\(token)"
    }

    /// An address is part of a request's head, which has its limits.
    private static let maximumQueryBytes = 4_000
}

extension LiveView: ViewModel {
    func child(named name: String) -> Any? {
        switch name {
        case "watchURL": url
        default: nil
        }
    }
}
