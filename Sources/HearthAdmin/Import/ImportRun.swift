import DocumentModel
import HearthService
import StrictJSON

/// Writes the documents of a file.
struct ImportRun: Sendable {
    /// What becomes of documents that are there already.
    enum Existing: String, CaseIterable, Sendable {
        case replace
        case keep
    }

    let context: ServiceContext
    let work: Work
    let existing: Existing

    private static let batchCount = 128

    /// Writes all of a file.
    ///
    /// - Throws: What keeps the server from writing any document.
    func write(_ upload: Uploads.Upload) async throws(StatusError) {
        var writer = DocumentWriter { writes throws(StatusError) in
            // The caller's key may have been revoked since the last ones.
            try context.authorize(.writer)
            _ = try await CommitWrites.call(.init(writes: writes), in: context)
        } onRefusal: { origin, error in
            if existing == .keep, error.code == .alreadyExists {
                work.update { $0.skippedCount += 1 }
            } else {
                work.update { $0.faults.append(Work.Fault(ImportPlan.Fault(line: origin.line, error: error))) }
            }
        }
        var reader = ImportReader(upload.file, plan: upload.plan) { [work] in work.isStopping }
        var batch: [ImportPlan.Entry] = []
        // Also where it ends in the middle.
        defer { work.update { [count = writer.writtenCount] in $0.done = count } }
        try await reader.read { result throws(StatusError) in
            switch result {
            case .success(let entry): batch.append(entry)
            case .failure(let fault): work.update { $0.faults.append(Work.Fault(fault)) }
            }
            guard batch.count >= Self.batchCount else { return !work.isStopping }
            try await write(batch, with: &writer)
            batch = []
            return !work.isStopping
        }
        if !work.isStopping { try await write(batch, with: &writer) }
        try await writer.flush()
    }

    private func write(_ entries: [ImportPlan.Entry], with writer: inout DocumentWriter) async throws(StatusError) {
        var entries = entries
        if existing == .keep {
            // Most of them, at little cost; the precondition is for those that come meanwhile, and for a path that stands twice.
            let known = await context.existence(of: entries.map(\.path))
            let new = zip(entries, known).filter { (try? $0.1.get()) != true }.map(\.0)
            work.update { [count = entries.count - new.count] in $0.skippedCount += count }
            entries = new
        }
        for entry in entries {
            try await writer.write(
                entry.fields,
                at: entry.path,
                precondition: existing == .keep ? .exists(false) : .none,
                byteCount: entry.byteCount,
                from: DocumentWriter.Origin(file: "", line: entry.line)
            )
        }
        work.update { [count = writer.writtenCount] in $0.done = count }
    }
}

extension Work.Fault {
    /// A line of a file that can't be imported.
    init(_ fault: ImportPlan.Fault) {
        self.init(place: fault.place.text, message: fault.error.forForm)
    }
}
