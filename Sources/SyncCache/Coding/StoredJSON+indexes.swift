internal import DocumentModel
internal import HearthWire
internal import StrictJSON
internal import SyncEngine

extension StoredJSON {
    /// Encodes the definition of an index: source and orders, as parameters of `query.run`.
    static func encode(_ index: FieldIndex) -> [UInt8] {
        encode { writer in
            writer.beginObject()
            StructuredQuery(index.source, orders: index.orders).writeMembers(to: &writer)
            writer.endObject()
        }
    }

    static func index(_ bytes: [UInt8]) throws -> FieldIndex {
        let root = try root(of: bytes)
        let source: StructuredQuery.Source =
            if let path = root[QueryKeys.collection] {
                .collection(try CollectionPath(path.text()))
            } else {
                .collectionGroup(try CollectionID(root.member(QueryKeys.collectionGroup).text()), below: nil)
            }
        let orders = try root.member(QueryKeys.orderBy).array().map { json in
            let direction = try json[OrderKeys.direction].map { try OrderDirectionName(rawValue: $0.text()) }
            guard let direction = direction ?? .ascending else {
                throw CacheDatabaseError(corruption: "an index has an unknown direction")
            }
            return StructuredQuery.Order(.field(try FieldPath(json.member(OrderKeys.field).text())), direction.direction)
        }
        guard let index = FieldIndex(source, orders: orders) else {
            throw CacheDatabaseError(corruption: "an index has an unknown definition")
        }
        return index
    }
}
