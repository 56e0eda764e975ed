package import JSONRPC
import StrictJSON

/// All of Hearth's methods.
package enum HearthMethods {
    /// The table that the dispatcher, `rpc.discover` and the documentation are made from.
    package static let table = MethodTable<ServiceContext>(
        [
            GetDocument.self,
            ListDocuments.self,
            CreateDocument.self,
            SetDocument.self,
            UpdateDocument.self,
            DeleteDocument.self,
            CommitWrites.self,
            BatchWrite.self,
            BatchGetDocuments.self,
            DocumentHistory.self,
            ListCollections.self,
            SizeOfCollection.self,
            RunQuery.self,
            AggregateQuery.self,
            ExplainQuery.self,
            PollChanges.self,
            CreateIndex.self,
            ListIndexes.self,
            DeleteIndex.self,
            ExemptField.self,
            UnexemptField.self,
            BeginTransaction.self,
            RollbackTransaction.self,
            ServerInfo.self,
            ServerLog.self,
            ListDatabases.self,
            DeleteDatabase.self,
            CreateKey.self,
            ListKeys.self,
            RevokeKey.self,
        ],
        discoverableBy: .reader,
        refusingWith: .ofAccess,
        sharing: [.database],
        info: OpenRPCInfo(
            title: ServerDescription.name,
            version: ServerDescription.version,
            description: """
                A self-hosted document database. Documents are JSON with a few tags for what JSON cannot say: \
                {"$timestamp": "2024-02-29T12:00:00Z"}, {"$bytes": "<base64>"}, {"$reference": "books/hitchhiker"}, \
                {"$geoPoint": {"latitude": 53.55, "longitude": 9.98}}, {"$vector": [0.1, 0.2]}, {"$double": "NaN"}, \
                and {"$map": {…}} around a map whose own keys begin with $. A number without fraction or exponent is a \
                64-bit integer, any other a double.
                """
        )
    )
}
