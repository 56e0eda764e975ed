import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

/// The `consistency_selector` of a read request.
enum ConsistencySelector {
    /// A strongly consistent read.
    case latest
    case readTime(Timestamp)
    /// A read in a transaction, or, with a read time, as of that time.
    case transaction(TransactionID, readTime: Timestamp?)
    /// A read in a transaction that the request begins.
    case newTransaction(BeginTransaction.Params)

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

    /// Performs a read with the selected consistency. A transaction that it begins is rolled back if the read fails.
    ///
    /// - Parameter read: Performs the read; receives the ID of a transaction begun for it.
    func read<Result>(
        in context: ServiceContext,
        _ read: (ReadConsistency, _ newTransaction: TransactionID?) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        switch self {
        case .latest: return try await read(ReadConsistency(), nil)
        case .readTime(let time): return try await read(ReadConsistency(readTime: time), nil)
        case .transaction(let id, let time): return try await read(ReadConsistency(readTime: time, transaction: id), nil)
        case .newTransaction(let options):
            let id = try await BeginTransaction.call(options, in: context)
            do throws(StatusError) {
                return try await read(ReadConsistency(transaction: id), id)
            } catch {
                await RollbackTransaction.call(id, in: context)
                throw error
            }
        }
    }
}

extension TransactionID {
    /// Decodes a transaction ID, or returns `nil` if it is empty.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an invalid ID.
    init?(base64 text: String) throws(StatusError) {
        guard let bytes = Base64.decodeAny(text), let key = UTF8Key(validating: bytes) else {
            throw StatusError(.invalidArgument, "Invalid transaction \(Excerpt(text)). Use the one returned by beginTransaction.")
        }
        guard key.byteCount > 0 else { return nil }
        self.init(key.string)
    }

    /// Decodes the transaction ID in a message.
    init?(_ node: JSONNode) throws(StatusError) {
        try self.init(base64: node.stringField())
    }
}

extension JSONWriter {
    mutating func write(_ transaction: TransactionID) {
        string(Base64.standard.encode(Array(transaction.key.utf8)))
    }
}

extension BeginTransaction.Params {
    private static let fields: [ProtoField] = ["readOnly", "readWrite"]
    private static let readOnlyFields: [ProtoField] = ["readTime"]
    private static let readWriteFields: [ProtoField] = ["retryTransaction", "concurrencyMode"]

    /// Decodes `TransactionOptions`. `retryTransaction` and `concurrencyMode` are ignored: concurrency control is always optimistic.
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
