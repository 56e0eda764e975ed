package import DocumentModel
internal import GRDB
package import SyncEngine
internal import UTF8Text

extension PersistentCache {
    /// Returns a user's overlays of some documents.
    ///
    /// A user without overlays costs one look-up, whatever the number of documents.
    package func overlays(at paths: Set<DocumentPath>, for user: UserID) throws(StatusError) -> [DocumentPath: Overlay] {
        guard !paths.isEmpty else { return [:] }
        return try queue.read { database in
            guard try database.hasRows("overlay", of: user) else { return [:] }
            let lookup = try CacheStatement("\(Self.selection) WHERE user = ? AND collection = ? AND name = ?", database)
            lookup.bind(user.columnText, at: 1)
            var overlays: [DocumentPath: Overlay] = [:]
            for path in paths {
                lookup.bind(path.collection.string, at: 2)
                lookup.bind(path.id.key.string, at: 3)
                overlays[path] = try lookup.firstRow { try Overlay($0, at: path) }
            }
            return overlays
        }
    }

    /// Returns a user's overlays of the documents of a source.
    package func overlays(
        in source: StructuredQuery.Source,
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: Overlay] {
        try queue.read { database in
            var collections: [CollectionPath] = []
            if case .collection(let collection) = source {
                collections = [collection]
            } else {
                let scan = try CacheStatement("SELECT DISTINCT collection FROM overlay WHERE user = ?", database)
                scan.bind(user.columnText, at: 1)
                try scan.forEachRow { row in
                    let collection = try CollectionPath(row.text(0))
                    if source.contains(collection) { collections.append(collection) }
                }
            }
            let scan = try CacheStatement("\(Self.selection) WHERE user = ? AND collection = ?", database)
            scan.bind(user.columnText, at: 1)
            var overlays: [DocumentPath: Overlay] = [:]
            for collection in collections {
                scan.bind(collection.string, at: 2)
                try scan.forEachRow { row in
                    let path = collection.document(try DocumentPath.ID(row.text(0)))
                    overlays[path] = try Overlay(row, at: path)
                }
            }
            return overlays
        }
    }

    /// Saves overlays.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the fields are larger than those of any document.
    package mutating func save(_ overlays: [Overlay], for user: UserID) throws(StatusError) {
        guard !overlays.isEmpty else { return }
        let rows = try overlays.map { overlay throws(StatusError) in try OverlayRow(overlay) }
        try write(to: queue) { database in
            let insertion = try CacheStatement(
                """
                INSERT OR REPLACE INTO overlay (user, collection, name, batch, kind, requiresDocument, mask, pending, fields)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                database
            )
            insertion.bind(user.columnText, at: 1)
            for row in rows {
                row.bind(to: insertion)
                try insertion.run()
            }
        }
    }

    /// Removes overlays.
    package mutating func removeOverlays(at paths: Set<DocumentPath>, for user: UserID) throws(StatusError) {
        guard !paths.isEmpty else { return }
        try write(to: queue) { database in
            let deletion = try CacheStatement("DELETE FROM overlay WHERE user = ? AND collection = ? AND name = ?", database)
            deletion.bind(user.columnText, at: 1)
            for path in paths {
                deletion.bind(path.collection.string, at: 2)
                deletion.bind(path.id.key.string, at: 3)
                try deletion.run()
            }
        }
    }

    /// The user whose overlays belong to the cached documents.
    package var overlayUser: UserID? {
        get throws(StatusError) {
            try cache.read { database in
                let text = try CacheStatement("SELECT overlayUser FROM state", database).firstRow { try $0.optionalText(0) }
                return try text.flatMap { $0 }.map { try UserID(columnText: $0) }
            }
        }
    }

    /// Records whose overlays belong to the cached documents.
    package mutating func save(overlayUser: UserID) throws(StatusError) {
        try write(to: cache) { database in
            let update = try CacheStatement("UPDATE state SET overlayUser = ?", database)
            update.bind(overlayUser.columnText, at: 1)
            try update.run()
        }
    }

    private static let selection = "SELECT name, batch, kind, requiresDocument, mask, pending, fields FROM overlay"
}

/// The kind of an overlay as the column `kind` has it.
private enum OverlayKind: Int64 {
    case set = 0
    case delete = 1
    case patch = 2
}

/// An overlay with its columns encoded.
private struct OverlayRow {
    let overlay: Overlay
    let kind: OverlayKind
    let mask: [UInt8]?
    let pendingTimestamps: [UInt8]?
    let fields: [UInt8]?

    init(_ overlay: Overlay) throws(StatusError) {
        self.overlay = overlay
        pendingTimestamps = StoredJSON.encode(overlay.pendingTimestamps)
        switch overlay.content {
        case .set(let fields):
            (kind, mask, self.fields) = (.set, nil, try StoredJSON.encode(verified: fields, at: overlay.path))
        case .delete:
            (kind, mask, fields) = (.delete, nil, nil)
        case .patch(let fields, let mask):
            kind = .patch
            self.mask = StoredJSON.encode(mask)
            self.fields = try StoredJSON.encode(verified: fields, at: overlay.path)
        }
    }

    func bind(to statement: CacheStatement) {
        statement.bind(overlay.path.collection.string, at: 2)
        statement.bind(overlay.path.id.key.string, at: 3)
        statement.bind(overlay.batch, at: 4)
        statement.bind(kind.rawValue, at: 5)
        statement.bind(overlay.requiresDocument ? 1 : 0, at: 6)
        statement.bind(text: mask, at: 7)
        statement.bind(text: pendingTimestamps, at: 8)
        statement.bind(text: fields, at: 9)
    }
}

extension Overlay {
    /// Creates an overlay from a row.
    fileprivate init(_ row: CacheRow, at path: DocumentPath) throws {
        let content: Content =
            switch OverlayKind(rawValue: try row.integer(2)) {
            case .set: .set(try StoredJSON.fields(row.bytes(6)))
            case .delete: .delete
            case .patch: .patch(try StoredJSON.fields(row.bytes(6)), mask: try StoredJSON.mask(row.bytes(4)))
            case nil: throw CacheDatabaseError(corruption: "an overlay has an unknown kind")
            }
        let pending = row.bytes(5)
        self.init(
            path: path,
            content: content,
            pendingTimestamps: pending.isEmpty ? [:] : try StoredJSON.pendingTimestamps(pending),
            batch: try row.number(1),
            requiresDocument: try row.integer(3) != 0
        )
    }
}
