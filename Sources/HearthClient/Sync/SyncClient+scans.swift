internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    /// The number of documents that are scanned before everything else has its turn: a few milliseconds.
    static var scanStepCount: Int { 1_000 }

    /// Completes the views that lack documents, in steps between which everything else has its turn.
    func refillViews() {
        guard !isTerminated, !isRefillingViews, engine.needsRefills else { return }
        isRefillingViews = true
        submit { client in
            client.isRefillingViews = false
            guard !client.isTerminated else { return }
            let effects = client.engine.continueRefills()
            if effects.isEmpty { client.refillViews() } else { client.add(effects) }
        }
    }

    /// Makes an input of the engine that may scan the cache, in steps between which everything else has its turn.
    ///
    /// The first step is made at once, which is all of it unless there are many documents.
    ///
    /// - Parameters:
    ///   - input: Called with the scan, `nil` in the first step, and the number of documents to scan.
    ///   - isWanted: Returns whether the input is to be continued. Otherwise `completion` is not called.
    ///   - completion: Called with the result of the last step, or with the error of one.
    func scanInSteps<Result: Sendable>(
        _ input:
            @escaping @Sendable (
                inout SyncEngine<Cache>, ScanID?, Int
            ) throws(StatusError) -> ScanOutcome<Result>,
        while isWanted: @escaping @Sendable (isolated SyncClient) -> Bool = { _ in true },
        completion: @escaping @Sendable (isolated SyncClient, Swift.Result<Result, StatusError>) -> Void
    ) {
        continueScan(nil, input, isWanted, completion)
    }

    private func continueScan<Result: Sendable>(
        _ scan: ScanID?,
        _ input:
            @escaping @Sendable (
                inout SyncEngine<Cache>, ScanID?, Int
            ) throws(StatusError) -> ScanOutcome<Result>,
        _ isWanted: @escaping @Sendable (isolated SyncClient) -> Bool,
        _ completion: @escaping @Sendable (isolated SyncClient, Swift.Result<Result, StatusError>) -> Void
    ) {
        guard !isTerminated else { return completion(self, .failure(.terminated)) }
        guard isWanted(self) else {
            if let scan { engine.end(scan) }
            return
        }
        do throws(StatusError) {
            let outcome = try withEngine { (engine) throws(StatusError) in try input(&engine, scan, Self.scanStepCount) }
            switch outcome {
            case .complete(let result):
                completion(self, .success(result))
            case .incomplete(let scan):
                submit { $0.continueScan(scan, input, isWanted, completion) }
            }
        } catch {
            if let scan { engine.end(scan) }
            completion(self, .failure(error))
        }
    }
}
