package import JSONRPC
package import StrictJSON

/// `transactions.rollback`: closes a transaction without writing.
package enum RollbackTransaction: RPCMethod {
    private static let transaction = Parameter<TransactionID>("transaction", "The transaction to close.")

    package static let name: UTF8Key = "transactions.rollback"
    package static let summary = "Closes a transaction without writing anything; one that is closed already stays so."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = [transaction]
    package static let result = ResultDescription("nothing", .object([]), "An empty object.")
    package static let examples = [
        RPCExample("a transaction", params: #"{"transaction": "q7Zb1nV2sQ0yO3mXk5aRdA"}"#, result: "{}")
    ]

    package static func params(from arguments: Arguments) throws -> TransactionID {
        try arguments[transaction]
    }

    package static func call(_ params: TransactionID, in context: ServiceContext) async {
        context.transactions.rollback(params, for: context.caller.identity)
    }

    package static func write(_ result: Void, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.endObject()
    }
}
