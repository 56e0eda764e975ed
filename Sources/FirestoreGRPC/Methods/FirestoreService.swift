import FirestoreAPI
import FirestoreProto
import HearthAPI
import UTF8Text

/// `google.firestore.v1.Firestore`
/// (https://github.com/googleapis/googleapis/blob/master/google/firestore/v1/firestore.proto).
///
/// It is a translation layer: every method goes through the typed methods of the API, with their authorization, rules and limits.
enum FirestoreService {
    static let name = "google.firestore.v1.Firestore"

    /// Creates the service.
    ///
    /// - Parameter listen: The method `Listen`, which other transports share.
    static func service(_ listen: StreamMethod<ProtoListenRequest, ListenResponse>) -> GRPCService {
        let methods: [UTF8Key: any GRPCMethod] = [
            "BatchGetDocuments": batchGetDocuments,
            "BatchWrite": batchWrite,
            "BeginTransaction": beginTransaction,
            "Commit": commit,
            "CreateDocument": createDocument,
            "DeleteDocument": deleteDocument,
            "ExecutePipeline": UnimplementedMethod(
                message: "Pipelines are not supported. Use queries and aggregations: RunQuery, RunAggregationQuery."
            ),
            "GetDocument": getDocument,
            "ListCollectionIds": listCollectionIDs,
            "ListDocuments": listDocuments,
            "Listen": GRPCStream(listen),
            "PartitionQuery": partitionQuery,
            "Rollback": rollback,
            "RunAggregationQuery": runAggregationQuery,
            "RunQuery": runQuery,
            "UpdateDocument": updateDocument,
            "Write": GRPCStream(write),
        ]
        return GRPCService(name: name, isOpenToEndUsers: true, methods: methods)
    }
}
