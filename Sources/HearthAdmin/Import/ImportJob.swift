import DocumentModel
import HearthAPI

/// Writes the documents of an uploaded file.
struct ImportJob: Sendable {
    /// The handling of documents that already exist.
    enum ExistingDocuments: String, CaseIterable, Sendable {
        case replace
        case keep
    }

    let context: ServiceContext
    let job: BackgroundJob
    let existing: ExistingDocuments

    private static let batchCount = 128

    /// Imports the whole file.
    ///
    /// - Throws: An error that prevents all subsequent writes.
    func write(_ upload: UploadStore.Upload) async throws(StatusError) {
        var writer = BulkWriter { writes throws(StatusError) in
            // The key may have been revoked since the last batch.
            try context.authorize(.writer)
            _ = try await CommitWrites.call(.init(writes: writes), in: context)
            job.update { progress in for write in writes { progress.addCollection(write.path.collection) } }
        } onRejection: { origin, error in
            if existing == .keep, error.code == .alreadyExists {
                job.update { $0.skippedCount += 1 }
            } else {
                add(ImportRecordError(line: origin.line, error: error))
            }
        }
        var reader = ImportReader(upload.file, options: upload.options) { [job] in job.isCancelled }
        var batch: [ImportRecord] = []
        // Reports the progress even if an error ends the import.
        defer { job.update { [count = writer.writtenCount] in $0.completedCount = count } }
        try await reader.read { result throws(StatusError) in
            switch result {
            case .success(let record): batch.append(record)
            case .failure(let error): add(error)
            }
            guard batch.count >= Self.batchCount else { return !job.isCancelled }
            try await write(batch, with: &writer)
            batch = []
            return !job.isCancelled
        }
        if !job.isCancelled { try await write(batch, with: &writer) }
        try await writer.flush()
    }

    private func add(_ error: ImportRecordError) {
        job.update { [itemError = job.itemError(error)] in $0.itemErrors.append(itemError) }
    }

    private func write(_ records: [ImportRecord], with writer: inout BulkWriter<Write>) async throws(StatusError) {
        var records = records
        if existing == .keep {
            // Skips most existing documents cheaply. The precondition covers concurrent writes and duplicate paths in the file.
            let existence = await context.existence(of: records.map(\.path))
            let new = zip(records, existence).filter { (try? $0.1.get()) != true }.map(\.0)
            job.update { [count = records.count - new.count] in $0.skippedCount += count }
            records = new
        }
        for record in records {
            try await writer.write(
                record.fields,
                at: record.path,
                precondition: existing == .keep ? .exists(false) : .none,
                byteCount: record.byteCount,
                from: ImportOrigin(file: "", line: record.line)
            )
        }
        job.update { [count = writer.writtenCount] in $0.completedCount = count }
    }
}
