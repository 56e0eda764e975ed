import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import SwiftProtobuf

extension TransactionID {
    /// Decodes a transaction ID, or returns `nil` if it is empty.
    init?(_ data: Data) throws(StatusError) {
        try self.init(bytes: Array(data))
    }
}

extension BeginTransaction.Params {
    /// Decodes options. `retry_transaction` and `concurrency_mode` are ignored: concurrency control is always optimistic.
    init(_ message: ProtoTransactionOptions) throws(StatusError) {
        guard case .readOnly(let options)? = message.mode else {
            self = .readWrite
            return
        }
        var time: Timestamp?
        if case .readTime(let readTime)? = options.consistencySelector { time = try Timestamp(readTime: readTime) }
        self = .readOnly(readTime: time)
    }
}

extension Timestamp {
    /// Decodes a `read_time`.
    init(readTime: Google_Protobuf_Timestamp) throws(StatusError) {
        self = try StatusError.locating(in: "readTime") { () throws(StatusError) in try Timestamp(readTime) }
    }
}

extension ReadConsistency {
    /// Decodes the selector of a request that reads single documents or lists.
    init(transaction: Data) throws(StatusError) {
        self.init(transaction: try TransactionID(transaction))
    }

    init(readTime: Google_Protobuf_Timestamp) throws(StatusError) {
        self.init(readTime: try Timestamp(readTime: readTime))
    }
}

extension ConsistencySelector {
    init(transaction: Data) throws(StatusError) {
        self = try TransactionID(transaction).map { .transaction($0, readTime: nil) } ?? .latest
    }

    init(readTime: Google_Protobuf_Timestamp) throws(StatusError) {
        self = .readTime(try Timestamp(readTime: readTime))
    }

    init(newTransaction: ProtoTransactionOptions) throws(StatusError) {
        self = .newTransaction(try BeginTransaction.Params(newTransaction))
    }
}
