import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

// The documents of all collections right below a document, or below the root: one collection after the other.
extension ListDocumentsCall {
    /// Where a page begins: in a collection, behind one of its documents or at its beginning.
    private struct Position {
        let collection: CollectionID
        let after: DocumentID?

        /// As text, `collection/document` or `collection/`.
        var key: UTF8Key {
            UTF8Key(collection.key.string + "/" + (after?.key.string ?? ""))
        }

        init(_ collection: CollectionID, after: DocumentID?) {
            self.collection = collection
            self.after = after
        }

        init(_ key: UTF8Key) throws(StatusError) {
            let collection = key.utf8.prefix { $0 != UInt8(ascii: "/") }
            let after = key.utf8.dropFirst(collection.count + 1)
            self.collection = try CollectionID(String(Substring(collection)))
            self.after = after.isEmpty ? nil : try DocumentID(String(Substring(after)))
        }
    }

    func pageOfAllCollections(in context: ServiceContext) async throws(StatusError) -> Page {
        let limits = context.server.limits
        let size = min(pageSize.count, limits.maximumPageSize)
        var page = Page()
        var heldBytes = 0
        var position: Position?
        if let token = try PageToken(pageToken, for: context) {
            position = try Position(token.last)
        } else {
            position = try await firstPosition(after: nil, in: context)
        }
        while let here = position {
            guard page.entries.count < size, heldBytes < limits.maximumPageBytes else {
                page.next = PageToken(after: here.key, in: context.database).text
                return page
            }
            let part = try await list(
                here.collection,
                atMost: PageSize(size - page.entries.count),
                after: here.after,
                in: context
            )
            page.entries += part.documents
            page.damagedCount += part.damaged.count
            heldBytes += part.documents.heldBytes
            if let next = part.next {
                position = Position(here.collection, after: next)
            } else {
                position = try await firstPosition(after: here.collection, in: context)
            }
        }
        return page
    }

    private func firstPosition(after collection: CollectionID?, in context: ServiceContext) async throws(StatusError) -> Position?
    {
        let page = try await ListCollections.call(
            .init(parent: parent, pageSize: 1, after: collection, readTime: point.readTime),
            in: context
        )
        return page.collections.first.map { Position($0, after: nil) }
    }
}
