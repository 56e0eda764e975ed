import DocumentModel
import JSONRPC
import StrictJSON

/// A place in the order of a query: `{values: […]}`.
struct CursorParameter: ObjectParameter {
    private let values: [Value]

    static let schemaName = "Cursor"
    static let values = Parameter<[Value]>(
        "values",
        "Values for the first of the orders; for `__name__` a reference, or a document's ID as a string."
    )
    static let members: [any ParameterDescription] = [values]

    init(from members: Arguments) throws(RPCError) {
        values = try members[Self.values]
    }

    /// The cursor, with or without the documents that are at it.
    func cursor(_ isInclusive: Bool) -> Query.Cursor {
        Query.Cursor(values, isInclusive: isInclusive)
    }
}
