import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

// Lists in another order than that of names, and of all that is below a document or a collection.
extension ListDocumentsCall {
    func queriedPage(in context: ServiceContext) async throws(StatusError) -> Page {
        let size = min(pageSize.count, context.server.limits.maximumPageSize)
        var query = Query(try source(), where: range, orders: orders, limit: .first(size + 1))
        query.start = try PageToken(pageToken, for: context).map { token throws(StatusError) in
            Query.Cursor(try token.values, isInclusive: false)
        }
        let normalized = try NormalizedQuery(query)
        let found = try await RunQuery.call(.init(normalized, at: point), in: context)
        var page = Page(damagedCount: found.damaged.count)
        for document in found.documents.prefix(size) {
            page.entries.append(.document(try mask.map { mask throws(StatusError) in try document.masked(mask) } ?? document))
        }
        if found.documents.count > size, let last = found.documents.prefix(size).last {
            let place = normalized.sortKey(of: try last.decoded().fields, at: last.path)
            page.next = place.map { PageToken(after: $0.values, in: context.database).text }
        }
        return page
    }

    private func source() throws(StatusError) -> Query.Source {
        switch (collection, isRecursive) {
        case (let collection?, false): return .collection(CollectionPath(parent: parent, id: collection))
        case (_, true): return .descendants(of: parent)
        case (nil, false):
            throw StatusError(
                .unimplemented,
                "The documents of all collections are listed in the order of their names only. Leave orderBy out, or name a collection."
            )
        }
    }

    /// What limits the documents below a document to those below one of its collections.
    private var range: Filter? {
        guard isRecursive, let collection else { return nil }
        return NamesBelow(CollectionPath(parent: parent, id: collection)).filter
    }
}

extension PageToken {
    /// The token of a page that begins behind the document at these values, which stand in it in Hearth's JSON form.
    fileprivate init(after values: [Value], in database: DatabaseID?) {
        var writer = JSONWriter()
        Value.array(values).write(to: &writer)
        self.init(after: UTF8Key(String(decoding: writer.finish(), as: UTF8.self)), in: database)
    }

    /// The values in the token.
    fileprivate var values: [Value] {
        get throws(StatusError) {
            guard let root = try? JSONText(Array(last.utf8)).root, case .array(let values)? = try? Value(json: root) else {
                throw StatusError(.invalidArgument, "Expected the nextPageToken of a page of the same list.").inside(
                    place: "pageToken"
                )
            }
            return values
        }
    }
}
