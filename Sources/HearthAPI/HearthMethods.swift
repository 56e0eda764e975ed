package import Concurrency
package import JSONRPC
package import Logging

/// The JSON-RPC methods of Hearth.
package enum HearthMethods {
    /// The method table from which the dispatcher, `rpc.discover` and the API reference are generated.
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
            GetDocumentHistory.self,
            RestoreDocument.self,
            ListCollections.self,
            GetCollectionSize.self,
            RunQuery.self,
            RunAggregationQuery.self,
            ExplainQuery.self,
            PollChanges.self,
            AddWatchTargets.self,
            RemoveWatchTargets.self,
            CreateIndex.self,
            ListIndexes.self,
            DeleteIndex.self,
            ExemptField.self,
            UnexemptField.self,
            BeginTransaction.self,
            RollbackTransaction.self,
            GetServerInfo.self,
            GetServerLog.self,
            PromoteServer.self,
            ListFileProblems.self,
            AcceptRemovedFiles.self,
            ListDatabases.self,
            CreateDatabase.self,
            DeleteDatabase.self,
            SetDatabaseQuota.self,
            GetDatabaseQuota.self,
            CreateBackup.self,
            VerifyBackup.self,
            ListBackups.self,
            SetRules.self,
            GetRules.self,
            CreateKey.self,
            ListKeys.self,
            RevokeKey.self,
        ],
        discoverableBy: .reader,
        authorizationErrors: .accessErrors,
        sharedParameters: [.database],
        info: OpenRPCInfo(
            title: ServerDescription.name,
            version: ServerDescription.version,
            description: """
                A self-hosted document database. Documents are JSON, with tags for types that JSON lacks: \
                {"$timestamp": "2024-02-29T12:00:00Z"}, {"$bytes": "<base64>"}, {"$reference": "books/hitchhiker"}, \
                {"$geoPoint": {"latitude": 53.55, "longitude": 9.98}}, {"$vector": [0.1, 0.2]}, {"$double": "NaN"}, \
                and {"$map": {…}} around a map with keys that begin with $. A number without a fraction or exponent is a \
                64-bit integer, any other number a double.
                """
        )
    )
}

extension RPCServer<ServiceContext> {
    /// Creates a server that provides all of Hearth's methods and logs unexpected errors.
    ///
    /// - Parameters:
    ///   - limits: The resource limits of one request.
    ///   - responseBudget: The memory limit for all responses.
    ///   - metrics: The metrics in which calls are counted; `nil` for calls of the server itself.
    ///   - isTraced: True if calls have spans.
    ///   - queues: The metrics in which refused calls are counted.
    package init(
        limits: RPCLimits,
        responseBudget: MemoryBudget,
        metrics: CallMetrics?,
        isTraced: Bool = false,
        queues: QueueMetrics? = nil,
        logger: Logger
    ) {
        var onStart: (@Sendable (Int?) -> Void)?
        if isTraced, let metrics { onStart = { metrics.begin(method: $0, system: "jsonrpc") } }
        self.init(
            methods: HearthMethods.table,
            limits: limits,
            responseBudget: responseBudget,
            onStart: onStart,
            onEnd: { metrics?.record($0) },
            onRefusal: { queues?.recordRefusal() },
            onUnexpectedError: { failure in
                var metadata: Logger.Metadata = [
                    "rpc.method": "\(failure.method)",
                    "error": "\(failure.error)",
                    "error.id": "\(failure.errorID)",
                ]
                if let trace = RequestTrace.current {
                    metadata["http.request.id"] = "\(trace.requestID)"
                    if let id = trace.traceID { metadata["trace_id"] = "\(id)" }
                }
                logger.error("Call failed", metadata: metadata)
            }
        )
    }
}
