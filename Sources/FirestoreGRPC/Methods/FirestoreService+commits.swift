import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import SwiftProtobuf

// Transactions and commits.
extension FirestoreService {
    static let beginTransaction = GRPCCall.unary(BeginTransaction.requiredPermission) {
        (request: ProtoBeginTransactionRequest, context) throws(StatusError) in
        let context = try await context.inDatabase(DatabaseName(request.database).id)
        let options = try StatusError.locating(in: "options") { () throws(StatusError) in
            try BeginTransaction.Params(request.options)
        }
        var response = ProtoBeginTransactionResponse()
        response.transaction = Data(try await BeginTransaction.call(options, in: context).bytes)
        return response
    }

    static let rollback = GRPCCall.unary(RollbackTransaction.requiredPermission) {
        (request: ProtoRollbackRequest, context) throws(StatusError) in
        let context = try await context.inDatabase(DatabaseName(request.database).id)
        try await RollbackTransaction.call(required: TransactionID(request.transaction), in: context)
        return Google_Protobuf_Empty()
    }

    static let commit = GRPCCall.unary(CommitRequest.requiredPermission) {
        (request: ProtoCommitRequest, context) throws(StatusError) in
        let database = try DatabaseName(request.database)
        let commit = try CommitRequest(
            request.writes.decoded(in: database),
            in: TransactionID(request.transaction)
        )
        let result = try await commit.respond(in: context.inDatabase(database.id))
        var response = ProtoCommitResponse()
        response.writeResults = result.writeResults.map { ProtoWriteResult($0, in: database) }
        response.commitTime = Google_Protobuf_Timestamp(result.commitTime)
        return response
    }

    static let batchWrite = GRPCCall.unary(BatchWriteRequest.requiredPermission) {
        (request: ProtoBatchWriteRequest, context) throws(StatusError) in
        let database = try DatabaseName(request.database)
        let batch = BatchWriteRequest(try request.writes.decoded(in: database))
        let outcomes = try await batch.respond(in: context.inDatabase(database.id))
        var response = ProtoBatchWriteResponse()
        response.writeResults = outcomes.map { outcome in
            ProtoWriteResult((try? outcome.get()) ?? WriteResult(updateTime: nil), in: database)
        }
        response.status = outcomes.map { ProtoStatus($0) }
        return response
    }
}

extension [ProtoWrite] {
    func decoded(in database: DatabaseName) throws(StatusError) -> [Write] {
        try StatusError.locating(elementsOf: self, in: "writes") { write throws(StatusError) in
            try Write(write, in: database)
        }
    }
}
