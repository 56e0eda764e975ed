package import DocumentModel
internal import FirestoreMessages
internal import StrictJSON
package import SyncEngine
internal import UTF8Text

extension NamedQuery {
    /// Returns the query.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if it cannot be decoded.
    package func query() throws(StatusError) -> StructuredQuery {
        guard let text = try? JSONText(definition, limits: .message) else {
            throw StatusError(.dataLoss, "The named query \(Excerpt(name.string)) in the cache is damaged.")
        }
        return try StructuredQuery(bundled: text.root)
    }
}

extension StructuredQuery {
    private static let bundledFields: [ProtoField] = ["parent", "structuredQuery", "limitType"]

    /// Decodes a query of a bundle: `{"parent", "structuredQuery", "limitType"?}`. Any database can be that of the parent.
    init(bundled node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.bundledFields)
        let name = try message.require("parent") { node throws(StatusError) in try ResourceName(node.stringField()) }
        let parent = try StatusError.locating(in: "parent") { () throws(StatusError) in try name.parent() }
        self = try message.require("structuredQuery") { node throws(StatusError) in
            try StructuredQuery(node, below: parent, in: name.database, .protobufJS)
        }
        let limitType = try message.read("limitType") { node throws(StatusError) in
            try node.enumerationField(LimitType.values)
        }
        if limitType == .last, case .first(let count)? = limit { limit = .last(count) }
        try removeImpliedOrder()
    }

    /// The end of the order from which a limit counts.
    private enum LimitType: Sendable {
        case first
        case last

        static let values = ProtoEnumeration<LimitType>([(0, "FIRST", .first), (1, "LAST", .last)])
    }

    /// Removes an order by name that is implied, so that the query equals one that is made without it.
    private mutating func removeImpliedOrder() throws(StatusError) {
        guard orders.last?.key == .field(.documentName) else { return }
        var query = self
        query.orders.removeLast()
        if try NormalizedQuery(query).orders == NormalizedQuery(self).orders { self = query }
    }
}
