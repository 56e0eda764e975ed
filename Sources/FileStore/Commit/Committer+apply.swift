internal import DocumentModel
internal import Logging
internal import StorageIO

extension Committer {
    /// Applies a durable batch to the document files: renames the staged files into place and removes the files of deleted documents.
    func apply(
        _ netChanges: [CommitBatch.NetChange],
        _ staged: [DocumentFileWriter.StagedDocument],
        _ fileWriter: inout DocumentFileWriter
    ) {
        components.files.log.beginBatch(netChanges.map(\.path))
        defer { components.files.log.endBatch() }
        for staged in staged {
            apply(staged.document, at: staged.document.path) { () throws(StatusError) in try fileWriter.moveIntoPlace(staged) }
        }
        var emptied: Set<CollectionPath> = []
        for change in netChanges where change.document == nil {
            apply(nil, at: change.path) { () throws(StatusError) in try fileWriter.remove(change.path) }
            emptied.insert(change.path.collection)
        }
        fileWriter.removeEmptyFolders(of: emptied)
    }

    /// Changes one file; when that fails, adds its document to the unapplied ones.
    private func apply(_ image: EncodedDocument?, at path: DocumentPath, _ body: () throws(StatusError) -> Void) {
        do throws(StatusError) {
            try body()
        } catch {
            components.unapplied.insert(image, at: path, because: error)
            components.logger.error(
                "Durable commit not applied to its document file; writes are rejected until it is",
                metadata: [
                    "document.path": "\(path)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")",
                ]
            )
        }
    }

    /// Retries the unapplied documents; returns the error for further writes, or nil when all files have been changed.
    func retryUnapplied(_ fileWriter: inout DocumentFileWriter) -> StatusError? {
        for (path, image) in components.unapplied.blocking {
            do throws(StatusError) {
                if let image {
                    try fileWriter.moveIntoPlace(fileWriter.stage(image))
                } else {
                    try fileWriter.remove(path)
                }
                components.unapplied.remove(path)
            } catch {
                components.unapplied.insert(image, at: path, because: error)
                return components.unapplied.writeBlockedError
            }
        }
        return nil
    }

    /// Retries the recovery of a quarantined document, before it is written; without effect for any other document.
    func retryQuarantined(_ path: DocumentPath, _ fileWriter: inout DocumentFileWriter) throws(StatusError) {
        guard let (image, time) = components.unapplied.quarantinedImage(of: path) else { return }
        do throws(StatusError) {
            _ = try fileWriter.restore(path, to: image, committedAt: time, logger: components.logger)
        } catch {
            var refusal = error
            if error.preventsSingleFileAccess { refusal.code = .failedPrecondition }
            refusal.path = path.string
            throw refusal
        }
        components.unapplied.remove(path)
    }

    /// Retries all quarantined documents up to the first that fails; returns its error, or nil.
    func retryQuarantined(_ fileWriter: inout DocumentFileWriter) -> StatusError? {
        defer { fileWriter.endBatch() }
        for document in components.unapplied.quarantined {
            do throws(StatusError) {
                try retryQuarantined(document.path, &fileWriter)
            } catch {
                return error
            }
        }
        return nil
    }
}
