package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// A method that changes what is indexed, and answers with all that then is.
package protocol IndexChanging: RPCMethod where Context == ServiceContext, Params == IndexChange, Result == IndexReport {}

extension IndexChanging {
    package static var right: Role { .admin }

    package static var result: ResultDescription { .indexes }

    package static func call(_ params: IndexChange, in context: ServiceContext) async throws(StatusError) -> IndexReport {
        try await context.store.changeIndexes(params)
    }

    package static func write(_ result: IndexReport, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}

/// The parameters that name a field which is not to be indexed by itself, or is again.
enum ExemptionParameters {
    private static let collection = Parameter<CollectionID>("collection", "The ID of the collections, wherever they are.")
    private static let field = Parameter<FieldPath>("field", "The field; all that is in it is meant too.")

    static let all: [any ParameterDescription] = [collection, field]

    static func exemption(from arguments: Arguments) throws(RPCError) -> IndexExemption {
        let (collection, field) = (try arguments[collection], try arguments[field])
        return try arguments.location(of: Self.field).model { () throws(StatusError) in
            try IndexExemption(collection: collection, field: field)
        }
    }
}
