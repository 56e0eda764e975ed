internal import DocumentModel

extension MutationBatch {
    /// Returns the document after the acknowledged batch; `nil` if the batch does not write it.
    ///
    /// - Parameter cached: The cached document. If a stream has brought it up to date already, the outcome is worthless.
    func outcome(_ result: BatchResult, at path: DocumentPath, on cached: RemoteDocument?, epoch: String?) -> RemoteDocument? {
        if let document = result.documents[path] {
            return returnedOutcome(document, at: path, on: cached, commitTime: result.commitTime, epoch: epoch)
        }
        var outcome = cached
        var isWritten = false
        for (index, write) in writes.enumerated() where write.path == path && write.operation != .verify {
            let writeResult = result.results.indices.contains(index) ? result.results[index] : nil
            let writeVersion = writeResult?.updateTime ?? result.commitTime
            isWritten = true
            outcome = RemoteDocument(
                path: path,
                content: write.outcome(on: outcome, writeResult?.transformResults, at: writeVersion),
                version: writeVersion,
                epoch: epoch ?? cached?.epoch,
                hasCommittedMutations: true
            )
        }
        return isWritten ? outcome : nil
    }

    private func returnedOutcome(
        _ document: Document?,
        at path: DocumentPath,
        on cached: RemoteDocument?,
        commitTime: Timestamp,
        epoch: String?
    ) -> RemoteDocument {
        var outcome =
            document.map { RemoteDocument($0) } ?? RemoteDocument(path: path, content: .missing, version: commitTime)
        outcome.epoch = epoch ?? cached?.epoch
        outcome.hasCommittedMutations = true
        return outcome
    }
}

extension Write {
    /// Returns the content of the document after the acknowledged write.
    ///
    /// An update of a document that is not known to exist leaves an unknown one.
    ///
    /// - Parameter transformResults: The server's results of the transforms; `nil` to compute them.
    fileprivate func outcome(
        on current: RemoteDocument?,
        _ transformResults: [Value]?,
        at version: Timestamp
    ) -> RemoteDocument.Content {
        let base = current?.document
        switch operation {
        case .delete: return .missing
        case .verify: return current?.content ?? .missing
        case .patch where precondition != .none && base == nil: return .unknown
        case .replace, .patch: break
        }
        let write = transformResults == nil ? self : Write(path: path, operation: operation)
        guard var document = try? write.effect(on: base, at: version) else { return .unknown }
        for (transform, value) in zip(transforms, transformResults ?? []) {
            switch transform.operation {
            case .serverTimestamp, .increment, .maximum, .minimum:
                document.fields.set(value, at: transform.field)
            case .arrayUnion, .arrayRemove:
                let write = Write(path: path, operation: .patch(MapValue(), mask: []), transforms: [transform])
                if let changed = try? write.effect(on: document, at: version) { document = changed }
            }
        }
        let createTime: Timestamp? =
            switch current?.content {
            case .found(_, let createTime): createTime
            case .missing: version
            case .unknown, nil: nil
            }
        return .found(document.fields, createTime: createTime)
    }
}

extension RemoteDocument {
    fileprivate var document: Document? {
        guard case .found(let fields, let createTime) = content else { return nil }
        return Document(path: path, fields: fields, createTime: createTime ?? version, updateTime: version)
    }
}
