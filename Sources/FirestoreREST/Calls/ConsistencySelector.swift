import DocumentModel
import HearthService
import StrictJSON

/// As of when a request reads.
enum ConsistencySelector {
    case now
    case readTime(Timestamp)
    /// In a transaction; with a time of its own the read shows that time.
    case transaction(TransactionID, readTime: Timestamp?)
    /// In a transaction that begins with the request.
    case newTransaction(BeginTransaction.Params)

    /// The fields that say so.
    static let fields: [MessageField] = ["transaction", "newTransaction", "readTime"]

    init(_ message: Message) throws(StatusError) {
        let transaction = try message.read("transaction") { node throws(StatusError) in try TransactionID(node) } ?? nil
        let new = try message.read("newTransaction") { node throws(StatusError) in try BeginTransaction.Params(options: node) }
        let time = try message.read("readTime") { node throws(StatusError) in try node.timestampField() }
        switch (transaction, new, time) {
        case (nil, nil, nil): self = .now
        case (let id?, nil, let time): self = .transaction(id, readTime: time)
        case (nil, let options?, nil): self = .newTransaction(options)
        case (nil, nil, let time?): self = .readTime(time)
        default:
            throw StatusError(.invalidArgument, "Expected at most one of transaction, newTransaction and readTime, found more.")
        }
    }

    /// Reads as of what the selector says, in a transaction that it begins where that is asked for. One that is of no use
    /// any more because the read has failed is closed.
    func read<Result>(
        in context: ServiceContext,
        _ read: (ReadPoint, _ begun: TransactionID?) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        switch self {
        case .now: return try await read(ReadPoint(), nil)
        case .readTime(let time): return try await read(ReadPoint(readTime: time), nil)
        case .transaction(let id, let time): return try await read(ReadPoint(readTime: time, transaction: id), nil)
        case .newTransaction(let options):
            let id = try await BeginTransaction.call(options, in: context)
            do throws(StatusError) {
                return try await read(ReadPoint(transaction: id), id)
            } catch {
                await RollbackTransaction.call(id, in: context)
                throw error
            }
        }
    }
}

extension TransactionID {
    /// Reads a transaction as clients give it back; nil for an empty one.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for what can't be a transaction's.
    init?(base64 text: String) throws(StatusError) {
        guard let bytes = Base64.decodeAny(text), let key = UTF8Key(validating: bytes) else {
            throw StatusError(.invalidArgument, "Expected a transaction as beginTransaction gives it, found \(Excerpt(text)).")
        }
        guard key.byteCount > 0 else { return nil }
        self.init(key.string)
    }

    /// Reads a transaction in a message.
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
    private static let fields: [MessageField] = ["readOnly", "readWrite"]
    private static let readOnlyFields: [MessageField] = ["readTime"]
    private static let readWriteFields: [MessageField] = ["retryTransaction", "concurrencyMode"]

    /// Reads the options of a transaction. Which transaction it retries makes no difference, nor how others are to be kept off:
    /// nothing is ever locked.
    init(options node: JSONNode) throws(StatusError) {
        self =
            try Message(node, fields: Self.fields).one(
                of: (
                    "readOnly",
                    { node throws(StatusError) in
                        .readOnly(
                            readTime: try Message(node, fields: Self.readOnlyFields).read("readTime") {
                                node throws(StatusError) in
                                try node.timestampField()
                            }
                        )
                    }
                ),
                (
                    "readWrite",
                    { node throws(StatusError) in
                        _ = try Message(node, fields: Self.readWriteFields)
                        return .readWrite
                    }
                )
            ) ?? .readWrite
    }
}
