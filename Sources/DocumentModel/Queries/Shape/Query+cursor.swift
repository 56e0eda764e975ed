extension Query {
    /// A place in the order of a query: where its result begins or ends.
    ///
    /// Values for the first of the orders, those included that the rules add. They need not be those of a document, nor of
    /// its types. For the document's name the value is a reference, or a text: the id in a collection, the path below the
    /// parent in a collection group; for a distance it is a number of metres.
    package struct Cursor: Hashable, Sendable {
        /// The values in the order of the orders; at least one.
        package var values: [Value]
        /// Whether documents at the place itself are in the result.
        package var isInclusive: Bool

        /// Makes a cursor.
        package init(_ values: [Value], isInclusive: Bool) {
            self.values = values
            self.isInclusive = isInclusive
        }
    }
}
