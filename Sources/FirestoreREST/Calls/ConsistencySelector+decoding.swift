import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON
import UTF8Text

extension ConsistencySelector {
    /// The fields of the oneof.
    static let fields: [ProtoField] = ["transaction", "newTransaction", "readTime"]

    init(_ message: ProtoMessage) throws(StatusError) {
        let transaction = try message.read("transaction") { node throws(StatusError) in try TransactionID(node) } ?? nil
        let new = try message.read("newTransaction") { node throws(StatusError) in try BeginTransaction.Params(options: node) }
        let time = try message.read("readTime") { node throws(StatusError) in try node.timestampField() }
        switch (transaction, new, time) {
        case (nil, nil, nil): self = .latest
        case (let id?, nil, let time): self = .transaction(id, readTime: time)
        case (nil, let options?, nil): self = .newTransaction(options)
        case (nil, nil, let time?): self = .readTime(time)
        default:
            throw StatusError(
                .invalidArgument,
                "Expected at most one of transaction, newTransaction and readTime, found several."
            )
        }
    }
}

extension TransactionID {
    /// Decodes the transaction ID in a message, or returns `nil` if it is empty.
    init?(_ node: JSONNode) throws(StatusError) {
        try self.init(bytes: Base64.decodeAny(node.stringField()))
    }
}

extension JSONWriter {
    mutating func write(_ transaction: TransactionID) {
        string(Base64.standard.encode(transaction.bytes))
    }
}

extension BeginTransaction.Params {
    private static let fields: [ProtoField] = ["readOnly", "readWrite"]
    private static let readOnlyFields: [ProtoField] = ["readTime"]
    private static let readWriteFields: [ProtoField] = ["retryTransaction", "concurrencyMode"]

    /// Decodes `TransactionOptions`. `retryTransaction` and `concurrencyMode` are ignored: concurrency control is always
    /// optimistic.
    init(options node: JSONNode) throws(StatusError) {
        self =
            try ProtoMessage(node, fields: Self.fields).oneOf(
                (
                    "readOnly",
                    { node throws(StatusError) in
                        .readOnly(
                            readTime: try ProtoMessage(node, fields: Self.readOnlyFields).read("readTime") {
                                node throws(StatusError) in
                                try node.timestampField()
                            }
                        )
                    }
                ),
                (
                    "readWrite",
                    { node throws(StatusError) in
                        _ = try ProtoMessage(node, fields: Self.readWriteFields)
                        return .readWrite
                    }
                )
            ) ?? .readWrite
    }
}
