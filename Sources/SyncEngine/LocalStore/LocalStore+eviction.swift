internal import DocumentModel

/// The parameters of an eviction of the least recently used targets and documents.
package struct EvictionPolicy: Hashable, Sendable {
    /// The size of the cache in bytes below which nothing is evicted.
    package var minimumByteCount: Int
    /// The part of the targets and unreferenced documents to evict, from 0 to 1.
    package var fraction: Double
    /// The maximum number of targets and documents whose last uses are compared.
    package var maximumCount: Int

    /// Creates a policy.
    package init(minimumByteCount: Int, fraction: Double = 0.1, maximumCount: Int = 1_000) {
        self.minimumByteCount = minimumByteCount
        self.fraction = fraction
        self.maximumCount = maximumCount
    }
}

/// The numbers of evicted targets and documents.
package struct EvictionResult: Hashable, Sendable {
    /// The number of targets.
    package var targetCount = 0
    /// The number of documents.
    package var documentCount = 0

    /// Creates a result without evictions.
    package init() {}
}

extension LocalStore {
    /// Records which documents views show.
    ///
    /// - Parameter removed: The documents that left a view.
    mutating func updateViews(adding added: [DocumentPath], removing removed: [DocumentPath]) {
        for path in added { viewCounts[path, default: 0] += 1 }
        for path in removed {
            guard let count = viewCounts[path] else { continue }
            viewCounts[path] = count > 1 ? count - 1 : nil
        }
        suggestEviction(of: removed)
    }

    /// Evicts the candidates that nothing needs, if the cache is eager.
    mutating func evictCandidates() throws(StatusError) {
        guard !evictionCandidates.isEmpty else { return }
        let candidates = evictionCandidates.filter { viewCounts[$0] == nil }
        try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.removeDocuments(at: cache.unreferenced(candidates))
        }
        recordChanges(of: candidates)
        evictionCandidates = []
    }

    /// Evicts the least recently used targets and documents. Queues and overlays stay.
    mutating func evict(_ policy: EvictionPolicy) throws(StatusError) -> EvictionResult {
        let (activeTargets, viewCounts) = (activeTargets, viewCounts)
        let (result, documents) = try transaction {
            (cache: inout Cache) throws(StatusError) -> (EvictionResult, Set<DocumentPath>) in
            var result = EvictionResult()
            guard !cache.isEager, try cache.byteCount >= policy.minimumByteCount,
                let use = try cache.useNumber(atFraction: policy.fraction, maximumCount: policy.maximumCount)
            else { return (result, []) }
            for id in try cache.targets(usedThrough: use) where activeTargets[id] == nil {
                try cache.removeTarget(id)
                result.targetCount += 1
            }
            let documents = try cache.unreferencedDocuments(usedThrough: use).filter { viewCounts[$0] == nil }
            try cache.removeDocuments(at: documents)
            result.documentCount = documents.count
            return (result, documents)
        }
        recordChanges(of: documents)
        return result
    }
}
