import DocumentModel
import DocumentStore

/// The part of a collection that a page shows.
struct CollectionListing: Sendable {
    /// An entry in the order of IDs.
    enum Entry: Sendable {
        case document(Document)
        /// A document that doesn't exist, with others below it.
        case missing(DocumentPath)
    }

    let request: CollectionRequest
    private(set) var entries: [Entry] = []
    /// The files among the entries that can't be read as documents.
    private(set) var damaged: [StatusError] = []
    /// Where the next part begins; nil when this is the last one.
    private(set) var next: DocumentID?

    /// Reads the part that a request asks for.
    ///
    /// It is read in small steps and ends early when it has become large, so that no page takes unbounded memory.
    init(_ request: CollectionRequest, from store: any DocumentStore) async throws(StatusError) {
        self.request = request
        next = request.after
        var bytes = 0
        var count = 0
        repeat {
            let page = try await store.documents(
                in: request.path,
                after: next,
                limit: min(Self.step, request.size - count),
                includingMissing: true
            )
            for listed in page.documents { bytes += append(listed) }
            damaged += page.damaged
            count += max(1, page.documents.count + page.damaged.count)
            next = page.next
        } while next != nil && count < request.size && bytes < Self.maximumBytes
    }

    /// The documents that exist.
    var documents: [Document] {
        entries.compactMap { entry in
            if case .document(let document) = entry { document } else { nil }
        }
    }

    /// Takes an entry, and tells how many bytes it has.
    private mutating func append(_ listed: ListedDocument) -> Int {
        switch listed {
        case .missing(let path):
            entries.append(.missing(path))
            return 0
        case .document(let encoded):
            do throws(StatusError) {
                entries.append(.document(try encoded.decoded()))
            } catch {
                damaged.append(error)
            }
            return encoded.fieldsJSON.count
        }
    }

    private static let step = 25
    private static let maximumBytes = 4 << 20
}
