import DocumentModel
import DocumentStore
import HearthAPI

/// The result of a dry run of an import.
struct ImportPreview: Sendable {
    /// The number of documents that can be imported.
    private(set) var count = 0
    /// The number of distinct paths without a document.
    private(set) var newCount = 0
    /// The number of distinct paths with an existing document.
    private(set) var existingCount = 0
    private(set) var itemErrors = TruncatedList<BackgroundJob.ItemError>(limit: BackgroundJob.Progress.maximumListedItems)
    /// The number of the errors that a collection would resolve.
    private var pathlessCount = 0
    private(set) var duplicates = TruncatedList<DuplicatePath>(limit: maximumDuplicates)
    /// The first documents.
    private(set) var sample: [SampleDocument] = []
    /// The first line of each path, keyed by the hash of the path to save memory.
    private var firstLines: [Int: Int32] = [:]

    /// A document of the file as it would be imported.
    struct SampleDocument: Sendable {
        let path: DocumentPath
        let exists: Bool
        /// The beginning of its fields as JSON.
        let excerpt: String

        fileprivate init(_ record: ImportRecord, exists: Bool) {
            path = record.path
            self.exists = exists
            let json = JSONEditorPage.text(of: record.fields)
            let line = json.utf8.split(separator: UInt8(ascii: "\n")).map { FormTextCoding.trimmed(String(Substring($0))) }
            excerpt = line.joined(separator: " ").truncatingMiddle(toScalars: Self.excerptLength)
        }

        private static let excerptLength = 240
    }

    /// A path that occurs more than once in the file.
    struct DuplicatePath: Sendable {
        let path: DocumentPath
        let firstLine: Int
        let line: Int
    }

    /// The maximum number of paths that are checked for duplicates. Each takes about 30 bytes of memory.
    let maximumTrackedPaths: Int
    /// True if the file has more paths than are checked for duplicates.
    private(set) var exceedsTrackedPaths = false

    /// True if the file has documents, and none of them has a path.
    var needsCollection: Bool { count == 0 && pathlessCount > 0 && pathlessCount == itemErrors.count }

    init(maximumTrackedPaths: Int = 2_000_000) {
        self.maximumTrackedPaths = maximumTrackedPaths
    }

    private static let maximumDuplicates = 100
    private static let sampleCount = 5
    /// The number of documents that are looked up together.
    private static let batchCount = 128

    /// Reads an uploaded file without writing.
    ///
    /// - Parameters:
    ///   - job: The job that receives the progress and can be cancelled.
    ///   - initial: The preview to begin with.
    static func make(
        of upload: UploadStore.Upload,
        in context: ServiceContext,
        for job: BackgroundJob,
        beginningWith initial: ImportPreview = ImportPreview()
    ) async throws(StatusError) -> ImportPreview {
        var preview = initial
        var batch: [ImportRecord] = []
        var readCount = 0
        var reader = ImportReader(upload.file, options: upload.options) { job.isCancelled }
        try await reader.read { result throws(StatusError) in
            readCount += 1
            do throws(ImportRecordError) {
                let record = try result.get()
                do throws(StatusError) {
                    try context.caller.requireAccess(to: record.path)
                } catch {
                    throw ImportRecordError(line: record.line, error: error)
                }
                batch.append(record)
            } catch {
                preview.itemErrors.append(job.itemError(error))
                if error.error.message.utf8.elementsEqual(ImportOptions.missingPath.message.utf8) { preview.pathlessCount += 1 }
            }
            guard readCount.isMultiple(of: batchCount) else { return true }
            await preview.add(batch, in: context, for: job)
            batch = []
            job.update { [count = preview.count] in $0.completedCount = count }
            return !job.isCancelled
        }
        await preview.add(batch, in: context, for: job)
        job.update { [count = preview.count] in $0.completedCount = count }
        preview.firstLines = [:]
        return preview
    }

    private mutating func add(_ records: [ImportRecord], in context: ServiceContext, for job: BackgroundJob) async {
        for (record, existence) in zip(records, await context.existence(of: records.map(\.path))) {
            switch existence {
            case .success(let exists):
                count += 1
                guard isFirstOccurrence(record) else { continue }
                if exists { existingCount += 1 } else { newCount += 1 }
                if sample.count < Self.sampleCount { sample.append(SampleDocument(record, exists: exists)) }
            case .failure(let error):
                itemErrors.append(job.itemError(ImportRecordError(line: record.line, error: error)))
            }
        }
    }

    /// Returns whether the path of a record has not occurred before, as far as paths are tracked. Adds a duplicate to the list.
    private mutating func isFirstOccurrence(_ record: ImportRecord) -> Bool {
        let hash = record.path.hashValue
        guard let firstLine = firstLines[hash] else {
            if firstLines.count < maximumTrackedPaths {
                firstLines[hash] = Int32(clamping: record.line)
            } else {
                exceedsTrackedPaths = true
            }
            return true
        }
        duplicates.append(DuplicatePath(path: record.path, firstLine: Int(firstLine), line: record.line))
        return false
    }
}

extension ServiceContext {
    /// Returns for each path whether a document exists, or the error of an unreadable one.
    func existence(of paths: [DocumentPath]) async -> [Result<Bool, StatusError>] {
        await paths.concurrentMap(width: 32) { path in
            await Result { () async throws(StatusError) in try await self.document(at: path) != nil }
        }
    }
}
