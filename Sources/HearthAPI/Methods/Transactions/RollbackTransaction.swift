import HearthWire
package import JSONRPC
package import UTF8Text

/// `transactions.rollback`: rolls back a transaction.
package enum RollbackTransaction: RPCMethod {
    private static let transaction = Parameter<TransactionID>(TransactionKeys.transaction, "The transaction to roll back.")

    package static let name: UTF8Key = "transactions.rollback"
    package static let summary = "Rolls back a transaction. Has no effect on a transaction that has ended."
    package static let requiredPermission = Permission.readDocuments
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
}
