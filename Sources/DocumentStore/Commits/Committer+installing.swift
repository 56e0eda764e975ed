internal import DocumentModel
internal import Logging

extension Committer {
    /// Renames the staged files of a durable batch into place, and removes those of the documents that it deletes.
    func install(
        _ results: [BatchResult],
        _ staged: [DocumentInstaller.StagedFile],
        _ installer: inout DocumentInstaller
    ) {
        parts.files.log.beginBatch(results.map(\.path))
        defer { parts.files.log.endBatch() }
        for staged in staged {
            attempt(staged.document, at: staged.document.path) { () throws(StatusError) in try installer.install(staged) }
        }
        var emptied: Set<CollectionPath> = []
        for result in results where result.document == nil {
            attempt(nil, at: result.path) { () throws(StatusError) in try installer.remove(result.path) }
            emptied.insert(result.path.collection)
        }
        installer.removeEmptyFolders(of: emptied)
    }

    private func attempt(_ image: EncodedDocument?, at path: DocumentPath, _ body: () throws(StatusError) -> Void) {
        do throws(StatusError) {
            try body()
        } catch {
            parts.uninstalled.insert(image, at: path, because: error)
            parts.logger.error(
                "A durable commit could not be brought into the document files; no more writes are taken until it can",
                metadata: [
                    "document.path": "\(path)", "error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")",
                ]
            )
        }
    }

    /// Tries again what could not be installed; returns why writes can't be taken, or nil when all files are right.
    func installMissing(_ installer: inout DocumentInstaller) -> StatusError? {
        for (path, image) in parts.uninstalled.obstructing {
            do throws(StatusError) {
                if let image {
                    try installer.install(installer.stage(image))
                } else {
                    try installer.remove(path)
                }
                parts.uninstalled.remove(path)
            } catch {
                parts.uninstalled.insert(image, at: path, because: error)
                return parts.uninstalled.obstacle
            }
        }
        return nil
    }

    /// Tries again to bring a document to where recovery should have brought it, before it is changed.
    func installConfined(_ path: DocumentPath, _ installer: inout DocumentInstaller) throws(StatusError) {
        guard let (image, time) = parts.uninstalled.confinedImage(of: path) else { return }
        do throws(StatusError) {
            _ = try installer.bring(path, to: image, committedAt: time, logger: parts.logger)
        } catch {
            var refusal = error
            if error.forbidsOneFile { refusal.code = .failedPrecondition }
            refusal.path = path.string
            throw refusal
        }
        parts.uninstalled.remove(path)
    }

    /// Tries the same with all such documents, up to the first that still fails; returns why, or nil.
    func installConfined(_ installer: inout DocumentInstaller) -> StatusError? {
        defer { installer.endBatch() }
        for document in parts.uninstalled.confined {
            do throws(StatusError) {
                try installConfined(document.path, &installer)
            } catch {
                return error
            }
        }
        return nil
    }
}
