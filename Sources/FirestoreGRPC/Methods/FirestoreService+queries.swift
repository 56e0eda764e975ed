import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import Foundation
import HearthAPI
import SwiftProtobuf

// Queries and reads of several documents.
extension FirestoreService {
    static let batchGetDocuments = GRPCCall.encoded(
        BatchGetDocumentsRequest.requiredPermission,
        expectedResponseBytes: BatchGetDocumentsRequest.expectedResponseBytes
    ) { (request: ProtoBatchGetDocumentsRequest, context) throws(StatusError) in
        let database = try DatabaseName(request.database)
        let consistency: ConsistencySelector =
            switch request.consistencySelector {
            case .transaction(let id)?: try ConsistencySelector(transaction: id)
            case .newTransaction(let options)?: try ConsistencySelector(newTransaction: options)
            case .readTime(let time)?: try ConsistencySelector(readTime: time)
            case nil: .latest
            }
        let read = BatchGetDocumentsRequest(
            try StatusError.locating(elementsOf: request.documents, in: "documents") { name throws(StatusError) in
                try database.document(named: name)
            },
            mask: try .mask(request.hasMask ? request.mask : nil, in: "mask"),
            consistency
        )
        let response = try await read.respond(in: context.inDatabase(database.id))
        return GRPCMessages(count: response.count, estimatedBytes: response.estimatedBytes) { index throws(StatusError) in
            let message = response[index]
            var writer = ProtobufWriter()
            switch message.entry {
            case .document(let document)?:
                try writer.message(field: 1) { writer throws(StatusError) in try writer.document(document, in: database) }
            case .missing(let path)?:
                writer.string(database.name(of: path), field: 2)
            case nil:
                break
            }
            if let id = message.newTransaction { writer.data(id.bytes, field: 3) }
            writer.time(message.readTime, field: 4)
            return writer.finish()
        }
    }

    static let runQuery = GRPCCall.encoded(
        RunQueryRequest.requiredPermission,
        expectedResponseBytes: RunQueryRequest.expectedResponseBytes
    ) { (request: ProtoRunQueryRequest, context) throws(StatusError) in
        let parent = try ResourceName(request.parent)
        guard case .structuredQuery(let query)? = request.queryType else { throw .missing("structuredQuery") }
        let consistency: ConsistencySelector =
            switch request.consistencySelector {
            case .transaction(let id)?: try ConsistencySelector(transaction: id)
            case .newTransaction(let options)?: try ConsistencySelector(newTransaction: options)
            case .readTime(let time)?: try ConsistencySelector(readTime: time)
            case nil: .latest
            }
        let run = try RunQueryRequest(
            StructuredQuery(inRequest: query, below: parent),
            consistency,
            explain: request.hasExplainOptions ? ExplainMode(request.explainOptions) : nil
        )
        let response = try await run.respond(in: context.inDatabase(parent.database.id))
        return GRPCMessages(
            count: response.count,
            estimatedBytes: response.estimatedBytes,
            damagedCount: response.damagedCount
        ) { index throws(StatusError) in
            try response[index].protobuf(in: parent.database)
        }
    }

    static let runAggregationQuery = GRPCCall.encoded(RunAggregationQueryRequest.requiredPermission) {
        (request: ProtoRunAggregationQueryRequest, context) throws(StatusError) in
        let parent = try ResourceName(request.parent)
        guard case .structuredAggregationQuery(let query)? = request.queryType else {
            throw .missing("structuredAggregationQuery")
        }
        let consistency: ConsistencySelector =
            switch request.consistencySelector {
            case .transaction(let id)?: try ConsistencySelector(transaction: id)
            case .newTransaction(let options)?: try ConsistencySelector(newTransaction: options)
            case .readTime(let time)?: try ConsistencySelector(readTime: time)
            case nil: .latest
            }
        let run = RunAggregationQueryRequest(
            try StatusError.locating(in: "structuredAggregationQuery") { () throws(StatusError) in
                try StructuredAggregationQuery(query, below: parent.parent(), in: parent.database)
            },
            consistency,
            explain: request.hasExplainOptions ? ExplainMode(request.explainOptions) : nil
        )
        let response = try await run.respond(in: context.inDatabase(parent.database.id))
        let message = try ProtoRunAggregationQueryResponse(response, in: parent.database).encoded()
        return GRPCMessages(
            count: 1,
            estimatedBytes: message.count,
            damagedCount: response.damagedCount
        ) { _ in message }
    }

    static let partitionQuery = GRPCCall.unary(PartitionQueryRequest.requiredPermission) {
        (request: ProtoPartitionQueryRequest, context) throws(StatusError) in
        let parent = try ResourceName(request.parent)
        guard case .structuredQuery(let query)? = request.queryType else { throw .missing("structuredQuery") }
        var readTime: Timestamp?
        if case .readTime(let time)? = request.consistencySelector { readTime = try Timestamp(readTime: time) }
        let partition = try PartitionQueryRequest(
            StructuredQuery(inRequest: query, below: parent),
            count: request.partitionCount,
            pageSize: Int(request.pageSize),
            pageToken: request.pageToken,
            readTime: readTime
        )
        let points = try await partition.respond(in: context.inDatabase(parent.database.id))
        var response = ProtoPartitionQueryResponse()
        response.partitions = points.map { point in
            var cursor = ProtoCursor()
            cursor.values = [ProtoValue(.reference(point), in: parent.database)]
            cursor.before = true
            return cursor
        }
        return response
    }
}

extension StructuredQuery {
    /// Decodes the `structured_query` of a request.
    init(inRequest query: ProtoStructuredQuery, below parent: ResourceName) throws(StatusError) {
        self = try StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
            try StructuredQuery(query, below: parent.parent(), in: parent.database)
        }
    }
}

extension RunQueryRequest.Response.Message {
    /// The `RunQueryResponse` message.
    fileprivate func protobuf(in database: DatabaseName) throws(StatusError) -> [UInt8] {
        switch self {
        case .newTransaction(let id):
            return try ProtoRunQueryResponse.with { $0.transaction = Data(id.bytes) }.encoded()
        case .result(let document, let time, let skippedCount):
            var writer = ProtobufWriter(reservingCapacity: 2 * (document?.fieldsJSON.count ?? 0) + 256)
            if let document {
                try writer.message(field: 1) { writer throws(StatusError) in try writer.document(document, in: database) }
            }
            writer.time(time, field: 3)
            if skippedCount > 0 { writer.integer(Int64(Int32(clamping: skippedCount)), field: 4) }
            return writer.finish()
        case .metrics(let metrics, let time):
            return try ProtoRunQueryResponse.with {
                $0.explainMetrics = ProtoExplainMetrics(metrics)
                $0.readTime = Google_Protobuf_Timestamp(time)
            }.encoded()
        }
    }
}

extension ProtoRunAggregationQueryResponse {
    fileprivate init(_ response: RunAggregationQueryRequest.Response, in database: DatabaseName) {
        self.init()
        if let results = response.results {
            result.aggregateFields = results.map { ProtoFieldEntry($0.key, $0.value, in: database) }
        }
        readTime = Google_Protobuf_Timestamp(response.readTime)
        if let id = response.newTransaction { transaction = Data(id.bytes) }
        if let metrics = response.metrics { explainMetrics = ProtoExplainMetrics(metrics) }
    }
}
