import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

// Lists in another order than that of names, and of all that is below a document or a collection.
extension ListDocumentsCall {
    func queriedPage(in context: ServiceContext) async throws(StatusError) -> Page {
        let size = min(pageSize.count, context.server.limits.maximumPageSize)
        var query = Query(try source(), where: try range(), orders: orders, limit: .first(size + 1))
        query.start = try pageToken.map { text throws(StatusError) in
            Query.Cursor(try PlaceToken(text).values, isInclusive: false)
        }
        let normalized = try NormalizedQuery(query)
        let found = try await RunQuery.call(.init(normalized, at: point), in: context)
        var page = Page(damagedCount: found.damaged.count)
        for document in found.documents.prefix(size) {
            page.entries.append(.document(try mask.map { mask throws(StatusError) in try document.masked(mask) } ?? document))
        }
        if found.documents.count > size, let last = found.documents.prefix(size).last {
            let place = normalized.sortKey(of: try last.decoded().fields, at: last.path)
            page.next = place.map { PlaceToken(values: $0.values).text }
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
    private func range() throws(StatusError) -> Filter? {
        guard isRecursive, let collection else { return nil }
        // Between the least name in the collection and the least in the next one that there can be.
        let least = "/__id-9223372036854775808__"
        let path = CollectionPath(parent: parent, id: collection).string
        return .and([
            .field(.documentName, .greaterOrEqual(.reference(try DocumentPath(path + least)))),
            .field(.documentName, .less(.reference(try DocumentPath(path + "\u{1}" + least)))),
        ])
    }
}

/// Where the next page of a query's result begins, opaque to clients: base64url of a version and of the values at which the
/// last document of the page before stands, in Hearth's JSON form.
private struct PlaceToken {
    let values: [Value]

    private static let version: UInt8 = 2

    init(values: [Value]) {
        self.values = values
    }

    init(_ text: String) throws(StatusError) {
        guard let bytes = Base64.url.decode(text.utf8), bytes.first == Self.version,
            let root = try? JSONText(Array(bytes.dropFirst())).root, case .array(let values)? = try? Value(json: root)
        else {
            throw StatusError(.invalidArgument, "Expected the nextPageToken of a page before.").inside(place: "pageToken")
        }
        self.values = values
    }

    var text: String {
        var writer = JSONWriter()
        Value.array(values).write(to: &writer)
        return Base64.url.encode([Self.version] + writer.finish())
    }
}
