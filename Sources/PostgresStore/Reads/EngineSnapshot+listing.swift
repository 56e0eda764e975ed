internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

extension EngineSnapshot {
    /// Returns a page of a collection's documents in ID order.
    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool
    ) throws(StatusError) -> DocumentPage {
        var found: [ListedDocument] = []
        if includingMissing {
            found = try documentsIncludingMissing(in: collection, after: after, count: limit + 1)
        } else {
            let prefix = NameKey(collection)
            let lower = after.map { NameKey(collection.document($0)).bytes + [0] } ?? prefix.bytes
            let rows = DocumentRows(
                self,
                .collection(collection),
                from: lower,
                to: prefix.prefixUpperBound,
                limit: min(limit, 1_023) + 1
            )
            while found.count <= limit, let row = try rows.next() { found.append(.document(row.document)) }
        }
        let page = Array(found.prefix(limit))
        return DocumentPage(documents: page, next: found.count > limit ? page.last?.path.id : nil, damaged: [])
    }

    /// Returns documents, and missing ones with descendants. Skips the descendants of each, with a round trip.
    private func documentsIncludingMissing(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        count: Int
    ) throws(StatusError) -> [ListedDocument] {
        let prefix = NameKey(collection)
        var lower = after.map { NameKey(collection.document($0)).prefixUpperBound } ?? prefix.bytes
        var found: [ListedDocument] = []
        while found.count < count, let document = try first(from: lower, to: prefix.prefixUpperBound) {
            let segments = document.path.segments
            let path = collection.document(try DocumentPath.ID(segments[collection.segments.count].string))
            found.append(path == document.path ? .document(document) : .missing(path))
            lower = NameKey(path).prefixUpperBound
        }
        return found
    }

    /// Returns a page of the collections directly under a document, or of the root collections, in ID order. Skips the documents in and
    /// below each, with a round trip.
    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int
    ) throws(StatusError) -> CollectionPage {
        let prefix = parent.map { NameKey($0) }
        let upper = prefix?.prefixUpperBound ?? [0xff]
        var lower = prefix.map { $0.bytes + [0] } ?? []
        if let after { lower = NameKey(CollectionPath(parent: parent, id: after)).prefixUpperBound }
        let depth = parent?.segments.count ?? 0
        var found: [CollectionID] = []
        while found.count <= limit, let document = try first(from: lower, to: upper) {
            let id = try CollectionID(document.path.segments[depth].string)
            found.append(id)
            lower = NameKey(CollectionPath(parent: parent, id: id)).prefixUpperBound
        }
        let page = Array(found.prefix(limit))
        return CollectionPage(collections: page, next: found.count > limit ? page.last : nil)
    }

    private func first(from lower: [UInt8], to upper: [UInt8]) throws(StatusError) -> EncodedDocument? {
        try DocumentRows(self, .database, from: lower, to: upper, limit: 1).next()?.document
    }

    /// Returns a page of a document's versions, newest first: at most `limit`, and fewer if they are large.
    func history(of path: DocumentPath, before: Timestamp?, limit: Int) throws(StatusError) -> VersionPage {
        let name = EngineKey.name(path)
        let before = before ?? .maximum
        let rows = try connection.execute([
            EngineStatement(
                """
                SELECT time, author, path, after_fields, after_created, total FROM (
                    SELECT page.*, count(*) OVER () AS total,
                        sum(size) OVER (ORDER BY seq DESC) - size AS bytes_before FROM (
                        SELECT c.seq, k.time, k.author, c.path, c.after_fields, c.after_created,
                            coalesce(octet_length(c.after_fields), 0) AS size
                        FROM hearth.changes c JOIN hearth.commits k ON k.db = c.db AND k.seq = c.seq
                        WHERE c.db = $1::bigint AND c.name = $2::bytea AND k.time < $3::bigint AND c.seq >= \(Self.oldestSQL)
                        ORDER BY c.seq DESC LIMIT $4::bigint
                    ) page
                ) sized WHERE bytes_before < \(Self.maximumPageBytes) ORDER BY seq DESC
                """,
                .integer(database),
                .bytes(name),
                .integer(before.microseconds),
                .integer(Int64(limit) + 1)
            ),
            EngineStatement(
                """
                SELECT path, before_fields, before_created, before_updated FROM hearth.changes
                WHERE db = $1::bigint AND name = $2::bytea AND seq >= \(Self.oldestSQL) ORDER BY seq LIMIT 1
                """,
                .integer(database),
                .bytes(name)
            ),
        ])
        var versions: [DocumentVersion] = []
        for row in 0..<rows[0].count {
            guard let time = rows[0].time(row, 0) else { throw .damagedRow("a commit has no time") }
            let document =
                rows[0].isNull(row, 3) ? nil : try rows[0].document(row, path: 2, fields: 3, created: 4, updated: 0)
            versions.append(DocumentVersion(commitTime: time, document: document, author: rows[0].key(row, 1)))
        }
        // The others are too large for the page.
        if rows[0].count < rows[0].integer(0, 5) ?? 0 {
            return VersionPage(versions: versions, next: versions.last?.commitTime)
        }
        // The version before the oldest change that is retained.
        if versions.count <= limit, rows[1].count == 1, !rows[1].isNull(0, 1) {
            let document = try rows[1].document(0, path: 0, fields: 1, created: 2, updated: 3)
            if document.updateTime < before {
                versions.append(DocumentVersion(commitTime: document.updateTime, document: document))
            }
        }
        let page = Array(versions.prefix(limit))
        return VersionPage(versions: page, next: versions.count > limit ? page.last?.commitTime : nil)
    }

    private static let oldestSQL = "(SELECT oldest FROM hearth.databases WHERE db = $1::bigint)"

    /// Returns the number and size of the documents of a collection, or of the database for `nil`.
    func size(of collection: CollectionPath?) throws(StatusError) -> CollectionSize {
        let rows = try connection.execute(
            EngineStatement(
                "SELECT documents, bytes FROM hearth.scopes WHERE db = $1::bigint AND key = $2::bytea",
                .integer(database),
                .bytes(collection.map(EngineKey.scope) ?? [])
            )
        )
        guard rows.count == 1 else { return .zero }
        return CollectionSize(documentCount: Int(rows.integer(0, 0) ?? 0), byteCount: Int(rows.integer(0, 1) ?? 0))
    }
}
